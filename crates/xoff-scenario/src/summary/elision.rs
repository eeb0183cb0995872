//! What hop-by-hop flow control was left out for.

use xoff_net::hop::AnyHop;
use xoff_sim::Simulation;
use xoff_sim::partition::{Owner, Partition};

use super::{number, object};

/// Pairs of ports, and the data packets that came by them in the whole run: how many, and their share of
/// the bytes that hosts sent. Null if nothing is to be left out.
pub(super) fn elision(simulation: &Simulation) -> String {
    let Some(pairs) = &simulation.setup().switch.elided else { return "null".into() };
    let (mut packets, mut bytes) = (0, 0);
    for (_, switch) in simulation.partitions().iter().flat_map(|part| part.switches()) {
        if let Some(stats) = switch.hop().and_then(AnyHop::elision) {
            packets += stats.packets;
            bytes += stats.bytes;
        }
    }
    let sent: u64 = simulation.partitions().iter().map(sent_by_hosts).sum();
    object(&[
        ("pairs", pairs.len().to_string()),
        ("packets", packets.to_string()),
        ("bytes_share", number(bytes as f64 / sent as f64)),
    ])
}

fn sent_by_hosts(partition: &Partition) -> u64 {
    let ports = 0..partition.fabric().port_count() as u32;
    let of_hosts = ports.filter(|&port| matches!(partition.owner(port), Owner::Host(_)));
    of_hosts.map(|port| partition.fabric().tx_bytes(port)).sum()
}
