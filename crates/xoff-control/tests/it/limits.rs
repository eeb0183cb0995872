//! An allocator that accepts fewer flowlets than an endpoint has.

use std::collections::BTreeMap;

use xoff_control::{Endpoint, EndpointConfig, EndpointId, Event, Rate, Sessions, SessionsConfig};

use crate::world::{MILLI, key};

struct Pair {
    endpoint: Endpoint,
    sessions: Sessions,
    /// Rates in force, by flowlet.
    rates: BTreeMap<u64, Rate>,
    now: u64,
}

fn sessions(flowlets: u32, secret: u8) -> Sessions {
    let config = SessionsConfig { flowlets, ..SessionsConfig::default() };
    Sessions::new(config, &[(EndpointId(0), key(0))], [secret; 32]).unwrap()
}

impl Pair {
    /// An allocator with a limit, and an endpoint.
    fn new(flowlets: u32) -> Self {
        Self {
            endpoint: Endpoint::new(EndpointConfig::new(EndpointId(0)), &key(0), [1; 32]),
            sessions: sessions(flowlets, 2),
            rates: BTreeMap::new(),
            now: 0,
        }
    }

    fn start(&mut self, flowlet: u64) {
        assert!(self.endpoint.start(flowlet, EndpointId(0), flowlet as u32, self.now));
    }

    fn end(&mut self, flowlet: u64) {
        self.endpoint.end(flowlet, self.now);
        self.rates.remove(&flowlet);
    }

    /// Runs both for 20 ms. A flowlet's rate is 1000 and its number.
    fn run(&mut self) {
        let (mut events, mut buffer) = (Vec::new(), [0; 1500]);
        for _ in 0..20 {
            self.now += MILLI;
            while let Some((_, length)) = self.endpoint.transmit(self.now, &mut buffer) {
                // A restarted allocator refuses the first ones.
                let _ = self.sessions.receive(&buffer[..length], self.now, &mut events);
            }
            self.sessions.advance(self.now, &mut events);
            for event in events.drain(..) {
                if let Event::Started { flow, path, .. } = event {
                    self.sessions.set_rate(flow, 1000 + u64::from(path));
                }
            }
            while let Some((_, length)) = self.sessions.transmit(self.now, &mut buffer) {
                self.endpoint.receive(0, &buffer[..length], self.now).unwrap();
            }
            while let Some(change) = self.endpoint.next_rate() {
                self.rates.insert(change.flowlet, change.rate);
            }
        }
    }

    fn expect(&self, flowlets: &[u64]) {
        let expected = flowlets.iter().map(|&flowlet| (flowlet, Rate::Paced(1000 + flowlet)));
        assert_eq!(self.rates, expected.collect());
        assert_eq!(self.sessions.flowlets(), flowlets.len());
    }
}

#[test]
fn flowlets_above_the_limit_get_the_slots_of_those_that_end() {
    let mut pair = Pair::new(2);
    (1..=5).for_each(|flowlet| pair.start(flowlet));
    pair.run();
    pair.expect(&[1, 2]);
    assert_eq!(pair.endpoint.stats.unreported, 3);
    pair.end(4);
    pair.end(1);
    pair.run();
    pair.expect(&[2, 3]);
    pair.end(2);
    pair.run();
    pair.expect(&[3, 5]);
    assert_eq!((pair.endpoint.flowlets(), pair.endpoint.stats.unreported), (2, 3));
}

#[test]
fn the_lowest_free_slot_is_used_first() {
    let mut pair = Pair::new(100);
    (0..=100).for_each(|flowlet| pair.start(flowlet));
    pair.run();
    // The last one frees a slot that the allocator does not accept.
    (0..=100).for_each(|flowlet| {
        pair.end(flowlet);
        pair.run();
    });
    for flowlet in 200..203 {
        pair.start(flowlet);
        pair.run();
        pair.expect(&[flowlet]);
        pair.end(flowlet);
        pair.run();
    }
}

/// After a restart the allocator accepts fewer. Rates of the first connection expire.
#[test]
fn a_lower_limit_of_a_later_connection_is_kept() {
    let mut pair = Pair::new(4);
    (1..=4).for_each(|flowlet| pair.start(flowlet));
    pair.run();
    pair.expect(&[1, 2, 3, 4]);
    pair.end(1);
    pair.sessions = sessions(2, 3);
    (0..20).for_each(|_| pair.run());
    let paced = pair.rates.iter().filter(|(_, rate)| matches!(rate, Rate::Paced(_)));
    assert_eq!(paced.count(), 2, "{:?}", pair.rates);
    assert_eq!(pair.sessions.flowlets(), 2);
}

/// The first flowlets of a host that connects late have ended: those above the limit get their
/// slots at once. Others wait over connections, and each is counted once.
#[test]
fn a_flowlet_that_waits_is_counted_once_and_costs_no_report() {
    let mut pair = Pair::new(3);
    (0..6).for_each(|flowlet| pair.start(flowlet));
    (0..3).for_each(|flowlet| pair.end(flowlet));
    pair.run();
    pair.expect(&[3, 4, 5]);
    assert_eq!(pair.endpoint.stats.unreported, 0);
    pair.start(6);
    let mut buffer = [0; 1500];
    assert!(pair.endpoint.transmit(pair.now, &mut buffer).is_none(), "there is nothing to report");
    assert_eq!(pair.endpoint.stats.unreported, 1);
    for secret in 3..6 {
        pair.sessions = sessions(3, secret);
        (0..20).for_each(|_| pair.run());
        pair.expect(&[3, 4, 5]);
    }
    assert_eq!(pair.endpoint.stats.unreported, 1);
}
