//! What Homa's hosts did.

use xoff_host::driven::AnyDriven;
use xoff_host::driven::homa::HomaStats;
use xoff_sim::Simulation;

use super::{number, object};

/// Counts over the whole run, and what priorities were for.
pub(super) fn homa(simulation: &Simulation) -> String {
    let Some((_, levels)) = simulation.setup().hosts.driver.levels() else {
        return "null".into();
    };
    let mut stats = HomaStats::default();
    for partition in simulation.partitions() {
        if let Some(AnyDriven::Homa(hosts)) = partition.hosts().driven() {
            stats.add(&hosts.stats());
        }
    }
    let sent = stats.unscheduled_bytes + stats.scheduled_bytes;
    object(&[
        ("unscheduled_priorities", levels.unscheduled().to_string()),
        ("scheduled_priorities", levels.scheduled.to_string()),
        ("grants", stats.granted.grants.to_string()),
        ("granted_bytes", stats.granted.bytes.to_string()),
        ("most_granted_at_once", stats.granted.most_at_once.to_string()),
        ("resends", stats.granted.resends.to_string()),
        ("unscheduled_share", number(stats.unscheduled_bytes as f64 / sent as f64)),
    ])
}
