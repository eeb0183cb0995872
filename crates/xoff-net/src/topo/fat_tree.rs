//! Three layers of equal switches (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008).

use xoff_core::{BitRate, NodeId, Ps, knobs};

use super::{Census, Count, Link, Topology, TopologySettings};

/// The most hosts of a fat-tree. Its tables exceed memory long before the numbers of hosts and
/// ports run out.
const HOSTS_MAX: u64 = 1 << 20;

knobs! {
    /// A fat-tree: k pods, each of k/2 edge switches under k/2 aggregation switches, and (k/2)^2
    /// core switches, each linked to one aggregation switch of every pod. With k/2 hosts on each
    /// edge switch, all switches have k ports and no layer is over-subscribed: k^3/4 hosts.
    ///
    /// Results call the edge leaf and the aggregation spine, as in two-layer fabrics.
    pub struct FatTreeConfig in "fat_tree" {
        /// Pods, and ports of a switch: an even number from 2 to 128.
        k: u32 = 8,
        /// Hosts on each edge switch; more than k/2 over-subscribe it. 0: k/2.
        hosts_per_edge: u32 = 0,
        /// Rate of a host's link.
        host_rate: BitRate = BitRate::from_gbps(100),
        /// Rate of a link between edge and aggregation.
        aggregation_rate: BitRate = BitRate::from_gbps(100),
        /// Rate of a link between aggregation and core.
        core_rate: BitRate = BitRate::from_gbps(100),
        /// Propagation delay of a host's link.
        host_delay: Ps = Ps::from_us(1),
        /// Propagation delay of a link between edge and aggregation.
        aggregation_delay: Ps = Ps::from_us(1),
        /// Propagation delay of a link between aggregation and core.
        core_delay: Ps = Ps::from_us(1),
    }
}

impl FatTreeConfig {
    /// Edge switches, and aggregation switches, of all pods.
    fn edges(&self) -> u32 {
        self.k * (self.k / 2)
    }

    fn on_each_edge(&self) -> u32 {
        if self.hosts_per_edge == 0 { self.k / 2 } else { self.hosts_per_edge }
    }
}

impl TopologySettings for FatTreeConfig {
    fn counts(&self) -> Vec<Count> {
        vec![("k", self.k), ("hosts_per_edge", self.hosts_per_edge)]
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        let k = self.k;
        if !k.is_multiple_of(2) || !(2..=128).contains(&k) {
            let message = format!("k is {k}: it must be an even number from 2 to 128");
            return Err(("k", message));
        }
        let hosts = u64::from(self.edges()) * u64::from(self.on_each_edge());
        if hosts > HOSTS_MAX || self.on_each_edge() + k / 2 > u16::MAX.into() {
            let message = format!(
                "hosts_per_edge makes {hosts} hosts: a fat-tree may have {HOSTS_MAX}, and a switch \
                 {} ports",
                u16::MAX
            );
            return Err(("hosts_per_edge", message));
        }
        for (key, value) in [
            ("host_rate", self.host_rate.0),
            ("aggregation_rate", self.aggregation_rate.0),
            ("core_rate", self.core_rate.0),
            ("host_delay", self.host_delay.0),
            ("aggregation_delay", self.aggregation_delay.0),
            ("core_delay", self.core_delay.0),
        ] {
            if value == 0 {
                return Err((key, format!("{key} must be more than zero")));
            }
        }
        Ok(())
    }

    fn census(&self) -> Census {
        let (k, half) = (u128::from(self.k), u128::from(self.k / 2));
        let (edges, on_each) = (k * half, u128::from(self.on_each_edge()));
        let hosts = edges.saturating_mul(on_each);
        Census {
            hosts,
            switches: 2 * edges + half * half,
            racks: edges,
            links: hosts.saturating_add(2 * edges * half),
            most_links: (on_each + half).max(k),
        }
    }

    fn build(&self) -> Result<Topology, String> {
        fat_tree(self)
    }
}

/// Builds it: hosts, then edge, aggregation and core switches. Hosts, edges and aggregations are
/// numbered pod by pod. The cores of the first aggregation switch of each pod come first.
///
/// # Errors
/// The problems that [`TopologySettings::check`] finds.
pub fn fat_tree(config: &FatTreeConfig) -> Result<Topology, String> {
    config.check().map_err(|(_, message)| message)?;
    let (half, edges, on_each) = (config.k / 2, config.edges(), config.on_each_edge());
    let hosts = edges * on_each;
    let (first_aggregation, first_core) = (hosts + edges, hosts + 2 * edges);
    let cores = half * half;
    let mut links = Vec::with_capacity((hosts + 2 * edges * half) as usize);
    let mut link = |a, b, rate, delay| links.push(Link { a: NodeId(a), b: NodeId(b), rate, delay });
    for host in 0..hosts {
        link(host, hosts + host / on_each, config.host_rate, config.host_delay);
    }
    for edge in 0..edges {
        for number in 0..half {
            let aggregation = first_aggregation + edge / half * half + number;
            link(hosts + edge, aggregation, config.aggregation_rate, config.aggregation_delay);
        }
    }
    for aggregation in 0..edges {
        for number in 0..half {
            let core = first_core + aggregation % half * half + number;
            link(first_aggregation + aggregation, core, config.core_rate, config.core_delay);
        }
    }
    let layers = [(hosts, 0), (edges, 1), (edges, 2), (cores, 3)];
    let tiers = layers.iter().flat_map(|&(count, tier)| (0..count).map(move |_| tier)).collect();
    Topology::new(hosts, tiers, &links)
}

#[cfg(test)]
mod tests {
    use xoff_core::HostId;

    use super::super::Routes;
    use super::*;

    fn build(config: &FatTreeConfig) -> (Topology, Routes) {
        let topology = fat_tree(config).unwrap();
        let routes = Routes::new(&topology).unwrap();
        (topology, routes)
    }

    fn of(k: u32) -> FatTreeConfig {
        FatTreeConfig { k, ..FatTreeConfig::default() }
    }

    #[test]
    fn it_has_as_many_nodes_and_links_as_the_paper_says() {
        for (k, hosts, switches, links) in [(2, 2, 5, 6), (4, 16, 20, 48), (8, 128, 80, 384)] {
            let (topology, _) = build(&of(k));
            assert_eq!((topology.hosts, topology.nodes() - topology.hosts), (hosts, switches));
            assert_eq!(topology.ports.len(), 2 * links);
            for switch in topology.switch_ids() {
                assert_eq!(topology.ports_of(switch).len(), k as usize);
            }
            // Full bisection: the core has the capacity of the hosts.
            let (core, access) = topology.capacities();
            assert_eq!((core, access), (access, BitRate::from_gbps(100 * u64::from(hosts))));
        }
    }

    #[test]
    fn layers_are_named_from_the_hosts_up() {
        let (topology, _) = build(&of(4));
        let of_layer = |tier| topology.tiers.iter().filter(|&&found| found == tier).count();
        assert_eq!([0, 1, 2, 3].map(of_layer), [16, 8, 8, 4]);
        assert!(topology.tiers.is_sorted());
        let up = |node| topology.link_name(topology.ports_of(node).last().unwrap());
        assert_eq!([0, 16, 24].map(NodeId).map(up), ["host-leaf", "leaf-spine", "spine-core"]);
        assert_eq!(up(NodeId(32)), "core-spine");
    }

    #[test]
    fn paths_have_2_4_or_6_links() {
        let (_, routes) = build(&of(8));
        // Hosts 0 to 3 are on one edge switch, 0 to 15 in one pod.
        let links = [1, 4, 15, 16, 127].map(|to| routes.links_between(HostId(0), HostId(to)));
        assert_eq!(links, [2, 4, 4, 6, 6]);
        assert_eq!(routes.longest(), 6);
    }

    /// The number of different paths from host to host over all equal-cost choices.
    fn ways(topology: &Topology, routes: &Routes, node: NodeId, to: HostId) -> u32 {
        let switch = topology.switch_index(node);
        let route = routes.by_switch[switch][routes.group_of(to) as usize];
        if route.count == 0 {
            let port = topology.ports_of(node)[routes.access_port(to) as usize];
            assert_eq!(topology.neighbour(&port), to.node());
            return 1;
        }
        let choices = &routes.choices[switch][route.first as usize..][..route.count as usize];
        let next = |&number: &u16| {
            let port = topology.ports_of(node)[number as usize];
            ways(topology, routes, topology.neighbour(&port), to)
        };
        choices.iter().map(next).sum()
    }

    /// "(k/2)^2 shortest-paths between any two hosts on different pods" (§3), k/2 within a pod.
    #[test]
    fn every_host_reaches_every_other_by_all_shortest_paths() {
        for k in [4, 6] {
            let (topology, routes) = build(&of(k));
            let half = k / 2;
            for (from, to) in
                topology.host_ids().flat_map(|a| topology.host_ids().map(move |b| (a, b)))
            {
                let edge = topology.neighbour(topology.port_of_host(from));
                let expected = match routes.links_between(from, to) {
                    2 => 1,
                    4 => half,
                    _ => half * half,
                };
                assert_eq!(ways(&topology, &routes, edge, to), expected, "{from} to {to}");
            }
        }
    }

    #[test]
    fn the_edge_may_be_over_subscribed_and_layers_have_their_own_links() {
        let config = FatTreeConfig {
            hosts_per_edge: 6,
            core_rate: BitRate::from_gbps(400),
            core_delay: Ps::from_us(5),
            ..of(4)
        };
        let (topology, routes) = build(&config);
        assert_eq!((topology.hosts, topology.nodes()), (48, 68));
        assert_eq!(topology.capacities().0, BitRate::from_gbps(16 * 400));
        assert_eq!(routes.links_between(HostId(0), HostId(47)), 6);
        let up = topology.ports_of(NodeId(48 + 8))[3];
        assert_eq!((up.rate, up.delay), (config.core_rate, config.core_delay));
    }

    #[test]
    fn wrong_settings_name_their_key() {
        let refused = |config: FatTreeConfig| config.check().unwrap_err();
        for k in [0, 1, 5, 130, u32::MAX] {
            let (key, message) = refused(of(k));
            assert_eq!(key, "k");
            assert_eq!(message, format!("k is {k}: it must be an even number from 2 to 128"));
        }
        for hosts_per_edge in [65_535, u32::MAX - 2] {
            assert_eq!(refused(FatTreeConfig { hosts_per_edge, ..of(2) }).0, "hosts_per_edge");
        }
        let (rate, delay) = (BitRate(0), Ps(0));
        assert_eq!(refused(FatTreeConfig { core_rate: rate, ..of(4) }).0, "core_rate");
        assert_eq!(refused(FatTreeConfig { host_delay: delay, ..of(4) }).0, "host_delay");
    }
}
