//! The capacity of a network, to which loads refer.

use xoff_core::{BitRate, HostId};
use xoff_net::topo::Topology;
use xoff_workload::{Capacity, Grouping, Racks};

/// The capacity of a network.
#[must_use]
pub fn capacity(topology: &Topology) -> Capacity {
    let (core, _) = topology.capacities();
    let racks = topology.racks().map(|(hosts, uplinks)| Racks { hosts, uplinks });
    let ports = |host: HostId| {
        let ports = topology.ports_of(host.node());
        // The first one is the NIC's. A GPU's link inside its server is no part of the network.
        if topology.in_server.is_some() { &ports[..1] } else { ports }
    };
    let rates = |host| ports(host).iter().map(|port| port.rate);
    let leaf = |host| topology.switch_index(topology.neighbour(topology.port_of_host(host))) as u32;
    let leaves = topology.server_ids().map(leaf).collect();
    let grouping = Grouping { leaves, in_server: topology.in_server };
    let host_rates = topology.server_ids().map(|host| BitRate::total(rates(host))).collect();
    let fastest = |host: HostId| topology.ports_of(host.node()).iter().map(|port| port.rate).max();
    let line_rates = topology.server_ids().filter_map(fastest).collect();
    Capacity { core, host_rates, line_rates, racks, grouping }
}
