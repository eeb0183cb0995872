//! What pipelined switches did.

use xoff_net::arch::PipelineStats;
use xoff_sim::Simulation;

use super::{number, object};

/// What all pipelined switches did over the whole run; null where there are none.
pub(super) fn pipeline(simulation: &Simulation) -> String {
    let mut totals = PipelineStats::default();
    let (mut switches, mut most_blocked) = (0u64, 0);
    for partition in simulation.partitions() {
        let now = partition.fabric().now;
        for stats in
            partition.switches().iter().filter_map(|(_, switch)| switch.pipeline_stats(now))
        {
            totals.add(&stats);
            switches += 1;
            most_blocked = most_blocked.max(stats.blocked_ps);
        }
    }
    if switches == 0 {
        return "null".into();
    }
    let share = |part: u64, whole: u64| number(part as f64 / whole as f64);
    let run = simulation.progress().sim_ps;
    object(&[
        ("processed_packets", totals.processed.to_string()),
        ("ingress_drops", totals.ingress_drops.to_string()),
        ("egress_drops", totals.egress_drops.to_string()),
        ("egress_drop_share", share(totals.egress_drops, totals.processed)),
        ("stops", totals.stops.to_string()),
        ("blocked_ps", totals.blocked_ps.to_string()),
        ("blocked_share", share(totals.blocked_ps, switches * run)),
        ("blocked_share_max", share(most_blocked, run)),
        ("cross_class_ps", totals.cross_class_ps.to_string()),
        ("cross_class_mean_ps", share(totals.cross_class_ps, totals.processed)),
        ("blames", totals.blames.to_string()),
        ("ingress_congestions", totals.congestions.to_string()),
        ("resume_frames", totals.resumes.to_string()),
        ("counter_bytes", totals.counter_bytes.to_string()),
    ])
}
