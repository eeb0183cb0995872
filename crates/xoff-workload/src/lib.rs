//! Traffic: which flows start when, between which hosts, and how long they are.
//!
//! Traffic is a function of the seed and the workload alone, never of the scheme under test: two
//! schemes compared with one seed see the same flows at the same instants, and a flow has the same
//! id in both. Nothing here looks at the network, so arrivals can be made ahead of the simulation,
//! a stretch of time at a go ([`Traffic::take_before`]).
//!
//! Flows may also wait for others ([`After`]): a source makes them ahead of time, and what the network
//! does decides only when, and if, they begin. All flows of a web request have the start of the first
//! one, so nothing comes between them in the merge, and an id less another says how far one stands
//! behind the other.
//!
//! Each [`Source`] draws from a random stream of its own, named by its index among the sources:
//! adding a source at the end leaves the flows of the others as they were.

mod bursts;
mod checks;
pub mod crowd;
mod csv;
pub mod elephants;
mod files;
pub mod host_set;
pub mod incast;
pub mod list;
pub mod locality;
pub mod long_lived;
mod mix;
pub mod open_loop;
pub mod permutation;
pub mod queries;
pub mod sizes;
pub mod staggered;
pub mod successive;
pub mod tables;
mod traffic;

pub use crowd::Crowd;
pub use csv::TableError;
pub use elephants::{Elephants, ElephantsConfig};
pub use files::Files;
pub use incast::{EventArrivals, Incast, IncastConfig};
pub use list::{FlowList, ListConfig};
pub use locality::{Locality, Racks};
pub use long_lived::{LongLived, LongLivedConfig};
pub use mix::{Frequency, Mix};
pub use open_loop::{Arrivals, LoadOn, OpenLoop, OpenLoopConfig};
pub use permutation::{Permutation, PermutationConfig};
pub use queries::{Queries, QueriesConfig, Workflow};
pub use sizes::{Reading, SizeTable};
pub use staggered::{Staggered, StaggeredConfig, StopOrder};
pub use successive::{Successive, SuccessiveConfig};
pub use traffic::Traffic;

use xoff_core::knobs::Capability;
use xoff_core::{BitRate, Ps};

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
    }
}

/// Traffic classes have queues of their own somewhere in the network.
pub const CLASSES: Capability = Capability("no queue tells traffic classes apart");

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

    /// Whether flows have no size: they do not end.
    fn is_endless(&self) -> bool {
        false
    }

    /// Whether senders label packets as those of an incast.
    fn is_labelled(&self) -> bool {
        false
    }

    /// Whether hosts always have something to send, whatever the offered load is.
    fn fills(&self) -> bool {
        false
    }

    /// Whether all links carry the same load, so that not all flows cross the core.
    fn balances(&self) -> bool {
        false
    }
}

/// The network and the run that a source is made for.
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
}

impl Context<'_> {
    /// How many hosts there are.
    #[must_use]
    pub fn hosts(&self) -> u32 {
        self.capacity.host_count()
    }
}

/// A source, and its flows as far as they are known before the run.
pub struct Offer {
    /// The source.
    pub source: Box<dyn Source + Send>,
    /// How many flows there will be.
    pub crowd: Crowd,
    /// How many flows of which size; empty if they do not end, `None` if that is not known.
    pub sizes: Option<Mix>,
    /// The mean payload of flows that keep coming (bit/s).
    pub bits_per_second: f64,
    /// Values that follow from the settings, by name.
    pub derived: Vec<(&'static str, String)>,
}

impl Offer {
    /// A source of some flows without an offered load, whose sizes are not known.
    pub fn new(source: impl Source + Send + 'static, crowd: Crowd) -> Self {
        let source = Box::new(source);
        Self { source, crowd, sizes: None, bits_per_second: 0.0, derived: Vec::new() }
    }
}

/// The size of a flow that never ends. Half the range, so that sums with a flow's size do not
/// overflow; at 1 Tbps it lasts longer than [`Ps::NEVER`].
pub const ENDLESS: u64 = u64::MAX / 2;

/// What a flow waits for. At most one flow waits for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// A flow of its source has arrived whole at its receiver, which is this flow's sender.
    Arrival {
        /// How many places before this one that flow stands, from 1.
        back: u32,
    },
    /// The flow before it in its chain has ended at its sender, which is this flow's too.
    End {
        /// This flow does not begin at this time or later, nor do those that wait for it.
        until: Ps,
    },
}

/// What a flow is to an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// All there is.
    Alone,
    /// Half a query: it asks for the response that is the next flow of its source.
    Request {
        /// How many queries its web request has, if this is the first of them; otherwise 0.
        first_of: u32,
    },
    /// The other half.
    Response,
    /// One of several that its sender sends one after another.
    Successive {
        /// Which of its source's chains it belongs to.
        chain: u32,
    },
}

/// One flow that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When the flow's first byte is ready to be sent. A flow that waits for another one begins later
    /// than this.
    pub start: Ps,
    /// The sending host, counted from 0.
    pub src: u32,
    /// The receiving host, never `src`.
    pub dst: u32,
    /// The payload in bytes, from 1 to [`ENDLESS`].
    pub bytes: u64,
    /// When the sender stops, even if it has not sent all of that: what it has sent by then is
    /// delivered, and the flow ends. [`Ps::NEVER`]: it sends all.
    pub stop: Ps,
    /// The index of the source that made the flow.
    pub source: u16,
    /// The priority (traffic class) of the flow's packets.
    pub priority: u8,
    /// What it waits for; `None`: it begins at its start.
    pub after: Option<After>,
    /// What it is to an application.
    pub role: Role,
}

impl Arrival {
    /// A flow by itself, of priority 0, that sends all of its bytes.
    #[must_use]
    pub fn new(start: Ps, src: u32, dst: u32, bytes: u64, source: u16) -> Self {
        let (stop, after, role) = (Ps::NEVER, None, Role::Alone);
        Self { start, src, dst, bytes, stop, source, priority: 0, after, role }
    }
}

/// What the network can carry, the yardstick of an offered load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// The core links' rates in one direction, added up.
    pub core: BitRate,
    /// The rate of every host's link in one direction, by host: as many as there are hosts.
    pub host_rates: Vec<BitRate>,
    /// The racks, where the network is a fabric of two layers in which all are alike.
    pub racks: Option<Racks>,
}

impl Capacity {
    /// How many hosts there are.
    #[must_use]
    pub fn host_count(&self) -> u32 {
        self.host_rates.len() as u32
    }

    /// The host links' rates in one direction, added up.
    #[must_use]
    pub fn hosts(&self) -> BitRate {
        total(self.host_rates.iter().copied())
    }

    /// The rates of the links of `hosts` in one direction, added up.
    ///
    /// # Panics
    /// If one of the hosts does not exist.
    #[must_use]
    pub fn hosts_in(&self, hosts: &[u32]) -> BitRate {
        total(hosts.iter().map(|&host| self.host_rates[host as usize]))
    }
}

fn total(rates: impl Iterator<Item = BitRate>) -> BitRate {
    BitRate(rates.fold(0, |sum, BitRate(rate)| sum.saturating_add(rate)))
}

/// Something that makes flows, lazily and in the order of their starts.
pub trait Source {
    /// The next flow, or `None` when there are no more. Start times never decrease.
    fn next(&mut self) -> Option<Arrival>;
}
