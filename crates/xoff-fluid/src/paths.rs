//! The links of a network as the allocator numbers them, and the paths of flows.

use std::sync::Arc;

use xoff_alloc::LinkId;
use xoff_core::rng::Purpose;
use xoff_core::{HostId, Rng};
use xoff_net::topo::{Routes, Topology};

/// Bits per second per Gb/s, the allocator's unit here.
pub(crate) const GBPS: f64 = 1e9;

/// A network and the random stream that selects paths in it. A link is unidirectional and is
/// identified by its sending port.
pub(crate) struct Paths {
    topology: Arc<Topology>,
    routes: Arc<Routes>,
    rng: Rng,
}

impl Paths {
    pub(crate) fn new(topology: Arc<Topology>, routes: Arc<Routes>, seed: u64) -> Self {
        Self { topology, routes, rng: Rng::stream(seed, Purpose::Balancing, 0) }
    }

    /// Capacity of each link (Gb/s).
    pub(crate) fn capacities(&self) -> Vec<f64> {
        self.topology.ports().iter().map(|port| port.rate.0 as f64 / GBPS).collect()
    }

    /// Draws a shortest path. At every switch the port is uniform among those of equal cost, as
    /// with ECMP.
    pub(crate) fn draw(&mut self, src: HostId, dst: HostId) -> Vec<LinkId> {
        let (topology, routes) = (&self.topology, &self.routes);
        let group = routes.group_of(dst) as usize;
        let mut port = topology.first_port(src.node());
        let mut path = vec![LinkId(port.0)];
        loop {
            let node = topology.far_end(port);
            if node == dst.node() {
                return path;
            }
            let switch = topology.switch_index(node);
            let route = routes.by_switch[switch][group];
            let number = match route.count {
                0 => routes.access_port(dst),
                1 => routes.choices[switch][route.first as usize],
                count => {
                    let drawn = self.rng.below(count.into()) as usize;
                    routes.choices[switch][route.first as usize + drawn]
                }
            };
            port = topology.port_at(node, number);
            path.push(LinkId(port.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xoff_core::{NodeId, PortId};
    use xoff_net::topo::{LeafSpineConfig, leaf_spine};

    #[test]
    fn paths_reach_their_destination_and_use_all_spines_equally() {
        let topology = Arc::new(leaf_spine(&LeafSpineConfig::default()).unwrap());
        let routes = Arc::new(Routes::new(&topology).unwrap());
        let mut paths = Paths::new(Arc::clone(&topology), routes, 1);
        let node_at = |link: LinkId| topology.port(PortId(link.0)).node;
        assert_eq!(paths.draw(HostId(0), HostId(1)).len(), 2);
        let mut by_spine = [0; 8];
        for _ in 0..8000 {
            let path = paths.draw(HostId(3), HostId(100));
            let nodes: Vec<u32> = path.iter().map(|&link| node_at(link).0).collect();
            assert_eq!((nodes[0], nodes[1], nodes[3]), (3, 128, 128 + 6));
            assert_eq!(topology.far_end(PortId(path[3].0)), NodeId(100));
            by_spine[(nodes[2] - 136) as usize] += 1;
        }
        assert!(by_spine.iter().all(|count| (850..1150).contains(count)), "{by_spine:?}");
    }
}
