//! Load balancing among equal-cost ports: the choice of a packet's port.
//!
//! Each load balancer has a file with its settings, their properties ([`BalanceSettings`]) and its
//! choice. The hash of the flow chooses unless the settings make a [`Balancer`] for each switch.

mod adaptive;
mod conga;
mod ecmp;
mod flowlets;
mod given;
mod letflow;
mod spray;
pub(crate) mod wcmp;

use xoff_core::Rng;
use xoff_core::knobs::Checked;
use xoff_core::seam::{Need, need};

use crate::destination::Destination;
use crate::packet::Packet;

pub use adaptive::{Adaptive, AlbConfig};
pub use conga::{Conga, CongaSettings};
pub use ecmp::{Ecmp, EcmpConfig, Hashed};
pub use flowlets::FlowletConfig;
pub use given::{GivenConfig, label};
pub use letflow::{LetFlow, LetFlowConfig};
pub use spray::{Spray, SprayConfig, SprayOrder};
pub use wcmp::WcmpConfig;

/// The part of the traffic that takes one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathPer {
    /// A flow keeps its path.
    Flow,
    /// A flow may change its path after a gap. Its packets rarely overtake each other.
    Flowlet,
    /// The packets of a flow take several paths and so arrive out of order.
    Packet,
}

/// The interface of a load balancer's settings.
pub trait BalanceSettings {
    /// Checks the settings on their own.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check(&self) -> Checked {
        Ok(())
    }

    /// Values that it needs in other settings.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// The settings of its flowlets, if it moves flowlets.
    fn flowlets(&self) -> Option<&FlowletConfig> {
        None
    }

    /// True if it works only between leaves, which have hosts, and spines, which have none.
    fn needs_leaf_spine(&self) -> bool {
        false
    }

    /// Checks the most links of a leaf to spines.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check_uplinks(&self, _most: usize) -> Checked {
        Ok(())
    }

    /// What takes a path of its own.
    fn path_per(&self) -> PathPer;

    /// True if a hash of the 5-tuple chooses.
    fn hashes(&self) -> bool {
        false
    }

    /// True if the source of a flow names its path.
    fn takes_given_paths(&self) -> bool {
        false
    }

    /// Its thresholds, if it follows the load of egress ports.
    fn adaptive(&self) -> Option<&AlbConfig> {
        None
    }

    /// The most table entries of a route, if its ports have weights.
    fn weighted(&self) -> Option<u32> {
        None
    }

    /// Its part at an output-queued switch, if the hash of the flow does not choose there.
    fn balancer(&self, _place: Place) -> Option<AnyBalancer> {
        None
    }
}

/// A switch, as its load balancer sees it.
#[derive(Debug)]
pub struct Place {
    /// The number of groups of destinations: the hosts of one switch each.
    pub groups: usize,
    /// The group of the hosts on this switch, if it has any.
    pub own: Option<u32>,
    /// The rate of each port (bit/s).
    pub rates: Vec<u64>,
    /// The ports that face other switches, in order.
    pub trunks: Vec<u16>,
    /// Its random stream.
    pub rng: Rng,
}

/// A packet that has arrived and needs a port.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The time (ps).
    pub now: u64,
    /// The packet's place in the pool.
    pub id: u32,
    /// The packet. Its `ingress` is that of the link: see [`Packet::ingress`].
    pub packet: &'a Packet,
    /// The port at which it has arrived.
    pub ingress: u16,
    /// The group of its receiver.
    pub to: u32,
    /// The equal-cost ports; none if the receiver is on this switch.
    pub ports: &'a [u16],
    /// The place of each host.
    pub hosts: &'a [Destination],
}

impl Arrival<'_> {
    /// The group of the packet's sender.
    fn sender_group(&self) -> u32 {
        self.hosts[self.packet.src as usize].group
    }

    /// The index of a port among the equal-cost ports, if it is one of them.
    fn choice_of(&self, port: u16) -> Option<u32> {
        self.ports.iter().position(|&other| other == port).map(|index| index as u32)
    }
}

/// A load balancer that does more at a switch than hash.
pub trait Balancer {
    /// The index of a packet's port among the equal-cost ones; `None` if the hash of the flow
    /// decides. It sees packets to hosts of its switch as well, and ignores its answer for them.
    fn choose(&mut self, arrival: &Arrival<'_>) -> Option<u32>;

    /// Whether it sees packets when their transmission starts.
    fn follows_departures(&self) -> bool {
        false
    }

    /// A packet's transmission starts on a port.
    fn on_departure(&mut self, _now: u64, _port: u16, _id: u32, _packet: &mut Packet) {}

    /// A port sends at `rate` (bit/s) from now on.
    fn on_rate(&mut self, _port: u16, _rate: u64) {}
}

xoff_core::dispatch! {
    /// One of the load balancers that do more at a switch than hash.
    #[derive(Debug)]
    pub enum AnyBalancer in crate::balance, each by each_balancer {
        /// Packet spraying.
        Spray(Spray),
        /// LetFlow.
        LetFlow(LetFlow),
        /// CONGA.
        Conga(Box<Conga>),
    }
}

pub(crate) use each_balancer;

/// The values that load balancers with several paths for a flow need in other settings.
fn needs_of_several_paths() -> Vec<Need> {
    vec![
        need(("switch", "architecture"), &["output-queued"], "others have balance = \"adaptive\""),
        need(("transport", "flow_control"), &["none"], "it would follow the delay of one path"),
        need(("transport", "allocator"), &["none"], "it computes a single path for each flow"),
    ]
}

xoff_core::seam! {
    /// Load balancers: the choice of a packet's port among equal-cost ports.
    pub enum BalanceConfig: dyn BalanceSettings, named by BalanceKind {
        /// The port selected by the hash of the flow.
        Ecmp(EcmpConfig) = "ecmp",
        /// The same, where ports get shares of the flows by the capacity of the paths that they
        /// lead to, section `wcmp`.
        Wcmp(WcmpConfig) = "wcmp",
        /// The port that the traffic source names for the flow: column data_path or ack_path of its
        /// list.
        Given(GivenConfig) = "given",
        /// A lightly loaded port, section `alb`.
        Adaptive(AlbConfig) = "adaptive",
        /// A new port for each packet, section `spray`.
        Spray(SprayConfig) = "spray",
        /// A random port for each flowlet, section `flowlets`.
        LetFlow(LetFlowConfig) = "letflow",
        /// The uplink with the least congested path for each flowlet, in leaf-spine networks,
        /// sections `conga` and `flowlets`.
        Conga(CongaSettings) = "conga",
    }
}

/// The address of a host on the wire, for hashing: 11.x.y.1 with the host's number in x.y, as in
/// the HPCC simulator's files.
#[inline]
#[must_use]
pub fn address(host: u32) -> u32 {
    0x0b00_0001 + ((host >> 8) << 16) + ((host & 0xff) << 8)
}

/// MurmurHash3 (x86, 32 bits; public domain, A. Appleby) of three words.
#[inline]
#[must_use]
pub fn murmur3(words: [u32; 3], seed: u32) -> u32 {
    let mut hash = seed;
    for word in words {
        let mixed = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        hash = (hash ^ mixed).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= 12;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}
