//! BFC's "ideal (but impractical) variant that pauses flows directly using the flow ID" (§3.3.2). A
//! frame names a flow, and the neighbour finds the queue of that flow itself.
//!
//! Flows have pause counters, as queues do. Frames are not repeated: the loss of a frame is
//! permanent.

use rustc_hash::FxHashMap;
use xoff_core::FlowId;
use xoff_core::invariant::{Checker, Part, equal};

use super::super::Signal;
use super::backpressure::{Counted, PauseFrames, Upstream};
use super::counters::Counting;
use super::threshold::Thresholds;
use super::{BfcConfig, BfcPort};
use crate::packet::Packet;
use crate::recount::{Checked, of_part};

/// Flows of the neighbours.
#[derive(Debug, Default)]
pub struct UpstreamFlows {
    /// Reasons to pause each flow, by ingress port and flow. Flows without any are left out.
    counts: FxHashMap<(u16, u32), u32>,
    frames: PauseFrames,
}

/// A pause counter for each flow.
pub type FlowPauses = Counting<UpstreamFlows>;

impl FlowPauses {
    /// For a switch with these ports and this 1-hop RTT.
    pub(super) fn by_flow(config: &BfcConfig, ports: &[BfcPort], hrtt_ps: u64) -> Self {
        Self::of(Thresholds::new(config, ports, hrtt_ps), UpstreamFlows::default())
    }
}

impl UpstreamFlows {
    /// Flows that neighbours hold paused for this switch.
    pub(super) fn paused_flows(&self) -> usize {
        self.counts.len()
    }
}

impl Upstream for UpstreamFlows {
    fn frames(&self) -> PauseFrames {
        self.frames
    }
}

impl Counted for UpstreamFlows {
    fn recount<'a>(&self, reasons: impl Iterator<Item = &'a Packet>) -> Checked {
        let mut counts = FxHashMap::default();
        for packet in reasons {
            *counts.entry((packet.ingress, packet.flow)).or_insert(0) += 1;
        }
        if counts == self.counts {
            return Ok(());
        }
        let mut flows: Vec<_> = counts.keys().chain(self.counts.keys()).collect();
        flows.sort_unstable();
        for of @ &(ingress, flow) in flows {
            let count = |counts: &FxHashMap<_, u32>| counts.get(of).copied().unwrap_or_default();
            let (counted, count) = (count(&counts), count(&self.counts));
            let place = || format!("pause counter of ingress {ingress}, flow {flow}");
            let part = Part::flow(FlowId(flow.into())).of(Part::port(ingress));
            equal(Checker::Pauses, counted, count, place).map_err(of_part(part))?;
        }
        Ok(())
    }

    fn hold(&mut self, packet: &Packet) -> Option<Signal> {
        let count = self.counts.entry((packet.ingress, packet.flow)).or_insert(0);
        *count += 1;
        if *count > 1 {
            return None;
        }
        self.frames.pauses += 1;
        Some(Signal::pause_flow(packet))
    }

    /// # Panics
    /// If the packet's flow has no count, which is a bug.
    fn release(&mut self, packet: &Packet) -> Option<Signal> {
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
}
