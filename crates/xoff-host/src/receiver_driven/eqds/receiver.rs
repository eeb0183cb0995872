//! Receivers: acknowledgements of a few packets each, and one pull pacer per host.
//!
//! A host's pulls go to flows with trimmed packets first, then to those with data to send, then to
//! idle ones, in each group in turns. An idle flow gets up to a window of credit in advance, so
//! that its next data can leave at once.

use std::collections::VecDeque;

use xoff_net::packet::Packet;

use super::{Terms, target_above};
use crate::receiver_driven::Address;
use crate::receiver_driven::halves::{self, Halves};
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

/// What a receiver keeps of a flow.
#[derive(Debug, Default)]
struct Credits {
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
    /// True once the flow is complete.
    is_complete: bool,
}

type Half = halves::Half<Credits>;

impl Half {
    /// Quanta that the sender has asked for.
    fn backlog(&self) -> u64 {
        self.state.target.saturating_sub(self.state.pulled)
    }

    fn last_pull(&self, terms: &Terms) -> Pull {
        Pull { to: self.to, seq: self.delivered(&terms.shape), pulled: self.state.pulled as u32 }
    }

    /// An acknowledgement with the packets from `first`.
    fn ack(&mut self, terms: &Terms, first: u64) -> Reply {
        self.state.unacknowledged = 0;
        let (seq, bitmap) = (self.delivered(&terms.shape), self.arrived.bits_from(first));
        Reply::Ack { seq, first: first as u32, bitmap }
    }

    /// A packet has arrived whole. `number` of it must be missing.
    fn on_whole_packet(&mut self, terms: &Terms, number: u64, asks: bool) -> Reply {
        self.arrived.insert(number);
        let in_order = number < self.arrived.next();
        let credits = &mut self.state;
        let is_first = credits.bytes == 0;
        credits.bytes += terms.shape.payload_at(number * terms.shape.payload, self.size);
        credits.asked |= asks;
        let drained = in_order && credits.asked && self.arrived.has_no_gap();
        credits.asked &= !drained;
        if !(is_first || asks || drained || credits.unacknowledged > terms.ack_bytes) {
            return Reply::Nothing;
        }
        let first = if asks { number } else { self.bitmap_of(number) };
        self.ack(terms, first)
    }

    /// First packet of a bitmap that ends with `number`, or starts behind the first missing one.
    fn bitmap_of(&self, number: u64) -> u64 {
        number.saturating_sub(63).max(self.arrived.next() + 1)
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
    halves: Halves<Credits>,
    pacers: Vec<Pacer>,
}

impl EqdsReceivers {
    /// Creates it without hosts.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        Self { terms, halves: Halves::default(), pacers: Vec::new() }
    }

    /// Adds a host.
    pub fn add_host(&mut self) {
        self.pacers.push(Pacer::default());
    }

    /// True if no flow is being received.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.halves.is_empty()
    }

    /// Receive progress of an incomplete flow.
    #[must_use]
    pub fn rx_progress(&self, flow: u32) -> Option<RxProgress> {
        let half = self.halves.get(flow)?;
        let delivered = half.delivered(&self.terms.shape);
        Some(RxProgress { received: half.state.bytes, delivered })
    }

    /// Handles a packet of a flow that arrives at host `nic` whole.
    pub fn on_data(&mut self, nic: u32, packet: &Packet) -> Reply {
        let Some((id, _)) = self.halves.of(packet, false) else { return Reply::Whole };
        self.on_target(nic, id, packet.remaining);
        let (terms, half) = (self.terms, &mut self.halves[id]);
        let number = terms.shape.packet_at(packet.seq);
        half.state.unacknowledged += u64::from(packet.wire_bytes);
        if half.arrived.contains(number) {
            let first = half.bitmap_of(number);
            return half.ack(&terms, first);
        }
        let reply = half.on_whole_packet(&terms, number, packet.remaining & 1 == 1);
        if half.delivered(&terms.shape) == half.size {
            self.end(id);
            return Reply::Whole;
        }
        reply
    }

    /// Handles a packet of a flow that arrives at host `nic` trimmed.
    pub fn on_trimmed(&mut self, nic: u32, packet: &Packet) -> Reply {
        let Some((id, _)) = self.halves.of(packet, false) else { return Reply::Whole };
        let (terms, half) = (self.terms, &mut self.halves[id]);
        let number = terms.shape.packet_at(packet.seq);
        if half.arrived.contains(number) {
            return half.ack(&terms, number);
        }
        self.on_target(nic, id, packet.remaining);
        self.halves[id].state.trimmed += terms.full_packet().div_ceil(terms.quantum);
        self.wait(nic, id, TRIMMED);
        Reply::Nack
    }

    /// Handles a request that arrives at host `nic`.
    pub fn on_request(&mut self, nic: u32, packet: &Packet) -> Reply {
        let Some((id, _)) = self.halves.of(packet, false) else { return Reply::Whole };
        self.on_target(nic, id, packet.remaining);
        let (terms, half) = (self.terms, &mut self.halves[id]);
        // A repeated request asks for the same packets.
        half.state.trimmed = half.state.trimmed.max(packet.seq.div_ceil(terms.quantum));
        let reply = Reply::Pull(half.last_pull(&terms));
        if half.state.trimmed > 0 {
            self.wait(nic, id, TRIMMED);
        }
        reply
    }

    /// A packet carries this pull target. Flows with trimmed packets have their turn first.
    fn on_target(&mut self, nic: u32, id: u32, field: u32) {
        let credits = &mut self.halves[id].state;
        let more = target_above(field, credits.target);
        if more > 0 {
            credits.target += more as u64;
            if credits.trimmed == 0 {
                self.wait(nic, id, ACTIVE);
            }
        }
    }

    /// Appends a flow to a group, unless it waits there.
    fn wait(&mut self, nic: u32, id: u32, group: usize) {
        let waits = &mut self.halves[id].state.in_group[group];
        if !std::mem::replace(waits, true) {
            self.pacers[nic as usize].groups[group].push_back(id);
        }
    }

    /// Ends a complete flow.
    fn end(&mut self, id: u32) {
        self.halves.end(id);
        self.halves[id].state.is_complete = true;
        self.release(id);
    }

    /// Frees a complete flow's half once no group has it.
    fn release(&mut self, id: u32) {
        if self.halves[id].state.in_group == [false; GROUPS] {
            self.halves.release(id);
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
            let (terms, half) = (self.terms, &mut self.halves[id]);
            half.state.in_group[group] = false;
            if half.state.is_complete {
                self.release(id);
                continue;
            }
            half.state.pulled += terms.per_pull;
            let pull = half.last_pull(&terms);
            if group == TRIMMED {
                half.state.trimmed = half.state.trimmed.saturating_sub(terms.per_pull);
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
    let advance = half.state.pulled.saturating_sub(half.state.target);
    match group {
        TRIMMED if half.state.trimmed > 0 => Some(TRIMMED),
        // Data that was announced meanwhile.
        _ if half.backlog() > 0 => Some(ACTIVE),
        ACTIVE => Some(IDLE),
        IDLE if advance < terms.shape.initial_window / terms.quantum => Some(IDLE),
        _ => None,
    }
}
