//! Receivers: acknowledgements of a few packets each, and one pull pacer per host.
//!
//! A host's pulls go to flows with trimmed packets first, then to those with data to send, then to
//! idle ones, in each group in turns. An idle flow gets up to a window of credit in advance, so
//! that its next data can leave at once.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use xoff_net::packet::{Packet, flag};

use super::{Terms, target_above};
use crate::receiver_driven::Address;
use crate::receiver_driven::arrived::Arrived;
use crate::recovery::RxProgress;

/// The reply to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The whole flow has arrived.
    Whole,
    /// These packets have arrived.
    Ack {
        /// Bytes received without a gap.
        seq: u64,
        /// First packet of the bitmap.
        first: u32,
        /// The packets from there that have arrived.
        bitmap: u64,
    },
    /// The packet's payload is missing.
    Nack,
    /// The last pull again.
    Pull(Pull),
    /// No reply to this packet.
    Nothing,
}

/// A pull to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pull {
    /// Destination of the pull.
    pub to: Address,
    /// Bytes received without a gap.
    pub seq: u64,
    /// Quanta pulled so far, modulo 2^32.
    pub pulled: u32,
}

/// The receiver's half of a flow.
#[derive(Debug)]
struct Half {
    to: Address,
    size: u64,
    received: Arrived,
    /// Payload bytes received.
    bytes: u64,
    /// Bytes on the wire since the last acknowledgement.
    unacknowledged: u64,
    /// An acknowledgement is due once no packet is missing before others.
    asked: bool,
    /// Credit for trimmed packets, and all credit so far (quanta).
    trimmed: u64,
    pulled: u64,
    /// The sender's pull target (quanta).
    target: u64,
    /// It waits in this group of its host.
    in_group: [bool; GROUPS],
    /// True until the flow is complete.
    alive: bool,
}

impl Half {
    /// Quanta that the sender has asked for.
    fn backlog(&self) -> u64 {
        self.target.saturating_sub(self.pulled)
    }

    fn last_pull(&self, terms: &Terms) -> Pull {
        let seq = terms.bytes_before(self.received.next(), self.size);
        Pull { to: self.to, seq, pulled: self.pulled as u32 }
    }

    /// An acknowledgement with the packets from `first`.
    fn ack(&mut self, terms: &Terms, first: u64) -> Reply {
        self.unacknowledged = 0;
        let seq = terms.bytes_before(self.received.next(), self.size);
        Reply::Ack { seq, first: first as u32, bitmap: self.received.bits_from(first) }
    }

    /// A packet has arrived whole. `number` of it must be missing.
    fn on_whole_packet(&mut self, terms: &Terms, number: u64, asks: bool) -> Reply {
        let is_first = self.bytes == 0;
        self.bytes += terms.payload_at(number * terms.payload, self.size);
        self.received.insert(number);
        self.asked |= asks;
        let in_order = number < self.received.next();
        let drained = in_order && self.asked && self.received.has_no_gap();
        self.asked &= !drained;
        if !(is_first || asks || drained || self.unacknowledged > terms.ack_bytes) {
            return Reply::Nothing;
        }
        let first = if asks { number } else { self.bitmap_of(number) };
        self.ack(terms, first)
    }

    /// First packet of a bitmap that ends with `number`, or starts behind the first missing one.
    fn bitmap_of(&self, number: u64) -> u64 {
        number.saturating_sub(63).max(self.received.next() + 1)
    }
}

const GROUPS: usize = 3;
const TRIMMED: usize = 0;
const ACTIVE: usize = 1;
const IDLE: usize = 2;

/// The pull pacer of one host.
#[derive(Debug, Default)]
struct Pacer {
    /// Flows of each group, in turns. A complete flow may remain for a while.
    groups: [VecDeque<u32>; GROUPS],
    /// Earliest time of the next pull (ps).
    next_ps: u64,
}

/// All receivers of a partition.
#[derive(Debug)]
pub struct EqdsReceivers {
    terms: Terms,
    halves: Vec<Half>,
    free: Vec<u32>,
    by_flow: FxHashMap<u32, u32>,
    pacers: Vec<Pacer>,
}

impl EqdsReceivers {
    /// Creates it without hosts.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        Self {
            terms,
            halves: Vec::new(),
            free: Vec::new(),
            by_flow: FxHashMap::default(),
            pacers: Vec::new(),
        }
    }

    /// Adds a host.
    pub fn add_host(&mut self) {
        self.pacers.push(Pacer::default());
    }

    /// True if no flow is being received.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_flow.is_empty()
    }

    /// Receive progress of an incomplete flow.
    #[must_use]
    pub fn rx_progress(&self, flow: u32) -> Option<RxProgress> {
        let half = &self.halves[*self.by_flow.get(&flow)? as usize];
        let delivered = self.terms.bytes_before(half.received.next(), half.size);
        Some(RxProgress { received: half.bytes, delivered })
    }

    /// The half of a packet's flow. `None` if the flow is complete.
    fn half_of(&mut self, packet: &Packet) -> Option<u32> {
        match self.by_flow.entry(packet.flow) {
            Entry::Occupied(place) => Some(*place.get()),
            // The sender has had a reply from this half, which is gone: the flow was complete.
            Entry::Vacant(_) if packet.has(flag::PROGRESSED) => None,
            Entry::Vacant(place) => {
                Some(*place.insert(new_half(&mut self.halves, &mut self.free, packet)))
            }
        }
    }

    /// Handles a packet of a flow that arrives at host `nic` whole.
    pub fn on_data(&mut self, nic: u32, packet: &Packet) -> Reply {
        let Some(id) = self.half_of(packet) else { return Reply::Whole };
        self.on_target(nic, id, packet.remaining);
        let (terms, half) = (self.terms, &mut self.halves[id as usize]);
        let number = terms.packet_at(packet.seq);
        half.unacknowledged += u64::from(packet.wire_bytes);
        if half.received.contains(number) {
            let first = half.bitmap_of(number);
            return half.ack(&terms, first);
        }
        let reply = half.on_whole_packet(&terms, number, packet.remaining & 1 == 1);
        if terms.bytes_before(half.received.next(), half.size) == half.size {
            self.end(id);
            return Reply::Whole;
        }
        reply
    }

    /// Handles a packet of a flow that arrives at host `nic` trimmed.
    pub fn on_trimmed(&mut self, nic: u32, packet: &Packet) -> Reply {
        let Some(id) = self.half_of(packet) else { return Reply::Whole };
        let (terms, half) = (self.terms, &mut self.halves[id as usize]);
        let number = terms.packet_at(packet.seq);
        if half.received.contains(number) {
            return half.ack(&terms, number);
        }
        self.on_target(nic, id, packet.remaining);
        self.halves[id as usize].trimmed += terms.full_packet().div_ceil(terms.quantum);
        self.wait(nic, id, TRIMMED);
        Reply::Nack
    }

    /// Handles a request that arrives at host `nic`.
    pub fn on_request(&mut self, nic: u32, packet: &Packet) -> Reply {
        let Some(id) = self.half_of(packet) else { return Reply::Whole };
        self.on_target(nic, id, packet.remaining);
        let (terms, half) = (self.terms, &mut self.halves[id as usize]);
        // A repeated request asks for the same packets.
        half.trimmed = half.trimmed.max(packet.seq.div_ceil(terms.quantum));
        let reply = Reply::Pull(half.last_pull(&terms));
        if half.trimmed > 0 {
            self.wait(nic, id, TRIMMED);
        }
        reply
    }

    /// A packet carries this pull target. Flows with trimmed packets have their turn first.
    fn on_target(&mut self, nic: u32, id: u32, field: u32) {
        let half = &mut self.halves[id as usize];
        let more = target_above(field, half.target);
        if more > 0 {
            half.target += more as u64;
            if half.trimmed == 0 {
                self.wait(nic, id, ACTIVE);
            }
        }
    }

    /// Appends a flow to a group, unless it waits there.
    fn wait(&mut self, nic: u32, id: u32, group: usize) {
        let waits = &mut self.halves[id as usize].in_group[group];
        if !std::mem::replace(waits, true) {
            self.pacers[nic as usize].groups[group].push_back(id);
        }
    }

    /// Ends a complete flow.
    fn end(&mut self, id: u32) {
        let half = &mut self.halves[id as usize];
        half.alive = false;
        self.by_flow.remove(&half.to.flow);
        self.release(id);
    }

    /// Frees a complete flow's half once no group has it.
    fn release(&mut self, id: u32) {
        if self.halves[id as usize].in_group == [false; GROUPS] {
            self.free.push(id);
        }
    }

    /// Time of host `nic`'s next pull (ps), if any flow waits for one.
    #[must_use]
    pub fn next_pull(&self, nic: u32) -> Option<u64> {
        let pacer = &self.pacers[nic as usize];
        pacer.groups.iter().any(|group| !group.is_empty()).then_some(pacer.next_ps)
    }

    /// Takes the pull that is due at host `nic`.
    pub fn pull(&mut self, nic: u32) -> Option<Pull> {
        loop {
            let groups = &mut self.pacers[nic as usize].groups;
            let group = (0..GROUPS).find(|&group| !groups[group].is_empty())?;
            let id = groups[group].pop_front()?;
            let (terms, half) = (self.terms, &mut self.halves[id as usize]);
            half.in_group[group] = false;
            if !half.alive {
                self.release(id);
                continue;
            }
            half.pulled += terms.per_pull;
            let pull = half.last_pull(&terms);
            if group == TRIMMED {
                half.trimmed = half.trimmed.saturating_sub(terms.per_pull);
            }
            if let Some(next) = next_group(&terms, half, group) {
                self.wait(nic, id, next);
            }
            return Some(pull);
        }
    }

    /// Delays host `nic`'s next pull until this time (ps).
    pub fn wait_until(&mut self, nic: u32, time_ps: u64) {
        self.pacers[nic as usize].next_ps = time_ps;
    }
}

/// The group in which a flow waits after a pull in `group`.
fn next_group(terms: &Terms, half: &Half, group: usize) -> Option<usize> {
    let advance = half.pulled.saturating_sub(half.target);
    match group {
        TRIMMED if half.trimmed > 0 => Some(TRIMMED),
        // Data that was announced meanwhile.
        _ if half.backlog() > 0 => Some(ACTIVE),
        ACTIVE => Some(IDLE),
        IDLE if advance < terms.window / terms.quantum => Some(IDLE),
        _ => None,
    }
}

/// Creates a half for the flow of this packet.
fn new_half(halves: &mut Vec<Half>, free: &mut Vec<u32>, packet: &Packet) -> u32 {
    let id = free.pop().unwrap_or(halves.len() as u32);
    let mut received = Arrived::default();
    if let Some(old) = halves.get_mut(id as usize) {
        received = std::mem::take(&mut old.received);
        received.restart();
    }
    let half = Half {
        to: Address::of(packet),
        size: packet.stamp,
        received,
        bytes: 0,
        unacknowledged: 0,
        asked: false,
        trimmed: 0,
        pulled: 0,
        target: 0,
        in_group: [false; GROUPS],
        alive: true,
    };
    if let Some(place) = halves.get_mut(id as usize) {
        *place = half;
    } else {
        halves.push(half);
    }
    id
}
