//! Hosts that always send: when a flow has ended, the next one starts (DeTail §8.1.2, §8.2).

use xoff_core::knobs::Effect;
use xoff_core::rng::Purpose;
use xoff_core::{Bytes, Ps, Rng};

use crate::open_loop::Ends;
use crate::{
    After, Arrival, CLASSES, Capacity, Context, Crowd, Offer, Priority, Role, Source,
    TrafficSettings, checks,
};

xoff_core::knobs! {
    /// Each sender keeps some flows active. When a sender learns that all of a flow has arrived,
    /// the next one starts, to a receiver drawn uniformly among the others.
    pub struct SuccessiveConfig in "successive" {
        /// The hosts that send: all, or numbers and ranges such as 0-3,7,9-12.
        senders: String = "all".to_owned(),
        /// The hosts that receive: all, or numbers and ranges such as 0-3,7,9-12.
        receivers: String = "all".to_owned(),
        /// The size of each flow, at least 10 KB (DeTail 8.1.2: 1 MB).
        bytes: Bytes = Bytes(1_000_000),
        /// Active flows per sender.
        flows: u16 = 1,
        /// The priority of the packets.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// Start of the first flows.
        start: Ps = Ps(0),
        /// Time from which no flow starts; 0 is the end of the run.
        stop: Ps = Ps(0),
        /// The name of these flows in the results.
        class: String = "successive".to_owned(),
    }
}

/// Flows that wait for others are made as soon as those could end. Shorter flows would be too many.
const LEAST_BYTES: u64 = 10_000;

impl SuccessiveConfig {
    /// Checks the settings for a network with `hosts` hosts.
    ///
    /// # Errors
    /// What is wrong and what is allowed.
    pub fn check(&self, hosts: u32) -> Result<(), String> {
        if self.flows == 0 {
            return Err("flows is 0: give at least 1 flow or leave the section out".into());
        }
        if !(LEAST_BYTES..=u64::from(u32::MAX)).contains(&self.bytes.0) {
            return Err(format!("bytes is {}: it must be from 10KB to 4GB", self.bytes));
        }
        checks::window(self.start, self.stop)?;
        Ends::parse(&self.senders, &self.receivers, hosts).map(drop)
    }
}

impl TrafficSettings for SuccessiveConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let Context { capacity, seed, source, .. } = *context;
        let successive = Successive::new(self.clone(), capacity, seed, source)?;
        let crowd = successive.crowd();
        Ok(Offer::new(successive, crowd))
    }

    fn waits(&self) -> bool {
        true
    }

    fn fills(&self) -> bool {
        true
    }
}

/// Makes successive flows. A sender's flow number `n` cannot start before its link could have
/// carried all flows before it. It is made at that time, so that one flow per chain is made at a
/// time.
#[derive(Clone, Debug)]
pub struct Successive {
    rng: Rng,
    config: SuccessiveConfig,
    ends: Ends,
    source: u16,
    /// The shortest possible duration of a flow.
    shortest: Ps,
    now: Ps,
    end: Ps,
    /// The chain of the next flow, and whether it is the chain's first.
    chain: u32,
    first: bool,
}

impl Successive {
    /// The flows of `config` in a network of `capacity`, as the source with index `source`.
    ///
    /// # Errors
    /// Settings that are wrong or that do not fit the network.
    pub fn new(
        config: SuccessiveConfig,
        capacity: &Capacity,
        seed: u64,
        source: u16,
    ) -> Result<Self, String> {
        let hosts = capacity.host_count();
        config.check(hosts)?;
        let ends = Ends::parse(&config.senders, &config.receivers, hosts)?;
        let rates = ends.senders.iter().map(|&host| capacity.line_rates[host.index()]);
        let fastest = rates.max().unwrap_or_default();
        Ok(Self {
            rng: Rng::stream(seed, Purpose::Traffic, u64::from(source)),
            ends,
            source,
            shortest: fastest.time_for(config.bytes.0),
            now: config.start,
            end: checks::end_of(config.stop),
            chain: 0,
            first: true,
            config,
        })
    }

    /// The number of flows. A sender's chains share its link, but the next flow of each is made as
    /// if it had the link to itself, and waits.
    #[must_use]
    pub fn crowd(&self) -> Crowd {
        let flows = f64::from(self.config.flows);
        let chains = self.ends.senders.len() as f64 * flows;
        let made = chains / self.shortest.seconds().max(1e-12);
        let waiting = Crowd::arriving(made * (1.0 - 1.0 / flows), self.config.bytes.0 as f64);
        let crowd = Crowd { together: chains, waits: true, ..waiting };
        crowd.between(self.config.start, self.config.stop)
    }
}

impl Source for Successive {
    fn next(&mut self) -> Option<Arrival> {
        if self.now >= self.end {
            return None;
        }
        let chain = self.chain;
        let src = self.ends.senders[(chain / u32::from(self.config.flows)) as usize];
        let dst = self.ends.draw_receiver(src, &mut self.rng);
        let after = (!self.first).then_some(After::End { until: self.end });
        let flow = Arrival {
            priority: self.config.priority.number(),
            after,
            role: Role::Successive { chain },
            ..Arrival::new(self.now, src, dst, self.config.bytes.0, self.source)
        };
        self.chain += 1;
        if self.chain as usize == self.ends.senders.len() * usize::from(self.config.flows) {
            self.chain = 0;
            self.first = false;
            self.now = Ps(self.now.0.saturating_add(self.shortest.0));
        }
        Some(flow)
    }
}
