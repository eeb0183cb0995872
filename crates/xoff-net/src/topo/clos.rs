//! Two or three layers of switches in pods, with any radix, parallel links and switch latencies.

use xoff_core::{BitRate, NodeId, Ps, knobs};

use super::census::product;
use super::{Census, Count, Link, Topology, TopologySettings};

knobs! {
    /// A Clos network in pods: in each pod every leaf is linked to every spine, and the spine with
    /// the same place in each pod is linked to the same cores. Core c belongs to the spines with
    /// place c mod `spines_per_pod`. Switches may have a latency, which a packet spends between its
    /// arrival and its egress queue. The defaults are a fat-tree of 4-port switches.
    pub struct ClosConfig in "clos" {
        /// Pods.
        pods: u32 = 4,
        /// Leaves (edge or top-of-rack switches) of a pod.
        leaves_per_pod: u32 = 2,
        /// Hosts on each leaf.
        hosts_per_leaf: u32 = 2,
        /// Spines (aggregation switches) of a pod.
        spines_per_pod: u32 = 2,
        /// Cores that a spine is linked to; 0: none, which one pod allows.
        cores_per_spine: u32 = 2,
        /// Parallel links between a leaf and a spine.
        spine_links: u32 = 1,
        /// Parallel links between a spine and a core.
        core_links: u32 = 1,
        /// Rate of a host's link.
        host_rate: BitRate = BitRate::from_gbps(100),
        /// Rate of a link between leaf and spine.
        spine_rate: BitRate = BitRate::from_gbps(100),
        /// Rate of a link between spine and core.
        core_rate: BitRate = BitRate::from_gbps(100),
        /// Propagation delay of a host's link.
        host_delay: Ps = Ps::from_us(1),
        /// Propagation delay of a link between leaf and spine.
        spine_delay: Ps = Ps::from_us(1),
        /// Propagation delay of a link between spine and core.
        core_delay: Ps = Ps::from_us(1),
        /// Latency of a leaf.
        leaf_latency: Ps = Ps(0),
        /// Latency of a spine.
        spine_latency: Ps = Ps(0),
        /// Latency of a core.
        core_latency: Ps = Ps(0),
    }
}

impl TopologySettings for ClosConfig {
    fn counts(&self) -> Vec<Count> {
        vec![
            ("pods", self.pods),
            ("leaves_per_pod", self.leaves_per_pod),
            ("hosts_per_leaf", self.hosts_per_leaf),
            ("spines_per_pod", self.spines_per_pod),
            ("cores_per_spine", self.cores_per_spine),
            ("spine_links", self.spine_links),
            ("core_links", self.core_links),
        ]
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        for (key, count) in self.counts() {
            if count == 0 && key != "cores_per_spine" {
                return Err((key, format!("{key} must be more than zero")));
            }
        }
        if self.cores_per_spine == 0 && self.pods > 1 {
            let pods = self.pods;
            let message = format!("cores_per_spine is 0, but only cores join {pods} pods");
            return Err(("cores_per_spine", message));
        }
        Ok(())
    }

    fn census(&self) -> Census {
        let leaves = product(&[self.pods, self.leaves_per_pod]);
        let spines = product(&[self.pods, self.spines_per_pod]);
        let cores = product(&[self.spines_per_pod, self.cores_per_spine]);
        let hosts = product(&[self.pods, self.leaves_per_pod, self.hosts_per_leaf]);
        let of_leaf = product(&[self.spines_per_pod, self.spine_links]);
        let (of_spine, of_core) = (
            product(&[self.cores_per_spine, self.core_links]),
            product(&[self.pods, self.core_links]),
        );
        let under_spine = product(&[self.leaves_per_pod, self.spine_links]);
        let most = [
            of_leaf.saturating_add(self.hosts_per_leaf.into()),
            of_spine.saturating_add(under_spine),
            if cores > 0 { of_core } else { 0 },
        ];
        Census {
            hosts,
            switches: leaves.saturating_add(spines).saturating_add(cores),
            racks: leaves,
            links: hosts
                .saturating_add(leaves.saturating_mul(of_leaf))
                .saturating_add(spines.saturating_mul(of_spine)),
            most_links: most.into_iter().max().unwrap_or(0),
        }
    }

    fn build(&self) -> Result<Topology, String> {
        clos(self)
    }
}

/// Builds it: hosts, then leaves, spines and cores, numbered pod by pod.
///
/// # Errors
/// The problems that [`TopologySettings::check`] finds.
pub fn clos(config: &ClosConfig) -> Result<Topology, String> {
    config.check().map_err(|(_, message)| message)?;
    let ClosConfig { pods, leaves_per_pod, hosts_per_leaf, spines_per_pod, .. } = *config;
    let (leaves, spines) = (pods * leaves_per_pod, pods * spines_per_pod);
    let (hosts, cores) = (leaves * hosts_per_leaf, spines_per_pod * config.cores_per_spine);
    let (first_spine, first_core) = (hosts + leaves, hosts + leaves + spines);
    let mut links = Vec::new();
    let mut add = |a, b, rate, delay, count: u32| {
        let link = Link { a: NodeId(a), b: NodeId(b), rate, delay };
        links.extend(std::iter::repeat_n(link, count as usize));
    };
    for host in 0..hosts {
        add(host, hosts + host / hosts_per_leaf, config.host_rate, config.host_delay, 1);
    }
    for leaf in 0..leaves {
        for place in 0..spines_per_pod {
            let spine = first_spine + leaf / leaves_per_pod * spines_per_pod + place;
            let (rate, delay) = (config.spine_rate, config.spine_delay);
            add(hosts + leaf, spine, rate, delay, config.spine_links);
        }
    }
    for spine in 0..spines {
        for number in 0..config.cores_per_spine {
            let core = first_core + spine % spines_per_pod + spines_per_pod * number;
            let (rate, delay) = (config.core_rate, config.core_delay);
            add(first_spine + spine, core, rate, delay, config.core_links);
        }
    }
    let layers = [(hosts, 0), (leaves, 1), (spines, 2), (cores, 3)];
    let tiers = layers.iter().flat_map(|&(count, tier)| (0..count).map(move |_| tier)).collect();
    let latencies = [Ps(0), config.leaf_latency, config.spine_latency, config.core_latency];
    Ok(Topology::new(hosts, tiers, &links)?.with_latencies(&latencies))
}

#[cfg(test)]
mod tests {
    use xoff_core::HostId;

    use super::super::{FatTreeConfig, LeafSpineConfig, Routes, fat_tree, leaf_spine};
    use super::*;

    /// Number of nodes of each layer, and of ports.
    fn shape(topology: &Topology) -> ([usize; 4], usize) {
        let of_tier = |tier| topology.tiers.iter().filter(|&&found| found == tier).count();
        ([0, 1, 2, 3].map(of_tier), topology.ports.len())
    }

    #[test]
    fn its_special_cases_are_the_fat_tree_and_the_leaf_spine_fabric() {
        let tree = fat_tree(&FatTreeConfig { k: 4, ..Default::default() }).unwrap();
        assert_eq!(shape(&clos(&ClosConfig::default()).unwrap()), shape(&tree));
        let two_layers = ClosConfig {
            pods: 1,
            leaves_per_pod: 3,
            hosts_per_leaf: 5,
            spines_per_pod: 2,
            cores_per_spine: 0,
            spine_links: 2,
            ..Default::default()
        };
        let config = LeafSpineConfig {
            leaves: 3,
            hosts_per_leaf: 5,
            spines: 2,
            links: 2,
            ..Default::default()
        };
        let (found, expected) = (clos(&two_layers).unwrap(), leaf_spine(&config).unwrap());
        assert_eq!(shape(&found), shape(&expected));
        assert_eq!(found.capacities(), expected.capacities());
    }

    #[test]
    fn spines_with_one_place_share_their_cores() {
        let config =
            ClosConfig { pods: 3, cores_per_spine: 3, core_links: 2, ..Default::default() };
        let topology = clos(&config).unwrap();
        let (hosts, leaves, spines) = (12, 6, 6);
        for (place, core) in [(0, 0), (1, 1), (0, 2), (1, 3), (0, 4), (1, 5)] {
            let ports = topology.ports_of(NodeId(hosts + leaves + spines + core));
            let below: Vec<u32> = ports.iter().map(|port| topology.neighbour(port).0).collect();
            let spine = |pod: u32| hosts + leaves + pod * 2 + place;
            let expected: Vec<u32> = (0..3).flat_map(|pod| [spine(pod); 2]).collect();
            assert_eq!(below, expected, "core {core}");
        }
        let routes = Routes::new(&topology).unwrap();
        let links = [1, 2, 4].map(|to| routes.links_between(HostId(0), HostId(to)));
        assert_eq!(links, [2, 4, 6]);
    }

    /// A path over n switches takes their n latencies, in both directions.
    #[test]
    fn a_switchs_latency_is_part_of_the_way_into_it() {
        let us = Ps::from_us;
        let config = ClosConfig {
            leaf_latency: us(10),
            spine_latency: us(100),
            core_latency: us(1000),
            ..Default::default()
        };
        let topology = clos(&config).unwrap();
        let delays = |node: u32| {
            let ports = topology.ports_of(NodeId(node)).iter();
            ports.map(|port| port.delay).collect::<Vec<_>>()
        };
        // A host, a leaf, a spine and a core.
        assert_eq!(delays(0), [us(11)]);
        assert_eq!(delays(16), [us(1), us(1), us(101), us(101)]);
        assert_eq!(delays(24), [us(11), us(11), us(1001), us(1001)]);
        assert_eq!(delays(32), [us(101); 4]);
    }

    #[test]
    fn wrong_settings_name_their_key() {
        let refused = |config: ClosConfig| config.check().unwrap_err();
        let config = ClosConfig::default;
        assert_eq!(refused(ClosConfig { spine_links: 0, ..config() }).0, "spine_links");
        assert_eq!(refused(ClosConfig { cores_per_spine: 0, ..config() }).0, "cores_per_spine");
        assert_eq!(refused(ClosConfig { pods: 0, ..config() }).0, "pods");
    }
}
