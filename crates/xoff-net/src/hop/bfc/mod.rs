//! Backpressure flow control (Goyal et al., NSDI 2022, §3.3): flows are assigned to queues
//! ([`assignment`]), and where a queue grows long, the upstream queue its packets come from is paused
//! ([`backpressure`]). The two know nothing of each other.

mod assignment;
mod backpressure;
mod config;
mod counters;
mod flow_table;
mod threshold;

use xoff_core::Rng;

use super::{HopControl, Signal};
use assignment::FlowQueues;

use crate::packet::Packet;
use crate::sched::{QueueMask, Scheduler};

pub use assignment::AssignmentStats;
pub use backpressure::{Backpressure, PauseFrames};
pub use config::{Assignment, BfcConfig, EmptyQueueOrder};
pub use counters::PauseCounters;

/// What BFC needs to know of a port.
#[derive(Clone, Copy, Debug)]
pub struct BfcPort {
    /// Bits per second.
    pub rate: u64,
    /// Propagation delay (ps).
    pub delay_ps: u64,
}

/// What BFC has done, for the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BfcStats {
    /// Queues given to flows.
    pub assignment: AssignmentStats,
    /// Frames to neighbours.
    pub frames: PauseFrames,
}

impl BfcStats {
    /// Adds another switch's counts.
    pub fn add(&mut self, other: &BfcStats) {
        self.assignment.assignments += other.assignment.assignments;
        self.assignment.collisions += other.assignment.collisions;
        self.frames.pauses += other.frames.pauses;
        self.frames.resumes += other.frames.resumes;
        self.frames.refreshes += other.frames.refreshes;
    }
}

/// The BFC state of one switch, with one of the kinds of backpressure.
#[derive(Debug)]
pub struct Bfc<B> {
    flows: FlowQueues,
    backpressure: B,
}

impl Bfc<PauseCounters> {
    /// For a switch with these ports.
    #[must_use]
    pub fn new(config: &BfcConfig, ports: &[BfcPort]) -> Self {
        let hrtt = hrtt(config, ports);
        Self {
            flows: FlowQueues::new(config, ports.len(), hrtt),
            backpressure: PauseCounters::new(config, ports, hrtt),
        }
    }
}

impl<B: Backpressure> Bfc<B> {
    /// What has happened so far.
    #[must_use]
    pub fn stats(&self) -> BfcStats {
        BfcStats { assignment: self.flows.stats(), frames: self.backpressure.frames() }
    }
}

/// "we use the max of HRTT across all the ingresses to calculate Th" (§3.3.2).
fn hrtt(config: &BfcConfig, ports: &[BfcPort]) -> u64 {
    let longest = ports.iter().map(|port| port.delay_ps).max().unwrap_or(0);
    2 * longest + config.hop_processing.0
}

impl<B: Backpressure> HopControl for Bfc<B> {
    #[inline]
    fn queue_of<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &Packet,
        queues: &S,
        rng: &mut Rng,
    ) -> u8 {
        self.flows.queue_of(now, egress, packet, queues, rng)
    }

    #[inline]
    fn on_enqueue<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &mut Packet,
        queues: &S,
    ) -> Option<Signal> {
        self.flows.on_enqueue(now, egress, packet);
        self.backpressure.on_enqueue(egress, packet, queues)
    }

    #[inline]
    fn pass(&mut self, now: u64, egress: u16, packet: &Packet) -> bool {
        let passes = self.backpressure.lets_pass(egress, packet);
        if passes {
            self.flows.on_pass(now, egress, packet);
        }
        passes
    }

    #[inline]
    fn on_dequeue(&mut self, now: u64, egress: u16, packet: &mut Packet) -> Option<Signal> {
        self.flows.on_dequeue(now, egress, packet);
        self.backpressure.on_dequeue(egress, packet)
    }

    fn next_timer(&self, now: u64) -> Option<u64> {
        self.backpressure.next_timer(now)
    }

    fn on_timer(&mut self, ingress: u16) -> (Option<Signal>, bool) {
        self.backpressure.on_timer(ingress)
    }

    fn active_flows(&self, egress: u16) -> Option<u32> {
        Some(self.flows.active(egress))
    }

    fn holds_paused(&self, ingress: u16) -> QueueMask {
        self.backpressure.holds_paused(ingress)
    }
}

#[cfg(test)]
mod tests;
