//! Counters at the ends of the measurement.

use xoff_host::FlowStart;
use xoff_workload::ENDLESS;

use super::Simulation;
use crate::flowtune::FlowtuneCounts;
use crate::measure::EndlessFlow;
use crate::partition::{Partition, Place};
use crate::port_samples::PortTotals;

/// Counters of all ports at one instant, in the order of the topology.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    pub(super) totals: Vec<PortTotals>,
    pub(super) pauses: Vec<u64>,
    /// Acknowledged bytes, by class, of endless flows and of stopped ones.
    pub(super) endless_acked: Vec<u64>,
    /// The same for each endless flow, ordered by number.
    pub(super) endless: Vec<EndlessFlow>,
    pub(super) flowtune: FlowtuneCounts,
}

impl Simulation {
    pub(super) fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot {
            endless_acked: self.stopped_bytes.clone(),
            flowtune: FlowtuneCounts::of(
                self.partitions.iter().flat_map(Partition::allocators),
                self.partitions.iter().map(Partition::hosts),
            ),
            ..Default::default()
        };
        for &Place { partition, port: number } in &self.place {
            let partition = &self.partitions[partition as usize];
            snapshot.totals.push(partition.totals(number, self.now.0));
            snapshot.pauses.push(partition.paused_time(number).pauses());
        }
        let counts = |flow: &FlowStart| flow.bytes == ENDLESS || self.stopping.contains(&flow.id);
        for partition in &self.partitions {
            for flow in partition.hosts().alive().filter(|flow| counts(&flow.start)) {
                let class = self.class_of[flow.start.source as usize];
                let acked = flow.snd_una;
                snapshot.endless_acked[class as usize] += acked;
                if flow.start.bytes == ENDLESS {
                    snapshot.endless.push(EndlessFlow { flow: flow.start.id, class, acked });
                }
            }
        }
        snapshot.endless.sort_unstable_by_key(|flow| flow.flow);
        snapshot
    }
}
