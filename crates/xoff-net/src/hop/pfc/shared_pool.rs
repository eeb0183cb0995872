//! A shared pool with a dynamic threshold: the priority flow control of output-queued switches.
//!
//! Every packet counts at its ingress and class. It counts against a guaranteed reserve first, then
//! against the shared pool, and above the threshold against the headroom of the ingress. Headroom
//! only has to hold the bytes that are on the way when a pause takes effect. This is the model of
//! the simulator that the BFC paper used for HPCC, DCQCN and DCTCP (its switch memory unit).

use xoff_core::invariant::{Checker, Part, Violation, equal, holds};
use xoff_core::prefetch::prefetch;

use super::limits::{Alike, Count, Limits, OfPort, Share};
use super::memory_plan::MemoryPlan;
use super::{Accounting, Pfc, PfcConfig, headroom};
use crate::buffer::BufferConfig;
use crate::hop::elide::Elide;
use crate::hop::{HopControl, IngressControl, PfcPort, Signal};
use crate::packet::{CLASSES, Packet};
use crate::recount::{Checked, WaitingPacket, of_part};
use crate::sched::{QueueMask, Scheduler};

/// Bytes at one port, and its limits.
#[derive(Debug)]
#[repr(C)]
pub struct Held<P> {
    limits: P,
    counts: [Count; CLASSES],
}

/// The memory of a switch that its ports share.
#[derive(Debug)]
pub struct SharedPool<L: Limits = Alike> {
    pool: u64,
    pool_used: u64,
    limits: L,
}

impl<L: Limits> SharedPool<L> {
    /// An empty pool.
    pub(super) fn new(pool: u64, limits: L) -> Self {
        Self { pool, pool_used: 0, limits }
    }

    pub(super) fn limits(&self) -> &L {
        &self.limits
    }

    #[inline(always)]
    fn free(&self) -> u64 {
        self.pool.saturating_sub(self.pool_used)
    }

    /// Whether a port may hold this many bytes of the pool.
    #[inline(always)]
    fn allows(&self, share: &Share, shared: u64) -> bool {
        L::is_within(shared, self.free(), share.threshold_ppm)
    }
}

impl<L: Limits> Accounting for SharedPool<L> {
    type Ingress = Held<L::OfPort>;

    #[inline(always)]
    fn add(
        &mut self,
        _number: u16,
        port: &mut Self::Ingress,
        class: u8,
        bytes: u16,
        paused: u8,
    ) -> u8 {
        let bytes = u64::from(bytes);
        let share = self.limits.share(&port.limits, class);
        let count = &mut port.counts[class as usize];
        let held = count.bytes + bytes;
        let shared = held.saturating_sub(share.reserve);
        let mut free = self.free();
        if shared == 0 {
            count.bytes = held;
        } else if !self.limits.pool_takes(class, (bytes, shared), free, &share) {
            count.headroom += bytes;
            self.limits.take_headroom(bytes);
        } else {
            count.bytes = held;
            self.pool_used += bytes.min(shared);
            free = self.free();
        }
        if paused >> class & 1 == 1 || self.limits.is_lossy(class) {
            return 0;
        }
        let shared = count.shared(&share);
        if count.headroom == 0 && L::is_within(shared + 1, free, share.threshold_ppm) {
            return 0;
        }
        1 << class
    }

    /// # Panics
    /// If more bytes leave than arrived, which is a bug.
    #[inline(always)]
    fn remove(
        &mut self,
        _number: u16,
        port: &mut Self::Ingress,
        class: u8,
        bytes: u16,
        paused: u8,
    ) -> u8 {
        let mut bytes = u64::from(bytes);
        let share = self.limits.share(&port.limits, class);
        let count = &mut port.counts[class as usize];
        if count.headroom > 0 {
            let from_headroom = count.headroom.min(bytes);
            count.headroom -= from_headroom;
            self.limits.release_headroom(from_headroom);
            bytes -= from_headroom;
        }
        self.pool_used -= bytes.min(count.shared(&share));
        count.bytes =
            count.bytes.checked_sub(bytes).expect("PFC's ingress accounting went negative");
        if paused >> class & 1 == 0 || count.headroom > 0 {
            return 0;
        }
        let shared = count.shared(&share);
        if shared > 0 && !self.allows(&share, shared + share.resume_offset) {
            return 0;
        }
        1 << class
    }
}

impl PfcConfig {
    /// Headroom of a port.
    pub(super) fn headroom_bytes(&self, port: &PfcPort) -> u64 {
        headroom::round_trips(port.rate, port.delay_ps, self.headroom_factor)
    }

    /// The threshold of a port in millionths of the free bytes. It follows rates up to one, unless
    /// it is more than that by itself.
    pub(super) fn threshold_ppm(&self, threshold: f64, rate: u64, nic_rate: u64) -> u64 {
        let own = (threshold * 1e6) as u64;
        let (mut ppm, mut rate) = (own, rate);
        while self.threshold_follows_rate && rate > nic_rate && ppm < 1_000_000 {
            ppm *= 2;
            rate /= 2;
        }
        ppm.min(own.max(1_000_000))
    }
}

impl Pfc {
    /// For a switch with this buffer and the same limits for all classes. `nic_rate` is the hosts'
    /// rate.
    ///
    /// # Errors
    /// If reserves and headrooms alone exceed the buffer.
    pub fn new(
        config: &PfcConfig,
        buffer: &BufferConfig,
        ports: &[PfcPort],
        nic_rate: u64,
    ) -> Result<Self, String> {
        let plan = MemoryPlan { pfc: Some(config), buffer };
        let (reserve, resume_offset) = (config.reserve.0, config.resume_offset.0);
        let pool = SharedPool::new(plan.pool(plan.aside(ports))?, Alike { reserve, resume_offset });
        let of_port = |port: &PfcPort| OfPort {
            headroom_bytes: config.headroom_bytes(port),
            threshold_ppm: config.threshold_ppm(config.threshold, port.rate, nic_rate),
        };
        Ok(Self::sharing(pool, ports.iter().map(of_port)))
    }
}

impl<L: Limits> Pfc<SharedPool<L>> {
    /// For ports with these limits, which share a pool.
    pub(super) fn sharing(pool: SharedPool<L>, ports: impl Iterator<Item = L::OfPort>) -> Self {
        Self::of(pool, ports.map(|limits| Held { limits, counts: [Count::default(); CLASSES] }))
    }

    /// The count of a packet's class and its limits, at the port that counts it.
    #[inline(always)]
    pub(super) fn count_of(&self, egress: u16, packet: &Packet) -> (&Count, Share) {
        let class = packet.class();
        let port = self.accounts(self.accounting.limits.port_of(egress, packet));
        (&port.counts[class as usize], self.accounting.limits.share(&port.limits, class))
    }

    /// Counts again what packets that wait here take. Packets without backpressure, `elided_bytes`
    /// in all, take memory from the pool and are not counted otherwise.
    fn recount_beyond(&self, elided_bytes: u64, waiting: &[WaitingPacket<'_>]) -> Checked {
        let SharedPool { pool_used, limits, .. } = &self.accounting;
        let mut held = vec![[0u64; CLASSES]; self.ingresses.len()];
        for &WaitingPacket { egress, packet } in waiting {
            let port = usize::from(limits.port_of(egress, packet));
            held[port][usize::from(packet.class())] += u64::from(packet.wire_bytes);
        }
        let (mut shared, mut headroom) = (elided_bytes, 0);
        for (number, (port, held)) in self.ingresses.iter().zip(&held).enumerate() {
            for (class, (count, &bytes)) in port.accounts.counts.iter().zip(held).enumerate() {
                let place = || format!("bytes of class {class} at port {number}");
                let part = Part::port(number as u16);
                let counted = count.bytes + count.headroom;
                equal(Checker::Buffers, bytes, counted, place).map_err(of_part(part))?;
                holds(port.paused >> class & 1 == 0 || bytes > 0, || {
                    let place = format!("class {class} at ingress {number}");
                    let expected = "no pause: none of its bytes wait here";
                    Violation::new(Checker::Pauses, place, expected, "a pause").of(part)
                })?;
                shared += count.shared(&limits.share(&port.accounts.limits, class as u8));
                headroom += count.headroom;
            }
        }
        let place = || "bytes of the pool in use".to_owned();
        equal(Checker::Buffers, shared, *pool_used, place)?;
        limits.recount(headroom)
    }
}

/// In an output-queued switch a packet occupies memory of its ingress while it is in its egress
/// queue.
impl<L: Limits> HopControl for Pfc<SharedPool<L>> {
    fn is_apart<S: Scheduler>() -> bool {
        L::RARE || S::TAKES_TURNS
    }

    /// Whether a packet may enter: it fits under the threshold or into the headroom.
    #[inline]
    fn admits(&self, egress: u16, packet: &Packet) -> bool {
        let (count, share) = self.count_of(egress, packet);
        let SharedPool { limits, .. } = &self.accounting;
        let bytes = u64::from(packet.wire_bytes);
        limits.admits(packet.class(), bytes, || self.accounting.free(), count, &share)
    }

    /// A packet within its ingress's reserve is admitted and changes nothing, and so does a packet
    /// of a class without pauses.
    #[inline(always)]
    fn pass(&mut self, _now: u64, egress: u16, packet: &Packet) -> bool {
        if self.accounting.limits.is_lossy(packet.class()) {
            return self.admits(egress, packet);
        }
        let super::Ingress { paused, accounts } = &self.ingresses[packet.ingress as usize];
        let class = packet.class();
        let count = &accounts.counts[class as usize];
        let share = self.accounting.limits.share(&accounts.limits, class);
        let bytes = u64::from(packet.wire_bytes);
        count.headroom == 0
            && count.bytes + bytes <= share.reserve
            && *paused == 0
            && self.accounting.allows(&share, bytes)
    }

    #[inline]
    fn prefetch(&self, ingress: u16) {
        prefetch(&self.ingresses, ingress as usize);
    }

    /// Counts a packet. Pauses its class if its ingress now holds too much.
    #[inline]
    fn on_enqueue<S: Scheduler>(
        &mut self,
        _now: u64,
        egress: u16,
        packet: &mut Packet,
        _queues: &S,
    ) -> Option<Signal> {
        let port = self.accounting.limits.port_of(egress, packet);
        self.on_arrival(port, packet.class(), packet.wire_bytes)
    }

    /// Subtracts a packet. Resumes its class if its ingress now holds little enough.
    #[inline]
    fn on_dequeue(&mut self, _now: u64, egress: u16, packet: &mut Packet) -> Option<Signal> {
        let port = self.accounting.limits.port_of(egress, packet);
        self.on_departure(port, packet.class(), packet.wire_bytes)
    }

    fn on_refused(&mut self, egress: u16, packet: &Packet) {
        let (count, share) = self.count_of(egress, packet);
        let (count, free, bytes) = (*count, self.accounting.free(), u64::from(packet.wire_bytes));
        self.accounting.limits.on_refused(packet.class(), bytes, free, &count, &share);
    }

    fn on_link_down(&mut self, ingress: u16) {
        self.ingresses[ingress as usize].paused = 0;
    }

    /// Classes this switch holds paused at the neighbour of a port.
    fn holds_paused(&self, ingress: u16) -> QueueMask {
        QueueMask::from(self.paused_queues(ingress))
    }

    fn recount(&self, waiting: &[WaitingPacket<'_>], _copies: &[&Packet]) -> Checked {
        self.recount_beyond(0, waiting)
    }
}

/// A packet that pauses no neighbour must leave the reserves and headrooms to others. It takes
/// memory from the pool, where an ingress has the same share for such packets as for others. It is
/// dropped if that share is used up.
impl Elide for Pfc {
    fn admits_elided(&self, packet: &Packet, held: u64) -> bool {
        let port = self.accounts(packet.ingress);
        let share = self.accounting.limits.share(&port.limits, packet.class());
        self.accounting.allows(&share, held + u64::from(packet.wire_bytes))
    }

    fn join_elided(&mut self, _now: u64, _egress: u16, packet: &mut Packet) {
        self.accounting.pool_used += u64::from(packet.wire_bytes);
    }

    fn leave_elided(&mut self, _now: u64, _egress: u16, packet: &mut Packet) {
        self.accounting.pool_used -= u64::from(packet.wire_bytes);
    }

    fn recount_elided(
        &self,
        elided: &[WaitingPacket<'_>],
        others: &[WaitingPacket<'_>],
    ) -> Checked {
        let bytes = elided.iter().map(|waits| u64::from(waits.packet.wire_bytes));
        self.recount_beyond(bytes.sum(), others)
    }
}

#[cfg(test)]
#[path = "threshold_tests.rs"]
mod threshold_tests;

#[cfg(test)]
mod tests {
    use xoff_core::Bytes;

    use super::*;
    use crate::hop::Ask;
    use crate::packet::Kind;
    use crate::sched::Fifo;

    fn pfc() -> Pfc {
        let port = PfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
        Pfc::new(&PfcConfig::default(), &BufferConfig::default(), &[port; 24], port.rate).unwrap()
    }

    fn packet() -> Packet {
        let mut packet = Packet::new(Kind::Data, 1048);
        packet.ingress = 5;
        packet
    }

    fn join(pfc: &mut Pfc, mut packet: Packet) -> Option<Signal> {
        pfc.on_enqueue(0, 0, &mut packet, &Fifo::default())
    }

    fn leave(pfc: &mut Pfc, mut packet: Packet) -> Option<Signal> {
        pfc.on_dequeue(0, 0, &mut packet)
    }

    /// A packet that passes would have joined and left without a signal, and leaves no trace.
    #[test]
    fn passing_is_joining_and_leaving() {
        let mut pfc = pfc();
        let mut passes = 0;
        for filling in 0..2000 {
            let packet = packet();
            if pfc.pass(0, 0, &packet) {
                passes += 1;
                let before = format!("{pfc:?}");
                assert_eq!((join(&mut pfc, packet), leave(&mut pfc, packet)), (None, None));
                assert_eq!(format!("{pfc:?}"), before);
            }
            join(&mut pfc, packet);
            assert!(passes == filling + 1 || filling >= 3, "{filling}");
        }
        assert_eq!(passes, 3);
    }

    #[test]
    fn a_pause_comes_at_the_threshold_and_a_resume_below_it() {
        let mut pfc = pfc();
        let packet = packet();
        // 12 MB less 24 x (37 500 B headroom + 4096 B reserve). One ingress settles at a share s =
        // 0.11 (pool - s), so s = pool x 0.11 / 1.11.
        let pool = 12_000_000.0 - 24.0 * 41_596.0;
        let mut queued = 0;
        let signal = loop {
            assert!(pfc.admits(0, &packet));
            queued += 1;
            if let Some(signal) = join(&mut pfc, packet) {
                break signal;
            }
        };
        assert_eq!(signal, Signal::new(5, Ask::Pause, 1));
        let expected = pool * 0.11 / 1.11 + 4096.0;
        assert!((f64::from(queued) * 1048.0 - expected).abs() < 2.0 * 1048.0);
        let mut left = 0;
        let signal = loop {
            left += 1;
            if let Some(signal) = leave(&mut pfc, packet) {
                break signal;
            }
        };
        assert_eq!(signal.ask, Ask::Resume);
        assert!((2..=5).contains(&left), "{left}");
    }

    #[test]
    fn after_a_pause_the_headroom_takes_what_is_on_its_way() {
        let mut pfc = pfc();
        let packet = packet();
        while join(&mut pfc, packet).is_none() {}
        let mut more = 0u64;
        while pfc.admits(0, &packet) {
            join(&mut pfc, packet);
            more += 1048;
        }
        // At least twice the propagation delay of the link.
        assert!(more >= 2 * 12_500, "{more}");
        let mut drained = pfc;
        while drained.accounts(5).counts[0].bytes + drained.accounts(5).counts[0].headroom > 0 {
            leave(&mut drained, packet);
        }
        assert_eq!((drained.accounting.pool_used, drained.ingresses[5].paused), (0, 0));
    }

    #[test]
    fn a_small_buffer_is_refused() {
        let port = PfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
        let buffer = BufferConfig { size: Bytes(900_000), ..BufferConfig::default() };
        let error = Pfc::new(&PfcConfig::default(), &buffer, &[port; 24], port.rate).unwrap_err();
        assert!(error.contains("reserves and headrooms"), "{error}");
    }
}
