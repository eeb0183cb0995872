//! BFC's pause counters (§3.3.2): an upstream queue is paused for as long as packets of it are here that
//! found their queue above the threshold when they came.

use super::super::Signal;
use super::asked::Asked;
use super::backpressure::{Backpressure, PauseFrames};
use super::threshold::Thresholds;
use super::{BfcConfig, BfcPort};
use crate::division::{Divided, Undivided};
use crate::packet::{CONTROL_QUEUE, Packet, flag};
use crate::sched::{QueueMask, Scheduler};

/// "an array indexed by the ingress port and the upstreamQ of a packet" (§3.3.2).
#[derive(Debug)]
pub struct PauseCounters<D = Undivided> {
    counts: Vec<u32>,
    /// A neighbour's queues.
    queues: u8,
    thresholds: Thresholds<D>,
    asked: Asked,
}

impl<D: Divided> PauseCounters<D> {
    /// For a switch with these ports and this 1-hop RTT, whose neighbours have as many queues as itself.
    pub(super) fn new(config: &BfcConfig, division: D, ports: &[BfcPort], hrtt_ps: u64) -> Self {
        let queues = config.data_queues();
        Self {
            counts: vec![0; ports.len() * queues as usize],
            queues,
            thresholds: Thresholds::divided(config, division, ports, hrtt_ps),
            asked: Asked::new(config, ports.len()),
        }
    }

    #[inline]
    fn count(&mut self, packet: &Packet) -> &mut u32 {
        let first = packet.ingress as usize * self.queues as usize;
        &mut self.counts[first + packet.upstream as usize]
    }

    #[cfg(test)]
    pub(super) fn thresholds(&self) -> &Thresholds<D> {
        &self.thresholds
    }
}

impl<D: Divided> Backpressure for PauseCounters<D> {
    /// "if its flow is assigned a queue that exceeds the pause threshold, we increment the pause counter
    /// at that index by 1" (§3.3.2).
    #[inline]
    fn on_enqueue<S: Scheduler>(
        &mut self,
        egress: u16,
        packet: &mut Packet,
        queues: &S,
    ) -> Option<Signal> {
        if packet.upstream == CONTROL_QUEUE || !self.thresholds.exceeded(egress, packet, queues) {
            return None;
        }
        packet.flags |= flag::COUNTED;
        let count = self.count(packet);
        *count += 1;
        (*count == 1).then(|| self.asked.pause(packet.ingress, packet.upstream))
    }

    /// "When this packet (the one that exceeded Th) leaves the switch we decrement the counter by 1"
    /// (§3.3.2).
    ///
    /// # Panics
    /// If a count goes negative: that is a bug.
    #[inline]
    fn on_dequeue(&mut self, _egress: u16, packet: &mut Packet) -> Option<Signal> {
        if !packet.has(flag::COUNTED) {
            return None;
        }
        packet.flags &= !flag::COUNTED;
        let count = self.count(packet);
        *count = count.checked_sub(1).expect("BFC's pause counter went negative");
        (*count == 0).then(|| self.asked.resume(packet.ingress, packet.upstream))
    }

    #[inline]
    fn lets_pass(&self, egress: u16, packet: &Packet) -> bool {
        self.thresholds.lets_pass(egress, packet)
    }

    fn next_timer(&self, now: u64) -> Option<u64> {
        Some(self.asked.next_timer(now))
    }

    fn on_timer(&mut self, ingress: u16) -> (Option<Signal>, bool) {
        self.asked.on_timer(ingress)
    }

    fn holds_paused(&self, ingress: u16) -> QueueMask {
        self.asked.paused(ingress)
    }

    fn frames(&self) -> PauseFrames {
        self.asked.frames
    }
}
