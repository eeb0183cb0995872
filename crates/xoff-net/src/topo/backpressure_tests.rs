use proptest::prelude::*;
use xoff_core::{BitRate, HostId, Ps};

use super::super::{FatTreeConfig, LeafSpineConfig, Link, Missing, fat_tree, leaf_spine};
use super::*;

fn link(a: u32, b: u32) -> Link {
    Link { a: NodeId(a), b: NodeId(b), rate: BitRate::from_gbps(100), delay: Ps::from_us(1) }
}

/// Switches of these layers with one host each, joined by these links (by the switches' numbers).
fn network(tiers: &[u8], links: &[(u32, u32)]) -> Topology {
    let hosts = tiers.len() as u32;
    let access = (0..hosts).map(|host| link(host, hosts + host));
    let trunks = links.iter().map(|&(a, b)| link(hosts + a, hosts + b));
    let all: Vec<Link> = access.chain(trunks).collect();
    let tiers = [&vec![0; tiers.len()], tiers].concat();
    Topology::new(hosts, tiers, &all).unwrap()
}

fn leaves_and_spines(leaves: u32, spines: u32) -> Topology {
    let config = LeafSpineConfig { leaves, spines, hosts_per_leaf: 2, ..Default::default() };
    leaf_spine(&config).unwrap()
}

/// Both ends of the links between nodes of these names.
fn ports_between(topology: &Topology, links: &[(&str, &str)]) -> Vec<PortId> {
    let joins = |port: PortId| {
        let [own, far] =
            [topology.port(port).node, topology.far_end(port)].map(|node| topology.name(node));
        links.iter().any(|&(a, b)| (own == a && far == b) || (own == b && far == a))
    };
    topology.port_ids().filter(|&port| joins(port)).collect()
}

/// The switches on the cycle of a knot.
fn names(topology: &Topology, knot: &Knot) -> Vec<String> {
    let node = |&port: &PortId| topology.name(topology.port(port).node);
    knot.shortest.iter().map(node).collect()
}

/// Every edge by its definition: for each pair of switches and each host, whether the first may
/// send a packet for it to the second, and where the second sends it. Packets start at all other
/// hosts.
fn by_definition(topology: &Topology, routes: &Routes) -> Vec<(PortId, u16)> {
    let mut pairs = Vec::new();
    let next_ports = |node: NodeId, dst: HostId| -> Vec<u16> {
        match routes.ports(topology.switch_index(node), routes.group_of(dst) as usize) {
            [] => vec![routes.access_port(dst)],
            ports => ports.to_vec(),
        }
    };
    let mut seen = std::collections::BTreeSet::new();
    for dst in topology.host_ids() {
        for src in topology.host_ids().filter(|&src| src != dst) {
            // From the switch of the source, with the port of arrival.
            let mut heads = vec![topology.port_of_host(src).peer];
            while let Some(ingress) = heads.pop() {
                let node = topology.port(ingress).node;
                if topology.is_host(node) || !seen.insert((dst, ingress)) {
                    continue;
                }
                for number in next_ports(node, dst) {
                    if !topology.is_host(topology.far_end(ingress)) {
                        pairs.push((ingress, number));
                    }
                    heads.push(topology.port(topology.port_at(node, number)).peer);
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

proptest! {
    /// "This just includes [...] packets that are coming from a higher layer and going back":
    /// without faults there are none, in a fabric of any size.
    #[test]
    fn shortest_paths_of_a_leaf_spine_fabric_close_no_cycle(
        leaves in 1u32..9, spines in 1u32..9, links in 1u32..3,
    ) {
        let config =
            LeafSpineConfig { leaves, spines, links, hosts_per_leaf: 2, ..Default::default() };
        let topology = leaf_spine(&config).unwrap();
        let graph = Backpressure::new(&topology, &[&Routes::new(&topology).unwrap()]);
        prop_assert_eq!(graph.nodes() as u32, leaves * (2 + 2 * spines * links));
        // A port of a leaf leads to each link of each other leaf, a port of a spine to the leaf's
        // hosts.
        let up = u64::from(leaves * spines * links) * u64::from((leaves - 1) * links);
        let down = if leaves > 1 { u64::from(leaves * spines * links * 2) } else { 0 };
        prop_assert_eq!(graph.turns().len() as u64, up + down);
        prop_assert!(graph.knots().is_empty() && graph.to_elide().is_empty());
    }

    /// In any network with any layers: the edges equal the definition, and without the elided turns
    /// no cycle is left. If there is no cycle, nothing is elided.
    #[test]
    fn what_is_elided_breaks_all_cycles(
        tiers in prop::collection::vec(1u8..4, 3..7),
        chosen in prop::collection::vec((0u32..7, 0u32..7), 0..8),
    ) {
        let switches = tiers.len() as u32;
        let mut links: Vec<(u32, u32)> = (1..switches).map(|switch| (switch - 1, switch)).collect();
        let others = chosen.iter().map(|&(a, b)| (a % switches, b % switches));
        links.extend(others.filter(|(a, b)| a != b));
        let topology = network(&tiers, &links);
        let routes = Routes::new(&topology).unwrap();
        let graph = Backpressure::new(&topology, &[&routes]);
        let turns: Vec<_> = graph.turns().pairs().collect();
        prop_assert_eq!(turns, by_definition(&topology, &routes));
        let elided = graph.to_elide();
        prop_assert_eq!(elided.is_empty(), graph.knots().is_empty());
        let turns: Vec<_> = graph.turns().pairs().collect();
        prop_assert!(elided.pairs().all(|turn| turns.contains(&turn)));
        prop_assert!(graph.without(&elided).knots().is_empty());
    }

    /// For any links down: without the turns of the Clos rule, which ignores routes, none of the
    /// remaining routes closes a cycle.
    #[test]
    fn without_bounces_no_routes_of_a_clos_network_close_a_cycle(
        spines in 2u32..4, leaves in 2u32..6,
        down in prop::collection::vec((0u32..6, 0u32..4), 0..5),
    ) {
        let topology = leaves_and_spines(leaves, spines);
        let names: Vec<_> =
            down.iter()
                .map(|(leaf, spine)| (format!("leaf:{leaf}"), format!("spine:{spine}")))
                .collect();
        let names: Vec<_> = names.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let whole = Routes::new(&topology).unwrap();
        let bounces = bounces(&topology).unwrap();
        prop_assert_eq!(bounces.len() as u32, leaves * spines * spines);
        let missing = Missing::links(ports_between(&topology, &names));
        if let Ok(left) = Routes::without(&topology, &missing) {
            let graph = Backpressure::new(&topology, &[&whole, &left]);
            let elided = graph.to_elide();
            prop_assert!(elided.pairs().all(|turn| bounces.pairs().any(|other| other == turn)));
            prop_assert!(graph.without(&bounces).knots().is_empty());
        }
    }
}

#[test]
fn shortest_paths_of_a_fat_tree_close_no_cycle() {
    for k in [2, 4, 6, 8, 16] {
        let topology = fat_tree(&FatTreeConfig { k, ..FatTreeConfig::default() }).unwrap();
        let graph = Backpressure::new(&topology, &[&Routes::new(&topology).unwrap()]);
        assert_eq!(graph.nodes() as u32, k * k * k * 5 / 4);
        assert!(graph.knots().is_empty(), "k = {k}");
        assert!(bounces(&topology).is_ok());
    }
}

/// Leaf 0 reaches spine 1 only, leaf 1 spine 0 only. Their packets to each other go down at another
/// leaf and up again. With the packets between leaves 2 and 3 they close a cycle in each direction.
#[test]
fn two_links_that_are_down_close_a_cycle() {
    let topology = leaves_and_spines(4, 2);
    let down = ports_between(&topology, &[("leaf:0", "spine:0"), ("leaf:1", "spine:1")]);
    let routes = Routes::without(&topology, &Missing::links(down)).unwrap();
    let graph = Backpressure::new(&topology, &[&routes]);
    let knots = graph.knots();
    assert_eq!(knots.iter().map(|knot| knot.ports).collect::<Vec<_>>(), [4, 4]);
    assert_eq!(names(&topology, &knots[0]), ["leaf:2", "spine:0", "leaf:3", "spine:1"]);
    assert_eq!(names(&topology, &knots[1]), ["leaf:2", "spine:1", "leaf:3", "spine:0"]);
    let elided = graph.to_elide();
    let turn = |(ingress, egress): (PortId, u16)| {
        let node = topology.port(ingress).node;
        let out = topology.port_at(node, egress);
        [topology.far_end(ingress), node, topology.far_end(out)].map(|node| topology.name(node))
    };
    let expected = [
        ["spine:0", "leaf:2", "spine:1"],
        ["spine:1", "leaf:2", "spine:0"],
        ["spine:0", "leaf:3", "spine:1"],
        ["spine:1", "leaf:3", "spine:0"],
    ];
    assert_eq!(elided.pairs().map(turn).collect::<Vec<_>>(), expected);
    assert!(graph.without(&elided).knots().is_empty());
}

/// While routes change, packets at the spine return to a leaf: a bounce that neither the old nor
/// the new routes have.
#[test]
fn packets_under_way_may_bounce_when_routes_change() {
    let topology = leaves_and_spines(4, 2);
    let whole = Routes::new(&topology).unwrap();
    let left = Routes::without(
        &topology,
        &Missing::links(ports_between(&topology, &[("leaf:0", "spine:0")])),
    )
    .unwrap();
    let [before, after, between] = [&[&whole][..], &[&left], &[&whole, &left]]
        .map(|routes| Backpressure::new(&topology, routes));
    assert!(before.to_elide().is_empty() && after.to_elide().is_empty());
    assert!(!between.knots().is_empty());
    let mut all = before.clone();
    all.extend(&after);
    assert!(all.turns().len() < between.turns().len());
}

#[test]
fn three_switches_in_a_ring_close_a_cycle_if_packets_go_round() {
    // Five in a ring: packets to the second next switch continue in the same direction.
    let ring = |switches: u32| -> Vec<(u32, u32)> {
        (0..switches).map(|switch| (switch, (switch + 1) % switches)).collect()
    };
    let topology = network(&[1; 5], &ring(5));
    let graph = Backpressure::new(&topology, &[&Routes::new(&topology).unwrap()]);
    let knots = graph.knots();
    assert_eq!(knots.iter().map(|knot| knot.ports).collect::<Vec<_>>(), [5, 5]);
    assert_eq!(graph.to_elide().len(), 2, "one turn in each direction");
    assert!(bounces(&topology).unwrap_err().contains("leaf:0 and leaf:1, which are of one layer"));

    // In a ring of three, shortest paths have no turns: each switch is next to all others.
    let topology = network(&[1; 3], &ring(3));
    let mut routes = Routes::new(&topology).unwrap();
    assert!(Backpressure::new(&topology, &[&routes]).knots().is_empty());
    // Sent the long way round, by an error in the tables, they have turns.
    for (switch, choices) in routes.choices.iter_mut().enumerate() {
        let next = NodeId(topology.hosts + (switch as u32 + 1) % 3);
        let ports = topology.ports_of(NodeId(topology.hosts + switch as u32));
        let clockwise = ports
            .iter()
            .find(|port| topology.neighbour(port) == next)
            .map_or(0, |port| port.number);
        choices.fill(clockwise);
    }
    let graph = Backpressure::new(&topology, &[&routes]);
    let knots = graph.knots();
    assert_eq!((knots.len(), knots[0].ports), (1, 3));
    assert_eq!(names(&topology, &knots[0]), ["leaf:0", "leaf:1", "leaf:2"]);
    assert_eq!(graph.to_elide().len(), 1);
}
