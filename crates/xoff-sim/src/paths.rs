//! The path of a flow, as chosen by its switches.

use xoff_core::{HostId, PortId};
use xoff_net::balance::Ecmp;
use xoff_net::topo::{Routes, Topology};
use xoff_net::{Kind, Packet};

/// Computes paths of flows: "Routing information can be computed from the network state: in
/// ECMP-based networks, given the ECMP hash function" (Flowtune §6).
#[derive(Clone, Debug)]
pub struct Paths {
    /// The hash of each switch, in the order of nodes.
    hashes: Vec<Ecmp>,
    /// The hash by which hosts choose among their links.
    of_hosts: Ecmp,
}

impl Paths {
    /// Creates it for switches with these hashes, and hosts with that one.
    #[must_use]
    pub fn new(hashes: Vec<Ecmp>, of_hosts: Ecmp) -> Self {
        Self { hashes, of_hosts }
    }

    /// The egress ports of a flow's packets, from its sender's to the one that faces its receiver.
    pub fn follow<'a>(
        &'a self,
        topology: &'a Topology,
        routes: &'a Routes,
        (src, dst, label): (HostId, HostId, u32),
    ) -> impl Iterator<Item = PortId> + 'a {
        let mut packet = Packet::new(Kind::Data, 0);
        (packet.src, packet.dst, packet.label) = (src.0, dst.0, label);
        let group = routes.group_of(dst) as usize;
        let next = move |&port: &PortId| {
            let node = topology.far_end(port);
            if node == dst.node() {
                return None;
            }
            let switch = topology.switch_index(node);
            let route = routes.by_switch[switch][group];
            let number = if route.count == 0 {
                routes.access_port(dst)
            } else {
                let choice = self.hashes[switch].choose(&packet, route.count);
                routes.choices[switch][(route.first + choice) as usize]
            };
            Some(topology.port_at(node, number))
        };
        let first = match routes.ports_of_host(src, dst) {
            [] => topology.first_port(src.node()),
            ports => {
                let choice = self.of_hosts.choose(&packet, ports.len() as u32);
                topology.port_at(src.node(), ports[choice as usize])
            }
        };
        std::iter::successors(Some(first), next)
    }
}
