//! Groups of routers, each linked to each (Kim, Dally, Scott and Abts, "Technology-Driven,
//! Highly-Scalable Dragonfly Topology", ISCA 2008).
//!
//! Routing is minimal (§4.1): a packet takes one link between groups, and at most one link within
//! the first group and one within the last. A link between groups costs as much as three within,
//! so that no path leads through a third group. There are no virtual channels, so pauses can close
//! cycles: `xoff check` lists them, and `switch.elide = "cycles"` breaks them.

use xoff_core::{BitRate, NodeId, Ps, knobs};

use super::census::product;
use super::{Census, Count, Link, Topology, TopologySettings};

/// Two links between groups cost more than one and two within.
const GLOBAL_COST: u16 = 3;

knobs! {
    /// A dragonfly: the routers of a group are linked to each other, and each pair of groups has
    /// the same number of links, as many as the routers' links to other groups allow.
    ///
    /// Group i numbers its links to other groups, and router r has those from r times
    /// `global_links_per_router` on. They lead to the other groups in order, again and again (the
    /// absolute arrangement of Hastings et al., "Comparing Global Link Arrangements for Dragonfly
    /// Networks", CLUSTER 2015). The default is balanced as in §3.1: twice as many routers in a
    /// group as hosts on a router or links to other groups.
    pub struct DragonflyConfig in "dragonfly" {
        /// Groups of routers.
        groups: u32 = 9,
        /// Routers of a group: a.
        routers_per_group: u32 = 4,
        /// Hosts on each router: p.
        hosts_per_router: u32 = 2,
        /// Links of each router to other groups: h.
        global_links_per_router: u32 = 2,
        /// Rate of a host's link.
        host_rate: BitRate = BitRate::from_gbps(100),
        /// Rate of a link within a group.
        local_rate: BitRate = BitRate::from_gbps(100),
        /// Rate of a link between groups.
        global_rate: BitRate = BitRate::from_gbps(100),
        /// Propagation delay of a host's link.
        host_delay: Ps = Ps::from_us(1),
        /// Propagation delay of a link within a group.
        local_delay: Ps = Ps::from_us(1),
        /// Propagation delay of a link between groups.
        global_delay: Ps = Ps::from_us(1),
    }
}

impl DragonflyConfig {
    /// Links of a group to others.
    fn global_links(&self) -> u128 {
        product(&[self.routers_per_group, self.global_links_per_router])
    }

    /// Links that join a pair of groups.
    fn links_per_pair(&self) -> u128 {
        self.global_links().checked_div(u128::from(self.groups).saturating_sub(1)).unwrap_or(0)
    }
}

impl TopologySettings for DragonflyConfig {
    fn counts(&self) -> Vec<Count> {
        vec![
            ("groups", self.groups),
            ("routers_per_group", self.routers_per_group),
            ("hosts_per_router", self.hosts_per_router),
            ("global_links_per_router", self.global_links_per_router),
        ]
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        for (key, count) in self.counts() {
            if count == 0 {
                return Err((key, format!("{key} is 0: a dragonfly needs at least 1")));
            }
        }
        if self.groups < 2 {
            return Err(("groups", "groups is 1: a dragonfly needs at least 2".into()));
        }
        if self.links_per_pair() == 0 {
            return Err((
                "groups",
                format!(
                    "groups is {}, but a group has {} links to others: give it at least {} with \
                     more routers_per_group or global_links_per_router, or at most {} groups",
                    self.groups,
                    self.global_links(),
                    self.groups - 1,
                    self.global_links().saturating_add(1),
                ),
            ));
        }
        Ok(())
    }

    fn census(&self) -> Census {
        let routers = product(&[self.groups, self.routers_per_group]);
        let hosts = routers.saturating_mul(self.hosts_per_router.into());
        let (groups, of_group) = (u128::from(self.groups), u128::from(self.routers_per_group));
        let local = routers.saturating_mul(of_group.saturating_sub(1)) / 2;
        let pairs = groups.saturating_mul(groups.saturating_sub(1)) / 2;
        let global = pairs.saturating_mul(self.links_per_pair());
        let of_router = u128::from(self.global_links_per_router);
        Census {
            hosts,
            switches: routers,
            racks: routers,
            links: hosts.saturating_add(local).saturating_add(global),
            most_links: u128::from(self.hosts_per_router)
                + of_group.saturating_sub(1)
                // A group may need fewer links than its first router has.
                + of_router.min(self.links_per_pair().saturating_mul(groups.saturating_sub(1))),
        }
    }

    fn build(&self) -> Result<Topology, String> {
        dragonfly(self)
    }

    fn has_uniform_core(&self) -> bool {
        true
    }

    /// The two ends of a path choose among different links.
    fn has_symmetric_choices(&self) -> bool {
        false
    }
}

/// Builds it: hosts, then routers, both group by group.
///
/// # Errors
/// The problems that [`TopologySettings::check`] finds.
pub fn dragonfly(config: &DragonflyConfig) -> Result<Topology, String> {
    config.check().map_err(|(_, message)| message)?;
    let DragonflyConfig { groups, routers_per_group, hosts_per_router, .. } = *config;
    let routers = groups * routers_per_group;
    let hosts = routers * hosts_per_router;
    let (mut links, mut costs) = (Vec::new(), Vec::new());
    let mut join = |a, b, rate, delay, cost| {
        links.push(Link { a: NodeId(a), b: NodeId(b), rate, delay });
        costs.push(cost);
    };
    for host in 0..hosts {
        join(host, hosts + host / hosts_per_router, config.host_rate, config.host_delay, 1);
    }
    for router in 0..routers {
        let of_next_group = (router / routers_per_group + 1) * routers_per_group;
        for other in router + 1..of_next_group {
            join(hosts + router, hosts + other, config.local_rate, config.local_delay, 1);
        }
    }
    let per_pair = config.links_per_pair() as u32;
    // The router of a group's link to another group, the `round`th of this pair.
    let router = |group: u32, other: u32, round: u32| {
        let link = round * (groups - 1) + if other < group { other } else { other - 1 };
        hosts + group * routers_per_group + link / config.global_links_per_router
    };
    for (one, other) in (0..groups).flat_map(|one| (one + 1..groups).map(move |other| (one, other)))
    {
        for round in 0..per_pair {
            let (a, b) = (router(one, other, round), router(other, one, round));
            join(a, b, config.global_rate, config.global_delay, GLOBAL_COST);
        }
    }
    let mut tiers = vec![0; hosts as usize];
    tiers.extend(vec![1; routers as usize]);
    Ok(Topology::new(hosts, tiers, &links)?.with_costs(&links, &costs))
}

#[cfg(test)]
mod tests {
    use xoff_core::HostId;

    use super::super::Routes;
    use super::*;

    fn of(groups: u32, routers_per_group: u32, global_links_per_router: u32) -> DragonflyConfig {
        DragonflyConfig {
            groups,
            routers_per_group,
            global_links_per_router,
            ..DragonflyConfig::default()
        }
    }

    fn group(config: &DragonflyConfig, topology: &Topology, node: NodeId) -> u32 {
        (node.0 - topology.hosts) / config.routers_per_group
    }

    /// §4.1: at most one link within the source's group, one between groups, one within the
    /// destination's; §3: with a h + 1 groups, one link joins each pair.
    #[test]
    fn paths_take_one_link_between_groups() {
        for config in [of(9, 4, 2), of(5, 4, 2), of(2, 2, 1), of(4, 3, 3), of(33, 8, 4)] {
            let topology = dragonfly(&config).unwrap();
            let routes = Routes::new(&topology).unwrap();
            for (from, to) in topology
                .host_ids()
                .step_by(5)
                .flat_map(|a| topology.host_ids().map(move |b| (a, b)))
            {
                let path: Vec<NodeId> = routes
                    .first_path(&topology, from, to)
                    .map(|port| topology.far_end(port))
                    .filter(|&node| !topology.is_host(node))
                    .collect();
                let groups: Vec<u32> =
                    path.iter().map(|&node| group(&config, &topology, node)).collect();
                let changes = groups.windows(2).filter(|pair| pair[0] != pair[1]).count();
                let is_apart = groups[0] != groups[groups.len() - 1];
                assert_eq!(changes, usize::from(is_apart), "{from} to {to}: {groups:?}");
                assert!(path.len() <= 4, "{from} to {to}: {path:?}");
            }
            assert!(routes.longest() <= 2 + 3);
        }
    }

    #[test]
    fn pairs_of_groups_have_the_same_number_of_links() {
        for (config, each) in
            [(of(9, 4, 2), 1), (of(5, 4, 2), 2), (of(2, 4, 2), 8), (of(4, 4, 2), 2)]
        {
            let topology = dragonfly(&config).unwrap();
            let mut pairs = std::collections::BTreeMap::new();
            for port in topology.ports() {
                let ends = [port.node, topology.neighbour(port)];
                if ends.iter().all(|&end| !topology.is_host(end)) {
                    let [a, b] = ends.map(|end| group(&config, &topology, end));
                    *pairs.entry((a, b)).or_insert(0) += usize::from(a != b);
                }
            }
            pairs.retain(|(a, b), _| a != b);
            assert_eq!(pairs.len() as u32, config.groups * (config.groups - 1));
            assert!(pairs.values().all(|&count| count == each), "{pairs:?}");
        }
    }

    /// Of 72 hosts in 9 groups of 4 routers, a link between groups carries the traffic of 8 hosts
    /// to 8. A link within a group carries somewhat more: of 2 hosts to 2, of 2 hosts to the 16 of
    /// two groups, and of these 16 to 2.
    #[test]
    fn uniform_traffic_fills_the_links_within_groups() {
        let topology = dragonfly(&of(9, 4, 2)).unwrap();
        let routes = Routes::new(&topology).unwrap();
        let (core, _) = topology.with_uniform_core(&routes).capacities();
        let pairs = f64::from(2 * 2 + 2 * 16 + 16 * 2);
        assert_eq!(core.0, (100e9 * 72.0 * 72.0 / pairs).round() as u64);
    }

    #[test]
    fn it_does_not_lead_through_a_third_group() {
        let topology = dragonfly(&of(9, 4, 2)).unwrap();
        let routes = Routes::new(&topology).unwrap();
        let lengths: std::collections::BTreeSet<u32> =
            topology.host_ids().map(|to| routes.links_between(HostId(0), to)).collect();
        assert_eq!(lengths.into_iter().collect::<Vec<_>>(), [2, 3, 4, 5]);
    }

    #[test]
    fn too_many_groups_are_refused() {
        let (key, message) = of(10, 4, 2).check().unwrap_err();
        assert_eq!(key, "groups");
        assert!(message.contains("at most 9 groups"), "{message}");
        assert_eq!(of(1, 4, 2).check().unwrap_err().0, "groups");
        assert_eq!(of(3, 0, 2).check().unwrap_err().0, "routers_per_group");
    }
}
