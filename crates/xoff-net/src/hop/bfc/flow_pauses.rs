//! BFC's "ideal (but impractical) variant that pauses flows directly using the flow ID" (§3.3.2): the
//! neighbour is told a flow, and finds out itself which of its queues that concerns.
//!
//! A flow is paused for as long as packets of it are here that found their queue above the threshold when
//! they came, as an upstream queue is by the pause counters. Frames are not repeated: a lost one does not
//! heal.

use rustc_hash::FxHashMap;

use super::super::Signal;
use super::backpressure::{Backpressure, PauseFrames};
use super::threshold::Thresholds;
use super::{BfcConfig, BfcPort};
use crate::packet::{CONTROL_QUEUE, Packet, flag};
use crate::sched::Scheduler;

/// A pause counter for each flow.
#[derive(Debug)]
pub struct FlowPauses {
    /// Packets that exceeded the threshold, by ingress port and flow; only flows that have any.
    counts: FxHashMap<(u16, u32), u32>,
    thresholds: Thresholds,
    frames: PauseFrames,
}

impl FlowPauses {
    /// For a switch with these ports and this 1-hop RTT.
    pub(super) fn new(config: &BfcConfig, ports: &[BfcPort], hrtt_ps: u64) -> Self {
        Self {
            counts: FxHashMap::default(),
            thresholds: Thresholds::new(config, ports, hrtt_ps),
            frames: PauseFrames::default(),
        }
    }

    /// Flows that neighbours hold on its behalf.
    #[must_use]
    pub fn paused_flows(&self) -> usize {
        self.counts.len()
    }
}

impl Backpressure for FlowPauses {
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
        let count = self.counts.entry((packet.ingress, packet.flow)).or_insert(0);
        *count += 1;
        if *count > 1 {
            return None;
        }
        self.frames.pauses += 1;
        Some(Signal::pause_flow(packet))
    }

    /// # Panics
    /// If the packet's flow has no count: that is a bug.
    fn on_dequeue(&mut self, _egress: u16, packet: &mut Packet) -> Option<Signal> {
        if !packet.has(flag::COUNTED) {
            return None;
        }
        packet.flags &= !flag::COUNTED;
        let key = (packet.ingress, packet.flow);
        let count = self.counts.get_mut(&key).expect("a counted packet has a count");
        *count -= 1;
        if *count > 0 {
            return None;
        }
        self.counts.remove(&key);
        self.frames.resumes += 1;
        Some(Signal::resume_flow(packet))
    }

    fn lets_pass(&self, egress: u16, packet: &Packet) -> bool {
        self.thresholds.lets_pass(egress, packet)
    }

    fn frames(&self) -> PauseFrames {
        self.frames
    }
}
