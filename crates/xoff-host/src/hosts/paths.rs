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

/// All distinct path constants of a partition's hosts.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// First one entry per NIC, with the base RTT of the network, then those of pairs.
    all: Vec<Path>,
    /// Indices of those of pairs, by line rate and base RTT.
    of_pairs: FxHashMap<(u64, u64), u32>,
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

    /// Index of the path constants with this base RTT from the same NIC.
    fn with_base_rtt(&mut self, setup: &HostSetup, nic: u32, base_rtt: u64) -> u32 {
        let line_rate = self[nic].line_rate;
        *self.of_pairs.entry((line_rate, base_rtt)).or_insert_with(|| {
            self.all.push(path(setup, line_rate, base_rtt));
            self.all.len() as u32 - 1
        })
    }
}

fn path(setup: &HostSetup, line_rate: u64, base_rtt: u64) -> Path {
    let transport = &setup.transport;
    let bdp = BitRate(line_rate).bytes_in(Ps(base_rtt)).0;
    Path {
        line_rate,
        base_rtt,
        bdp,
        window: match transport.window {
            Window::Bdp => bdp,
            Window::Fixed => transport.window_size.0,
            Window::Unlimited => u64::MAX,
        },
        window_follows_rate: transport.window_follows_rate,
        narrow_int: setup.literal,
        payload: setup.frame.payload.0,
        full_packet: setup.frame.payload.0 + u64::from(setup.overhead()),
    }
}

impl Hosts {
    /// Index of a new flow's path constants.
    #[inline]
    pub(super) fn path_to(&mut self, nic: u32, src: HostId, dst: HostId) -> u32 {
        match &self.setup.base_rtts {
            None => nic,
            Some(rtts) => self.paths.with_base_rtt(&self.setup, nic, rtts.of(src, dst)),
        }
    }
}
