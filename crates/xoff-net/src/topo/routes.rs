//! Shortest paths, stored compactly: hosts on one switch share their routes at all other switches.

use rustc_hash::FxHashMap;
use xoff_core::{HostId, NodeId, PortId};

use super::host_routes::HostRoutes;
use super::missing::Missing;
use super::search::{Ends, FAR, Search, SwitchLinks};
use super::{NextHops, Port, Topology};

/// A switch's route to a group of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Index of its first port in the switch's list. Groups may share ports.
    pub first: u32,
    /// The number of its ports; 0 if the hosts are on this switch.
    pub count: u32,
}

/// The forwarding state of a network.
#[derive(Clone, Debug)]
pub struct Routes {
    /// The group of each host: its switch, or the host alone if it has several links.
    group_of: Vec<u32>,
    /// The port number, at that switch, of each host with one link.
    access_port: Vec<u16>,
    /// For each switch (in the order of nodes), the route to each group.
    pub by_switch: Vec<Vec<Route>>,
    /// For each switch, the ports of its routes.
    pub choices: Vec<Vec<u16>>,
    /// Routes of hosts with several links.
    by_host: HostRoutes,
    /// The fewest links between the switches of two groups, `groups` x `groups`.
    distance: Vec<u16>,
    groups: usize,
    /// The most links between two hosts.
    longest: u32,
}

impl Routes {
    /// Finds all paths of the lowest cost between the hosts' switches: of the fewest links, unless
    /// these have costs of their own.
    ///
    /// # Errors
    /// If a host cannot reach another.
    pub fn new(topology: &Topology) -> Result<Self, String> {
        Self::without(topology, &Missing::default())
    }

    /// The same without some parts of the network. Groups keep their numbers.
    ///
    /// # Errors
    /// If a host cannot reach another.
    pub fn without(topology: &Topology, missing: &Missing) -> Result<Self, String> {
        let switches = topology.switch_ids().len();
        let ports = &*missing.ports;
        let Groups { group_of, access_port, ends } = Groups::new(topology, ports)?;
        let groups = ends.len();
        let mut routes = Self {
            group_of,
            access_port,
            by_switch: vec![vec![Route { first: 0, count: 0 }; groups]; switches],
            choices: vec![Vec::new(); switches],
            by_host: HostRoutes::new(topology, ports),
            distance: vec![u16::MAX; groups * groups],
            groups,
            longest: 2,
        };
        let links = SwitchLinks::new(topology, ports);
        let links_to_dead = missing.with_dead_switches(topology);
        let dead = missing.dead_groups(topology, &ends);
        let mut known = vec![FxHashMap::default(); switches];
        let dead_switches = missing.dead_switches(topology);
        for (group, to) in ends.iter().enumerate() {
            let whole = links_to_dead.as_ref();
            let links = whole.filter(|_| dead[group]).unwrap_or(&links);
            let search = links.search(to);
            routes.add_group(0..switches, links, (group, to), &search, &mut known);
            if let Some(whole) = whole.filter(|_| !dead[group]) {
                // A dead switch needs its routes when it is back, before all know.
                let search = whole.search(to);
                let dead = dead_switches.iter().copied();
                routes.add_group(dead, whole, (group, to), &search, &mut known);
            }
            routes.by_host.add_group(links.order, &search);
            let lengths = links.lengths(&search);
            let is_partial = topology.is_partial;
            routes.add_distances(group, &search, lengths, (&ends, &dead), is_partial)?;
        }
        Ok(routes)
    }

    /// Adds the routes of some switches to a group. Groups with the same ports share one list
    /// (`known`): a switch of a large network has few different lists.
    fn add_group(
        &mut self,
        switches: impl IntoIterator<Item = usize>,
        links: &SwitchLinks,
        (group, ends): (usize, &Ends),
        search: &Search,
        known: &mut [FxHashMap<Vec<u16>, Route>],
    ) {
        let capacities = links.weighted.map(|_| links.capacities(search)).unwrap_or_default();
        let mut ports = Vec::new();
        for switch in switches {
            let cost = search.costs[switch];
            ports.clear();
            if cost == 0 {
                let here = ends.iter().filter(|end| end.0 == switch);
                ports.extend(here.filter_map(|end| end.1));
                if ports.is_empty() {
                    continue;
                }
            }
            let nearer = links.nearer(switch, &search.costs);
            if links.order == NextHops::ByPort && links.weighted.is_none() {
                ports.extend(nearer.map(|link| link.port));
            } else {
                let mut nearer: Vec<_> = nearer.collect();
                if links.order != NextHops::ByPort {
                    nearer.sort_by_key(|link| search.places[link.to as usize]);
                }
                ports.extend(links.entries(&nearer, &capacities));
            }
            if cost == FAR {
                // No packet arrives here, but a route needs a port.
                ports.push(0);
            }
            self.by_switch[switch][group] = match known[switch].get(&ports) {
                Some(&route) => route,
                None => {
                    let choices = &mut self.choices[switch];
                    let route = Route { first: choices.len() as u32, count: ports.len() as u32 };
                    choices.extend(&ports);
                    known[switch].insert(ports.clone(), route);
                    route
                }
            };
        }
    }

    /// Adds the lengths of the paths to a group: the fewest and the most links from each switch.
    fn add_distances(
        &mut self,
        group: usize,
        search: &Search,
        (fewest, most): (Vec<u16>, Vec<u16>),
        (ends, dead): (&[Ends], &[bool]),
        is_partial: bool,
    ) -> Result<(), String> {
        for (other, from) in ends.iter().enumerate() {
            let cost = from.iter().map(|end| search.costs[end.0]).min().unwrap_or(FAR);
            if cost == FAR && (dead[other] || is_partial) {
                continue;
            }
            if cost == FAR {
                let host = |group: usize| self.group_of.iter().position(|&g| g as usize == group);
                let (from, to) = (host(other).unwrap_or(0), host(group).unwrap_or(0));
                return Err(format!("host {from} cannot reach host {to}: no path joins them"));
            }
            for &(end, _) in from.iter().filter(|end| search.costs[end.0] == cost) {
                let distance = &mut self.distance[other * self.groups + group];
                *distance = fewest[end].min(*distance);
                self.longest = self.longest.max(2 + u32::from(most[end]));
            }
        }
        Ok(())
    }

    /// The ports of a switch (counted from 0) for a group of hosts; none if the hosts are on it.
    #[must_use]
    pub fn ports(&self, switch: usize, group: usize) -> &[u16] {
        let Route { first, count } = self.by_switch[switch][group];
        &self.choices[switch][first as usize..][..count as usize]
    }

    /// The group of each host: its switch, or the host alone if it has several links.
    #[must_use]
    pub fn groups(&self) -> &[u32] {
        &self.group_of
    }

    /// The number of groups.
    pub(super) fn group_count(&self) -> usize {
        self.groups
    }

    /// The group of a host.
    #[must_use]
    pub fn group_of(&self, host: HostId) -> u32 {
        self.group_of[host.index()]
    }

    /// The port number of a host at its switch.
    #[must_use]
    pub fn access_port(&self, host: HostId) -> u16 {
        self.access_port[host.index()]
    }

    /// Whether there are hosts with several links.
    #[must_use]
    pub fn has_several_links(&self) -> bool {
        !self.by_host.is_empty()
    }

    /// The ports of a host that are on shortest paths to another one, by their numbers at the host;
    /// none for a host with one link.
    #[must_use]
    pub fn ports_of_host(&self, host: HostId, to: HostId) -> &[u16] {
        self.ports_of_group(host, self.group_of(to))
    }

    /// The same to a group.
    pub(super) fn ports_of_group(&self, host: HostId, group: u32) -> &[u16] {
        self.by_host.ports(host, group)
    }

    /// The egress ports of a shortest path from one host to another: the first choice at every
    /// node.
    pub fn first_path<'a>(
        &'a self,
        topology: &'a Topology,
        src: HostId,
        dst: HostId,
    ) -> impl Iterator<Item = PortId> + 'a {
        let next = move |&port: &PortId| {
            let node = topology.far_end(port);
            (node != dst.node()).then(|| self.first_port(topology, node, dst))
        };
        std::iter::successors(Some(self.first_port_of_host(topology, src, dst)), next)
    }

    /// The first choice of a host among its egress ports to another one.
    #[must_use]
    pub fn first_port_of_host(&self, topology: &Topology, src: HostId, dst: HostId) -> PortId {
        let number = self.ports_of_host(src, dst).first().copied().unwrap_or(0);
        topology.port_at(src.node(), number)
    }

    /// The first choice of a switch among its egress ports to a host.
    #[must_use]
    pub fn first_port(&self, topology: &Topology, switch: NodeId, dst: HostId) -> PortId {
        let ports = self.ports(topology.switch_index(switch), self.group_of(dst) as usize);
        let number = ports.first().copied().unwrap_or_else(|| self.access_port(dst));
        topology.port_at(switch, number)
    }

    /// The fewest links on a path from one host to another.
    #[must_use]
    pub fn links_between(&self, src: HostId, dst: HostId) -> u32 {
        let (from, to) = (self.group_of(src), self.group_of(dst));
        2 + u32::from(self.distance[from as usize * self.groups + to as usize])
    }

    /// Whether a path leads from one host to another.
    #[must_use]
    pub fn joins(&self, src: HostId, dst: HostId) -> bool {
        let (from, to) = (self.group_of(src), self.group_of(dst));
        self.distance[from as usize * self.groups + to as usize] != u16::MAX
    }

    /// The most links between two hosts.
    #[must_use]
    pub fn longest(&self) -> u32 {
        self.longest
    }
}

/// Groups of hosts, and where they hang.
struct Groups {
    group_of: Vec<u32>,
    access_port: Vec<u16>,
    ends: Vec<Ends>,
}

impl Groups {
    /// Without the links of these ports of hosts with several links.
    fn new(topology: &Topology, down: &[PortId]) -> Result<Self, String> {
        let mut group_of_switch = vec![u32::MAX; topology.switch_ids().len()];
        let mut groups = Self { group_of: Vec::new(), access_port: Vec::new(), ends: Vec::new() };
        for host in topology.host_ids() {
            let ids = topology.port_ids_of(host.node());
            let peers = ids.map(|id| (id, topology.port(topology.port(id).peer)));
            if peers.clone().any(|(_, peer)| topology.is_host(peer.node)) {
                return Err(format!(
                    "host {host} is linked to a host: hosts are linked to switches only"
                ));
            }
            let end = |peer: &Port| topology.switch_index(peer.node);
            let mut ends: Ends = peers
                .filter(|(id, _)| !down.contains(id))
                .map(|(_, peer)| (end(peer), Some(peer.number)))
                .collect();
            let mut next = groups.ends.len() as u32;
            if let [port] = topology.ports_of(host.node()) {
                let peer = topology.port(port.peer);
                ends = vec![(end(peer), None)];
                let of_switch = &mut group_of_switch[end(peer)];
                (*of_switch == u32::MAX).then(|| *of_switch = next);
                next = *of_switch;
                groups.access_port.push(peer.number);
            } else {
                groups.access_port.push(0);
            }
            groups.group_of.push(next);
            if next as usize == groups.ends.len() {
                topology.next_hops.sort(&mut ends, |end| end.0 as u32);
                groups.ends.push(ends);
            }
        }
        Ok(groups)
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::{BitRate, NodeId, Ps};

    use super::super::{FatTreeConfig, LeafSpineConfig, Link, fat_tree, leaf_spine};
    use super::*;

    #[test]
    fn every_spine_is_a_choice() {
        let topology = leaf_spine(&LeafSpineConfig::default()).unwrap();
        let routes = Routes::new(&topology).unwrap();
        let route = routes.by_switch[0][1];
        let choices = &routes.choices[0][route.first as usize..][..route.count as usize];
        assert_eq!(choices, [16, 17, 18, 19, 20, 21, 22, 23]);
        assert_eq!(routes.by_switch[0][0].count, 0);
        assert_eq!([1, 127].map(|to| routes.links_between(HostId(0), HostId(to))), [2, 4]);
        assert_eq!(routes.longest(), 4);
    }

    /// Two paths join the switches of hosts 0 and 1: over 4 and 7, and over 5 and 6. A search from
    /// host 1 that goes up finds 6 before 7, and so 5 before 4.
    #[test]
    fn next_hops_are_in_the_order_of_a_search() {
        let pairs = [(0, 2), (1, 3), (2, 4), (2, 5), (4, 7), (5, 6), (7, 3), (6, 3)];
        let links = pairs.map(|(a, b)| Link {
            a: NodeId(a),
            b: NodeId(b),
            rate: BitRate::from_gbps(100),
            delay: Ps::from_us(1),
        });
        let mut topology = Topology::new(2, vec![0, 0, 1, 1, 2, 2, 2, 2], &links).unwrap();
        let mut next_hops = |order| {
            topology.next_hops = order;
            let routes = Routes::new(&topology).unwrap();
            let group = routes.group_of(HostId(1)) as usize;
            let next = |&port: &u16| topology.far_end(topology.port_at(NodeId(2), port)).0;
            routes.ports(0, group).iter().map(next).collect::<Vec<_>>()
        };
        assert_eq!(next_hops(NextHops::ByPort), [4, 5]);
        assert_eq!(next_hops(NextHops::Ascending), [5, 4]);
        assert_eq!(next_hops(NextHops::Descending), [4, 5]);
    }

    /// Without its link to spine 1, leaf 0 sends through the other spines, and other leaves send to
    /// it through them. Packets at spine 1 reach it through another leaf.
    #[test]
    fn routes_avoid_links() {
        let topology = leaf_spine(&LeafSpineConfig::default()).unwrap();
        let down = topology.port_at(NodeId(128), 17);
        let ends = [down, topology.port(down).peer];
        let routes = Routes::without(&topology, &Missing::links(ends)).unwrap();
        let whole = Routes::new(&topology).unwrap();
        assert_eq!(routes.group_of, whole.group_of);
        let choices = |routes: &Routes, switch: usize, group: usize| {
            let Route { first, count } = routes.by_switch[switch][group];
            routes.choices[switch][first as usize..][..count as usize].to_vec()
        };
        assert_eq!(choices(&routes, 0, 5), [16, 18, 19, 20, 21, 22, 23]);
        assert_eq!(choices(&routes, 3, 0), [16, 18, 19, 20, 21, 22, 23]);
        assert_eq!(choices(&routes, 3, 5), choices(&whole, 3, 5));
        let spine = 8 + 1;
        assert_eq!(choices(&whole, spine, 0), [0]);
        assert_eq!(choices(&routes, spine, 0), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((routes.links_between(HostId(0), HostId(127)), routes.longest()), (4, 4));
        let all: Vec<PortId> = (16..24)
            .map(|number| topology.port_at(NodeId(128), number))
            .flat_map(|port| [port, topology.port(port).peer])
            .collect();
        let error = Routes::without(&topology, &Missing::links(all)).unwrap_err();
        assert!(error.contains("cannot reach"), "{error}");
    }

    /// A switch of a fat-tree needs a list of the ports up, and one for each port down.
    #[test]
    fn groups_with_the_same_choices_share_one_list() {
        let config = FatTreeConfig { k: 8, ..FatTreeConfig::default() };
        let routes = Routes::new(&fat_tree(&config).unwrap()).unwrap();
        let (edge, aggregation, core) = (0, 32, 64);
        assert_eq!(routes.choices[edge], [4, 5, 6, 7]);
        assert_eq!(routes.choices[aggregation], [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(routes.choices[core], [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(routes.by_switch[aggregation][3], Route { first: 3, count: 1 });
        assert_eq!(routes.by_switch[aggregation][4], Route { first: 4, count: 4 });
        assert_eq!(routes.by_switch[core][31], Route { first: 7, count: 1 });
    }

    /// Host 0 hangs on switches 3 and 4, host 1 on 4 and 5, host 2 on 5 alone. Links join 3 with 6,
    /// 4 with 6, and 5 with 6.
    fn two_links_each() -> Topology {
        let pairs = [(0, 3), (0, 4), (1, 4), (1, 5), (2, 5), (3, 6), (4, 6), (5, 6)];
        let links = pairs.map(|(a, b)| Link {
            a: NodeId(a),
            b: NodeId(b),
            rate: BitRate::from_gbps(100),
            delay: Ps::from_us(1),
        });
        Topology::new(3, vec![0, 0, 0, 1, 1, 1, 2], &links).unwrap()
    }

    #[test]
    fn a_host_with_several_links_uses_those_on_shortest_paths() {
        let mut topology = two_links_each();
        let routes = Routes::new(&topology).unwrap();
        let ports =
            |routes: &Routes, from, to| routes.ports_of_host(HostId(from), HostId(to)).to_vec();
        // Switch 4 has both hosts; to host 2, both switches are two links from its own.
        assert_eq!(
            [(0, 1), (0, 2), (1, 2), (2, 0)].map(|(a, b)| ports(&routes, a, b)),
            [vec![1], vec![0, 1], vec![1], vec![]]
        );
        assert_eq!(routes.links_between(HostId(0), HostId(1)), 2);
        assert_eq!(routes.links_between(HostId(2), HostId(0)), 4);
        let far = |routes: &Routes, from, to| {
            let path = routes.first_path(&topology, HostId(from), HostId(to));
            path.map(|port| topology.far_end(port).0).collect::<Vec<_>>()
        };
        assert_eq!(far(&routes, 0, 2), [3, 6, 5, 2]);
        assert_eq!(far(&routes, 2, 0), [5, 6, 3, 0]);
        let first_link = topology.first_port(NodeId(0));
        let ends = [first_link, topology.port(first_link).peer];
        let rest = Routes::without(&topology, &Missing::links(ends)).unwrap();
        assert_eq!(far(&rest, 0, 2), [4, 6, 5, 2]);
        assert_eq!(far(&rest, 2, 0), [5, 6, 4, 0]);
        topology.next_hops = NextHops::Descending;
        let routes = Routes::new(&topology).unwrap();
        assert_eq!(ports(&routes, 0, 2), [1, 0]);
        let all = [(0, 0), (0, 1)].map(|(node, port)| topology.port_at(NodeId(node), port));
        let error = Routes::without(&topology, &Missing::links(all)).unwrap_err();
        assert!(error.contains("cannot reach"), "{error}");
    }

    /// Host 0 hangs on switch 2, host 1 on switch 3. Three paths join the two: over switch 4 with
    /// 400 Gb/s and 100 Gb/s, over switch 5 with 200 Gb/s all the way, and over switch 6 with two
    /// links of 100 Gb/s and then two of 50 Gb/s.
    #[test]
    fn weighted_routes_follow_the_capacity_to_the_destination() {
        let links = [
            (0, 2, 100),
            (1, 3, 100),
            (2, 4, 400),
            (4, 3, 100),
            (2, 5, 200),
            (5, 3, 200),
            (2, 6, 100),
            (2, 6, 100),
            (6, 3, 50),
            (6, 3, 50),
        ];
        let links = links.map(|(a, b, gbps)| Link {
            a: NodeId(a),
            b: NodeId(b),
            rate: BitRate::from_gbps(gbps),
            delay: Ps::from_us(1),
        });
        let mut topology = Topology::new(2, vec![0, 0, 1, 1, 2, 2, 2], &links).unwrap();
        let group = |routes: &Routes| routes.group_of(HostId(1)) as usize;
        let whole = Routes::new(&topology).unwrap();
        assert_eq!(whole.ports(0, group(&whole)), [1, 2, 3, 4]);
        topology.weighted = Some(128);
        let weighted = Routes::new(&topology).unwrap();
        assert_eq!(weighted.ports(0, group(&weighted)), [1, 1, 2, 2, 2, 2, 3, 4]);
        assert_eq!(weighted.ports(4, group(&weighted)), [2, 3]);
        // Without one of the two links at the end, the third path has 50 Gb/s.
        let down = topology.port_at(NodeId(6), 3);
        let left =
            Routes::without(&topology, &Missing::links([down, topology.port(down).peer])).unwrap();
        let expected = [&[1; 4][..], &[2; 8], &[3, 4]].concat();
        assert_eq!(left.ports(0, group(&left)), expected);
        topology.weighted = Some(8);
        let rounded =
            Routes::without(&topology, &Missing::links([down, topology.port(down).peer])).unwrap();
        assert_eq!(rounded.ports(0, group(&rounded)), [1, 1, 2, 2, 2, 2, 3, 4]);
    }

    /// Three leaves and two spines, with a host on each leaf. All links have 100 Gb/s, but that of
    /// spine 1 to leaf 2 has 10 Gb/s. Leaves share the links behind a spine.
    #[test]
    fn leaves_share_the_capacity_behind_a_spine() {
        let link = |a, b, gbps| Link {
            a: NodeId(a),
            b: NodeId(b),
            rate: BitRate::from_gbps(gbps),
            delay: Ps::from_us(1),
        };
        let hosts = (0..3).map(|host| link(host, 3 + host, 100));
        let up = (3..6).map(|leaf| link(leaf, 6, 100));
        let thin = [link(3, 7, 100), link(4, 7, 100), link(5, 7, 10)];
        let links: Vec<Link> = hosts.chain(up).chain(thin).collect();
        let mut topology = Topology::new(3, vec![0, 0, 0, 1, 1, 1, 2, 2], &links).unwrap();
        topology.weighted = Some(128);
        let routes = Routes::new(&topology).unwrap();
        let ports = |leaf: usize, host| routes.ports(leaf, routes.group_of(HostId(host)) as usize);
        assert_eq!(ports(0, 2), [&[1; 10][..], &[2]].concat());
        // Leaf 2 takes half of spine 0's link to leaf 1, and an eleventh of spine 1's.
        assert_eq!(ports(0, 1), [&[1; 11][..], &[2; 20]].concat());
        assert_eq!(ports(2, 0), [&[1; 11][..], &[2; 2]].concat());
    }

    #[test]
    fn an_unreachable_host_is_named() {
        let link =
            |a, b| Link { a: NodeId(a), b: NodeId(b), rate: BitRate::from_gbps(1), delay: Ps(1) };
        let topology = Topology::new(2, vec![0, 0, 1, 1], &[link(0, 2), link(1, 3)]).unwrap();
        let error = Routes::new(&topology).unwrap_err();
        assert!(error.contains("cannot reach"), "{error}");
    }
}
