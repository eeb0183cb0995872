//! BFC's pause counters (§3.3.2): an upstream queue is paused for as long as packets of it are here that
//! found their queue above the threshold when they came.

use super::super::{Ask, Signal};
use super::backpressure::{Backpressure, PauseFrames};
use super::threshold::Thresholds;
use super::{BfcConfig, BfcPort};
use crate::packet::{CONTROL_QUEUE, Packet, flag};
use crate::sched::{QueueMask, Scheduler};

/// Packets in this switch that exceeded the threshold, by the neighbour's queue they came from.
#[derive(Clone, Debug)]
struct Counters {
    counts: Vec<u32>,
    paused: QueueMask,
    /// How many empty bitmaps are still to be sent.
    owed: u16,
}

/// "an array indexed by the ingress port and the upstreamQ of a packet" (§3.3.2).
#[derive(Debug)]
pub struct PauseCounters {
    ingresses: Vec<Counters>,
    thresholds: Thresholds,
    refresh_period: u64,
    empty_refreshes: u16,
    frames: PauseFrames,
}

impl PauseCounters {
    /// For a switch with these ports and this 1-hop RTT, whose neighbours have as many queues as itself.
    pub(super) fn new(config: &BfcConfig, ports: &[BfcPort], hrtt_ps: u64) -> Self {
        let counts = vec![0; config.data_queues() as usize];
        Self {
            ingresses: vec![Counters { counts, paused: 0, owed: 0 }; ports.len()],
            thresholds: Thresholds::new(config, ports, hrtt_ps),
            refresh_period: config.refresh_period.0,
            empty_refreshes: config.empty_refreshes,
            frames: PauseFrames::default(),
        }
    }

    #[cfg(test)]
    pub(super) fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }
}

impl Backpressure for PauseCounters {
    /// "if its flow is assigned a queue that exceeds the pause threshold, we increment the pause counter
    /// at that index by 1" (§3.3.2).
    #[inline]
    fn on_enqueue<S: Scheduler>(
        &mut self,
        egress: u16,
        packet: &mut Packet,
        queues: &S,
    ) -> Option<Signal> {
        if packet.upstream == CONTROL_QUEUE {
            return None;
        }
        // "queues with data to transmit that are not paused" (§3.3.2, Pause threshold).
        let active = (queues.occupied() & !queues.paused()).count_ones();
        if queues.queue_bytes(packet.queue) <= self.thresholds.at(egress, active) {
            return None;
        }
        packet.flags |= flag::COUNTED;
        let ingress = &mut self.ingresses[packet.ingress as usize];
        let count = &mut ingress.counts[packet.upstream as usize];
        *count += 1;
        if *count > 1 {
            return None;
        }
        let queues = 1 << packet.upstream;
        ingress.paused |= queues;
        ingress.owed = self.empty_refreshes;
        self.frames.pauses += 1;
        Some(Signal::new(packet.ingress, Ask::Pause, queues))
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
        let ingress = &mut self.ingresses[packet.ingress as usize];
        let count = &mut ingress.counts[packet.upstream as usize];
        *count = count.checked_sub(1).expect("BFC's pause counter went negative");
        if *count > 0 {
            return None;
        }
        let queues = 1 << packet.upstream;
        ingress.paused &= !queues;
        self.frames.resumes += 1;
        Some(Signal::new(packet.ingress, Ask::Resume, queues))
    }

    #[inline]
    fn lets_pass(&self, egress: u16, packet: &Packet) -> bool {
        u32::from(packet.wire_bytes) <= self.thresholds.at(egress, 1)
    }

    /// When the next pause bitmap is due after a change now.
    fn next_timer(&self, now: u64) -> Option<u64> {
        Some(now + self.refresh_period)
    }

    /// "we also periodically send a bitmap of the queues that should be paused at the upstream"
    /// (§3.3.2): also when the bitmap has become empty, so that a lost resume heals.
    fn on_timer(&mut self, ingress: u16) -> (Option<Signal>, bool) {
        let state = &mut self.ingresses[ingress as usize];
        if state.paused == 0 {
            let Some(left) = state.owed.checked_sub(1) else { return (None, false) };
            state.owed = left;
        }
        self.frames.refreshes += 1;
        let signal = Signal::new(ingress, Ask::Exactly, state.paused);
        (Some(signal), state.paused != 0 || state.owed > 0)
    }

    fn holds_paused(&self, ingress: u16) -> QueueMask {
        self.ingresses[ingress as usize].paused
    }

    fn frames(&self) -> PauseFrames {
        self.frames
    }
}
