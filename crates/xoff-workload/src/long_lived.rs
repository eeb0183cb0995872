//! Long-lived flows between two given hosts.

use xoff_core::knobs::Effect;
use xoff_core::{Bytes, HostId, Ps};

use crate::checks;
use crate::{
    Arrival, CLASSES, Context, Crowd, ENDLESS, Mix, Offer, Priority, Source, TrafficSettings,
};

xoff_core::knobs! {
    /// Long-lived flows: some flows from one host to another that start together.
    pub struct LongLivedConfig in "long_lived" {
        /// The sending host.
        src: u32 = 0,
        /// The receiving host.
        dst: u32 = 1,
        /// Number of flows.
        count: u16 = 1,
        /// The size of each flow; 0: it does not end.
        bytes: Bytes = Bytes(0),
        /// Start of the flows.
        start: Ps = Ps(0),
        /// The priority of the packets.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// The name of these flows in the results.
        class: String = "long".to_owned(),
    }
}

impl LongLivedConfig {
    /// Checks the settings for a network with `hosts` hosts.
    ///
    /// # Errors
    /// What is wrong and what is allowed.
    pub fn check(&self, hosts: u32) -> Result<(), String> {
        if self.count == 0 {
            return Err("count is 0: give at least 1 flow or leave the section out".into());
        }
        checks::ends(self.src.into(), self.dst.into(), hosts)
    }
}

impl TrafficSettings for LongLivedConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let flows = f64::from(self.count);
        let long = LongLived::new(self, context.hosts(), context.source)?;
        let crowd = Crowd::of(flows).between(self.start, Ps(0));
        Ok(Offer { sizes: Some(Mix::of(flows, self.bytes)), ..Offer::new(long, crowd) })
    }

    fn is_endless(&self) -> bool {
        self.bytes == Bytes(0)
    }
}

/// Makes long-lived flows.
#[derive(Clone, Debug)]
pub struct LongLived {
    flow: Arrival,
    left: u16,
}

impl LongLived {
    /// The flows of `config` in a network with `hosts` hosts, as the source with index `source`.
    ///
    /// # Errors
    /// Settings that are wrong or that do not fit the network.
    pub fn new(config: &LongLivedConfig, hosts: u32, source: u16) -> Result<Self, String> {
        config.check(hosts)?;
        let bytes = if config.bytes == Bytes(0) { ENDLESS } else { config.bytes.0.min(ENDLESS) };
        let LongLivedConfig { src, dst, start, .. } = *config;
        let priority = config.priority.number();
        let flow =
            Arrival { priority, ..Arrival::new(start, HostId(src), HostId(dst), bytes, source) };
        Ok(Self { flow, left: config.count })
    }
}

impl Source for LongLived {
    fn next(&mut self) -> Option<Arrival> {
        self.left = self.left.checked_sub(1)?;
        Some(self.flow)
    }
}
