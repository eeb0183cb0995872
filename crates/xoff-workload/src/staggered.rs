//! Flows that start one after another and then stop one after another.

use xoff_core::knobs::Effect;
use xoff_core::{Bytes, Ps};

use crate::{
    Arrival, CLASSES, Context, Crowd, ENDLESS, Mix, Offer, Source, TrafficSettings, checks,
    host_set,
};

xoff_core::choices! {
    /// Who stops before whom.
    pub enum StopOrder {
        /// Who started first stops first.
        First = "first",
        /// Who started last stops first.
        Last = "last",
    }
}

xoff_core::knobs! {
    /// Staggered flows: every `interval` one of the senders starts a flow to the receiver and, when
    /// all have started, every `interval` one of them stops (Flowtune 5.3.1). What a flow has sent
    /// when it stops is delivered. These flows have no row and no slowdown: how long they last is
    /// given.
    pub struct StaggeredConfig in "staggered" {
        /// The hosts that send, in the order of their numbers: numbers and ranges such as 0-3,7,9-12.
        senders: String = "1-5".to_owned(),
        /// The receiving host.
        receiver: u32 = 0,
        /// The time from one start, or stop, to the next (Flowtune 5.3.1: 10 ms).
        interval: Ps = Ps::from_us(10_000),
        /// When the first flow starts.
        start: Ps = Ps(0),
        /// Who stops first.
        stop_order: StopOrder = StopOrder::First,
        /// How many bytes a flow has to send, which a network may go by that serves the flow with the
        /// fewest bytes left; a flow that has sent them ends before it stops. 0: more than can be sent.
        bytes: Bytes = Bytes(0),
        /// The priority of the packets.
        priority: u8 = 0 => [Effect::Needs(CLASSES)],
        /// The name of these flows in the results.
        class: String = "staggered".to_owned(),
    }
}

impl StaggeredConfig {
    /// Checks the settings for a network with `hosts` hosts; returns the senders.
    ///
    /// # Errors
    /// What is wrong and what is allowed.
    pub fn check(&self, hosts: u32) -> Result<Vec<u32>, String> {
        let senders = host_set::parse(&self.senders, hosts);
        let senders = senders.map_err(|problem| format!("senders: {problem}"))?;
        if self.receiver >= hosts {
            return Err(format!("receiver: {}", checks::no_such_host(self.receiver, hosts)));
        }
        if senders.binary_search(&self.receiver).is_ok() {
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
        // Their sizes are left out of the mix: most of them are stopped before their end.
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
    senders: Vec<u32>,
    source: u16,
    /// How many flows were made.
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

    /// How many flows there will be.
    #[must_use]
    pub fn crowd(&self) -> Crowd {
        Crowd::of(self.senders.len() as f64).between(self.config.start, Ps(0))
    }

    /// So many intervals after the first start.
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
            priority: self.config.priority,
            ..Arrival::new(self.at(place), src, self.config.receiver, bytes, self.source)
        })
    }
}
