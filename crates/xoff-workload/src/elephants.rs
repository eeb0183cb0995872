//! Flows without end between many hosts.

use xoff_core::knobs::Effect;
use xoff_core::rng::Purpose;
use xoff_core::{HostId, Ps, Rng};

use crate::{
    Arrival, CLASSES, Context, Crowd, ENDLESS, Mix, Offer, Priority, Source, TrafficSettings,
    checks, host_set,
};

xoff_core::knobs! {
    /// Elephants: flows without an end between hosts of two sets, which start together. Senders
    /// take turns in a random order, so that their numbers of flows differ by one at most. So do
    /// receivers, in an order of their own.
    pub struct ElephantsConfig in "elephants" {
        /// Number of flows.
        count: u32 = 20,
        /// The hosts that send: all, or numbers and ranges such as 0-3,7,9-12. None of them
        /// receives.
        senders: String = "0-63".to_owned(),
        /// The hosts that receive: numbers and ranges such as 0-3,7,9-12.
        receivers: String = "64-127".to_owned(),
        /// Start of the flows.
        start: Ps = Ps(0),
        /// The priority of the packets.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// The name of these flows in the results.
        class: String = "elephants".to_owned(),
    }
}

impl TrafficSettings for ElephantsConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let elephants = Elephants::new(self, context.hosts(), context.seed, context.source)?;
        let crowd = Crowd::of(f64::from(self.count)).between(self.start, Ps(0));
        Ok(Offer { sizes: Some(Mix::default()), ..Offer::new(elephants, crowd) })
    }

    fn is_endless(&self) -> bool {
        true
    }
}

/// Makes elephants.
#[derive(Clone, Debug)]
pub struct Elephants {
    senders: Vec<HostId>,
    receivers: Vec<HostId>,
    count: u32,
    made: u32,
    start: Ps,
    priority: u8,
    source: u16,
}

impl Elephants {
    /// The flows of `config` in a network with `hosts` hosts, as the source with index `source`.
    ///
    /// # Errors
    /// Settings that are wrong or that do not fit the network.
    pub fn new(
        config: &ElephantsConfig,
        hosts: u32,
        seed: u64,
        source: u16,
    ) -> Result<Self, String> {
        if config.count == 0 {
            return Err("count is 0: give at least 1 flow or leave the section out".into());
        }
        checks::hosts(hosts)?;
        let parse = |name: &str, text: &str| {
            host_set::parse(text, hosts).map_err(|problem| format!("{name}: {problem}"))
        };
        let mut senders = parse("senders", &config.senders)?;
        let mut receivers = parse("receivers", &config.receivers)?;
        if let Some(both) = senders.iter().find(|host| receivers.binary_search(host).is_ok()) {
            return Err(format!("host {both} is among the senders and the receivers: choose one"));
        }
        let mut rng = Rng::stream(seed, Purpose::Traffic, u64::from(source));
        rng.shuffle(&mut senders);
        rng.shuffle(&mut receivers);
        let &ElephantsConfig { count, start, .. } = config;
        let priority = config.priority.number();
        Ok(Self { senders, receivers, count, made: 0, start, priority, source })
    }
}

impl Source for Elephants {
    fn next(&mut self) -> Option<Arrival> {
        if self.made == self.count {
            return None;
        }
        let turn = |hosts: &[HostId]| hosts[self.made as usize % hosts.len()];
        let (src, dst) = (turn(&self.senders), turn(&self.receivers));
        self.made += 1;
        let flow = Arrival::new(self.start, src, dst, ENDLESS, self.source);
        Some(Arrival { priority: self.priority, ..flow })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(config: &ElephantsConfig, seed: u64) -> Vec<Arrival> {
        let mut source = Elephants::new(config, 128, seed, 3).unwrap();
        std::iter::from_fn(|| source.next()).collect()
    }

    #[test]
    fn senders_and_receivers_take_turns() {
        let (senders, receivers) = ("16-127".to_owned(), "0-1".to_owned());
        let config = ElephantsConfig { count: 250, senders, receivers, ..Default::default() };
        let found = flows(&config, 1);
        assert_eq!(found.len(), 250);
        assert!(found.iter().all(|flow| flow.bytes == ENDLESS && flow.source == 3));
        let of = |end: fn(&Arrival) -> HostId, host| {
            found.iter().filter(|flow| end(flow) == HostId(host)).count()
        };
        assert!((16..128).all(|host| [2, 3].contains(&of(|flow| flow.src, host))));
        assert!((0..2).all(|host| of(|flow| flow.dst, host) == 125));
        assert_eq!(found, flows(&config, 1));
        assert_ne!(found, flows(&config, 2));
    }

    #[test]
    fn wrong_settings_say_why() {
        let error = |config| Elephants::new(&config, 128, 1, 0).unwrap_err();
        let default = ElephantsConfig::default;
        let both = ElephantsConfig { receivers: "60-70".into(), ..default() };
        assert_eq!(error(both), "host 60 is among the senders and the receivers: choose one");
        assert!(error(ElephantsConfig { count: 0, ..default() }).starts_with("count is 0"));
        let absent = ElephantsConfig { senders: "128".into(), ..default() };
        assert_eq!(error(absent), "senders: host 128 does not exist: hosts are 0 to 127");
    }
}
