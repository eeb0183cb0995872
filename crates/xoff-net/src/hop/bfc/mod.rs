//! Backpressure flow control (Goyal et al., NSDI 2022, §3.3). Flows are assigned to queues
//! ([`assignment`]). A long queue pauses the upstream queue of its packets ([`backpressure`]). The
//! two parts are independent of each other.

mod assignment;
mod backpressure;
mod config;
mod counters;
mod flow_pauses;
mod flow_table;
mod occupancy;
mod settings;
mod silent;
mod threshold;
mod tofino;
mod upstream_queues;

use xoff_core::Rng;

use super::elide::Elide;
use super::{HopControl, Signal};
use assignment::FlowQueues;
use backpressure::Upstream;

use crate::division::{Divided, Division, Undivided};
use crate::packet::Packet;
use crate::recount::{Checked, WaitingPacket};
use crate::sched::{QueueMask, Scheduler};

pub use assignment::AssignmentStats;
pub use backpressure::{Backpressure, PauseFrames};
pub use config::{
    Assignment, BackpressureKind, BfcConfig, EmptyQueueOrder, Hardware, ThresholdRule,
};
pub use counters::PauseCounters;
pub use flow_pauses::FlowPauses;
pub use occupancy::Occupancy;
pub use settings::BfcSettings;
use settings::EMPTY_QUEUES;
pub use silent::Silent;
pub use tofino::{RecirculationStats, Tofino, TofinoConfig, TofinoStats};

/// The properties of a port that BFC uses.
#[derive(Clone, Copy, Debug)]
pub struct BfcPort {
    /// Bits per second.
    pub rate: u64,
    /// Propagation delay (ps).
    pub delay_ps: u64,
}

/// Counts of BFC, for the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BfcStats {
    /// Assignments of queues to flows.
    pub assignment: AssignmentStats,
    /// Frames sent to neighbours.
    pub frames: PauseFrames,
}

impl BfcStats {
    /// Adds another switch's counts.
    pub fn add(&mut self, other: &BfcStats) {
        self.assignment.add(&other.assignment);
        self.frames.add(&other.frames);
    }
}

/// The BFC state of one switch, with one kind of backpressure `B` and the division `D` of queues
/// among classes.
#[derive(Debug)]
pub struct Bfc<B, D = Undivided> {
    flows: FlowQueues<D>,
    backpressure: B,
}

impl Bfc<PauseCounters> {
    /// With pause counters, for a switch with these ports.
    #[must_use]
    pub fn new(config: &BfcConfig, ports: &[BfcPort]) -> Self {
        Self::with(config, ports, |config, ports, hrtt| {
            PauseCounters::new(config, config.undivided(), ports, hrtt)
        })
    }
}

impl Bfc<PauseCounters<Division>, Division> {
    /// With pause counters and queues divided among classes, for a switch with these ports.
    #[must_use]
    pub fn with_classes(config: &BfcConfig, division: Division, ports: &[BfcPort]) -> Self {
        let hrtt = hrtt(config, ports);
        Self {
            flows: FlowQueues::new(config, division, ports.len(), hrtt),
            backpressure: PauseCounters::new(config, division, ports, hrtt),
        }
    }
}

impl Bfc<Occupancy> {
    /// With pauses by queue length, for a switch with these ports.
    #[must_use]
    pub fn by_occupancy(config: &BfcConfig, ports: &[BfcPort]) -> Self {
        Self::with(config, ports, Occupancy::new)
    }
}

impl Bfc<FlowPauses> {
    /// With pauses of flows, for a switch with these ports.
    #[must_use]
    pub fn by_flow(config: &BfcConfig, ports: &[BfcPort]) -> Self {
        Self::with(config, ports, FlowPauses::by_flow)
    }

    /// Flows that neighbours hold paused for this switch.
    #[must_use]
    pub fn paused_flows(&self) -> usize {
        self.backpressure.upstream().paused_flows()
    }
}

impl Bfc<Silent> {
    /// Without backpressure, for a switch with these ports.
    #[must_use]
    pub fn silent(config: &BfcConfig, ports: &[BfcPort]) -> Self {
        Self::with(config, ports, |_, _, _| Silent)
    }
}

impl<B: Backpressure> Bfc<B> {
    fn with(
        config: &BfcConfig,
        ports: &[BfcPort],
        backpressure: impl Fn(&BfcConfig, &[BfcPort], u64) -> B,
    ) -> Self {
        let hrtt = hrtt(config, ports);
        let flows = FlowQueues::new(config, config.undivided(), ports.len(), hrtt);
        Self { flows, backpressure: backpressure(config, ports, hrtt) }
    }
}

impl<B: Backpressure, D: Divided> Bfc<B, D> {
    /// Counts so far.
    #[must_use]
    pub fn stats(&self) -> BfcStats {
        BfcStats { assignment: self.flows.stats(), frames: self.backpressure.upstream().frames() }
    }
}

/// "we use the max of HRTT across all the ingresses to calculate Th" (§3.3.2).
fn hrtt(config: &BfcConfig, ports: &[BfcPort]) -> u64 {
    let longest = ports.iter().map(|port| port.delay_ps).max().unwrap_or(0);
    2 * longest + config.hop_processing.0
}

impl<B: Backpressure, D: Divided> HopControl for Bfc<B, D> {
    #[inline]
    fn queue_of<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &Packet,
        queues: &S,
        rng: &mut Rng,
    ) -> u8 {
        self.flows.queue_of(now, egress, packet, || queues.occupied(), rng)
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

    /// Out of line, so that the loop over events keeps its registers.
    #[inline(never)]
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

    fn next_signal(&mut self) -> Option<Signal> {
        self.backpressure.next_signal()
    }

    fn next_timer(&self, now: u64) -> Option<u64> {
        self.backpressure.upstream().next_timer(now)
    }

    fn on_timer(&mut self, ingress: u16) -> (Option<Signal>, bool) {
        self.backpressure.upstream_mut().on_timer(ingress)
    }

    fn active_flows(&self, egress: u16) -> Option<u32> {
        Some(self.flows.active(egress))
    }

    fn sharing_flows(&self, egress: u16) -> Option<u32> {
        Some(self.flows.sharing([egress]))
    }

    fn on_rate(&mut self, egress: u16, rate: u64) {
        self.backpressure.on_rate(egress, rate);
    }

    fn holds_paused(&self, ingress: u16) -> QueueMask {
        self.backpressure.upstream().paused(ingress)
    }

    fn recount(&self, waiting: &[WaitingPacket<'_>], _copies: &[&Packet]) -> Checked {
        self.flows.recount(waiting)?;
        self.backpressure.recount(waiting)
    }
}

/// "We use the simple strategy of skipping the backpressure operation" (App. B). The packet still
/// has its queue and counts as a packet of its flow.
impl Elide for Bfc<PauseCounters> {
    fn admits_elided(&self, _packet: &Packet, _held: u64) -> bool {
        true
    }

    fn join_elided(&mut self, now: u64, egress: u16, packet: &mut Packet) {
        self.flows.on_enqueue(now, egress, packet);
    }

    fn leave_elided(&mut self, now: u64, egress: u16, packet: &mut Packet) {
        self.flows.on_dequeue(now, egress, packet);
    }

    fn recount_elided(
        &self,
        elided: &[WaitingPacket<'_>],
        others: &[WaitingPacket<'_>],
    ) -> Checked {
        self.recount(&[elided, others].concat(), &[])
    }
}

#[cfg(test)]
mod assignment_tests;
#[cfg(test)]
mod backpressure_tests;
#[cfg(test)]
mod class_tests;
#[cfg(test)]
pub(super) mod tests;
