//! Two data centres, each a leaf-spine fabric, joined by one long link.

use xoff_core::{BitRate, NodeId, Ps, knobs};

use super::census::product;
use super::{Census, Count, Link, Topology, TopologySettings};

knobs! {
    /// Two equal data centres, each with a gateway, and a link between the gateways. A gateway is
    /// linked to every spine of its data centre, so that flows from all leaves have the same number
    /// of paths to it as within the data centre. The defaults are BFC's (App. A.9): 64 hosts in
    /// each data centre, 100 Gb/s and 1 us per link, half of the leaves of §6.2.1 with the same
    /// number of uplinks (2:1 over-subscription), and 200 Gb/s and 200 us between the gateways.
    pub struct TwoDcConfig in "two_dc" {
        /// Leaf (top-of-rack) switches of each data centre.
        leaves: u32 = 4,
        /// Spine switches of each data centre.
        spines: u32 = 8,
        /// Hosts on each leaf.
        hosts_per_leaf: u32 = 16,
        /// Rate of a host's link.
        host_rate: BitRate = BitRate::from_gbps(100),
        /// Rate of a link between leaf and spine.
        spine_rate: BitRate = BitRate::from_gbps(100),
        /// Rate of a link between spine and gateway.
        gateway_rate: BitRate = BitRate::from_gbps(100),
        /// Rate of the link between the gateways.
        interconnect_rate: BitRate = BitRate::from_gbps(200),
        /// Propagation delay of a host's link.
        host_delay: Ps = Ps::from_us(1),
        /// Propagation delay of a link between leaf and spine.
        spine_delay: Ps = Ps::from_us(1),
        /// Propagation delay of a link between spine and gateway.
        gateway_delay: Ps = Ps::from_us(1),
        /// Propagation delay of the link between the gateways.
        interconnect_delay: Ps = Ps::from_us(200),
    }
}

impl TopologySettings for TwoDcConfig {
    fn counts(&self) -> Vec<Count> {
        vec![
            ("leaves", self.leaves),
            ("spines", self.spines),
            ("hosts_per_leaf", self.hosts_per_leaf),
        ]
    }

    fn census(&self) -> Census {
        let Self { leaves, spines, hosts_per_leaf, .. } = *self;
        let hosts = product(&[2, leaves, hosts_per_leaf]);
        let [leaves, spines, on_each] = [leaves, spines, hosts_per_leaf].map(u128::from);
        Census {
            hosts,
            switches: 2 * (leaves + spines + 1),
            racks: 2 * leaves,
            links: hosts + 2 * leaves * spines + 2 * spines + 1,
            most_links: (on_each + spines).max(leaves + 1).max(spines + 1),
        }
    }

    fn build(&self) -> Result<Topology, String> {
        two_dc(self)
    }

    fn has_gateways(&self) -> bool {
        true
    }

    /// A gateway's hash chooses among spines differently than a leaf's.
    fn has_symmetric_choices(&self) -> bool {
        false
    }
}

/// The layer of spines, at which core links end: gateways are beyond it.
const SPINES: u8 = 2;

/// Builds it: hosts, then leaves, then spines, then gateways. The first data centre's come before
/// the second's.
///
/// # Errors
/// If a count is zero, or the links to a gateway cannot fill the link between the gateways.
pub fn two_dc(config: &TwoDcConfig) -> Result<Topology, String> {
    let TwoDcConfig { leaves, spines, hosts_per_leaf, .. } = *config;
    if leaves == 0 || spines == 0 || hosts_per_leaf == 0 {
        return Err("a data centre needs at least one leaf, spine and host".into());
    }
    let to_gateway = BitRate(config.gateway_rate.0.saturating_mul(spines.into()));
    if to_gateway < config.interconnect_rate {
        return Err(format!(
            "gateway_rate: {spines} spines bring a gateway {to_gateway}, which cannot fill \
             interconnect_rate = {}",
            config.interconnect_rate
        ));
    }
    let hosts = 2 * leaves * hosts_per_leaf;
    let (first_spine, first_gateway) = (hosts + 2 * leaves, hosts + 2 * (leaves + spines));
    let mut links = Vec::new();
    let mut join = |a, b, rate, delay| links.push(Link { a: NodeId(a), b: NodeId(b), rate, delay });
    for host in 0..hosts {
        join(host, hosts + host / hosts_per_leaf, config.host_rate, config.host_delay);
    }
    for leaf in 0..2 * leaves {
        let of_site = leaf / leaves * spines;
        for spine in of_site..of_site + spines {
            join(hosts + leaf, first_spine + spine, config.spine_rate, config.spine_delay);
        }
    }
    for spine in 0..2 * spines {
        let gateway = first_gateway + spine / spines;
        join(first_spine + spine, gateway, config.gateway_rate, config.gateway_delay);
    }
    let (rate, delay) = (config.interconnect_rate, config.interconnect_delay);
    join(first_gateway, first_gateway + 1, rate, delay);
    let mut tiers = vec![0; hosts as usize];
    tiers.extend(vec![1; 2 * leaves as usize]);
    tiers.extend(vec![SPINES; 2 * spines as usize]);
    tiers.extend([SPINES + 1; 2]);
    Ok(Topology { core_tier: SPINES, ..Topology::new(hosts, tiers, &links)? })
}

#[cfg(test)]
mod tests {
    use xoff_core::HostId;

    use super::*;
    use crate::topo::Routes;

    /// BFC App. A.9. The core links are those within the data centres.
    #[test]
    fn bfcs_two_data_centres() {
        let topology = two_dc(&TwoDcConfig::default()).unwrap();
        assert_eq!((topology.hosts, topology.nodes()), (128, 128 + 8 + 16 + 2));
        let gbps = BitRate::from_gbps;
        assert_eq!(topology.capacities(), (gbps(2 * 4 * 8 * 100), gbps(12_800)));
        let gateway = topology.ports_of(NodeId(152));
        assert_eq!((gateway.len(), gateway[8].rate), (9, gbps(200)));
        assert_eq!(topology.link_name(&gateway[0]), "gateway-spine");
        assert_eq!(topology.link_name(&gateway[8]), "gateway-gateway");
        let is_gateway = |node| topology.is_gateway(NodeId(node));
        assert_eq!([151, 152, 153].map(is_gateway), [false, true, true]);
        let long = topology.ports.iter().filter(|port| port.delay == Ps::from_us(200)).count();
        assert_eq!(long, 2, "one link, two ends");
    }

    /// Within a data centre flows take all spines and no gateway, as in any leaf-spine fabric.
    /// Between data centres they take all spines on both sides.
    #[test]
    fn flows_leave_a_data_centre_only_for_the_other() {
        let topology = two_dc(&TwoDcConfig::default()).unwrap();
        let routes = Routes::new(&topology).unwrap();
        assert_eq!(
            [1, 16, 63, 64, 127].map(|to| routes.links_between(HostId(0), HostId(to))),
            [2, 4, 4, 7, 7]
        );
        let choices = |switch: usize, group: usize| {
            let route = routes.by_switch[switch][group];
            routes.choices[switch][route.first as usize..][..route.count as usize].to_vec()
        };
        let uplinks: Vec<u16> = (16..24).collect();
        assert_eq!((choices(0, 3), choices(0, 4)), (uplinks.clone(), uplinks));
        let (first_spine, first_gateway) = (8, 24);
        assert_eq!((choices(first_spine, 3), choices(first_spine, 4)), (vec![3], vec![4]));
        let spines: Vec<u16> = (0..8).collect();
        assert_eq!((choices(first_gateway, 4), choices(first_gateway, 3)), (vec![8], spines));
    }

    #[test]
    fn what_cannot_be_built_says_why() {
        let config = TwoDcConfig { spines: 1, ..Default::default() };
        let error = two_dc(&config).unwrap_err();
        assert!(error.starts_with("gateway_rate: 1 spines bring a gateway 100Gbps"), "{error}");
        assert!(two_dc(&TwoDcConfig { leaves: 0, ..Default::default() }).is_err());
    }
}
