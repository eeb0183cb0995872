//! Backpressure left out for pairs of ports, so that pauses cannot form a cycle (BFC App. B).
//!
//! "To remove a backpressure edge B -> A, we use the simple strategy of skipping the backpressure
//! operation for packets coming from A going to B": a match-action table, "indexed by the ingress
//! and egress port". Only switches with entries in their table replace their control by this one,
//! so other switches never look up a table.
//!
//! Such a packet pauses no neighbour. It is dropped if there is no room, also under PFC, which is
//! then not lossless for these packets. (Tagger, which the paper cites, moves them to other classes
//! instead.)

use xoff_core::Rng;
use xoff_core::invariant::{Checker, Part, equal};

use super::{HopControl, Signal};
use crate::packet::{Kind, Packet};
use crate::recount::{Checked, WaitingPacket, of_part};
use crate::sched::{QueueMask, Scheduler};

/// A hop control's operations on packets that must not cause a pause.
pub(super) trait Elide: HopControl {
    /// Whether a packet may enter while its ingress has `held` bytes of such packets here.
    fn admits_elided(&self, packet: &Packet, held: u64) -> bool;
    /// The packet has joined its queue.
    fn join_elided(&mut self, now: u64, egress: u16, packet: &mut Packet);
    /// The packet starts to leave.
    fn leave_elided(&mut self, now: u64, egress: u16, packet: &mut Packet);
    /// Counts what it counts again, from such packets that wait at the switch, and the others.
    ///
    /// # Errors
    /// A count that differs, or a pause without a reason.
    fn recount_elided(&self, elided: &[WaitingPacket<'_>], others: &[WaitingPacket<'_>])
    -> Checked;
}

/// Counts of packets without backpressure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ElisionStats {
    /// Data packets that took a pair of the table.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
}

/// A hop control with a table of the pairs without backpressure.
#[derive(Debug)]
pub struct Eliding<H> {
    inner: H,
    table: Box<Table>,
}

#[derive(Debug)]
struct Table {
    ports: usize,
    /// Whether a pair has no backpressure, by ingress and egress.
    pairs: Vec<bool>,
    /// Bytes here of packets without backpressure, by ingress.
    held: Vec<u64>,
    stats: ElisionStats,
}

impl Table {
    fn has(&self, ingress: u16, egress: u16) -> bool {
        self.pairs[usize::from(ingress) * self.ports + usize::from(egress)]
    }
}

impl<H> Eliding<H> {
    /// The control of a switch with `ports` ports that leaves out these pairs of ingress and
    /// egress.
    pub fn new(inner: H, ports: usize, pairs: impl IntoIterator<Item = (u16, u16)>) -> Self {
        let mut table = Table {
            ports,
            pairs: vec![false; ports * ports],
            held: vec![0; ports],
            stats: ElisionStats::default(),
        };
        for (ingress, egress) in pairs {
            table.pairs[usize::from(ingress) * ports + usize::from(egress)] = true;
        }
        Self { inner, table: Box::new(table) }
    }

    /// The inner control.
    pub fn inner(&self) -> &H {
        &self.inner
    }

    /// Counts so far.
    pub fn stats(&self) -> ElisionStats {
        self.table.stats
    }
}

// Rarely used: out of line, so that other controls' packet path stays short.
impl<H: Elide> HopControl for Eliding<H> {
    fn is_apart<S: Scheduler>() -> bool {
        true
    }

    fn admits(&self, egress: u16, packet: &Packet) -> bool {
        if !self.table.has(packet.ingress, egress) {
            return self.inner.admits(egress, packet);
        }
        self.inner.admits_elided(packet, self.table.held[packet.ingress as usize])
    }

    #[inline(never)]
    fn queue_of<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &Packet,
        queues: &S,
        rng: &mut Rng,
    ) -> u8 {
        if self.table.has(packet.ingress, egress) && packet.kind == Kind::Data {
            self.table.stats.packets += 1;
            self.table.stats.bytes += u64::from(packet.wire_bytes);
        }
        self.inner.queue_of(now, egress, packet, queues, rng)
    }

    #[inline(never)]
    fn on_enqueue<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &mut Packet,
        queues: &S,
    ) -> Option<Signal> {
        if !self.table.has(packet.ingress, egress) {
            return self.inner.on_enqueue(now, egress, packet, queues);
        }
        self.table.held[packet.ingress as usize] += u64::from(packet.wire_bytes);
        self.inner.join_elided(now, egress, packet);
        None
    }

    /// A packet that passes does not wait, so no neighbour pauses. There must be room for it
    /// nevertheless.
    #[inline(never)]
    fn pass(&mut self, now: u64, egress: u16, packet: &Packet) -> bool {
        self.admits(egress, packet) && self.inner.pass(now, egress, packet)
    }

    #[inline(never)]
    fn on_dequeue(&mut self, now: u64, egress: u16, packet: &mut Packet) -> Option<Signal> {
        if !self.table.has(packet.ingress, egress) {
            return self.inner.on_dequeue(now, egress, packet);
        }
        self.table.held[packet.ingress as usize] -= u64::from(packet.wire_bytes);
        self.inner.leave_elided(now, egress, packet);
        None
    }

    fn on_refused(&mut self, egress: u16, packet: &Packet) {
        self.inner.on_refused(egress, packet);
    }

    fn next_signal(&mut self) -> Option<Signal> {
        self.inner.next_signal()
    }

    fn sharing_flows(&self, egress: u16) -> Option<u32> {
        self.inner.sharing_flows(egress)
    }

    fn prefetch(&self, ingress: u16) {
        self.inner.prefetch(ingress);
    }

    fn next_timer(&self, now: u64) -> Option<u64> {
        self.inner.next_timer(now)
    }

    fn on_timer(&mut self, ingress: u16) -> (Option<Signal>, bool) {
        self.inner.on_timer(ingress)
    }

    fn active_flows(&self, egress: u16) -> Option<u32> {
        self.inner.active_flows(egress)
    }

    fn on_link_down(&mut self, ingress: u16) {
        self.inner.on_link_down(ingress);
    }

    fn on_rate(&mut self, egress: u16, rate: u64) {
        self.inner.on_rate(egress, rate);
    }

    fn holds_paused(&self, ingress: u16) -> QueueMask {
        self.inner.holds_paused(ingress)
    }

    fn recount(&self, waiting: &[WaitingPacket<'_>], _copies: &[&Packet]) -> Checked {
        let (elided, others): (Vec<_>, Vec<_>) =
            waiting.iter().partition(|waits| self.table.has(waits.packet.ingress, waits.egress));
        let mut held = vec![0; self.table.held.len()];
        for WaitingPacket { packet, .. } in &elided {
            held[usize::from(packet.ingress)] += u64::from(packet.wire_bytes);
        }
        for (ingress, (&bytes, &counted)) in (0..).zip(held.iter().zip(&self.table.held)) {
            let place = || format!("bytes without backpressure at ingress {ingress}");
            let compared = equal(Checker::Buffers, bytes, counted, place);
            compared.map_err(of_part(Part::port(ingress)))?;
        }
        self.inner.recount_elided(&elided, &others)
    }
}

#[cfg(test)]
mod tests;
