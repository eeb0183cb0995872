//! Receivers: selection of the messages to grant, and the size and priority of grants.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use xoff_net::packet::{Packet, flag};

use crate::receiver_driven::Levels;
use crate::receiver_driven::arrived::Arrived;
use crate::receiver_driven::{Address, Shape};
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

/// The receiver's half of a message.
#[derive(Debug)]
struct Half {
    to: Address,
    size: u64,
    arrived: Arrived,
    /// Bytes that have arrived.
    received: u64,
    /// Bytes that may be sent, including unscheduled ones.
    granted: u64,
    /// The priority of the last grant.
    level: u8,
    /// Its index among its host's messages.
    place: u32,
    /// Time of the last arrival of one of its packets (ps).
    last_arrival_ps: u64,
}

impl Half {
    /// Upper limit of its granted bytes: RTTbytes more than have arrived.
    fn limit(&self, rtt_bytes: u64) -> u64 {
        self.size.min(self.received + rtt_bytes)
    }

    fn grant(&self, shape: &Shape, bytes: u64) -> Grant {
        let seq = shape.bytes_before(self.arrived.next(), self.size);
        Grant { to: self.to, seq, granted: self.granted, bytes, level: self.level }
    }
}

/// A message with bytes not yet granted; the one with the least left comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    /// Bytes that have not arrived.
    left: u64,
    flow: u32,
    half: u32,
}

/// The messages to one host.
#[derive(Debug, Default)]
struct Inbound {
    /// Messages that are not fully granted, in order.
    ranked: Vec<Ranked>,
    /// All incomplete messages.
    halves: Vec<u32>,
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
    halves: Vec<Half>,
    free: Vec<u32>,
    by_flow: FxHashMap<u32, u32>,
    hosts: Vec<Inbound>,
    /// Time for which a complete message is remembered (ps), if packets may arrive again.
    linger: u64,
    /// Complete messages, by the time they are forgotten (ps).
    lingering: VecDeque<(u64, u32)>,
    /// Counters.
    pub stats: GrantStats,
}

impl Granters {
    /// Creates it without hosts. Each host grants `overcommitment` messages at once and remembers a
    /// complete one for `linger` (ps).
    #[must_use]
    pub fn new(shape: Shape, levels: Levels, overcommitment: usize, linger: u64) -> Self {
        Self {
            shape,
            rtt_bytes: shape.unasked(u64::MAX),
            levels,
            overcommitment,
            halves: Vec::new(),
            free: Vec::new(),
            by_flow: FxHashMap::default(),
            hosts: Vec::new(),
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
        let half = &self.halves[*self.by_flow.get(&flow)? as usize];
        if half.received == half.size {
            return None;
        }
        let delivered = self.shape.bytes_before(half.arrived.next(), half.size);
        Some(RxProgress { received: half.received, delivered })
    }

    /// Handles a data packet that arrives at host `nic`.
    pub fn on_data(&mut self, nic: u32, packet: &Packet, now: u64) -> Answer {
        let size = packet.stamp;
        if self.lingering.front().is_some_and(|&(until, _)| until <= now) {
            self.forget(now);
        }
        let (id, begins) = match self.by_flow.entry(packet.flow) {
            Entry::Occupied(place) => (*place.get(), false),
            // The sender has had a reply from this half, which is gone: the message was complete. A
            // message of one packet needs no half.
            Entry::Vacant(_) if packet.has(flag::PROGRESSED) || size <= self.shape.payload => {
                return Answer { whole: true, grant: self.grant(nic, None) };
            }
            Entry::Vacant(place) => {
                let id = self.free.pop().unwrap_or(self.halves.len() as u32);
                (*place.insert(id), true)
            }
        };
        if begins {
            self.begin(nic, id, packet);
        }
        let half = &mut self.halves[id as usize];
        if half.received == size {
            return Answer { whole: true, grant: self.grant(nic, None) };
        }
        half.last_arrival_ps = now;
        let number = self.shape.packet_at(packet.seq);
        if !half.arrived.insert(number) {
            // An unnecessary retransmission: its sender has had no reply for long.
            return Answer { whole: false, grant: Some(half.grant(&self.shape, 0)) };
        }
        let before = half.size - half.received;
        half.received += self.shape.payload_at(packet.seq, size);
        let rank = (half.granted < size).then(|| {
            let old = Ranked { left: before, flow: packet.flow, half: id };
            self.hosts[nic as usize].bring_forward(old, size - half.received)
        });
        let whole = self.halves[id as usize].received == size;
        if whole {
            self.end(nic, id, now);
        }
        Answer { whole, grant: self.grant(nic, rank) }
    }

    /// Begins a message with this packet.
    fn begin(&mut self, nic: u32, id: u32, packet: &Packet) {
        let host = &mut self.hosts[nic as usize];
        let size = packet.stamp;
        let granted = size.min(self.rtt_bytes);
        let mut arrived = Arrived::default();
        if let Some(old) = self.halves.get_mut(id as usize) {
            arrived = std::mem::take(&mut old.arrived);
            arrived.restart();
        }
        let half = Half {
            to: Address::of(packet),
            size,
            arrived,
            received: 0,
            granted,
            level: self.levels.count() - 1,
            place: host.halves.len() as u32,
            last_arrival_ps: 0,
        };
        host.halves.push(id);
        if let Some(place) = self.halves.get_mut(id as usize) {
            *place = half;
        } else {
            self.halves.push(half);
        }
        if granted < size {
            host.insert(Ranked { left: size, flow: packet.flow, half: id });
        }
    }

    /// Ends a message that is complete.
    fn end(&mut self, nic: u32, id: u32, now: u64) {
        let half = &self.halves[id as usize];
        debug_assert_eq!(half.granted, half.size, "bytes arrived that were not granted");
        if self.linger > 0 {
            self.lingering.push_back((now + self.linger, id));
        } else {
            self.by_flow.remove(&half.to.flow);
            self.free.push(id);
        }
        let (place, messages) = (half.place, &mut self.hosts[nic as usize].halves);
        messages.swap_remove(place as usize);
        if let Some(&moved) = messages.get(place as usize) {
            self.halves[moved as usize].place = place;
        }
    }

    /// Forgets complete messages past their linger time.
    #[cold]
    fn forget(&mut self, now: u64) {
        while let Some(&(until, id)) = self.lingering.front()
            && until <= now
        {
            self.lingering.pop_front();
            self.by_flow.remove(&self.halves[id as usize].to.flow);
            self.free.push(id);
        }
    }

    /// The grant triggered by a packet. `own` is the rank of the packet's message, if it is ranked.
    fn grant(&mut self, nic: u32, own: Option<usize>) -> Option<Grant> {
        let host = &mut self.hosts[nic as usize];
        let at_once = self.overcommitment.min(host.ranked.len());
        let rank = if host.settled {
            own.filter(|&own| own < at_once)?
        } else {
            let has_room = |rank: &usize| {
                let half = &self.halves[host.ranked[*rank].half as usize];
                half.granted < half.limit(self.rtt_bytes)
            };
            let mut with_room = (0..at_once).filter(has_room);
            let first = with_room.next();
            host.settled = with_room.next().is_none();
            first?
        };
        let half = &mut self.halves[host.ranked[rank].half as usize];
        let limit = half.limit(self.rtt_bytes);
        let bytes = limit - half.granted;
        if bytes == 0 {
            return None;
        }
        half.granted = limit;
        half.level = self.levels.of_rank(rank, at_once);
        if limit == half.size {
            host.ranked.remove(rank);
            // Another message may be granted now.
            host.settled &= host.ranked.len() < self.overcommitment;
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
    #[must_use]
    pub fn next_check(&self, nic: u32, timeout: u64) -> Option<u64> {
        let halves = self.hosts[nic as usize].halves.iter();
        halves.map(|&id| self.halves[id as usize].last_arrival_ps + timeout).min()
    }

    /// The next request for missing bytes of a message to host `nic` that has timed out, searching
    /// from index `place`; and the index after it.
    pub fn next_missing(
        &mut self,
        nic: u32,
        mut place: usize,
        now: u64,
        timeout: u64,
    ) -> Option<(Missing, usize)> {
        while let Some(&id) = self.hosts[nic as usize].halves.get(place) {
            place += 1;
            let half = &mut self.halves[id as usize];
            if half.last_arrival_ps + timeout > now {
                continue;
            }
            half.last_arrival_ps = now;
            if half.received < half.granted {
                self.stats.resends += 1;
                let first = half.arrived.next();
                let last = (first..).find(|&packet| {
                    half.arrived.contains(packet + 1)
                        || self.shape.bytes_before(packet + 1, half.size) >= half.granted
                });
                let bytes_before = |packet| self.shape.bytes_before(packet, half.size);
                let seq = bytes_before(first);
                let bytes = bytes_before(last.unwrap_or(first) + 1) - seq;
                return Some((Missing { to: half.to, seq, bytes, level: half.level }, place));
            }
        }
        None
    }
}

impl Inbound {
    fn insert(&mut self, message: Ranked) {
        let place = self.ranked.partition_point(|other| *other < message);
        self.ranked.insert(place, message);
    }

    /// Updates the bytes left of a message. Returns its new rank.
    fn bring_forward(&mut self, message: Ranked, left: u64) -> usize {
        let place = self.ranked.binary_search(&message);
        let mut rank = place.expect("a message that is not fully granted is ranked");
        let now = Ranked { left, ..message };
        while rank > 0 && self.ranked[rank - 1] > now {
            self.ranked[rank] = self.ranked[rank - 1];
            rank -= 1;
        }
        self.ranked[rank] = now;
        rank
    }
}
