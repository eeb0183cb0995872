//! Traffic: the start, the hosts and the size of every flow.
//!
//! Traffic is a function of the seed and the workload alone, never of the scheme under test. Two
//! schemes with the same seed see the same flows at the same instants, and a flow has the same id
//! in both. Nothing here depends on the state of the network, so arrivals can be made ahead of the
//! simulation, one span of time after the other ([`Traffic::take_before`]).
//!
//! Flows may also wait for others ([`After`]). A source makes them ahead of time; the network
//! decides only when, and if, they start. All flows of a web request have the start of the first
//! one, so no other flow comes between them in the merge. The difference of two ids is therefore
//! their distance in the sequence.
//!
//! Each [`Source`] draws from its own random stream, named by its index among the sources. A source
//! added at the end leaves the flows of the others unchanged.

mod bursts;
mod candidates;
mod chakra;
mod checks;
pub mod collective;
pub mod connections;
pub mod crowd;
mod csv;
mod dag;
mod dependent;
pub mod elephants;
pub mod fuzz;
mod fuzz_network;
mod goal;
pub mod host_set;
mod in_order;
pub mod incast;
pub mod list;
pub mod locality;
pub mod long_lived;
mod mix;
pub mod open_loop;
pub mod permutation;
mod pipeline;
mod priority;
pub mod queries;
pub(crate) mod ranks;
pub mod sizes;
pub mod staggered;
pub mod successive;
pub mod tables;
mod traffic;

pub use chakra::ChakraConfig;
pub use collective::CollectiveConfig;
pub use connections::{ConnectionMatrix, ConnectionsConfig};
pub use crowd::Crowd;
pub use csv::TableError;
pub use dependent::DependentConfig;
pub use elephants::{Elephants, ElephantsConfig};
pub use goal::GoalConfig;
pub use incast::{EventArrivals, Incast, IncastConfig};
pub use list::{FlowList, ListConfig};
pub use locality::{Locality, Racks};
pub use long_lived::{LongLived, LongLivedConfig};
pub use mix::{Frequency, Mix};
pub use open_loop::{Arrivals, LoadOn, OpenLoop, OpenLoopConfig};
pub use permutation::{Permutation, PermutationConfig};
pub use pipeline::{PipelineConfig, PipelineSchedule};
pub use priority::{DscpMap, Priority};
pub use queries::{Queries, QueriesConfig, Workflow};
pub use ranks::Placement;
pub use sizes::{Reading, SizeTable};
pub use staggered::{Staggered, StaggeredConfig, StopOrder};
pub use successive::{Successive, SuccessiveConfig};
pub use traffic::Traffic;
pub use xoff_core::knobs::CLASSES;

use std::sync::Arc;

use xoff_core::program::Job;
use xoff_core::{BitRate, Files, HostId, Ps};

xoff_core::seam! {
    /// Kinds of traffic.
    pub enum TrafficConfig: dyn TrafficSettings, named by TrafficKind {
        /// Flows that arrive at random.
        OpenLoop(OpenLoopConfig) = "open-loop",
        /// Many senders to one receiver at a time.
        Incast(IncastConfig) = "incast",
        /// Web requests.
        Queries(QueriesConfig) = "queries",
        /// Hosts that always send.
        Successive(SuccessiveConfig) = "successive",
        /// Flows between two hosts.
        Long(LongLivedConfig) = "long",
        /// Flows without end between two sets of hosts.
        Elephants(ElephantsConfig) = "elephants",
        /// One flow from every host, and one to every host.
        Permutation(PermutationConfig) = "permutation",
        /// Flows that start one after another and stop one after another.
        Staggered(StaggeredConfig) = "staggered",
        /// Flows listed in a file.
        List(ListConfig) = "list",
        /// Flows of a connection matrix of htsim.
        Connections(ConnectionsConfig) = "connections",
        /// Collective operations of training jobs.
        Collective(CollectiveConfig) = "collective",
        /// A training job with pipeline parallelism.
        Pipeline(PipelineConfig) = "pipeline",
        /// Operations of ranks in a GOAL schedule.
        Goal(GoalConfig) = "goal",
        /// Operations of ranks in a Chakra execution trace.
        Chakra(ChakraConfig) = "chakra",
        /// Flows listed in a file that wait for others.
        Dependent(DependentConfig) = "dependent",
    }
}

/// The settings of a source.
pub trait TrafficSettings {
    /// The name of its flows in the results.
    fn class(&self) -> &str;

    /// Makes the source.
    ///
    /// # Errors
    /// Settings that are wrong or that do not fit the network.
    fn offer(&self, context: &Context<'_>) -> Result<Offer, String>;

    /// Whether flows wait for others ([`After`]).
    fn waits(&self) -> bool {
        false
    }

    /// Whether senders stop before they have sent all of a flow.
    fn stops(&self) -> bool {
        false
    }

    /// Whether flows have no size, so that they do not end.
    fn is_endless(&self) -> bool {
        false
    }

    /// Whether senders label packets as part of an incast.
    fn is_labelled(&self) -> bool {
        false
    }

    /// Whether hosts always have bytes to send, at any offered load.
    fn fills(&self) -> bool {
        false
    }

    /// Whether all links carry the same load, so that not all flows cross the core.
    fn balances(&self) -> bool {
        false
    }
}

/// The network and the run of a source.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The rates of the network's links.
    pub capacity: &'a Capacity,
    /// The run's seed.
    pub seed: u64,
    /// The index of the source among all sources.
    pub source: u16,
    /// Files of the scenario.
    pub files: &'a dyn Files,
    /// Why no queue distinguishes traffic classes, if that is the case.
    pub one_class: Option<&'a str>,
}

impl Context<'_> {
    /// The number of hosts.
    #[must_use]
    pub fn hosts(&self) -> u32 {
        self.capacity.host_count()
    }
}

/// A source, with its flows as far as they are known before the run.
pub struct Offer {
    /// The source.
    pub source: Box<dyn Source + Send>,
    /// The number of flows.
    pub crowd: Crowd,
    /// The number of flows of each size; empty if they do not end, `None` if it is not known.
    pub sizes: Option<Mix>,
    /// The mean payload of a continuous load (bit/s).
    pub bits_per_second: f64,
    /// True if it gives the path of each flow.
    pub paths: bool,
    /// True if flows wait for triggers, which have an effect at hosts anywhere at once.
    pub triggers: bool,
    /// The job, if hosts run programs.
    pub job: Option<Arc<dyn Job>>,
    /// Values derived from the settings, by name.
    pub derived: Vec<(&'static str, String)>,
}

impl Offer {
    /// A source of some flows without an offered load and without known sizes.
    pub fn new(source: impl Source + Send + 'static, crowd: Crowd) -> Self {
        let source = Box::new(source);
        let (paths, triggers) = (false, false);
        let (sizes, bits_per_second, job, derived) = (None, 0.0, None, Vec::new());
        Self { source, crowd, sizes, bits_per_second, paths, triggers, job, derived }
    }
}

/// The source of a job: its hosts make the flows.
struct NoFlows;

impl Source for NoFlows {
    fn next(&mut self) -> Option<Arrival> {
        None
    }
}

/// The size of a flow that never ends. Half the range, so that sums with a flow's size do not
/// overflow; at 1 Tbps it lasts longer than [`Ps::NEVER`].
pub const ENDLESS: u64 = u64::MAX / 2;

/// The event for which a flow waits. At most one flow waits for another, but any number for a
/// trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// A flow of its source has arrived whole at its receiver, which is this flow's sender.
    Arrival {
        /// The distance back to that flow, from 1.
        back: u32,
    },
    /// The flow before it in its chain has ended at its sender, which is also this flow's sender.
    End {
        /// This flow does not start at this time or later, nor do flows that wait for it.
        until: Ps,
    },
    /// A trigger of its source has been activated ([`Role::Activates`]).
    Trigger {
        /// Its number.
        trigger: u32,
        /// The number of activations by which this flow starts.
        activations: u32,
    },
}

/// The meaning of a flow to an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The flow is independent.
    Alone,
    /// The first half of a query. It requests the response, which is the next flow of its source.
    Request {
        /// The number of queries in its web request, if this is the first of them; otherwise 0.
        first_of: u32,
    },
    /// The second half of a query.
    Response,
    /// One of several that its sender sends one after another.
    Successive {
        /// Its chain among those of its source.
        chain: u32,
    },
    /// It activates triggers of its source.
    Activates {
        /// At its sender, when all bytes are acknowledged; 0: none.
        sent: u32,
        /// At its receiver, when all bytes have arrived; 0: none.
        received: u32,
    },
}

/// One flow that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time at which the flow's first byte is ready. A flow that waits for another one starts
    /// later.
    pub start: Ps,
    /// The sending host.
    pub src: HostId,
    /// The receiving host, never `src`.
    pub dst: HostId,
    /// The payload in bytes, from 1 to [`ENDLESS`].
    pub bytes: u64,
    /// Time at which the sender stops, even if it has not sent all bytes. Bytes sent by then are
    /// delivered, and the flow ends. [`Ps::NEVER`]: it sends all.
    pub stop: Ps,
    /// The index of the source that made the flow.
    pub source: u16,
    /// The priority (traffic class) of the flow's packets.
    pub priority: u8,
    /// The event for which it waits; `None`: it starts at `start`.
    pub after: Option<After>,
    /// Its meaning to an application.
    pub role: Role,
    /// The numbers of the equal-cost ports that its packets and their acknowledgements take, if its
    /// source gives them.
    pub paths: Option<(u8, u8)>,
}

impl Arrival {
    /// An independent flow of priority 0 that sends all of its bytes.
    #[must_use]
    pub fn new(start: Ps, src: HostId, dst: HostId, bytes: u64, source: u16) -> Self {
        let (stop, after, role) = (Ps::NEVER, None, Role::Alone);
        Self { start, src, dst, bytes, stop, source, priority: 0, after, role, paths: None }
    }
}

/// The capacity of the network, to which an offered load refers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// The sum of the core links' rates in one direction.
    pub core: BitRate,
    /// The sum of the rates of every host's links in one direction, by host. If hosts are GPUs, the
    /// links inside their servers do not count.
    pub host_rates: Vec<BitRate>,
    /// The rate of the fastest link of every host, those inside servers included.
    pub line_rates: Vec<BitRate>,
    /// The racks, if the network is a fabric of two layers with equal racks.
    pub racks: Option<Racks>,
    /// Which hosts are near each other.
    pub grouping: Grouping,
}

/// Which hosts are near each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// The switch of each host's first link: its rack, or its rail if hosts are GPUs.
    pub leaves: Vec<u32>,
    /// The number of successive hosts that are the GPUs of a server, if hosts are GPUs.
    pub in_server: Option<u32>,
}

impl Capacity {
    /// The capacity of a network without racks, whose hosts have one link each.
    #[must_use]
    pub fn new(core: BitRate, host_rates: Vec<BitRate>) -> Self {
        let line_rates = host_rates.clone();
        Self { core, host_rates, line_rates, racks: None, grouping: Grouping::default() }
    }

    /// The number of hosts.
    #[must_use]
    pub fn host_count(&self) -> u32 {
        self.host_rates.len() as u32
    }

    /// The sum of the host links' rates in one direction.
    #[must_use]
    pub fn hosts(&self) -> BitRate {
        BitRate::total(self.host_rates.iter().copied())
    }

    /// The sum of the rates of the links of `hosts` in one direction.
    ///
    /// # Panics
    /// If one of the hosts does not exist.
    #[must_use]
    pub fn hosts_in(&self, hosts: &[HostId]) -> BitRate {
        BitRate::total(hosts.iter().map(|&host| self.host_rates[host.index()]))
    }
}

/// A generator of flows, lazily and in the order of their starts.
pub trait Source {
    /// The next flow, or `None` when there are no more. Start times never decrease.
    fn next(&mut self) -> Option<Arrival>;
}
