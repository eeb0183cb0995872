//! Two layers: every leaf is linked to every spine.

use xoff_core::{BitRate, NodeId, Ps, knobs};

use super::census::product;
use super::{Census, Count, Link, Topology, TopologySettings};

knobs! {
    /// A leaf-spine fabric (a two-layer Clos). The defaults are BFC's fabric (§6.2.1): 128 hosts, 8
    /// leaves, 8 spines, 100 Gb/s everywhere (2:1 over-subscription), 1 us per link.
    pub struct LeafSpineConfig in "leaf_spine" {
        /// Leaf (top-of-rack) switches.
        leaves: u32 = 8,
        /// Spine switches.
        spines: u32 = 8,
        /// Hosts on each leaf.
        hosts_per_leaf: u32 = 16,
        /// Parallel links between each leaf and each spine. Flows are balanced over them as over
        /// spines (SFC 5.2: 4 to one spine).
        links: u32 = 1,
        /// Rate of a host's link.
        host_rate: BitRate = BitRate::from_gbps(100),
        /// Rate of a link between leaf and spine.
        spine_rate: BitRate = BitRate::from_gbps(100),
        /// Propagation delay of a host's link.
        host_delay: Ps = Ps::from_us(1),
        /// Propagation delay of a link between leaf and spine.
        spine_delay: Ps = Ps::from_us(1),
    }
}

impl TopologySettings for LeafSpineConfig {
    fn counts(&self) -> Vec<Count> {
        vec![
            ("leaves", self.leaves),
            ("spines", self.spines),
            ("hosts_per_leaf", self.hosts_per_leaf),
            ("links", self.links),
        ]
    }

    fn census(&self) -> Census {
        let Self { leaves, spines, hosts_per_leaf, links, .. } = *self;
        let hosts = product(&[leaves, hosts_per_leaf]);
        let of_leaf = u128::from(hosts_per_leaf) + product(&[spines, links]);
        Census {
            hosts,
            switches: u128::from(leaves) + u128::from(spines),
            racks: leaves.into(),
            links: hosts.saturating_add(product(&[leaves, spines, links])),
            most_links: of_leaf.max(product(&[leaves, links])),
        }
    }

    fn build(&self) -> Result<Topology, String> {
        leaf_spine(self)
    }
}

/// Builds it: hosts, then leaves, then spines.
///
/// # Errors
/// If a count is zero.
pub fn leaf_spine(config: &LeafSpineConfig) -> Result<Topology, String> {
    let LeafSpineConfig { leaves, spines, hosts_per_leaf, links: parallel, .. } = *config;
    if leaves == 0 || spines == 0 || hosts_per_leaf == 0 {
        return Err("a leaf-spine fabric needs at least one leaf, spine and host".into());
    }
    if parallel == 0 {
        return Err("links is 0: a leaf and a spine need at least one link between them".into());
    }
    let hosts = leaves * hosts_per_leaf;
    let mut links = Vec::new();
    for leaf in 0..leaves {
        for host in 0..hosts_per_leaf {
            links.push(Link {
                a: NodeId(leaf * hosts_per_leaf + host),
                b: NodeId(hosts + leaf),
                rate: config.host_rate,
                delay: config.host_delay,
            });
        }
    }
    for leaf in 0..leaves {
        for spine in 0..spines {
            let link = Link {
                a: NodeId(hosts + leaf),
                b: NodeId(hosts + leaves + spine),
                rate: config.spine_rate,
                delay: config.spine_delay,
            };
            links.extend(std::iter::repeat_n(link, parallel as usize));
        }
    }
    let mut tiers = vec![0; hosts as usize];
    tiers.extend(vec![1; leaves as usize]);
    tiers.extend(vec![2; spines as usize]);
    Topology::new(hosts, tiers, &links)
}

#[cfg(test)]
mod tests {
    use xoff_core::HostId;

    use super::*;
    use crate::topo::{Route, Routes};

    #[test]
    fn bfcs_fabric() {
        let topology = leaf_spine(&LeafSpineConfig::default()).unwrap();
        assert_eq!((topology.hosts, topology.nodes()), (128, 144));
        let (core, hosts) = topology.capacities();
        // BFC §6.2.1: 8 x 8 links of 100 Gb/s; 128 hosts.
        assert_eq!((core.0, hosts.0), (6_400_000_000_000, 12_800_000_000_000));
        assert_eq!(topology.ports_of(NodeId(128)).len(), 24);
        assert_eq!(topology.link_name(&topology.ports_of(NodeId(128))[0]), "leaf-host");
    }
    /// SFC 5.2: 48 hosts, 2 leaves, 1 spine, four links of 400 Gb/s from each leaf: 3:2.
    #[test]
    fn parallel_links_are_equal_choices() {
        let gbps = BitRate::from_gbps;
        let config = LeafSpineConfig {
            leaves: 2,
            spines: 1,
            hosts_per_leaf: 24,
            links: 4,
            spine_rate: gbps(400),
            ..Default::default()
        };
        let topology = leaf_spine(&config).unwrap();
        assert_eq!((topology.hosts, topology.nodes()), (48, 51));
        assert_eq!(topology.capacities(), (gbps(3_200), gbps(4_800)));
        let routes = Routes::new(&topology).unwrap();
        // From either leaf to the other, and from the spine to either leaf.
        for (switch, group, ports) in [
            (0, 1, [24, 25, 26, 27]),
            (1, 0, [24, 25, 26, 27]),
            (2, 0, [0, 1, 2, 3]),
            (2, 1, [4, 5, 6, 7]),
        ] {
            let Route { first, count } = routes.by_switch[switch][group];
            let chosen = &routes.choices[switch][first as usize..(first + count) as usize];
            assert_eq!(chosen, ports, "switch {switch} to group {group}");
        }
        assert_eq!(routes.links_between(HostId(0), HostId(47)), 4);
        let none = LeafSpineConfig { links: 0, ..config };
        assert!(leaf_spine(&none).unwrap_err().starts_with("links is 0"));
    }
}
