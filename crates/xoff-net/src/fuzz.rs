//! What no file may do to the readers of networks: functions for fuzzers, which panic where a rule
//! is broken, and return why a file is refused.

use std::fmt::Write as _;

use xoff_core::{NodeId, PortId};

use crate::topo::{Graph, GraphConfig, Routes, Topology, TopologySettings};

/// Larger networks are built but not written again.
const LINKS: usize = 2000;
/// Hosts that each switch gets if the name of the file has this word.
const WITH_HOSTS: (&str, u32) = ("switches", 2);

/// Reads a network in the form that the name of the file says.
///
/// # Errors
/// Why it is refused.
///
/// # Panics
/// If it is another network after it is written in the form of xoff, or if its census is wrong
/// though each host has one link. (A host with more counts as a rack.)
pub fn network(file: &str, text: &str) -> Result<(), String> {
    let (word, hosts_per_switch) = WITH_HOSTS;
    let hosts_per_switch = if file.contains(word) { hosts_per_switch } else { 0 };
    let config = GraphConfig { file: file.into(), hosts_per_switch, ..GraphConfig::default() };
    let graph = Graph::parse(config, text)?;
    graph.census().check().map_err(|refused| format!("{file}: {refused}"))?;
    let network = graph.build().map_err(|refused| format!("{file}: {refused}"))?;
    if network.host_ids().all(|host| network.ports_of(host.node()).len() == 1) {
        assert_eq!(graph.census(), network.census());
    }
    if network.ports().len() > 2 * LINKS {
        return Ok(());
    }
    let written = as_toml(&network);
    let config = GraphConfig { file: "written.toml".into(), ..GraphConfig::default() };
    let again = Graph::parse(config, &written).and_then(|graph| graph.build());
    let again = again.unwrap_or_else(|refused| panic!("{refused}\n{written}"));
    assert_eq!(shape(&again), shape(&network), "{written}");
    Routes::new(&network).map(drop).map_err(|refused| format!("{file}: {refused}"))
}

/// All that a file says of a network, but for names.
fn shape(network: &Topology) -> impl PartialEq + std::fmt::Debug {
    let ports = network.ports().iter();
    let links: Vec<_> =
        ports.map(|port| (port.node, port.peer, port.rate, port.delay, port.cost)).collect();
    let tiers: Vec<u8> = network.node_ids().map(|node| network.tier(node)).collect();
    (network.hosts, tiers, links)
}

fn as_toml(network: &Topology) -> String {
    let listed = |nodes: &mut dyn Iterator<Item = NodeId>| -> String {
        nodes.map(|node| format!("\"n{node}\",")).collect()
    };
    let hosts = listed(&mut network.host_ids().map(|host| host.node()));
    let switches = listed(&mut network.switch_ids());
    let mut text = format!("hosts = [{hosts}]\nswitches = [{switches}]\nlinks = [\n");
    for port in in_order(network).into_iter().map(|port| network.port(port)) {
        let (rate, delay, other) = (port.rate.0, port.delay.0, network.neighbour(port));
        let ends = format!("ends = [\"n{}\", \"n{other}\"]", port.node);
        let cost = if port.cost == 1 { String::new() } else { format!(", cost = {}", port.cost) };
        let _ = writeln!(text, "{{ {ends}, rate = \"{rate}bps\", delay = \"{delay}ps\"{cost} }},");
    }
    text + "]\n"
}

/// A port of each link, in an order of links that numbers the ports of each node as they are.
fn in_order(network: &Topology) -> Vec<PortId> {
    let mut next = vec![0u16; network.nodes() as usize];
    let mut waiting: Vec<NodeId> = network.node_ids().collect();
    let mut found = Vec::new();
    while let Some(node) = waiting.pop() {
        while let Some(port) = network.ports_of(node).get(usize::from(next[node.index()])) {
            let peer = network.port(port.peer);
            if peer.number != next[peer.node.index()] {
                break;
            }
            next[node.index()] += 1;
            next[peer.node.index()] += 1;
            found.push(network.port_at(node, port.number));
            waiting.push(peer.node);
        }
    }
    assert_eq!(found.len() * 2, network.ports().len(), "no order of links gives these ports");
    found
}
