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
mod tests {
    use xoff_core::Bytes;

    use super::super::{Ask, Bfc, BfcConfig, BfcPort, Pfc, PfcConfig, PfcPort};
    use super::*;
    use crate::buffer::BufferConfig;
    use crate::sched::Fifo;
    use xoff_core::rng::Purpose;

    const PORTS: usize = 4;

    fn pfc() -> Pfc {
        let port = PfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
        let buffer = BufferConfig { size: Bytes(1_000_000), ..BufferConfig::default() };
        Pfc::new(&PfcConfig::default(), &buffer, &[port; PORTS], port.rate).unwrap()
    }

    fn packet(ingress: u16) -> Packet {
        let mut packet = Packet::new(Kind::Data, 1048);
        packet.ingress = ingress;
        packet
    }

    /// Packets join until one is not admitted. Returns their number, and the signals they caused.
    fn fill(pfc: &mut impl HopControl, ingress: u16, egress: u16) -> (u32, Vec<Signal>) {
        let (mut joined, mut signals) = (0, Vec::new());
        while pfc.admits(egress, &packet(ingress)) {
            signals.extend(pfc.on_enqueue(0, egress, &mut packet(ingress), &Fifo::default()));
            joined += 1;
        }
        (joined, signals)
    }

    /// A pair of the table fills its share of the pool and causes no pause. Other pairs of the same
    /// ports work as before, with all their headroom.
    #[test]
    fn a_pair_of_the_table_pauses_nobody_and_takes_nobodys_headroom() {
        let mut eliding = Eliding::new(pfc(), PORTS, [(1, 2)]);
        let (elided, signals) = fill(&mut eliding, 1, 2);
        assert!(elided > 50 && signals.is_empty(), "{elided} {signals:?}");
        assert_eq!(eliding.holds_paused(1), 0);
        for (ingress, egress) in [(1, 3), (2, 1)] {
            let (joined, signals) = fill(&mut eliding, ingress, egress);
            assert_eq!(signals, [Signal::new(ingress, Ask::Pause, 1)]);
            assert_eq!(eliding.holds_paused(ingress), 1);
            // At least twice the propagation delay of its link after the pause.
            assert!(joined > 2 * 12_500 / 1048, "{joined}");
        }
        for _ in 0..elided {
            assert_eq!(eliding.on_dequeue(0, 2, &mut packet(1)), None);
        }
        assert_eq!(eliding.table.held, [0; PORTS]);
        assert_eq!(fill(&mut eliding, 1, 2).1, []);
    }

    /// A recount misses each packet, whether it has backpressure or not.
    #[test]
    fn counts_are_those_of_the_waiting_packets() {
        let port = BfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
        let bfc = Bfc::new(&BfcConfig::default(), &[port; PORTS]);
        recounts(Eliding::new(bfc, PORTS, [(1, 2)]));
        recounts(Eliding::new(pfc(), PORTS, [(1, 2)]));
    }

    fn recounts(mut eliding: impl HopControl) {
        let mut packets: Vec<_> = [1, 2, 1, 3].map(packet).into();
        let egresses = [2, 1, 3, 2];
        for (packet, &egress) in packets.iter_mut().zip(&egresses) {
            eliding.on_enqueue(0, egress, packet, &Fifo::default());
        }
        let waits = |(packet, &egress)| WaitingPacket { egress, packet };
        let all: Vec<_> = packets.iter().zip(&egresses).map(waits).collect();
        assert_eq!(eliding.recount(&all, &[]), Ok(()));
        for missing in 0..all.len() {
            let mut others = all.clone();
            others.remove(missing);
            assert!(eliding.recount(&others, &[]).is_err(), "{missing}");
        }
    }

    /// Data of pairs of the table counts, by packets and bytes. Other packets and pairs do not.
    #[test]
    fn data_without_backpressure_counts() {
        let mut eliding = Eliding::new(pfc(), PORTS, [(1, 2)]);
        let mut rng = Rng::stream(1, Purpose::QueueAssignment, 0);
        let mut arrive = |kind, ingress, egress, wire_bytes| {
            let one = Packet { kind, wire_bytes, ..packet(ingress) };
            eliding.queue_of(0, egress, &one, &Fifo::default(), &mut rng);
        };
        for wire_bytes in [100, 200, 300] {
            arrive(Kind::Data, 1, 2, wire_bytes);
        }
        arrive(Kind::Ack, 1, 2, 60);
        arrive(Kind::Data, 2, 1, 60);
        let stats = eliding.stats();
        assert_eq!((stats.packets, stats.bytes), (3, 600));
    }

    /// A packet that passes leaves no trace in the table or the inner control.
    #[test]
    fn passing_is_joining_and_leaving() {
        for pair in [(1, 2), (1, 3)] {
            let mut eliding = Eliding::new(pfc(), PORTS, [(1, 2)]);
            let mut passes = 0;
            for _ in 0..200 {
                if eliding.pass(0, pair.1, &packet(pair.0)) {
                    passes += 1;
                    let before = format!("{eliding:?}");
                    let mut one = packet(pair.0);
                    let signals = [
                        eliding.on_enqueue(0, pair.1, &mut one, &Fifo::default()),
                        eliding.on_dequeue(0, pair.1, &mut one),
                    ];
                    assert_eq!(signals, [None, None]);
                    assert_eq!(format!("{eliding:?}"), before);
                }
                if eliding.admits(pair.1, &packet(pair.0)) {
                    eliding.on_enqueue(0, pair.1, &mut packet(pair.0), &Fifo::default());
                }
            }
            assert!(passes >= 3, "{pair:?}");
        }
    }
}
