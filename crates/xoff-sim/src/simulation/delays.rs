//! Queueing delays of packets: at monitored ports, or at all ports of switches by kind of link.

use xoff_core::PortId;
use xoff_net::sched::QueueMask;

use super::Simulation;
use crate::measure::{Distribution, LinkDelays};
use crate::partition::Place;

impl Simulation {
    /// Starts recording delays.
    pub(super) fn watch_delays(&mut self) {
        let groups: Vec<QueueMask> =
            self.setup.queue_groups().iter().map(|&(_, queues)| queues).collect();
        for id in self.watched() {
            let Place { partition, port: number } = self.place[id.index()];
            self.partitions[partition as usize].watch_delays(number, &groups);
        }
    }

    /// The ports of the topology with recorded delays.
    fn watched(&self) -> Vec<PortId> {
        if self.plan.link_delays {
            return self.setup.topology.port_ids().collect();
        }
        self.monitored.clone()
    }

    /// Stops recording delays and merges those of ports of one kind.
    pub(super) fn collect_delays(&mut self) {
        for id in self.watched() {
            let Place { partition, port: number } = self.place[id.index()];
            let taken = self.partitions[partition as usize].take_delays(number);
            let Some(delays) = taken else { continue };
            let histograms = delays.histograms();
            // A host may be listed twice.
            let monitored = self.monitored.iter().zip(&mut self.monitors);
            for (_, monitor) in monitored.filter(|(port, _)| **port == id) {
                monitor.delays = histograms[0].clone().into();
            }
            if self.plan.link_delays {
                let port = self.setup.topology.port(id);
                let link = self.setup.topology.link_name(port);
                let groups = self.setup.queue_groups();
                for ((packets, _), histogram) in groups.into_iter().zip(&histograms) {
                    self.link_delays_of(&link, packets).merge(histogram);
                }
            }
        }
    }

    fn link_delays_of(&mut self, link: &str, packets: &'static str) -> &mut Distribution {
        let same = |found: &LinkDelays| found.link == link && found.packets == packets;
        let place = self.link_delays.iter().position(same).unwrap_or_else(|| {
            let delays = Distribution::default();
            self.link_delays.push(LinkDelays { link: link.into(), packets, delays });
            self.link_delays.len() - 1
        });
        &mut self.link_delays[place].delays
    }

    /// Queueing delays in the measurement at all ports of switches, if recorded, in the order of
    /// the topology.
    #[must_use]
    pub fn link_delays(&self) -> &[LinkDelays] {
        &self.link_delays
    }
}
