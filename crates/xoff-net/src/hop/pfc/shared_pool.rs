//! A shared pool with a dynamic threshold: the priority flow control of output-queued switches.
//!
//! Every packet counts at its ingress and class. It counts against a guaranteed reserve first, then
//! against the shared pool, and above the threshold against the headroom of the ingress. Headroom
//! only has to hold the bytes that are on the way when a pause takes effect. This is the model of
//! the simulator that the BFC paper used for HPCC, DCQCN and DCTCP (its switch memory unit).

use xoff_core::Bytes;
use xoff_core::invariant::{Checker, Violation, equal, holds};
use xoff_core::prefetch::prefetch;

use super::{Accounting, Pfc, PfcConfig, headroom};
use crate::hop::elide::Elide;
use crate::hop::{HopControl, IngressControl, Signal};
use crate::packet::{CLASSES, Packet};
use crate::recount::{Checked, WaitingPacket};
use crate::sched::{QueueMask, Scheduler};

/// The properties of a port that PFC uses.
#[derive(Clone, Copy, Debug)]
pub struct PfcPort {
    /// Bits per second.
    pub rate: u64,
    /// Propagation delay (ps).
    pub delay_ps: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// Bytes counted against reserve and pool.
    bytes: u64,
    /// Bytes counted against the headroom.
    headroom: u64,
}

/// Bytes at one ingress.
#[derive(Debug)]
#[repr(C)]
pub struct Held {
    headroom_bytes: u64,
    threshold_ppm: i64,
    counts: [Count; CLASSES],
}

/// The memory of a switch that its ingresses share.
#[derive(Debug)]
pub struct SharedPool {
    pool: i64,
    /// Bytes of the pool that are not in use. Negative if packets that need no admission exceed it.
    free: i64,
    reserve: u64,
    resume_offset: u64,
}

impl SharedPool {
    /// Whether an ingress may hold this many bytes of the pool.
    #[inline(always)]
    fn allows(&self, ingress: &Held, shared: u64) -> bool {
        is_within(shared, self.free, ingress.threshold_ppm)
    }

    fn shared(&self, count: &Count) -> u64 {
        count.bytes.saturating_sub(self.reserve)
    }
}

impl Accounting for SharedPool {
    type Ingress = Held;

    #[inline(always)]
    fn add(&mut self, _number: u16, ingress: &mut Held, class: u8, bytes: u16, paused: u8) -> u8 {
        let bytes = u64::from(bytes);
        let count = &mut ingress.counts[class as usize];
        let held = count.bytes + bytes;
        let shared = held.saturating_sub(self.reserve);
        if shared == 0 {
            count.bytes = held;
        } else if !is_within(shared, self.free, ingress.threshold_ppm) {
            count.headroom += bytes;
        } else {
            count.bytes = held;
            self.free -= bytes.min(shared) as i64;
        }
        if paused >> class & 1 == 1 {
            return 0;
        }
        let shared = count.bytes.saturating_sub(self.reserve);
        if count.headroom == 0 && is_within(shared + 1, self.free, ingress.threshold_ppm) {
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
        ingress: &mut Held,
        class: u8,
        bytes: u16,
        paused: u8,
    ) -> u8 {
        let mut bytes = u64::from(bytes);
        let count = &mut ingress.counts[class as usize];
        if count.headroom > 0 {
            let from_headroom = count.headroom.min(bytes);
            count.headroom -= from_headroom;
            bytes -= from_headroom;
        }
        let shared = count.bytes.saturating_sub(self.reserve);
        self.free += bytes.min(shared) as i64;
        count.bytes =
            count.bytes.checked_sub(bytes).expect("PFC's ingress accounting went negative");
        if paused >> class & 1 == 0 || count.headroom > 0 {
            return 0;
        }
        let shared = count.bytes.saturating_sub(self.reserve);
        if shared > 0 && !self.allows(ingress, shared + self.resume_offset) {
            return 0;
        }
        1 << class
    }
}

impl PfcConfig {
    /// Headroom of a port.
    fn headroom_bytes(&self, port: &PfcPort) -> u64 {
        headroom::round_trips(port.rate, port.delay_ps, self.headroom_factor)
    }

    /// Bytes of a port that are not in the pool: its reserve and its headroom.
    pub(super) fn set_aside_for(&self, port: &PfcPort) -> u64 {
        self.headroom_bytes(port) + self.reserve.0
    }
}

impl Pfc {
    /// For a switch with a buffer of `buffer_bytes`. `nic_rate` is the hosts' rate.
    ///
    /// # Errors
    /// If reserves and headrooms alone exceed the buffer.
    pub fn new(
        config: &PfcConfig,
        ports: &[PfcPort],
        buffer_bytes: u64,
        nic_rate: u64,
    ) -> Result<Self, String> {
        let dedicated: u64 = ports.iter().map(|port| config.set_aside_for(port)).sum();
        let pool = buffer_bytes.checked_sub(dedicated).ok_or_else(|| {
            format!(
                "PFC's reserves and headrooms take {} of a buffer of {}",
                Bytes(dedicated),
                Bytes(buffer_bytes)
            )
        })?;
        let pool = i64::try_from(pool).unwrap_or(i64::MAX);
        let accounting = SharedPool {
            pool,
            free: pool,
            reserve: config.reserve.0,
            resume_offset: config.resume_offset.0,
        };
        let ingresses = ports.iter().map(|port| Held {
            headroom_bytes: config.headroom_bytes(port),
            threshold_ppm: threshold_ppm(config, port.rate, nic_rate),
            counts: [Count::default(); CLASSES],
        });
        Ok(Self::of(accounting, ingresses))
    }
}

/// In an output-queued switch a packet occupies memory of its ingress while it is in its egress
/// queue.
impl HopControl for Pfc {
    /// Whether a packet may enter: it fits under the threshold or into the headroom.
    #[inline]
    fn admits(&self, _egress: u16, packet: &Packet) -> bool {
        let ingress = self.accounts(packet.ingress);
        let count = &ingress.counts[packet.class() as usize];
        let bytes = u64::from(packet.wire_bytes);
        count.headroom + bytes <= ingress.headroom_bytes
            || self.accounting.allows(ingress, self.accounting.shared(count) + bytes)
    }

    /// A packet within its ingress's reserve is admitted and changes nothing.
    #[inline(always)]
    fn pass(&mut self, _now: u64, _egress: u16, packet: &Packet) -> bool {
        let super::Ingress { paused, accounts } = &self.ingresses[packet.ingress as usize];
        let count = &accounts.counts[packet.class() as usize];
        let bytes = u64::from(packet.wire_bytes);
        count.headroom == 0
            && count.bytes + bytes <= self.accounting.reserve
            && *paused == 0
            && self.accounting.allows(accounts, bytes)
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
        _egress: u16,
        packet: &mut Packet,
        _queues: &S,
    ) -> Option<Signal> {
        self.on_arrival(packet.ingress, packet.class(), packet.wire_bytes)
    }

    /// Subtracts a packet. Resumes its class if its ingress now holds little enough.
    #[inline]
    fn on_dequeue(&mut self, _now: u64, _egress: u16, packet: &mut Packet) -> Option<Signal> {
        self.on_departure(packet.ingress, packet.class(), packet.wire_bytes)
    }

    fn on_link_down(&mut self, ingress: u16) {
        self.ingresses[ingress as usize].paused = 0;
    }

    /// Classes this switch holds paused at the neighbour of a port.
    fn holds_paused(&self, ingress: u16) -> QueueMask {
        QueueMask::from(self.paused_queues(ingress))
    }

    fn recount(&self, waiting: &[WaitingPacket<'_>]) -> Checked {
        let mut held = vec![[0u64; CLASSES]; self.ingresses.len()];
        for WaitingPacket { packet, .. } in waiting {
            let class = usize::from(packet.class());
            held[usize::from(packet.ingress)][class] += u64::from(packet.wire_bytes);
        }
        let mut pool_used = 0;
        for (number, (ingress, held)) in self.ingresses.iter().zip(&held).enumerate() {
            for (class, (count, &bytes)) in ingress.accounts.counts.iter().zip(held).enumerate() {
                let place = || format!("bytes of class {class} at ingress {number}");
                equal(Checker::Buffers, bytes, count.bytes + count.headroom, place)?;
                holds(ingress.paused >> class & 1 == 0 || bytes > 0, || {
                    let place = format!("class {class} at ingress {number}");
                    let expected = "no pause: none of its bytes wait here";
                    Violation::new(Checker::Pauses, place, expected, "a pause")
                })?;
                pool_used += self.accounting.shared(count);
            }
        }
        let place = || "bytes of the pool in use".to_owned();
        let SharedPool { pool, free, .. } = self.accounting;
        equal(Checker::Buffers, pool_used as i64, pool - free, place)
    }
}

/// A packet that pauses no neighbour must leave the reserves and headrooms to others. It takes
/// memory from the pool, where an ingress has the same share for such packets as for others. It is
/// dropped if that share is used up.
impl Elide for Pfc {
    fn admits_elided(&self, packet: &Packet, held: u64) -> bool {
        let ingress = self.accounts(packet.ingress);
        self.accounting.allows(ingress, held + u64::from(packet.wire_bytes))
    }

    fn join_elided(&mut self, _now: u64, _egress: u16, packet: &mut Packet) {
        self.accounting.free -= i64::from(packet.wire_bytes);
    }

    fn leave_elided(&mut self, _now: u64, _egress: u16, packet: &mut Packet) {
        self.accounting.free += i64::from(packet.wire_bytes);
    }
}

/// Whether `bytes` are at most the share `ppm` of `free` bytes: by products, without division.
#[inline(always)]
fn is_within(bytes: u64, free: i64, ppm: i64) -> bool {
    bytes as i64 * 1_000_000 <= free * ppm
}

fn threshold_ppm(config: &PfcConfig, rate: u64, nic_rate: u64) -> i64 {
    let mut ppm = (config.threshold * 1e6) as i64;
    let mut rate = rate;
    while config.threshold_follows_rate && rate > nic_rate && ppm < 1_000_000 {
        ppm *= 2;
        rate /= 2;
    }
    ppm.min(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hop::Ask;
    use crate::packet::Kind;
    use crate::sched::Fifo;

    fn pfc() -> Pfc {
        let port = PfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
        Pfc::new(&PfcConfig::default(), &[port; 24], 12_000_000, port.rate).unwrap()
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
        assert_eq!(
            (drained.accounting.free, drained.ingresses[5].paused),
            (drained.accounting.pool, 0)
        );
    }

    #[test]
    fn a_small_buffer_is_refused() {
        let port = PfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
        let error = Pfc::new(&PfcConfig::default(), &[port; 24], 900_000, port.rate).unwrap_err();
        assert!(error.contains("reserves and headrooms"), "{error}");
    }
}
