//! What to simulate, complete and checked: nothing here has a default.

mod headroom;
mod links;

use std::sync::Arc;

use xoff_core::rng::{Purpose, Rng};
use xoff_core::{NodeId, PortId};
use xoff_host::TransportConfig;
use xoff_host::hosts::HostSetup;
use xoff_net::arch::ArchitectureConfig;
use xoff_net::balance::{BalanceConfig, Ecmp, Hashed};
use xoff_net::buffer::BufferConfig;
use xoff_net::credit::CreditShape;
use xoff_net::fabric::{Instants, Rounding};
use xoff_net::hop::HopConfig;
use xoff_net::mark::EcnConfig;
use xoff_net::sched::{QueueMask, SchedulerConfig};
use xoff_net::topo::{Routes, Topology, Turns};
use xoff_net::trim::OverflowConfig;

pub use links::{base_rtt, base_rtts, path};

use crate::faults::Fault;
use crate::flowtune::FlowtuneSetup;
use crate::paths::Paths;

/// ECN thresholds by link rate.
#[derive(Clone, Debug)]
pub enum EcnSetup {
    /// No marking.
    None,
    /// The same at every port.
    Uniform(EcnConfig),
    /// By the port's rate (bit/s), marked at dequeue.
    ByRate(Vec<(u64, EcnConfig)>),
}

/// Where switches draw their random marks from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkDraws {
    /// Each from a stream of its own.
    Own,
    /// Each draw is the first number of a new MRG32k3a stream (seed 1, run 1), counted over all
    /// switches from this one on: what the HPCC simulator does. For an uncut network only.
    FirstOfStreams(u64),
}

/// Links that lose packets on arrival, as in ns-3: all draw from one MRG32k3a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiveErrors {
    /// Share of the packets that are lost.
    pub share: f64,
    /// Both ends of the links.
    pub ports: Vec<PortId>,
    /// Stream of the generator (seed 1, run 1).
    pub stream: u64,
}

/// Where flows' 5-tuples come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Labels {
    /// A hash of the run's seed and the flow's number.
    Hashed,
    /// A hash of the run's seed and the two hosts: all flows from one to another share a
    /// connection.
    Connections,
    /// As in the HPCC simulator: source ports count up from 10 000 for each pair of hosts. These
    /// are the flows' destination ports.
    Pairs(Arc<[u16]>),
}

/// Every switch.
#[derive(Clone, Debug)]
pub struct SwitchSetup {
    /// How packets cross it.
    pub architecture: ArchitectureConfig,
    /// Which of several equal ports a packet takes.
    pub balance: BalanceConfig,
    /// Scheduler of every egress port, with derived settings.
    pub scheduler: SchedulerConfig,
    /// Bytes that a turn of round robin allows.
    pub quantum_bytes: u32,
    /// Packet memory.
    pub buffer: BufferConfig,
    /// Packets stay in their queues until they have been sent.
    pub keeps: bool,
    /// What happens to a packet whose queue is full, with derived settings.
    pub overflow: OverflowConfig,
    /// How ports shape credits, if receivers send credits.
    pub credits: Option<CreditShape>,
    /// Hop control, with derived settings.
    pub hop: HopConfig,
    /// Pairs of ports without backpressure, if there are any.
    pub elided: Option<Arc<Turns>>,
    /// ECN marking.
    pub ecn: EcnSetup,
    /// Source of random marks.
    pub mark_draws: MarkDraws,
    /// Share of link-control frames lost on purpose.
    pub control_loss: f64,
    /// Seed the load balancer's hash with the switch's number alone, as the HPCC simulator does.
    pub hash_by_node: bool,
    /// The rate of NICs by which thresholds of pauses follow that of a port (bit/s), if it is not
    /// the highest of all hosts.
    pub nic_rate: Option<u64>,
    /// Both directions of a flow take one path.
    pub symmetric_ecmp: bool,
}

/// A network with its traffic-independent settings.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Nodes and links.
    pub topology: Arc<Topology>,
    /// Shortest paths.
    pub routes: Arc<Routes>,
    /// Every switch.
    pub switch: SwitchSetup,
    /// Every host.
    pub hosts: HostSetup,
    /// How serialisation times are rounded.
    pub rounding: Rounding,
    /// In which order the events of one instant happen.
    pub instants: Instants,
    /// Where flows' 5-tuples come from.
    pub labels: Labels,
    /// The allocators that run it, if there are any.
    pub flowtune: Option<FlowtuneSetup>,
    /// Seed of the run.
    pub seed: u64,
    /// Faults of links, while none of which hosts are cut off.
    pub faults: Vec<Fault>,
    /// Links that lose packets on arrival, in an uncut network with events in the order of setting.
    pub receive_errors: Vec<ReceiveErrors>,
}

impl Setup {
    /// Whether events or draws have one order over all switches: such a network cannot be cut.
    pub(crate) fn is_in_one_order(&self) -> bool {
        self.instants == Instants::AsSet || self.switch.mark_draws != MarkDraws::Own
    }

    /// What says which path a flow takes.
    #[must_use]
    pub fn paths(&self) -> Paths {
        let switches = self.topology.switch_ids();
        Paths::new(switches.map(|node| self.ecmp(node)).collect(), self.host_hash())
    }

    /// How a switch hashes. Where both directions of a flow are to take one path, switches of a
    /// layer make the same choice: up from either end by the same hash. The top layer goes down
    /// only, and where links are parallel, by the one that the layer below would take up.
    pub(crate) fn ecmp(&self, node: NodeId) -> Ecmp {
        if self.switch.balance.takes_given_paths() {
            return Ecmp { seed: 0, hashed: Hashed::Given };
        }
        if !self.switch.symmetric_ecmp {
            return Ecmp { seed: self.hash_seed(node), hashed: self.hashed() };
        }
        let top = self.topology.top_tier();
        let tier = self.topology.tier(node).min(top.saturating_sub(1));
        // No node has such a number.
        let layer = u64::MAX - u64::from(tier);
        let seed = Rng::stream(self.seed, Purpose::Balancing, layer).u64() as u32;
        Ecmp { seed, hashed: Hashed::BothWays }
    }

    /// What is hashed where the two directions of a flow may take different paths.
    fn hashed(&self) -> Hashed {
        let numbers = self.topology.given_numbers();
        numbers.map_or(Hashed::OneWay, |numbers| Hashed::Numbered(Arc::clone(numbers)))
    }

    /// How hosts with several links hash flows to them. In the HPCC simulator that is ns-3's hash,
    /// whose seed is a constant.
    pub(crate) fn host_hash(&self) -> Ecmp {
        const NS3_SEED: u32 = 0x8bad_f00d;
        // No node has such a number.
        let own = || Rng::stream(self.seed, Purpose::Balancing, u64::MAX / 2).u64() as u32;
        let seed = if self.switch.hash_by_node { NS3_SEED } else { own() };
        Ecmp { seed, hashed: self.hashed() }
    }

    /// The seed of a switch's hash. Attached hosts move the numbers of switches, but not their
    /// seeds: flows take the same paths with them as without.
    fn hash_seed(&self, node: NodeId) -> u32 {
        if self.switch.hash_by_node {
            return self.topology.given_number(node);
        }
        self.stream(Purpose::Balancing, node).u64() as u32
    }

    /// A switch's random stream, which attached hosts do not change either.
    pub(crate) fn stream(&self, purpose: Purpose, node: NodeId) -> Rng {
        Rng::stream(self.seed, purpose, u64::from(node.0 - self.topology.attached))
    }

    /// Sets of switch queues whose delays are told apart, with their names; the first one has all.
    #[must_use]
    pub fn queue_groups(&self) -> Vec<(&'static str, QueueMask)> {
        let mut groups = vec![("all", QueueMask::MAX)];
        if let Some((_, levels)) = self.hosts.driver.levels() {
            let unscheduled = (1 << levels.unscheduled()) - 1;
            groups.extend([("unscheduled", unscheduled), ("scheduled", !unscheduled)]);
        }
        groups
    }

    /// The transport's settings.
    #[must_use]
    pub fn transport(&self) -> &TransportConfig {
        &self.hosts.transport
    }
}
