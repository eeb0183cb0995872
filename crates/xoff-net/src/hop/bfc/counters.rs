//! BFC's pause counters (§3.3.2). An upstream queue or flow is paused while packets of it wait here
//! that exceeded the threshold on arrival.

use super::super::Signal;
use super::backpressure::{Backpressure, Counted};
use super::threshold::Thresholds;
use super::upstream_queues::UpstreamQueues;
use super::{BfcConfig, BfcPort};
use crate::division::{Divided, Undivided};
use crate::packet::{CONTROL_QUEUE, Packet, flag};
use crate::recount::{Checked, WaitingPacket};
use crate::sched::Scheduler;

/// Backpressure that counts packets above the threshold against their sources.
#[derive(Debug)]
pub struct Counting<U, D = Undivided> {
    thresholds: Thresholds<D>,
    upstream: U,
}

/// A counter for each queue of the neighbours.
pub type PauseCounters<D = Undivided> = Counting<UpstreamQueues, D>;

impl<D: Divided> PauseCounters<D> {
    /// For a switch with these ports and this 1-hop RTT. The neighbours have the same number of
    /// queues.
    pub(super) fn new(config: &BfcConfig, division: D, ports: &[BfcPort], hrtt_ps: u64) -> Self {
        let thresholds = Thresholds::divided(config, division, ports, hrtt_ps);
        Self::of(thresholds, UpstreamQueues::new(config, ports.len()))
    }
}

impl<U, D> Counting<U, D> {
    pub(super) fn of(thresholds: Thresholds<D>, upstream: U) -> Self {
        Self { thresholds, upstream }
    }

    #[cfg(test)]
    pub(super) fn thresholds(&self) -> &Thresholds<D> {
        &self.thresholds
    }
}

impl<U: Counted, D: Divided> Backpressure for Counting<U, D> {
    type Upstream = U;

    #[inline]
    fn upstream(&self) -> &U {
        &self.upstream
    }

    #[inline]
    fn upstream_mut(&mut self) -> &mut U {
        &mut self.upstream
    }

    fn on_rate(&mut self, egress: u16, rate: u64) {
        self.thresholds.set_rate(egress, rate);
    }

    /// "if its flow is assigned a queue that exceeds the pause threshold, we increment the pause
    /// counter at that index by 1" (§3.3.2).
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
        self.upstream.hold(packet)
    }

    /// "When this packet (the one that exceeded Th) leaves the switch we decrement the counter by
    /// 1" (§3.3.2).
    #[inline]
    fn on_dequeue(&mut self, _egress: u16, packet: &mut Packet) -> Option<Signal> {
        if !packet.has(flag::COUNTED) {
            return None;
        }
        packet.flags &= !flag::COUNTED;
        self.upstream.release(packet)
    }

    fn recount(&self, waiting: &[WaitingPacket<'_>]) -> Checked {
        let reasons = waiting.iter().map(|waits| waits.packet);
        self.upstream.recount(reasons.filter(|packet| packet.has(flag::COUNTED)))
    }

    #[inline]
    fn lets_pass(&self, egress: u16, packet: &Packet) -> bool {
        self.thresholds.lets_pass(egress, packet)
    }
}
