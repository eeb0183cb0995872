//! A permutation: every host sends one flow, and every host receives one.

use xoff_core::knobs::Effect;
use xoff_core::rng::Purpose;
use xoff_core::{Bytes, HostId, Ps, Rng};

use crate::{
    Arrival, CLASSES, Context, Crowd, ENDLESS, Mix, Offer, Priority, Source, TrafficSettings,
    checks,
};

xoff_core::knobs! {
    /// A permutation: every host sends one flow to another host, and every host receives exactly
    /// one. All start together. The pairs are drawn uniformly among all permutations in which no
    /// host sends to itself. In a fabric with full bisection, only a bad choice of paths slows them
    /// down.
    pub struct PermutationConfig in "permutation" {
        /// The size of each flow; 0: it does not end.
        bytes: Bytes = Bytes(0),
        /// Start of the flows.
        start: Ps = Ps(0),
        /// The priority of the packets.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// The name of these flows in the results.
        class: String = "permutation".to_owned(),
    }
}

impl TrafficSettings for PermutationConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let flows = f64::from(context.hosts());
        let permutation = Permutation::new(self, context.hosts(), context.seed, context.source)?;
        let crowd = Crowd::of(flows).between(self.start, Ps(0));
        Ok(Offer { sizes: Some(Mix::of(flows, self.bytes)), ..Offer::new(permutation, crowd) })
    }

    fn is_endless(&self) -> bool {
        self.bytes == Bytes(0)
    }
}

/// Makes the flows of a permutation, in the order of their senders.
#[derive(Clone, Debug)]
pub struct Permutation {
    receivers: Vec<HostId>,
    bytes: u64,
    start: Ps,
    priority: u8,
    source: u16,
    /// The number of flows made, which is the next sender.
    made: u32,
}

impl Permutation {
    /// The flows of `config` among `hosts` hosts, as the source with index `source`.
    ///
    /// # Errors
    /// If there are fewer than two hosts.
    pub fn new(
        config: &PermutationConfig,
        hosts: u32,
        seed: u64,
        source: u16,
    ) -> Result<Self, String> {
        checks::hosts(hosts)?;
        let mut rng = Rng::stream(seed, Purpose::Traffic, u64::from(source));
        let bytes = if config.bytes == Bytes(0) { ENDLESS } else { config.bytes.0.min(ENDLESS) };
        Ok(Self {
            receivers: draw(hosts, &mut rng),
            bytes,
            start: config.start,
            priority: config.priority.number(),
            source,
            made: 0,
        })
    }
}

/// Shuffles until no host keeps its own place: 2.7 times on average, for any number of hosts.
fn draw(hosts: u32, rng: &mut Rng) -> Vec<HostId> {
    let mut receivers: Vec<HostId> = (0..hosts).map(HostId).collect();
    loop {
        rng.shuffle(&mut receivers);
        if (0..hosts).map(HostId).zip(&receivers).all(|(sender, receiver)| sender != *receiver) {
            return receivers;
        }
    }
}

impl Source for Permutation {
    fn next(&mut self) -> Option<Arrival> {
        let src = HostId(self.made);
        let dst = *self.receivers.get(src.index())?;
        self.made += 1;
        let flow = Arrival::new(self.start, src, dst, self.bytes, self.source);
        Some(Arrival { priority: self.priority, ..flow })
    }
}
