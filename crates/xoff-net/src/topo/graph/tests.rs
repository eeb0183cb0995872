use proptest::prelude::*;
use xoff_core::HostId;

use super::super::uniform::uniform_capacity;
use super::super::{LeafSpineConfig, Routes, leaf_spine};
use super::*;

const TOML: &str = r#"
hosts = ["a0", "a1", "b0", "b1"]
switches = ["leaf-a", "leaf-b", "up0", "up1"]
links = [
  { ends = [["a0", "a1"], "leaf-a"], rate = "10Gbps" },
  { ends = [["b0", "b1"], "leaf-b"], rate = "10Gbps" },
  { ends = [["leaf-a", "leaf-b"], ["up0", "up1"]], delay = "2us", count = 2 },
]
"#;

const GRAPHML: &str = r#"<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="label" attr.type="string"/>
  <key id="d1" for="edge" attr.name="LinkSpeedRaw" attr.type="double"/>
  <key id="d2" for="node" attr.name="Latitude" attr.type="double"/>
  <key id="d3" for="edge" attr.name="weight" attr.type="double"/>
  <graph edgedefault="undirected">
    <node id="0"><data key="d0">Oslo</data><data key="d2">59.9</data></node>
    <node id="1"><data key="d0">Bergen</data></node>
    <node id="2"><data key="d0">Tromso, north</data></node>
    <edge source="0" target="1"><data key="d1">10000000000.0</data></edge>
    <edge source="1" target="2"><data key="d3">3.0</data></edge>
  </graph>
</graphml>
"#;

fn config(file: &str) -> GraphConfig {
    GraphConfig { file: file.into(), ..GraphConfig::default() }
}

fn parse(file: &str, text: &str) -> Result<Topology, String> {
    Graph::parse(config(file), text)?.build()
}

fn error(file: &str, text: &str) -> String {
    parse(file, text).unwrap_err()
}

fn names(topology: &Topology) -> Vec<String> {
    topology.node_ids().map(|node| topology.name(node)).collect()
}

#[test]
fn own_form() {
    let graph = Graph::parse(config("net.toml"), TOML).unwrap();
    let topology = graph.build().unwrap();
    assert_eq!(names(&topology), ["a0", "a1", "b0", "b1", "leaf-a", "leaf-b", "up0", "up1"]);
    let routes = Routes::new(&topology).unwrap();
    assert_eq!(routes.links_between(HostId(0), HostId(3)), 4);
    assert_eq!(routes.ports(0, routes.group_of(HostId(3)) as usize).len(), 4);
    let host = topology.port_of_host(HostId(0));
    assert_eq!((host.rate, host.delay), (BitRate::from_gbps(10), Ps::from_us(1)));
    let trunk = topology.ports_of(topology.labelled("up1").unwrap())[0];
    assert_eq!((trunk.rate, trunk.delay), (BitRate::from_gbps(100), Ps::from_us(2)));
    assert_eq!(topology.tier(topology.labelled("up0").unwrap()), 2);
    assert_eq!(graph.census(), topology.census());
}

/// A rate may have 64 bits. The sum of some is then the largest rate.
#[test]
fn sums_of_rates_do_not_overflow() {
    let core = "a t RATE\na u RATE\nb t RATE\nb u RATE\n".replace("RATE", "18000000000Gbps");
    let parse = |hosts: &str| parse("net.edges", &format!("{hosts}{core}")).unwrap();
    let fast = parse("h0 a\nh1 b 18000000000Gbps\nh2 b 18000000000Gbps\n");
    assert_eq!(fast.capacities(), (BitRate(u64::MAX), BitRate(u64::MAX)));
    assert_eq!(parse("h0 a\nh1 b\n").racks(), Some((1, BitRate(u64::MAX))));
}

#[test]
fn a_list_of_edges() {
    let text = "# a line\nh0 s0\nh1,s1 10Gbps\ns0 s1 cost=2 5us 40Gbps  # the trunk\ns0\ts1\n";
    let topology = parse("net.edges", text).unwrap();
    assert_eq!(names(&topology), ["h0", "h1", "s0", "s1"]);
    let [_, dear, cheap] = topology.ports_of(topology.labelled("s0").unwrap()) else { panic!() };
    assert_eq!((dear.rate, dear.delay, dear.cost), (BitRate::from_gbps(40), Ps::from_us(5), 2));
    assert_eq!((cheap.rate, cheap.cost), (BitRate::from_gbps(100), 1));
    let routes = Routes::new(&topology).unwrap();
    let group = routes.group_of(HostId(1)) as usize;
    assert_eq!(routes.ports(0, group), [cheap.number]);
}

#[test]
fn a_graph_of_the_topology_zoo() {
    let zoo = GraphConfig { hosts_per_switch: 2, ..config("norway.graphml") };
    let graph = Graph::parse(zoo, GRAPHML).unwrap();
    let topology = graph.build().unwrap();
    assert_eq!((topology.hosts, topology.switch_ids().len()), (6, 3));
    let oslo = topology.labelled("Oslo").unwrap();
    assert_eq!(topology.ports_of(oslo)[2].rate, BitRate::from_gbps(10));
    let bergen = topology.labelled("Bergen").unwrap();
    let costs: Vec<u16> = topology.ports_of(bergen).iter().map(|port| port.cost).collect();
    assert_eq!(costs, [1, 1, 1, 3]);
    // A label with a comma cannot be written in a list of nodes.
    assert_eq!(topology.labelled("Tromso, north"), None);
    assert_eq!(names(&topology)[8], "leaf:2");
    assert_eq!(topology.label(xoff_core::NodeId(8)), Some("Tromso, north"));
    assert_eq!(graph.census(), topology.census());
}

/// Both ways from a to c cost the same if the long one has cheap links.
#[test]
fn costs_decide_the_paths() {
    let text = |cost: u16| format!("ha a\nhc c\na c cost={cost}\na b\nb c\n");
    for (cost, choices, longest) in [(1, 1, 3), (2, 2, 4), (3, 1, 4)] {
        let topology = parse("net", &text(cost)).unwrap();
        let routes = Routes::new(&topology).unwrap();
        let group = routes.group_of(HostId(1)) as usize;
        assert_eq!(routes.ports(0, group).len(), choices, "cost {cost}");
        assert_eq!(routes.longest(), longest, "cost {cost}");
        let fewest = if cost < 3 { 3 } else { 4 };
        assert_eq!(routes.links_between(HostId(0), HostId(1)), fewest, "cost {cost}");
    }
}

#[test]
fn the_same_network_has_the_same_core_by_any_form() {
    let settings =
        LeafSpineConfig { leaves: 3, spines: 2, hosts_per_leaf: 2, ..Default::default() };
    let built = leaf_spine(&settings).unwrap();
    let mut text = String::new();
    for port in built.ports() {
        let (own, other) = (port.node.0, built.neighbour(port).0);
        if own < other {
            text += &format!("n{own} n{other} {}bps {}ps\n", port.rate.0, port.delay.0);
        }
    }
    let read = parse("net.txt", &text).unwrap();
    assert_eq!(read.census(), built.census());
    let all = Routes::new(&built).unwrap();
    let routes = Routes::new(&read).unwrap();
    let read = read.with_uniform_core(&routes);
    assert_eq!(read.capacities().0, uniform_capacity(&built, &all));
    let layers = |topology: &Topology| {
        topology.node_ids().map(|node| topology.layer(node)).collect::<Vec<_>>()
    };
    assert_eq!(layers(&read), layers(&built));
}

#[test]
fn errors_name_file_and_line() {
    for (file, text, expected) in [
        ("e", "a b\nc\n", "e:2: \"c\" is alone: an edge has two names"),
        ("e", "a b\nb b\n", "e:2: \"b\" is linked to itself"),
        ("e", "a b fast\n", "e:1: \"fast\" is neither a rate such as 100Gbps"),
        ("e", "a b 0Gbps\n", "e:1: rate must be more than zero"),
        ("e", "a b cost=0\n", "e:1: cost is \"0\": give a whole number from 1 to 65535"),
        ("e", "a b\n", "e:1: \"a\" and \"b\" are hosts"),
        ("e", "a s cost=2\nb s\nc s\n", "e:1: a host's link has no cost"),
        ("e", "", "e: it has 0 switches and 0 hosts"),
        ("e", "a b\nb c\nc a\n", "e: it has 3 switches and 0 hosts"),
        ("e", "h a\ni a\nb c\nc d\nd b\n", "no path leads from a host to \"b\""),
        ("n.toml", "hosts = 5", "n.toml:1: hosts must be a list"),
        ("n.toml", "\nhost = []", "n.toml:2: \"host\" has no meaning here"),
        ("n.toml", "hosts = [\"a\",\n\"a\"]", "n.toml:2: two nodes are called \"a\""),
        ("n.toml", "links = [{}]", "n.toml:1: the link has no ends"),
        ("n.toml", "links = [{ ends = [\"a\", \"b\"] }]", "n.toml:1: no node is called \"a\""),
        (
            "n.toml",
            "hosts = [\"a\"]\nswitches = [\"s\"]\nlinks = [{ ends = [\"a\", \"s\", \"a\"] }]",
            "n.toml:3: ends has 3 items: give two",
        ),
        (
            "n.toml",
            "switches = [\"s\", \"t\"]\nlinks = [\n\
             { ends = [\"s\", \"t\"], count = 60000 },\n\
             { ends = [[\"s\", \"s\", \"s\", \"s\"], [\"t\", \"t\", \"t\", \"t\"]], \
             count = 65000 }]",
            "n.toml:4: these are 1100000 links so far: a file has up to 1048576",
        ),
        ("n.toml", "hosts = [", "n.toml:1: "),
        ("n.xml", "<a/>", "n.xml: it has no graph element"),
        (
            "n.xml",
            "<graphml>\n<graph edgedefault='directed'/></graphml>",
            "n.xml:2: the graph is directed",
        ),
        ("n.xml", "<graphml><graph><node/></graph></graphml>", "n.xml:1: node has no id"),
        (
            "n.xml",
            "<graphml><graph>\n<edge source='x' target='y'/></graph></graphml>",
            "n.xml:2: source = \"x\" is no node of the graph",
        ),
        ("n.xml", "<graphml>", "n.xml:1: "),
        (
            "n.xml",
            "<graphml><key id='w' for='edge' attr.name='weight'/><graph>\n<node id='x'/>\
             <node id='y'/>\n<edge source='x' target='y'><data key='w'>0.5</data></edge></graph>\
             </graphml>",
            "n.xml:3: weight is \"0.5\": give a whole number from 1 to 65535",
        ),
    ] {
        let found = error(file, text);
        assert!(found.starts_with(expected), "{text:?}: {found}");
    }
    let both = GraphConfig { hosts_per_switch: 1, ..config("n.toml") };
    let error = Graph::parse(both, TOML).unwrap_err();
    assert!(error.contains("the file has 4 hosts"), "{error}");
}

/// A file cut at any byte, or with any byte replaced, is read or refused.
#[test]
fn broken_files_do_no_harm() {
    let edges = "h0 s0\nh1,s1 10Gbps\ns0 s1 cost=2 5us 40Gbps # x\n";
    for (file, text) in [("n.toml", TOML), ("n.graphml", GRAPHML), ("n", edges)] {
        for end in 0..text.len() {
            let _ = parse(file, &text[..end]);
            for byte in ["9", "\"", "]", "<", "\u{0}", "-"] {
                let changed = format!("{}{byte}{}", &text[..end], &text[end + 1..]);
                let _ = parse(file, &changed);
            }
        }
    }
}

proptest! {
    /// Any connected graph of switches is read as it is, and its census foretells it.
    #[test]
    fn any_graph_is_counted_before_it_is_built(
        pairs in prop::collection::vec((0u32..9, 0u32..9), 1..20),
        hosts_per_switch in 1u32..4,
    ) {
        let mut text = String::new();
        for (one, other) in pairs.iter().filter(|(one, other)| one != other) {
            text += &format!("s{one} s{other}\n");
        }
        let config = GraphConfig { hosts_per_switch, ..config("net") };
        let Ok(graph) = Graph::parse(config, &text) else { return Ok(()) };
        let Ok(topology) = graph.build() else { return Ok(()) };
        prop_assert_eq!(graph.census(), topology.census());
        prop_assert!(topology.switch_ids().all(|node| topology.tier(node) == 1));
    }
}
