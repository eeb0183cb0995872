//! Grants and priorities of Homa.

use xoff_host::receiver_driven::AnyDriven;
use xoff_host::receiver_driven::homa::HomaStats;
use xoff_sim::Simulation;

use super::keys::keys;
use super::share;

keys! {
    /// Homa over the whole run.
    pub struct Homa {
        /// Priority levels of unscheduled packets.
        unscheduled_priorities: u8,
        /// Priority levels of scheduled packets.
        scheduled_priorities: u8,
        /// Grants.
        grants: u64,
        /// Bytes granted.
        granted_bytes: u64,
        /// Messages that one receiver granted at a time, maximum over receivers.
        most_granted_at_once: u64,
        /// Requests for missing bytes.
        resends: u64,
        /// Unscheduled payload as a share of all payload sent, repeated payload included.
        unscheduled_share: f64,
    }
}

impl Homa {
    pub(super) fn of(simulation: &Simulation) -> Option<Self> {
        let (_, levels) = simulation.setup().hosts.driver.levels()?;
        let mut stats = HomaStats::default();
        for partition in simulation.partitions() {
            if let Some(AnyDriven::Homa(hosts)) = partition.hosts().receiver_driven() {
                stats.add(&hosts.stats());
            }
        }
        let sent = stats.unscheduled_bytes + stats.scheduled_bytes;
        Some(Self {
            unscheduled_priorities: levels.unscheduled(),
            scheduled_priorities: levels.scheduled,
            grants: stats.granted.grants,
            granted_bytes: stats.granted.bytes,
            most_granted_at_once: stats.granted.most_at_once,
            resends: stats.granted.resends,
            unscheduled_share: share(stats.unscheduled_bytes, sent),
        })
    }
}
