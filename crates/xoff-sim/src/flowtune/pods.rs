//! Pods: what is left of a network without the switches of its top layer.

use xoff_core::{HostId, NodeId};
use xoff_net::topo::Topology;

/// A node of no pod: a switch of the top layer.
const NO_POD: u32 = u32::MAX;

/// Ids of streams between allocators have 8 bits for each of the two.
const MOST: u32 = 1 << 8;

/// The pod of each node. Pods are numbered by their first host.
#[derive(Debug)]
pub(super) struct Pods {
    of_node: Vec<u32>,
    count: u32,
}

impl Pods {
    /// The pods of a network.
    pub(super) fn of(topology: &Topology) -> Self {
        let top = topology.top_tier();
        let mut pods = Self { of_node: vec![NO_POD; topology.nodes() as usize], count: 0 };
        let mut found: Vec<NodeId> = Vec::new();
        for host in (0..topology.hosts).map(HostId) {
            if pods.of_node[host.node().index()] != NO_POD {
                continue;
            }
            found.push(host.node());
            while let Some(node) = found.pop() {
                if std::mem::replace(&mut pods.of_node[node.index()], pods.count) == NO_POD {
                    let peers = topology.ports_of(node).iter();
                    let peers = peers.map(|port| topology.neighbour(port));
                    found.extend(peers.filter(|&peer| topology.tier(peer) < top));
                }
            }
            pods.count += 1;
        }
        pods
    }

    /// The pod of a node, unless it is a switch of the top layer.
    pub(super) fn of_node(&self, node: NodeId) -> Option<u32> {
        Some(self.of_node[node.index()]).filter(|&pod| pod != NO_POD)
    }

    /// The number of pods, if they are alike: as many hosts in each, and as many of `switches`,
    /// numbered pod by pod.
    ///
    /// # Errors
    /// What is different.
    pub(super) fn alike(&self, topology: &Topology, switches: &[NodeId]) -> Result<u32, String> {
        if self.count > MOST {
            return Err(format!("there are {} pods, and at most {MOST} can talk", self.count));
        }
        let hosts: Vec<NodeId> = (0..topology.hosts).map(|host| HostId(host).node()).collect();
        for (what, nodes) in [("hosts", hosts.as_slice()), ("aggregation switches", switches)] {
            let each = nodes.len() / self.count as usize;
            let pod_by_pod = |(index, &node): (usize, &NodeId)| {
                Some(index) == self.of_node(node).map(|pod| pod as usize * each + index % each)
            };
            if nodes.len() % self.count as usize != 0 || !nodes.iter().enumerate().all(pod_by_pod) {
                return Err(format!(
                    "the {} {what} are not divided evenly among the {} pods, one pod after the \
                     other",
                    nodes.len(),
                    self.count
                ));
            }
        }
        Ok(self.count)
    }
}

#[cfg(test)]
mod tests {
    use xoff_net::topo::{ClosConfig, FatTreeConfig, clos, fat_tree};

    use super::*;

    /// The number of pods, or what is different about them.
    fn alike(topology: &Topology) -> Result<u32, String> {
        let aggregation = topology.top_tier() - 1;
        let switches: Vec<NodeId> =
            topology.switch_ids().filter(|&node| topology.tier(node) == aggregation).collect();
        Pods::of(topology).alike(topology, &switches)
    }

    #[test]
    fn cores_with_parallel_links_join_as_many_pods() {
        let tree = fat_tree(&FatTreeConfig { k: 4, ..Default::default() }).unwrap();
        assert_eq!(alike(&tree), Ok(4));
        for (pods, core_links) in [(2, 1), (3, 2), (4, 4)] {
            let config = ClosConfig { pods, core_links, ..Default::default() };
            assert_eq!(alike(&clos(&config).unwrap()), Ok(pods), "{core_links} links");
        }
    }
}
