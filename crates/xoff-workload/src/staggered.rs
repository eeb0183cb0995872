//! Flows that start one after another and then stop one after another.

use xoff_core::knobs::Effect;
use xoff_core::{Bytes, HostId, Ps};

use crate::{
    Arrival, CLASSES, Context, Crowd, ENDLESS, Mix, Offer, Priority, Source, TrafficSettings,
    checks, host_set,
};

xoff_core::choices! {
    /// The order of stops.
    pub enum StopOrder {
        /// The first flow to start is the first to stop.
        First = "first",
        /// The last flow to start is the first to stop.
        Last = "last",
    }
}

xoff_core::knobs! {
    /// Staggered flows: every `interval` one of the senders starts a flow to the receiver. When all
    /// have started, one of them stops every `interval` (Flowtune 5.3.1). Bytes sent before the
    /// stop are delivered. These flows have no row and no slowdown, because their duration is set.
    pub struct StaggeredConfig in "staggered" {
        /// The hosts that send, in the order of their numbers: numbers and ranges such as
        /// 0-3,7,9-12.
        senders: String = "1-5".to_owned(),
        /// The receiving host.
        receiver: u32 = 0,
        /// Time from one start, or stop, to the next (Flowtune 5.3.1: 10 ms).
        interval: Ps = Ps::from_us(10_000),
        /// Start of the first flow.
        start: Ps = Ps(0),
        /// The order of stops.
        stop_order: StopOrder = StopOrder::First,
        /// Size of a flow, for networks that serve the flow with the fewest bytes left first. A
        /// flow that has sent all of it ends before its stop. 0: more than can be sent.
        bytes: Bytes = Bytes(0),
        /// The priority of the packets.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// The name of these flows in the results.
        class: String = "staggered".to_owned(),
    }
}

impl StaggeredConfig {
    /// Checks the settings for a network with `hosts` hosts; returns the senders.
    ///
    /// # Errors
    /// What is wrong and what is allowed.
    pub fn check(&self, hosts: u32) -> Result<Vec<HostId>, String> {
        let senders = host_set::parse(&self.senders, hosts);
        let senders = senders.map_err(|problem| format!("senders: {problem}"))?;
        if self.receiver >= hosts {
            return Err(format!("receiver: {}", checks::no_such_host(self.receiver, hosts)));
        }
        if senders.binary_search(&HostId(self.receiver)).is_ok() {
            let receiver = self.receiver;
            return Err(format!("host {receiver} is the receiver: leave it out of senders"));
        }
        if self.interval == Ps(0) {
            return Err("interval is 0: give the time from one start to the next".into());
        }
        let last = (2 * senders.len() as u64 - 1).checked_mul(self.interval.0);
        if last.and_then(|last| last.checked_add(self.start.0)).is_none() {
            let interval = self.interval;
            return Err(format!("interval is {interval}: the last stop is beyond the end of time"));
        }
        Ok(senders)
    }
}

impl TrafficSettings for StaggeredConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let staggered = Staggered::new(self.clone(), context.hosts(), context.source)?;
        let crowd = staggered.crowd();
        // Their sizes are not in the mix, because most of them stop before their end.
        Ok(Offer { sizes: Some(Mix::default()), ..Offer::new(staggered, crowd) })
    }

    fn stops(&self) -> bool {
        true
    }

    fn is_endless(&self) -> bool {
        self.bytes == Bytes(0)
    }
}

/// Makes staggered flows.
#[derive(Clone, Debug)]
pub struct Staggered {
    config: StaggeredConfig,
    senders: Vec<HostId>,
    source: u16,
    /// The number of flows made.
    made: usize,
}

impl Staggered {
    /// The flows of `config` among `hosts` hosts, as the source with index `source`.
    ///
    /// # Errors
    /// Settings that are wrong or that do not fit the network.
    pub fn new(config: StaggeredConfig, hosts: u32, source: u16) -> Result<Self, String> {
        let senders = config.check(hosts)?;
        Ok(Self { config, senders, source, made: 0 })
    }

    /// The number of flows.
    #[must_use]
    pub fn crowd(&self) -> Crowd {
        Crowd::of(self.senders.len() as f64).between(self.config.start, Ps(0))
    }

    /// The time `intervals` intervals after the first start.
    fn at(&self, intervals: usize) -> Ps {
        Ps(self.config.start.0 + self.config.interval.0 * intervals as u64)
    }
}

impl Source for Staggered {
    fn next(&mut self) -> Option<Arrival> {
        let place = self.made;
        let src = *self.senders.get(place)?;
        self.made += 1;
        let count = self.senders.len();
        let stops_before = match self.config.stop_order {
            StopOrder::First => place,
            StopOrder::Last => count - 1 - place,
        };
        let bytes = self.config.bytes.0;
        let bytes = if bytes == 0 { ENDLESS } else { bytes.min(ENDLESS) };
        Some(Arrival {
            stop: self.at(count + stops_before),
            priority: self.config.priority.number(),
            ..Arrival::new(self.at(place), src, HostId(self.config.receiver), bytes, self.source)
        })
    }
}
