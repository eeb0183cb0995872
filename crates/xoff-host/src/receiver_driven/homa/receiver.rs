//! Receivers: selection of the messages to grant, and the size and priority of grants.

use std::collections::VecDeque;

use xoff_net::packet::Packet;

use super::ranking::{Ranked, Ranking};
use super::silence::{Silences, Silent};
use crate::receiver_driven::halves::{self, Halves};
use crate::receiver_driven::{Address, Levels, Shape};
use crate::recovery::RxProgress;

/// A grant to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Destination of the grant.
    pub to: Address,
    /// Bytes received without a gap.
    pub seq: u64,
    /// Bytes granted so far.
    pub granted: u64,
    /// Bytes added by this grant; 0: it repeats the last one.
    pub bytes: u64,
    /// Priority of the granted bytes.
    pub level: u8,
}

/// A request for missing bytes after a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Destination of the request.
    pub to: Address,
    /// The first missing byte.
    pub seq: u64,
    /// Number of missing bytes.
    pub bytes: u64,
    /// Priority of bytes that have not been sent yet.
    pub level: u8,
}

/// The reply to a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// True if its message is complete.
    pub whole: bool,
    /// A grant, to this message or to another one of the same host.
    pub grant: Option<Grant>,
}

/// What a receiver keeps of a message.
#[derive(Debug, Default)]
struct Grants {
    /// Bytes that have arrived.
    received: u64,
    /// Bytes that may be sent, including unscheduled ones.
    granted: u64,
    /// The priority of the last grant.
    level: u8,
    /// Its number, counted from 1 in the order of first arrivals; 0 once it is complete.
    number: u64,
    /// Time of the last arrival of one of its packets (ps).
    last_arrival_ps: u64,
}

type Half = halves::Half<Grants>;

impl Half {
    /// Upper limit of its granted bytes: RTTbytes more than have arrived.
    fn limit(&self, rtt_bytes: u64) -> u64 {
        self.size.min(self.state.received + rtt_bytes)
    }

    fn grant(&self, shape: &Shape, bytes: u64) -> Grant {
        let Grants { granted, level, .. } = self.state;
        Grant { to: self.to, seq: self.delivered(shape), granted, bytes, level }
    }
}

/// The messages to one host.
#[derive(Debug, Default)]
struct Inbound {
    /// Messages that are not fully granted.
    ranking: Ranking,
    /// All incomplete messages, if they can time out.
    silences: Silences,
    /// True if no grantable message except the arriving packet's has grant budget.
    settled: bool,
}

/// Counters of the receivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrantStats {
    /// Grants.
    pub grants: u64,
    /// Bytes they granted.
    pub bytes: u64,
    /// Maximum number of messages that one receiver granted at once.
    pub most_at_once: u64,
    /// Requests for missing bytes.
    pub resends: u64,
}

/// All receivers of a partition.
#[derive(Debug)]
pub struct Granters {
    shape: Shape,
    /// RTTbytes, in whole packets.
    rtt_bytes: u64,
    levels: Levels,
    overcommitment: usize,
    halves: Halves<Grants>,
    hosts: Vec<Inbound>,
    /// Messages that have begun.
    begun: u64,
    /// Timeout after which missing bytes are requested (ps); 0: never.
    timeout: u64,
    /// Time for which a complete message is remembered (ps), if packets may arrive again.
    linger: u64,
    /// Complete messages, by the time they are forgotten (ps).
    lingering: VecDeque<(u64, u32)>,
    /// Counters.
    pub stats: GrantStats,
}

impl Granters {
    /// Creates it without hosts. Each host grants `overcommitment` messages at once, and requests
    /// missing bytes after `timeout` (ps; 0: never). It remembers a complete message for `linger`
    /// (ps).
    #[must_use]
    pub fn new(
        shape: Shape,
        levels: Levels,
        overcommitment: usize,
        timeout: u64,
        linger: u64,
    ) -> Self {
        Self {
            shape,
            rtt_bytes: shape.unasked(u64::MAX),
            levels,
            overcommitment,
            halves: Halves::default(),
            hosts: Vec::new(),
            begun: 0,
            timeout,
            linger,
            lingering: VecDeque::new(),
            stats: GrantStats::default(),
        }
    }

    /// Adds a host.
    pub fn add_host(&mut self) {
        self.hosts.push(Inbound::default());
    }

    /// Receive progress of an incomplete message.
    #[must_use]
    pub fn rx_progress(&self, flow: u32) -> Option<RxProgress> {
        let half = self.halves.get(flow)?;
        let received = half.state.received;
        let delivered = half.delivered(&self.shape);
        (received < half.size).then_some(RxProgress { received, delivered })
    }

    /// Handles a data packet that arrives at host `nic`.
    pub fn on_data(&mut self, nic: u32, packet: &Packet, now: u64) -> Answer {
        let size = packet.stamp;
        if self.lingering.front().is_some_and(|&(until, _)| until <= now) {
            self.forget(now);
        }
        let Some((id, begins)) = self.halves.of(packet, size <= self.shape.payload) else {
            return Answer { whole: true, grant: self.grant(nic, None) };
        };
        if begins {
            self.begin(nic, id, now);
        }
        let half = &mut self.halves[id];
        if half.state.received == size {
            return Answer { whole: true, grant: self.grant(nic, None) };
        }
        half.state.last_arrival_ps = now;
        let number = self.shape.packet_at(packet.seq);
        if !half.arrived.insert(number) {
            // An unnecessary retransmission: its sender has had no reply for long.
            return Answer { whole: false, grant: Some(half.grant(&self.shape, 0)) };
        }
        let before = size - half.state.received;
        half.state.received += self.shape.payload_at(packet.seq, size);
        let left = size - half.state.received;
        let rank = (half.state.granted < size).then(|| {
            let old = Ranked { left: before, flow: packet.flow, half: id };
            self.hosts[nic as usize].ranking.bring_forward(old, left, self.overcommitment)
        });
        let whole = left == 0;
        if whole {
            self.end(id, now);
        }
        Answer { whole, grant: self.grant(nic, rank.flatten()) }
    }

    /// Begins a message.
    fn begin(&mut self, nic: u32, id: u32, now: u64) {
        self.begun += 1;
        let (host, half) = (&mut self.hosts[nic as usize], &mut self.halves[id]);
        let granted = half.size.min(self.rtt_bytes);
        half.state.granted = granted;
        half.state.level = self.levels.count() - 1;
        half.state.number = self.begun;
        if self.timeout > 0 {
            host.silences.add(Silent { since_ps: now, number: self.begun, half: id });
        }
        if granted < half.size {
            let message = Ranked { left: half.size, flow: half.to.flow, half: id };
            host.ranking.insert(message, self.overcommitment);
        }
    }

    /// Ends a message that is complete.
    fn end(&mut self, id: u32, now: u64) {
        let half = &mut self.halves[id];
        debug_assert_eq!(half.state.granted, half.size, "bytes arrived that were not granted");
        half.state.number = 0;
        if self.linger > 0 {
            self.lingering.push_back((now + self.linger, id));
        } else {
            self.remove(id);
        }
    }

    /// Forgets complete messages past their linger time.
    #[cold]
    fn forget(&mut self, now: u64) {
        while let Some(&(until, id)) = self.lingering.front()
            && until <= now
        {
            self.lingering.pop_front();
            self.remove(id);
        }
    }

    fn remove(&mut self, id: u32) {
        self.halves.end(id);
        self.halves.release(id);
    }

    /// The grant triggered by a packet. `own` is the rank of the packet's message, if it is ranked.
    fn grant(&mut self, nic: u32, own: Option<usize>) -> Option<Grant> {
        let host = &mut self.hosts[nic as usize];
        let ranked = host.ranking.first();
        let at_once = ranked.len();
        let rank = if host.settled {
            own?
        } else {
            let has_room = |rank: &usize| {
                let half = &self.halves[ranked[*rank].half];
                half.state.granted < half.limit(self.rtt_bytes)
            };
            let mut with_room = (0..at_once).filter(has_room);
            let first = with_room.next();
            host.settled = with_room.next().is_none();
            first?
        };
        let half = &mut self.halves[ranked[rank].half];
        let limit = half.limit(self.rtt_bytes);
        let bytes = limit - half.state.granted;
        if bytes == 0 {
            return None;
        }
        half.state.granted = limit;
        half.state.level = self.levels.of_rank(rank, at_once);
        if limit == half.size {
            let another = host.ranking.remove(rank);
            host.settled &= !another;
        }
        self.stats.grants += 1;
        self.stats.bytes += bytes;
        self.stats.most_at_once = self.stats.most_at_once.max(at_once as u64);
        Some(half.grant(&self.shape, bytes))
    }

    /// A grant due at host `nic` whose triggering packets may have been lost.
    pub fn owed(&mut self, nic: u32) -> Option<Grant> {
        self.grant(nic, None)
    }

    /// Time at which the first message to host `nic` times out (ps).
    pub fn next_check(&mut self, nic: u32) -> Option<u64> {
        Some(self.most_silent(nic)?.since_ps + self.timeout)
    }

    /// The next request for missing bytes of a message to host `nic` that has timed out.
    pub fn next_missing(&mut self, nic: u32, now: u64) -> Option<Missing> {
        while let Some(silent) = self.most_silent(nic)
            && silent.since_ps + self.timeout <= now
        {
            let half = &mut self.halves[silent.half];
            half.state.last_arrival_ps = now;
            if half.state.received < half.state.granted {
                self.stats.resends += 1;
                let first = half.arrived.next();
                let last = (first..).find(|&packet| {
                    half.arrived.contains(packet + 1)
                        || self.shape.bytes_before(packet + 1, half.size) >= half.state.granted
                });
                let bytes_before = |packet| self.shape.bytes_before(packet, half.size);
                let seq = bytes_before(first);
                let bytes = bytes_before(last.unwrap_or(first) + 1) - seq;
                return Some(Missing { to: half.to, seq, bytes, level: half.state.level });
            }
        }
        None
    }

    /// The incomplete message to host `nic` with the longest silence.
    fn most_silent(&mut self, nic: u32) -> Option<Silent> {
        let halves = &self.halves;
        self.hosts[nic as usize].silences.longest(|silent| {
            let state = &halves[silent.half].state;
            (state.number == silent.number).then_some(state.last_arrival_ps)
        })
    }
}
