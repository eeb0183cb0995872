//! Paused queues of switches that wait for each other.

use std::collections::{BTreeMap, BTreeSet};

use xoff_core::PortId;
use xoff_net::Packet;
use xoff_net::arch::Switch;
use xoff_net::sched::QueueMask;
use xoff_net::topo::{Digraph, Topology};

use crate::partition::Partition;

/// A queue of an egress port.
pub(crate) type QueueId = (PortId, u8);

/// What tells the packet at the head of a queue from any other: the time at which it joined the
/// queue (ps), its flow and its sequence number.
pub(crate) type Head = (u64, u32, u64);

/// The paused queues with packets, of all switches.
pub(crate) struct PausedQueues<'a> {
    topology: &'a Topology,
    /// The paused queues of each port.
    paused: Vec<QueueMask>,
    packets: BTreeMap<QueueId, Vec<&'a Packet>>,
}

impl<'a> PausedQueues<'a> {
    pub(crate) fn of(topology: &'a Topology, partitions: &'a [Partition]) -> Self {
        let mut paused = vec![0; topology.ports().len()];
        let mut packets: BTreeMap<QueueId, Vec<&Packet>> = BTreeMap::new();
        for partition in partitions {
            for (node, switch) in partition.switches() {
                for (id, port) in topology.port_ids_of(*node).zip(switch.egress()) {
                    paused[id.index()] = port.paused();
                    for packet in port.held(&partition.fabric().packets) {
                        packets.entry((id, packet.queue)).or_default().push(packet);
                    }
                }
            }
        }
        Self { topology, paused, packets }
    }

    /// The packets at the heads of the queues.
    pub(crate) fn heads(&self) -> BTreeMap<QueueId, Head> {
        let head = |packet: &Packet| (packet.time, packet.flow, packet.seq);
        self.packets.iter().map(|(&queue, packets)| (queue, head(packets[0]))).collect()
    }

    /// Leaves out the queues whose head is another packet than it was.
    pub(crate) fn keep_those_with(&mut self, heads: &BTreeMap<QueueId, Head>) {
        let now = self.heads();
        self.packets.retain(|queue, _| heads.get(queue) == now.get(queue));
    }

    /// The sets of egress ports that wait for each other. A port waits for another one if the other
    /// holds packets, in paused queues, that caused pauses of the first. Only paused ports take
    /// part, so a cycle of them never resolves by itself.
    pub(crate) fn cycles(&self) -> Vec<PauseCycle> {
        let mut waits = Vec::new();
        for (&(id, _), packets) in &self.packets {
            let node = self.topology.port(id).node;
            for packet in packets {
                let before = self.topology.port(self.topology.port_at(node, packet.ingress)).peer;
                let paused = self.paused[before.index()];
                if packet.upstream < 128 && paused >> packet.upstream & 1 == 1 {
                    waits.push((before.0, id.0));
                }
            }
        }
        let graph = Digraph::new(self.topology.ports().len(), waits);
        let cycle = |ports: Vec<u32>| {
            let shortest = graph.shortest_cycle(&ports).into_iter().map(PortId).collect();
            PauseCycle { ports: ports.into_iter().map(PortId).collect(), shortest }
        };
        graph.knots().into_iter().map(cycle).collect()
    }

    /// The flows, by the numbers in packets, that have packets in these queues of a cycle's ports.
    pub(crate) fn flows(&self, cycle: &PauseCycle) -> BTreeSet<u32> {
        let queues = self.packets.iter().filter(|((port, _), _)| cycle.ports.contains(port));
        queues.flat_map(|(_, packets)| packets.iter().map(|packet| packet.flow)).collect()
    }
}

/// Egress ports that wait for each other.
pub(crate) struct PauseCycle {
    ports: Vec<PortId>,
    shortest: Vec<PortId>,
}

impl PauseCycle {
    pub(crate) fn describe(&self, topology: &Topology) -> String {
        format!(
            "\n  a deadlock: {} egress ports wait for each other in cycles. A shortest cycle: {}",
            self.ports.len(),
            topology.cycle_of_switches(&self.shortest)
        )
    }
}
