//! Ports without hop-by-hop flow control.

use xoff_net::hop::AnyHop;
use xoff_sim::Simulation;
use xoff_sim::partition::{Owner, Partition};

use super::keys::keys;
use super::share;

keys! {
    /// Elision of backpressure (`switch.elide`), over the whole run.
    pub struct Elision {
        /// Pairs of ports without backpressure.
        pairs: usize,
        /// Data packets that passed such a pair.
        packets: u64,
        /// Their share of the bytes that hosts sent.
        bytes_share: f64,
    }
}

impl Elision {
    pub(super) fn of(simulation: &Simulation) -> Option<Self> {
        let pairs = simulation.setup().switch.elided.as_ref()?;
        let (mut packets, mut bytes) = (0, 0);
        for (_, switch) in simulation.partitions().iter().flat_map(|part| part.switches()) {
            if let Some(stats) = switch.hop().and_then(AnyHop::elision) {
                packets += stats.packets;
                bytes += stats.bytes;
            }
        }
        let sent = simulation.partitions().iter().map(sent_by_hosts).sum();
        Some(Self { pairs: pairs.len(), packets, bytes_share: share(bytes, sent) })
    }
}

fn sent_by_hosts(partition: &Partition) -> u64 {
    let ports = 0..partition.fabric().port_count() as u32;
    let of_hosts = ports.filter(|&port| matches!(partition.owner(port), Owner::Host(_)));
    of_hosts.map(|port| partition.fabric().tx_bytes(port)).sum()
}
