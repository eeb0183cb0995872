//! The path of a flow, as chosen by its switches.

use xoff_net::balance::Ecmp;
use xoff_net::topo::{Routes, Topology};
use xoff_net::{Kind, Packet};

/// Computes paths of flows: "Routing information can be computed from the network state: in
/// ECMP-based networks, given the ECMP hash function" (Flowtune §6).
#[derive(Clone, Debug)]
pub struct Paths {
    /// The hash of each switch, in the order of nodes.
    hashes: Vec<Ecmp>,
}

impl Paths {
    /// Creates it for switches with these hashes.
    #[must_use]
    pub fn new(hashes: Vec<Ecmp>) -> Self {
        Self { hashes }
    }

    /// The egress ports of a flow's packets, from its sender's to the one that faces its receiver,
    /// as indices into [`Topology::ports`].
    pub fn follow<'a>(
        &'a self,
        topology: &'a Topology,
        routes: &'a Routes,
        (src, dst, label): (u32, u32, u32),
    ) -> impl Iterator<Item = u32> + 'a {
        let mut packet = Packet::new(Kind::Data, 0);
        (packet.src, packet.dst, packet.label) = (src, dst, label);
        let group = routes.group_of[dst as usize] as usize;
        let next = move |&port: &u32| {
            let node = topology.ports[topology.ports[port as usize].peer as usize].node;
            if node == dst {
                return None;
            }
            let switch = (node - topology.hosts) as usize;
            let route = routes.by_switch[switch][group];
            let number = if route.count == 0 {
                routes.access_port[dst as usize]
            } else {
                let choice = self.hashes[switch].choose(&packet, route.count);
                routes.choices[switch][(route.first + choice) as usize]
            };
            Some(topology.first_port[node as usize] + u32::from(number))
        };
        std::iter::successors(Some(topology.first_port[src as usize]), next)
    }
}
