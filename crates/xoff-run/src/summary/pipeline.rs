//! Pipelined switches.

use xoff_net::arch::PipelineStats;
use xoff_sim::Simulation;

use super::keys::keys;
use super::share;

keys! {
    /// Pipelined switches over the whole run.
    pub struct Pipeline {
        /// Packets that left the processor, dropped ones included.
        processed_packets: u64,
        /// Packets dropped at a full ingress queue.
        ingress_drops: u64,
        /// Packets dropped at a full egress queue.
        egress_drops: u64,
        /// `egress_drops` over `processed_packets`.
        egress_drop_share: f64,
        /// Stops of a processor at a full egress queue.
        stops: u64,
        /// Time that processors were stopped, sum over switches.
        blocked_ps: u64,
        /// Mean share of the run that a processor was stopped.
        blocked_share: f64,
        /// Maximum of this share over switches.
        blocked_share_max: f64,
        /// Time that packets waited for a full egress queue of another class, sum over packets.
        cross_class_ps: u64,
        /// Mean of this time over processed packets.
        cross_class_mean_ps: f64,
        /// Inputs blamed by egress queues.
        blames: u64,
        /// Transitions of an ingress queue to congestion.
        ingress_congestions: u64,
        /// Frames that resumed a neighbour.
        resume_frames: u64,
        /// Bytes of CaPFC's counters.
        counter_bytes: u64,
    }
}

impl Pipeline {
    pub(super) fn of(simulation: &Simulation) -> Option<Self> {
        let mut totals = PipelineStats::default();
        let (mut switches, mut most_blocked) = (0u64, 0);
        for partition in simulation.partitions() {
            let now = partition.fabric().now;
            let found = partition.switches().iter();
            for stats in found.filter_map(|(_, switch)| switch.pipeline_stats(now)) {
                totals.add(&stats);
                switches += 1;
                most_blocked = most_blocked.max(stats.blocked_ps);
            }
        }
        let run = simulation.progress().sim_ps;
        (switches > 0).then(|| Self {
            processed_packets: totals.processed,
            ingress_drops: totals.ingress_drops,
            egress_drops: totals.egress_drops,
            egress_drop_share: share(totals.egress_drops, totals.processed),
            stops: totals.stops,
            blocked_ps: totals.blocked_ps,
            blocked_share: share(totals.blocked_ps, switches * run),
            blocked_share_max: share(most_blocked, run),
            cross_class_ps: totals.cross_class_ps,
            cross_class_mean_ps: share(totals.cross_class_ps, totals.processed),
            blames: totals.blames,
            ingress_congestions: totals.congestions,
            resume_frames: totals.resumes,
            counter_bytes: totals.counter_bytes,
        })
    }
}
