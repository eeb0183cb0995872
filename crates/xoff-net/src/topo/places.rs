//! Where nodes stand: their numbers within a layer, their racks and their pods.

use rustc_hash::FxHashMap;
use xoff_core::NodeId;

use super::Topology;

/// The layer of the switches of hosts, one for each rack.
const LEAVES: u8 = 1;
/// Networks with this layer of switches, or a higher one, have pods.
const ABOVE_PODS: u8 = 3;

impl Topology {
    /// The number of each node within its layer, as in its [name](Self::name).
    #[must_use]
    pub fn numbers(&self) -> Vec<u32> {
        let mut next: FxHashMap<&str, u32> = FxHashMap::default();
        let number = |node| {
            if self.is_host(node) {
                return self.given_number(node);
            }
            let next = next.entry(self.layer(node)).or_default();
            *next += 1;
            *next - 1
        };
        self.node_ids().map(number).collect()
    }

    /// The rack of each host and each leaf: the number of the leaf. None for other nodes, and for a
    /// host with several switches.
    #[must_use]
    pub fn rack_of_nodes(&self) -> Vec<Option<u32>> {
        let numbers = self.numbers();
        let rack = |node: NodeId| {
            let mut leaves = self.ports_of(node).iter().map(|port| self.neighbour(port));
            let leaf = match self.tier(node) {
                LEAVES => node,
                0 => leaves.next().filter(|first| leaves.all(|leaf| leaf == *first))?,
                _ => return None,
            };
            (self.tier(leaf) == LEAVES).then(|| numbers[leaf.index()])
        };
        self.node_ids().map(rack).collect()
    }

    /// The pod of each node below the top layer of a network with three layers of switches or more:
    /// the parts into which it falls without that layer, in the order of their first hosts. Under
    /// gateways these are data centres.
    #[must_use]
    pub fn pod_of_nodes(&self) -> Vec<Option<u32>> {
        let top = self.top_tier();
        let mut pods = vec![None; self.nodes() as usize];
        if top < ABOVE_PODS {
            return pods;
        }
        let below = |node: NodeId| self.tier(node) < top;
        let mut count = 0;
        for host in self.host_ids() {
            // An attached host may hang on the top layer alone.
            let joined = self.ports_of(host.node()).iter().any(|port| below(self.neighbour(port)));
            if pods[host.index()].is_some() || !joined {
                continue;
            }
            let mut found = vec![host.node()];
            pods[host.index()] = Some(count);
            while let Some(node) = found.pop() {
                for port in self.ports_of(node) {
                    let next = self.neighbour(port);
                    if below(next) && pods[next.index()].is_none() {
                        pods[next.index()] = Some(count);
                        found.push(next);
                    }
                }
            }
            count += 1;
        }
        pods
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::{BitRate, Ps};

    use super::super::{
        Attachment, FatTreeConfig, LeafSpineConfig, TwoDcConfig, fat_tree, leaf_spine, two_dc,
    };
    use super::*;

    #[test]
    fn numbers_are_those_of_names() {
        let topology = two_dc(&TwoDcConfig::default()).unwrap();
        for (node, number) in topology.node_ids().zip(topology.numbers()) {
            let name = topology.name(node);
            assert_eq!(name.rsplit(':').next(), Some(number.to_string().as_str()), "{name}");
        }
    }

    #[test]
    fn hosts_and_leaves_have_racks() {
        let config =
            LeafSpineConfig { leaves: 2, spines: 2, hosts_per_leaf: 2, ..Default::default() };
        let topology = leaf_spine(&config).unwrap();
        let racks = [Some(0), Some(0), Some(1), Some(1), Some(0), Some(1), None, None];
        assert_eq!(topology.rack_of_nodes(), racks);
        assert_eq!(topology.pod_of_nodes(), [None; 8]);
        // A host attached to a spine is in no rack.
        let (switch, rate, delay) = (NodeId(6), BitRate::from_gbps(40), Ps(1));
        let attached = topology.attach(&[Attachment { switch, rate, delay }]).unwrap();
        assert_eq!(
            attached.rack_of_nodes()[..6],
            [Some(0), Some(0), Some(1), Some(1), None, Some(0)]
        );
    }

    #[test]
    fn a_fat_tree_has_pods_and_cores_between_them() {
        let topology = fat_tree(&FatTreeConfig { k: 4, ..Default::default() }).unwrap();
        let pods = topology.pod_of_nodes();
        let of = |count: usize, each: usize| (0..count).map(move |node| Some((node / each) as u32));
        let expected: Vec<_> = of(16, 4).chain(of(8, 2)).chain(of(8, 2)).collect();
        assert_eq!(pods[..32], expected);
        assert_eq!(pods[32..], [None; 4]);
    }

    #[test]
    fn data_centres_are_pods_and_their_gateways_between_them() {
        let topology = two_dc(&TwoDcConfig::default()).unwrap();
        let pods = topology.pod_of_nodes();
        assert_eq!([0, 63, 64, 127].map(|host| pods[host]), [0, 0, 1, 1].map(Some));
        assert_eq!(pods[152..], [None, None]);
    }
}
