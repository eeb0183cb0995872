//! What no bytes may do: functions for fuzzers, which panic where a rule is broken.
//!
//! The crate `xoff-fuzz` calls them.
//!
//! [`allocator`] and [`endpoint`] read their bytes as a program of steps: time passes, datagrams
//! arrive, flowlets start and end. Datagrams of some steps have a valid tag, as random bytes would
//! never get beyond the tag.

use crate::auth::{Keys, TAG, TagKey};
use crate::wire::{Body, DATAGRAM, HEADER, Header, Kind, RatesWriter, ReportWriter, Writer};
use crate::{
    Endpoint, EndpointConfig, EndpointId, Event, Key, Nanos, Refused, Sessions, SessionsConfig,
};

/// Flowlets of an endpoint.
const FLOWLETS: u16 = 64;
/// Endpoints of the allocator: the hostile one and another.
const ENDPOINTS: [EndpointId; 2] = [EndpointId(0), EndpointId(1)];
/// More datagrams than a side may send without time passing.
const MANY: usize = 100;

fn key() -> Key {
    Key::new([0x5A; 32])
}

/// Reads bytes as a datagram. If they are one, there is no other way to write its content.
///
/// # Errors
/// Why they are none.
///
/// # Panics
/// If they are another datagram after they are written again.
pub fn datagram(bytes: &[u8]) -> Result<(), String> {
    let wrong = |refused: Refused| format!("{refused:?}");
    let header = Header::parse(bytes).map_err(wrong)?;
    let body = Body::parse(header.kind, bytes).map_err(wrong)?;
    let mut again = vec![0; bytes.len()];
    let length = write(&header, &body, &mut again);
    let end = bytes.len() - TAG;
    assert_eq!((length, &again[..end]), (bytes.len(), &bytes[..end]));
    Ok(())
}

/// What is sent can be read.
fn is_sent(bytes: &[u8]) {
    assert_eq!(datagram(bytes), Ok(()), "it is sent");
}

fn write(header: &Header, body: &Body<'_>, buffer: &mut [u8]) -> usize {
    let key = &Keys::of(&key()).up;
    match *body {
        Body::Hello => Writer::new(buffer, header).hello(key),
        Body::Welcome { keepalive_us, flowlets } => {
            Writer::new(buffer, header).welcome(keepalive_us, flowlets, key)
        }
        Body::Reset => Writer::new(buffer, header).reset(key),
        Body::Report { ack, asks, ends, starts } => {
            let mut report = ReportWriter::new(buffer, header, &ack, asks);
            ends.slots().for_each(|slot| report.end(slot));
            starts.starts().for_each(|start| report.start(start));
            report.finish(key)
        }
        Body::Rates { ack, lifetime_us, rates } => {
            let mut writer = RatesWriter::new(buffer, header, &ack, lifetime_us);
            rates.rates().for_each(|(slot, code)| writer.rate(slot, code));
            writer.finish(key)
        }
    }
}

/// The rest of a program.
struct Program<'a>(&'a [u8]);

impl<'a> Program<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// The bytes whose number is the next byte, as far as there are.
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::from(self.byte()?).min(self.0.len());
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(bytes)
    }

    /// A time of up to 1.6 s.
    fn time(&mut self) -> Option<Nanos> {
        let square = Nanos::from(self.byte()?).pow(2);
        Some(square * 25_000)
    }

    /// A datagram with a valid tag. Its tokens are those of a connection, or others; its sequence
    /// number is near the last one, or far away.
    fn signed(&mut self, last: &mut Header, key: &TagKey) -> Option<Vec<u8>> {
        let (kind, how) = (self.byte()?, self.byte()?);
        let endpoint_token = last.endpoint_token ^ u64::from(how & 1);
        let allocator_token = last.allocator_token ^ u64::from(how >> 1 & 1);
        let sequence = match how >> 2 & 3 {
            0 | 1 => last.sequence.saturating_add(1),
            2 => last.sequence.wrapping_sub(u64::from(how >> 4)),
            _ => last.sequence.saturating_add(1 << (how >> 4 << 2)),
        };
        let header = Header { endpoint_token, allocator_token, sequence, ..*last };
        let mut datagram = vec![0; HEADER + TAG];
        Writer::new(&mut datagram, &header).reset(key);
        datagram.truncate(HEADER);
        datagram[3] = kind % 8;
        datagram.extend(self.bytes()?);
        datagram.extend(key.tag(&datagram));
        last.sequence = last.sequence.max(sequence);
        Some(datagram)
    }
}

/// True for reasons that need no valid tag.
fn is_of_a_stranger(refused: Option<Refused>) -> bool {
    use Refused::{Endpoint, Kind, Length, Tag, Version};
    matches!(refused, Some(Length | Version | Kind | Endpoint | Tag))
}

/// An allocator, and its flowlets according to its events.
struct Allocator {
    sessions: Sessions,
    live: [bool; FLOWLETS as usize * ENDPOINTS.len()],
    events: Vec<Event>,
}

impl Allocator {
    fn new() -> Self {
        let keys = ENDPOINTS.map(|id| (id, key()));
        let config = SessionsConfig { flowlets: FLOWLETS.into(), ..SessionsConfig::default() };
        let sessions = Sessions::new(config, &keys, [1; 32]).expect("the settings are valid");
        Self { sessions, live: [false; FLOWLETS as usize * ENDPOINTS.len()], events: Vec::new() }
    }

    /// A datagram arrives. If it is refused, nothing has happened.
    fn receive(&mut self, datagram: &[u8], now: Nanos) -> Option<Refused> {
        let before = self.sessions.flowlets();
        let refused = self.sessions.receive(datagram, now, &mut self.events).err();
        let is_same = self.events.is_empty() && self.sessions.flowlets() == before;
        assert!(refused.is_none() || is_same, "{refused:?}: {:?}", self.events);
        if refused.is_none()
            && let Ok(Body::Report { starts, .. }) = Body::parse(Kind::Report, datagram)
        {
            assert!(starts.starts().all(|start| start.slot < FLOWLETS), "a slot above the limit");
        }
        refused
    }

    /// Does what is due, and follows the events. The index of a flowlet is below the most that
    /// there can be: memory is bounded.
    fn advance(&mut self, now: Nanos) {
        self.sessions.advance(now, &mut self.events);
        assert!(self.sessions.deadline() > now, "nothing is due any more");
        for event in self.events.drain(..) {
            match event {
                Event::Started { flow, .. } => {
                    assert!(!std::mem::replace(&mut self.live[flow as usize], true));
                    self.sessions.set_rate(flow, 1_000_000);
                }
                Event::Ended { flow } => {
                    assert!(std::mem::replace(&mut self.live[flow as usize], false));
                }
                Event::Opened { .. } | Event::Closed { .. } => {}
            }
        }
        let live = self.live.iter().filter(|&&is_live| is_live).count();
        assert_eq!(live, self.sessions.flowlets());
    }

    /// Sends what there is, at most as much as a few datagrams for each endpoint.
    fn transmit(&mut self, now: Nanos, mut each: impl FnMut(&[u8])) {
        let mut buffer = [0; DATAGRAM];
        for _ in 0..MANY {
            let Some((_, length)) = self.sessions.transmit(now, &mut buffer) else { return };
            each(&buffer[..length]);
        }
        panic!("it sends more and more");
    }
}

/// An endpoint and its flowlets.
struct Host {
    endpoint: Endpoint,
    live: [bool; 256],
    /// Header of its last datagram.
    last: Header,
}

impl Host {
    fn new() -> Self {
        let config = EndpointConfig { flowlets: FLOWLETS, ..EndpointConfig::new(ENDPOINTS[0]) };
        let endpoint = Endpoint::new(EndpointConfig { allocators: 2, ..config }, &key(), [2; 32]);
        let (kind, endpoint_token) = (Kind::Hello, 0);
        let (endpoint_id, allocator_token, sequence) = (ENDPOINTS[0], 0, 0);
        let last =
            Header { kind, endpoint: endpoint_id, endpoint_token, allocator_token, sequence };
        Self { endpoint, live: [false; 256], last }
    }

    fn start(&mut self, flowlet: u8, now: Nanos) {
        self.live[usize::from(flowlet)] = self.endpoint.start(flowlet.into(), ENDPOINTS[1], 0, now);
    }

    fn end(&mut self, flowlet: u8, now: Nanos) {
        self.live[usize::from(flowlet)] = false;
        self.endpoint.end(flowlet.into(), now);
    }

    /// Sends what is due, and takes rates, which are of live flowlets.
    fn transmit(&mut self, now: Nanos, mut each: impl FnMut(&[u8])) {
        let mut buffer = [0; DATAGRAM];
        for _ in 0..MANY {
            let Some((_, length)) = self.endpoint.transmit(now, &mut buffer) else {
                assert!(self.endpoint.deadline() > now, "nothing is due any more");
                while let Some(change) = self.endpoint.next_rate() {
                    assert!(self.live[change.flowlet as usize], "{change:?} of no flowlet");
                }
                return;
            };
            self.last = Header::parse(&buffer[..length]).expect("it is a datagram");
            each(&buffer[..length]);
        }
        panic!("it sends more and more");
    }
}

/// Both sides with a connection and a rate.
fn connected() -> (Host, Allocator) {
    let (mut host, mut allocator) = (Host::new(), Allocator::new());
    host.start(0, 0);
    for _ in 0..2 {
        host.transmit(0, |sent| assert_eq!(allocator.receive(sent, 0), None));
        allocator.advance(0);
        allocator.transmit(0, |sent| host.endpoint.receive(0, sent, 0).expect("it is authentic"));
    }
    (host, allocator)
}

/// Runs a program against an allocator: a hostile endpoint with a key, and strangers without.
///
/// # Panics
/// If a refused datagram changes flowlets, if there are more flowlets than allowed, or if the
/// allocator does not come to rest.
pub fn allocator(program: &[u8]) {
    let (Host { mut last, .. }, mut allocator) = connected();
    let (mut program, mut now, key) = (Program(program), 0, Keys::of(&key()).up);
    while let Some(step) = program.byte() {
        let done = match step % 8 {
            0 | 1 => program.time().map(|time| now += time),
            2 => program.bytes().map(|stranger| {
                assert!(is_of_a_stranger(allocator.receive(stranger, now)), "it has no tag");
            }),
            // It takes up the connection that a welcome or a reset offers.
            3 => {
                allocator.transmit(now, |sent| last = Header::parse(sent).unwrap_or(last));
                last.sequence = 0;
                Some(())
            }
            _ => program.signed(&mut last, &key).map(|signed| {
                allocator.receive(&signed, now);
            }),
        };
        if done.is_none() {
            break;
        }
        allocator.advance(now);
        if step & 0x80 == 0 {
            allocator.transmit(now, is_sent);
        }
    }
}

/// Runs a program against an endpoint: an allocator that sends anything, and strangers.
///
/// # Panics
/// If a stranger is heard, if a flowlet that has ended gets a rate, or if the endpoint does not
/// come to rest.
pub fn endpoint(program: &[u8]) {
    let (mut host, _) = connected();
    let (mut program, mut now, key) = (Program(program), 0, Keys::of(&key()).down);
    let mut sequence = 1;
    while let Some(step) = program.byte() {
        let done = match step % 8 {
            0 | 1 => program.time().map(|time| now += time),
            2 => program.bytes().map(|stranger| {
                let refused = host.endpoint.receive(0, stranger, now).err();
                assert!(is_of_a_stranger(refused), "it has no tag");
            }),
            3 => program.byte().map(|flowlet| host.start(flowlet, now)),
            4 => program.byte().map(|flowlet| host.end(flowlet, now)),
            _ => {
                let mut last = Header { sequence, ..host.last };
                program.signed(&mut last, &key).map(|signed| {
                    // A new connection may begin.
                    sequence = if signed[3] == Kind::Welcome as u8 { 0 } else { last.sequence };
                    let _ = host.endpoint.receive(usize::from(step >> 6 & 1), &signed, now);
                })
            }
        };
        if done.is_none() {
            break;
        }
        host.transmit(now, is_sent);
    }
}
