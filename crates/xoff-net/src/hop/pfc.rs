//! Priority flow control (IEEE 802.1Qbb) over a shared buffer with a dynamic threshold.
//!
//! Every packet is counted at the (ingress, class) it came by: first against a guaranteed reserve,
//! then against the shared pool, and above the threshold against the ingress's headroom, which only
//! has to hold what is still on its way when a pause takes effect. The model is the one of the
//! simulator that the BFC paper used for HPCC, DCQCN and DCTCP (its switch memory unit).

use xoff_core::knobs::{Capabilities, Checked};
use xoff_core::prefetch::prefetch;
use xoff_core::seam::{Need, need};
use xoff_core::{Bytes, knobs};

use super::elide::{Elide, Eliding};
use super::{AnyHop, Ask, HopControl, HopQueues, HopSettings, HopSite, Signal};
use crate::capability::{BACKPRESSURE, CONTROL_FRAMES, PFC_FRAMES};
use crate::packet::{CLASSES, Packet};
use crate::sched::{QueueMask, Scheduler};

knobs! {
    /// Priority flow control.
    pub struct PfcConfig in "pfc" {
        /// An ingress is paused when it holds this share of the free pool. BFC §6.2.1: 11 %
        /// ("when traffic from an input port occupies more than 11% of the free buffer"); the HPCC
        /// simulator: 1/8.
        threshold: f64 = 0.11,
        /// Guaranteed bytes of each ingress port, outside the pool (the HPCC simulator's 4 KiB).
        reserve: Bytes = Bytes(4096),
        /// Resume when an ingress holds this much less than the threshold (the HPCC simulator's 3 KiB).
        resume_offset: Bytes = Bytes(3072),
        /// Headroom of an ingress as a multiple of rate x propagation delay of its link: 2 cover the
        /// round trip of a pause, the third the frames being sent meanwhile (the HPCC simulator's 3).
        headroom_factor: u32 = 3,
        /// Bytes of a pause or resume frame on the wire: the smallest Ethernet frame (IEEE 802.1Qbb),
        /// or 43 as in the HPCC simulator (14 + 20 + 9).
        frame_size: Bytes = Bytes(64),
        /// Double the threshold for each doubling of a port's rate over the hosts' rate, as the HPCC
        /// simulator does.
        threshold_follows_rate: bool = false,
    }
}

impl HopSettings for PfcConfig {
    fn check(&self) -> Checked {
        if self.threshold > 1.0 {
            return Err(("threshold", "threshold is a share of the free pool: 0 to 1".into()));
        }
        Ok(())
    }

    fn needs(&self) -> Vec<Need> {
        let shared = "PFC limits each ingress of a memory that ports share";
        vec![need(("buffer", "kind"), &["shared"], shared)]
    }

    fn provide(&self, capabilities: &mut Capabilities) {
        for capability in [CONTROL_FRAMES, PFC_FRAMES, BACKPRESSURE] {
            capabilities.provide(capability, true);
        }
    }

    fn queues(&self) -> HopQueues {
        HopQueues::Classes
    }

    fn backpressure(&self) -> Option<&'static str> {
        Some("PFC")
    }

    fn can_elide(&self) -> Result<(), &'static str> {
        Ok(())
    }

    fn survives_link_down(&self) -> bool {
        true
    }

    fn pauses_classes(&self) -> bool {
        true
    }

    fn limits_ingress(&self) -> bool {
        true
    }

    fn frame_bytes(&self) -> u16 {
        u16::try_from(self.frame_size.0).unwrap_or(u16::MAX)
    }

    fn build(&self, site: HopSite) -> Result<AnyHop, String> {
        let ports = site.ports.iter();
        let ports = ports.map(|port| PfcPort { rate: port.rate, delay_ps: port.delay_ps });
        let ports: Vec<PfcPort> = ports.collect();
        let pfc = Pfc::new(self, &ports, site.buffer_bytes, site.nic_rate)?;
        if site.elided.is_empty() {
            return Ok(AnyHop::Pfc(pfc));
        }
        Ok(AnyHop::ElidingPfc(Eliding::new(pfc, ports.len(), site.elided)))
    }
}

/// What PFC needs to know of a port.
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

/// An ingress port; what its first classes need shares a cache line.
#[derive(Debug)]
#[repr(C, align(64))]
struct Ingress {
    headroom_bytes: u64,
    threshold_ppm: u64,
    paused: u8,
    counts: [Count; CLASSES],
}

/// The PFC state of one switch.
#[derive(Debug)]
pub struct Pfc {
    ingresses: Vec<Ingress>,
    pool: u64,
    pool_used: u64,
    reserve: u64,
    resume_offset: u64,
}

impl Pfc {
    /// For a switch with a buffer of `buffer_bytes`; `nic_rate` is the hosts' rate.
    ///
    /// # Errors
    /// If reserves and headrooms alone exceed the buffer.
    pub fn new(
        config: &PfcConfig,
        ports: &[PfcPort],
        buffer_bytes: u64,
        nic_rate: u64,
    ) -> Result<Self, String> {
        let ingresses: Vec<Ingress> = ports
            .iter()
            .map(|port| Ingress {
                headroom_bytes: headroom(config, port),
                threshold_ppm: threshold_ppm(config, port.rate, nic_rate),
                paused: 0,
                counts: [Count::default(); CLASSES],
            })
            .collect();
        let dedicated: u64 =
            ingresses.iter().map(|ingress| ingress.headroom_bytes + config.reserve.0).sum();
        let pool = buffer_bytes.checked_sub(dedicated).ok_or_else(|| {
            format!(
                "PFC's reserves and headrooms take {} of a buffer of {}",
                Bytes(dedicated),
                Bytes(buffer_bytes)
            )
        })?;
        Ok(Self {
            ingresses,
            pool,
            pool_used: 0,
            reserve: config.reserve.0,
            resume_offset: config.resume_offset.0,
        })
    }

    fn threshold(&self, ingress: &Ingress) -> u64 {
        threshold(self.pool.saturating_sub(self.pool_used), ingress.threshold_ppm)
    }

    fn shared(&self, count: &Count) -> u64 {
        count.bytes.saturating_sub(self.reserve)
    }
}

impl HopControl for Pfc {
    /// Whether a packet may enter: it fits under the threshold or into the headroom.
    #[inline]
    fn admits(&self, _egress: u16, packet: &Packet) -> bool {
        let ingress = &self.ingresses[packet.ingress as usize];
        let count = &ingress.counts[packet.class() as usize];
        let bytes = u64::from(packet.wire_bytes);
        count.headroom + bytes <= ingress.headroom_bytes
            || self.shared(count) + bytes <= self.threshold(ingress)
    }

    /// A packet within its ingress's reserve is admitted and changes nothing.
    #[inline(always)]
    fn pass(&mut self, _now: u64, _egress: u16, packet: &Packet) -> bool {
        let ingress = &self.ingresses[packet.ingress as usize];
        let count = &ingress.counts[packet.class() as usize];
        let bytes = u64::from(packet.wire_bytes);
        count.headroom == 0
            && count.bytes + bytes <= self.reserve
            && ingress.paused == 0
            && self.threshold(ingress) >= bytes
    }

    #[inline]
    fn prefetch(&self, ingress: u16) {
        prefetch(&self.ingresses, ingress as usize);
    }

    /// Counts a packet; pauses its class if its ingress now holds too much.
    #[inline]
    fn on_enqueue<S: Scheduler>(
        &mut self,
        _now: u64,
        _egress: u16,
        packet: &mut Packet,
        _queues: &S,
    ) -> Option<Signal> {
        let (port, class) = (packet.ingress, packet.class());
        let bytes = u64::from(packet.wire_bytes);
        let ingress = &mut self.ingresses[port as usize];
        let count = &mut ingress.counts[class as usize];
        let held = count.bytes + bytes;
        let shared = held.saturating_sub(self.reserve);
        let mut free = self.pool.saturating_sub(self.pool_used);
        if shared == 0 {
            count.bytes = held;
        } else if shared > threshold(free, ingress.threshold_ppm) {
            count.headroom += bytes;
        } else {
            count.bytes = held;
            self.pool_used += bytes.min(shared);
            free = self.pool.saturating_sub(self.pool_used);
        }
        if ingress.paused >> class & 1 == 1 {
            return None;
        }
        let shared = count.bytes.saturating_sub(self.reserve);
        if count.headroom == 0 && shared < threshold(free, ingress.threshold_ppm) {
            return None;
        }
        ingress.paused |= 1 << class;
        Some(Signal::new(port, Ask::Pause, 1 << class))
    }

    /// Discounts a packet; resumes its class if its ingress holds little enough.
    ///
    /// # Panics
    /// If more leaves than came: that is a bug.
    #[inline]
    fn on_dequeue(&mut self, _now: u64, _egress: u16, packet: &mut Packet) -> Option<Signal> {
        let (port, class) = (packet.ingress, packet.class());
        let mut bytes = u64::from(packet.wire_bytes);
        let ingress = &mut self.ingresses[port as usize];
        let count = &mut ingress.counts[class as usize];
        if count.headroom > 0 {
            let from_headroom = count.headroom.min(bytes);
            count.headroom -= from_headroom;
            bytes -= from_headroom;
        }
        let shared = count.bytes.saturating_sub(self.reserve);
        self.pool_used -= bytes.min(shared);
        count.bytes =
            count.bytes.checked_sub(bytes).expect("PFC's ingress accounting went negative");
        if ingress.paused >> class & 1 == 0 || count.headroom > 0 {
            return None;
        }
        let shared = count.bytes.saturating_sub(self.reserve);
        let free = self.pool.saturating_sub(self.pool_used);
        let low = shared + self.resume_offset <= threshold(free, ingress.threshold_ppm);
        if shared > 0 && !low {
            return None;
        }
        ingress.paused &= !(1 << class);
        Some(Signal::new(port, Ask::Resume, 1 << class))
    }

    fn on_link_down(&mut self, ingress: u16) {
        self.ingresses[ingress as usize].paused = 0;
    }

    /// Classes this switch holds paused at the neighbour of a port.
    fn holds_paused(&self, ingress: u16) -> QueueMask {
        QueueMask::from(self.ingresses[ingress as usize].paused)
    }
}

/// A packet that pauses nobody must not take what the others were promised: reserves and headrooms. It
/// takes from the pool, of which an ingress gets the same share for such packets as for the others,
/// and is dropped where that is used up.
impl Elide for Pfc {
    fn admits_elided(&self, packet: &Packet, held: u64) -> bool {
        let ingress = &self.ingresses[packet.ingress as usize];
        held + u64::from(packet.wire_bytes) <= self.threshold(ingress)
    }

    fn join_elided(&mut self, _now: u64, _egress: u16, packet: &mut Packet) {
        self.pool_used += u64::from(packet.wire_bytes);
    }

    fn leave_elided(&mut self, _now: u64, _egress: u16, packet: &mut Packet) {
        self.pool_used -= u64::from(packet.wire_bytes);
    }
}

/// What an ingress may hold of a pool with so much free.
#[inline]
fn threshold(free: u64, ppm: u64) -> u64 {
    free * ppm / 1_000_000
}

fn headroom(config: &PfcConfig, port: &PfcPort) -> u64 {
    let in_flight = u128::from(port.rate) * u128::from(port.delay_ps) / 8_000_000_000_000;
    in_flight as u64 * u64::from(config.headroom_factor)
}

fn threshold_ppm(config: &PfcConfig, rate: u64, nic_rate: u64) -> u64 {
    let mut ppm = (config.threshold * 1e6) as u64;
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

    /// What passes would have joined and left without a word, and without a trace.
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
        // 12 MB less 24 x (37 500 B headroom + 4096 B reserve); one ingress settles where its share
        // s = 0.11 (pool - s), so s = pool x 0.11 / 1.11.
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
        // Twice the propagation delay of the link at least.
        assert!(more >= 2 * 12_500, "{more}");
        let mut drained = pfc;
        while drained.ingresses[5].counts[0].bytes + drained.ingresses[5].counts[0].headroom > 0 {
            leave(&mut drained, packet);
        }
        assert_eq!((drained.pool_used, drained.ingresses[5].paused), (0, 0));
    }

    #[test]
    fn a_small_buffer_is_refused() {
        let port = PfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
        let error = Pfc::new(&PfcConfig::default(), &[port; 24], 900_000, port.rate).unwrap_err();
        assert!(error.contains("reserves and headrooms"), "{error}");
    }
}
