//! Attackers on the network, and a hostile endpoint with a key.

use xoff_control::{
    Endpoint, EndpointConfig, EndpointId, Event, Key, Refused, Sessions, SessionsConfig,
};

use crate::tagged::TagKeys;
use crate::world::{MILLI, QUIET, Random, World};

/// The bytes of an endpoint's key (see `world::key`).
fn key_bytes(endpoint: u32) -> [u8; 32] {
    let mut bytes = [7; 32];
    bytes[..4].copy_from_slice(&endpoint.to_be_bytes());
    bytes
}

/// Three servers with flowlets and rates, and everything that was sent.
pub(crate) fn recorded() -> World {
    let mut world = World::new(11, 3, 1, QUIET);
    for _ in 0..30 {
        (0..3).for_each(|server| world.start(server));
        world.run(2 * MILLI);
        (0..2).for_each(|server| world.end(server));
    }
    world.time_to_agree(0, 100 * MILLI);
    world
}

#[test]
fn what_was_recorded_before_a_restart_is_refused_after_it() {
    let mut world = recorded();
    let recorded = std::mem::take(&mut world.recorded);
    world.restart_allocator(0);
    world.restart_endpoint(0);
    world.run(10 * MILLI);
    let (mut events, now) = (Vec::new(), world.now);
    for datagram in recorded.iter().filter(|datagram| datagram[3] != 1) {
        let sessions = &mut world.allocators[0].sessions;
        assert!(sessions.receive(datagram, now, &mut events).is_err());
        assert!(world.servers[0].endpoint.receive(0, datagram, now).is_err());
    }
    assert!(events.is_empty());
    // The resets that follow concern no connection.
    world.time_to_agree(0, 100 * MILLI);
}

/// Whoever delays datagrams could feed an endpoint with old renewals, one after the other.
#[test]
fn renewals_that_are_held_back_for_longer_than_the_silence_are_refused() {
    let lifetime = 10_000 * MILLI;
    let config = SessionsConfig { lifetime, silence: 1000 * MILLI, ..SessionsConfig::default() };
    let (mut sessions, mut events, mut buffer) = (two_sessions(config), Vec::new(), [0; 1500]);
    let mut endpoint = endpoint_0();
    endpoint.start(1, EndpointId(1), 0, 0);
    exchange(&mut endpoint, &mut sessions, 0, &mut events);
    let mut held = Vec::new();
    for renewal in 1..=5u64 {
        let now = renewal * MILLI;
        // Each report is answered, but the answers are held back.
        endpoint.start(renewal, EndpointId(1), 0, now);
        while let Some((_, length)) = endpoint.transmit(now, &mut buffer) {
            sessions.receive(&buffer[..length], now, &mut events).unwrap();
        }
        while let Some((_, length)) = sessions.transmit(now, &mut buffer) {
            held.push(buffer[..length].to_vec());
        }
    }
    assert!(held.len() > 3);
    assert_eq!(endpoint.receive(0, &held[0], 900 * MILLI), Ok(()));
    assert_eq!(endpoint.receive(0, &held[1], 1800 * MILLI), Err(Refused::Stale));
}

fn endpoint_0() -> Endpoint {
    Endpoint::new(EndpointConfig::new(EndpointId(0)), &Key::new(key_bytes(0)), [1; 32])
}

/// Lets both sides exchange datagrams until they agree; returns the last one of the endpoint.
fn exchange(
    endpoint: &mut Endpoint,
    sessions: &mut Sessions,
    now: u64,
    events: &mut Vec<Event>,
) -> Vec<u8> {
    let (mut buffer, mut last) = ([0; 1500], Vec::new());
    for _ in 0..3 {
        while let Some((_, length)) = endpoint.transmit(now, &mut buffer) {
            last = buffer[..length].to_vec();
            sessions.receive(&last, now, events).unwrap();
        }
        while let Some((_, length)) = sessions.transmit(now, &mut buffer) {
            endpoint.receive(0, &buffer[..length], now).unwrap();
        }
    }
    last
}

/// A hostile endpoint, which signs what it likes.
struct Hostile {
    keys: TagKeys,
    tokens: [u8; 16],
    sequence: u64,
}

impl Hostile {
    /// Opens a connection as endpoint 0.
    fn connect(sessions: &mut Sessions, events: &mut Vec<Event>) -> Self {
        Self::connect_at(1, sessions, events)
    }

    fn connect_at(now: u64, sessions: &mut Sessions, events: &mut Vec<Event>) -> Self {
        let last = exchange(&mut endpoint_0(), sessions, now, events);
        let mut tokens = [0; 16];
        tokens.copy_from_slice(&last[8..24]);
        Self { keys: TagKeys::of(key_bytes(0)), tokens, sequence: 1 }
    }

    /// A report with this body, as an endpoint of this number.
    fn report(&mut self, endpoint: u32, body: &[u8]) -> Vec<u8> {
        self.sequence += 1;
        let mut report = b"FT\x01\x04".to_vec();
        report.extend(endpoint.to_be_bytes());
        report.extend(self.tokens);
        report.extend(self.sequence.to_be_bytes());
        report.extend(body);
        report.extend([0; 16]);
        self.keys.tag(&mut report);
        report
    }

    /// The body of a report with starts in these slots.
    fn starts(slots: impl ExactSizeIterator<Item = u16>) -> Vec<u8> {
        let mut body = vec![0; 20];
        body.extend((slots.len() as u16).to_be_bytes());
        for slot in slots {
            body.extend(slot.to_be_bytes());
            body.extend([0; 8]);
        }
        body
    }
}

fn two_sessions(config: SessionsConfig) -> Sessions {
    let endpoints = [0, 1].map(|id| (EndpointId(id), Key::new(key_bytes(id))));
    Sessions::new(config, &endpoints, [9; 32]).unwrap()
}

/// An endpoint that hears nothing goes on to acknowledge the same datagram. Many answers that are
/// lost do not make its reports old: only time does.
#[test]
fn reports_are_as_old_as_what_they_acknowledge_however_many_answers_are_lost() {
    let (config, began) = (SessionsConfig::default(), 5000 * MILLI);
    let (mut sessions, mut events) = (two_sessions(config), Vec::new());
    let mut endpoint = Hostile::connect_at(began, &mut sessions, &mut events);
    let mut report = |now| {
        // It acknowledges the first datagram, and asks for an answer.
        let mut body = vec![0; 22];
        (body[7], body[17]) = (1, 1);
        let received = sessions.receive(&endpoint.report(0, &body), now, &mut events);
        while sessions.transmit(now, &mut [0; 1500]).is_some() {}
        received
    };
    for number in 1..=70 {
        assert_eq!(report(began + number * MILLI), Ok(EndpointId(0)), "report {number}");
    }
    assert_eq!(report(began + config.silence), Ok(EndpointId(0)));
    assert_eq!(report(began + config.silence + 1), Err(Refused::Stale));
}

#[test]
fn an_endpoint_speaks_for_itself_alone() {
    let (mut sessions, mut events) = (two_sessions(SessionsConfig::default()), Vec::new());
    let mut hostile = Hostile::connect(&mut sessions, &mut events);
    events.clear();
    let body = Hostile::starts([0].into_iter());
    let forged = hostile.report(1, &body);
    assert_eq!(sessions.receive(&forged, 2, &mut events), Err(Refused::Tag));
    let unknown = hostile.report(2, &body);
    assert_eq!(sessions.receive(&unknown, 2, &mut events), Err(Refused::Endpoint));
    let own = hostile.report(0, &body);
    assert_eq!(sessions.receive(&own, 2, &mut events), Ok(EndpointId(0)));
    let started = |event: &Event| matches!(event, Event::Started { source: EndpointId(0), .. });
    assert!(events.len() == 1 && events.iter().all(started), "{events:?}");
}

#[test]
fn a_hostile_endpoint_has_its_limits() {
    let config = SessionsConfig {
        flowlets: 100,
        events_per_second: 1000,
        events_at_once: 500,
        ..SessionsConfig::default()
    };
    let (mut sessions, mut events) = (two_sessions(config), Vec::new());
    let mut hostile = Hostile::connect(&mut sessions, &mut events);
    let above = hostile.report(0, &Hostile::starts([99, 100].into_iter()));
    assert_eq!(sessions.receive(&above, 2, &mut events), Err(Refused::Limit));
    assert_eq!(sessions.flowlets(), 0);
    let mut accepted = 0;
    for _ in 0..10_000 {
        let report = hostile.report(0, &Hostile::starts(0..100));
        accepted += u64::from(sessions.receive(&report, MILLI, &mut events).is_ok());
    }
    assert_eq!(accepted, 4, "four of 101 each, of 500");
    assert_eq!(sessions.refused.budget, 10_000 - 4);
    assert_eq!(sessions.flowlets(), 100);
}

/// Authentic nonsense: whatever a hostile endpoint signs, no call panics, and flowlets and events
/// agree.
#[test]
fn authentic_nonsense_is_counted_or_consistent() {
    let config = SessionsConfig {
        events_per_second: u64::MAX >> 32,
        events_at_once: 1 << 40,
        flowlets: 300,
        ..SessionsConfig::default()
    };
    let (mut sessions, mut events) = (two_sessions(config), Vec::new());
    let mut hostile = Hostile::connect(&mut sessions, &mut events);
    let (mut random, mut live, mut buffer) = (Random(3), 0usize, [0; 1500]);
    events.clear();
    for step in 0..100_000u64 {
        let now = 2 + step * 1000;
        let mut body =
            Hostile::starts((0..random.below(12)).map(|_| 0).collect::<Vec<_>>().into_iter());
        for byte in &mut body[20..] {
            *byte = if random.percent(60) { *byte } else { random.next() as u8 & 0x81 };
        }
        if random.percent(5) {
            let place = random.below(body.len() as u64) as usize;
            body[place] = random.next() as u8;
        }
        if random.percent(2) {
            body.truncate(random.below(body.len() as u64) as usize);
        }
        let report = hostile.report(0, &body);
        let _ = sessions.receive(&report, now, &mut events);
        if step % 10 == 0 {
            sessions.advance(now, &mut events);
            while sessions.transmit(now, &mut buffer).is_some() {}
        }
        for event in events.drain(..) {
            match event {
                Event::Started { flow, .. } => {
                    live += 1;
                    sessions.set_rate(flow, random.next() >> 20);
                }
                Event::Ended { .. } => live -= 1,
                Event::Opened { .. } | Event::Closed { .. } => {}
            }
        }
        assert_eq!(sessions.flowlets(), live);
        assert!(live <= 300);
    }
    assert!(sessions.stats.starts > 10_000 && sessions.refused.content > 1000);
    assert!(sessions.refused.limit > 1000);
}
