//! Path constants of flows.

use rustc_hash::FxHashMap;
use xoff_core::{BitRate, HostId, Ps};

use super::{HostSetup, Hosts};
use crate::cc::Path;
use crate::transport::Window;

/// Base RTT of every pair of hosts: the contributions of the two hosts' own links, and of the links
/// between their switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseRtts {
    /// Contribution of each host's link (ps).
    pub access: Vec<u64>,
    /// Index of the switch to which each host is attached.
    pub group_of: Vec<u32>,
    /// Contribution of the links between two of these switches (ps), `groups` x `groups`.
    pub between: Vec<u64>,
    /// Number of these switches.
    pub groups: usize,
}

impl BaseRtts {
    /// Base RTT of the path between two hosts (ps).
    #[must_use]
    pub fn of(&self, src: HostId, dst: HostId) -> u64 {
        let group = |host: HostId| self.group_of[host.index()] as usize;
        let between = self.between[group(src) * self.groups + group(dst)];
        self.access[src.index()] + between + self.access[dst.index()]
    }
}

/// Base RTT (ps) and window (bytes; `u64::MAX`: unlimited) of a pair of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GivenPath {
    /// Base RTT (ps).
    pub base_rtt: u64,
    /// Window in bytes.
    pub window: u64,
}

/// Those of pairs of hosts, by sender and receiver.
pub type GivenPaths = FxHashMap<(HostId, HostId), GivenPath>;

/// All distinct path constants of a partition's hosts.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// First one entry per NIC, with the base RTT of the network, then those of pairs.
    all: Vec<Path>,
    /// Indices of those of pairs, by line rate, base RTT and window.
    of_pairs: FxHashMap<(u64, GivenPath), u32>,
}

impl std::ops::Index<u32> for Paths {
    type Output = Path;

    #[inline(always)]
    fn index(&self, number: u32) -> &Path {
        &self.all[number as usize]
    }
}

impl Paths {
    /// Adds the path constants of the last added NIC.
    pub(super) fn add(&mut self, setup: &HostSetup, line_rate: u64) {
        self.all.push(path(setup, line_rate, setup.base_rtt));
    }

    /// Index of the path constants with this base RTT and window from the same NIC.
    fn of_pair(&mut self, nic: u32, given: GivenPath) -> u32 {
        let own = self[nic];
        *self.of_pairs.entry((own.line_rate, given)).or_insert_with(|| {
            let GivenPath { base_rtt, window } = given;
            let bdp = BitRate(own.line_rate).bytes_in(Ps(base_rtt)).0;
            self.all.push(Path { base_rtt, bdp, window, ..own });
            self.all.len() as u32 - 1
        })
    }
}

fn path(setup: &HostSetup, line_rate: u64, base_rtt: u64) -> Path {
    let transport = &setup.transport;
    Path {
        line_rate,
        base_rtt,
        bdp: BitRate(line_rate).bytes_in(Ps(base_rtt)).0,
        window: window(setup, line_rate, base_rtt),
        window_follows_rate: transport.window_follows_rate,
        narrow_int: setup.literal,
        payload: setup.frame.payload.0,
        full_packet: setup.frame.payload.0 + u64::from(setup.overhead()),
    }
}

fn window(setup: &HostSetup, line_rate: u64, base_rtt: u64) -> u64 {
    match setup.transport.window {
        Window::Bdp => BitRate(line_rate).bytes_in(Ps(base_rtt)).0,
        Window::Fixed => setup.transport.window_size.0,
        Window::Unlimited => u64::MAX,
    }
}

impl Hosts {
    /// Index of a new flow's path constants.
    #[inline]
    pub(super) fn path_to(&mut self, nic: u32, src: HostId, dst: HostId) -> u32 {
        let given = match (&self.setup.base_rtts, &self.setup.given_paths) {
            (None, None) => return nic,
            (_, Some(paths)) => match paths.get(&(src, dst)) {
                Some(&path) => path,
                None => return nic,
            },
            (Some(rtts), None) => {
                let base_rtt = rtts.of(src, dst);
                let window = window(&self.setup, self.paths[nic].line_rate, base_rtt);
                GivenPath { base_rtt, window }
            }
        };
        self.paths.of_pair(nic, given)
    }
}
