//! Names of nodes and links in scenarios: `3`, `0-3,7`, `leaf:0`, `spine:0-1`, and labels of nodes
//! in a network that is read from a file.

use xoff_core::{HostId, NodeId, PortId};
use xoff_net::topo::Topology;
use xoff_workload::host_set;

/// Layers of switches.
const LAYERS: [&str; 4] = ["leaf", "spine", "core", "gateway"];

/// The sending ports of the links in `text`. Hosts are written as in a set of hosts; switches as a
/// layer, a colon, and a number or a range; any node by its label, if it has one.
///
/// # Errors
/// What cannot be read or does not exist.
pub fn ports(text: &str, topology: &Topology) -> Result<Vec<PortId>, String> {
    let mut nodes = Vec::new();
    let mut hosts = Vec::new();
    for part in text.split(',').map(str::trim) {
        if let Some(node) = topology.labelled(part) {
            nodes.push(node);
        } else if part.contains(':') {
            nodes.extend(switches(part, topology)?);
        } else {
            hosts.push(part);
        }
    }
    if !hosts.is_empty() && !text.is_empty() {
        let hosts = host_set::parse(&hosts.join(","), topology.servers())?;
        nodes.extend(hosts.into_iter().map(HostId::node));
    }
    let own = |node| topology.port_ids_of(node);
    let mut ports: Vec<PortId> = nodes.into_iter().flat_map(own).collect();
    ports.extend_from_within(..);
    let own = ports.len() / 2;
    ports[own..].iter_mut().for_each(|port| *port = topology.port(*port).peer);
    ports.sort_unstable();
    ports.dedup();
    Ok(ports)
}

/// The ports, at both ends, of all links between two nodes. Hosts are written as numbers, switches
/// as `leaf:3`, and any node by its label, if it has one.
///
/// # Errors
/// What cannot be read or does not exist.
pub fn link(text: &str, topology: &Topology) -> Result<Vec<PortId>, String> {
    let ends: Vec<&str> = text.split(',').map(str::trim).collect();
    let &[one, other] = ends.as_slice() else {
        let message = "does not name two ends: write them as leaf:0,spine:1 or 3,leaf:0";
        return Err(format!("\"{text}\" {message}"));
    };
    let (one, other) = (node(one, topology)?, node(other, topology)?);
    let mut ports = Vec::new();
    for (own, port) in topology.port_ids_of(one).zip(topology.ports_of(one)) {
        if topology.neighbour(port) == other {
            ports.extend([own, port.peer]);
        }
    }
    if ports.is_empty() {
        return Err(format!("no link joins {}", text.replace(',', " and ")));
    }
    Ok(ports)
}

/// A switch.
///
/// # Errors
/// What cannot be read, does not exist or is no switch.
pub fn switch(text: &str, topology: &Topology) -> Result<NodeId, String> {
    let switch = node(text.trim(), topology)?;
    if topology.is_host(switch) {
        return Err(format!("\"{text}\" is a host: write a switch as spine:1"));
    }
    Ok(switch)
}

/// The ports, at both ends, of all links of a host that sends and receives flows.
///
/// # Errors
/// What cannot be read, does not exist or is no such host.
pub fn host(text: &str, topology: &Topology) -> Result<Vec<PortId>, String> {
    let host = node(text.trim(), topology)?;
    if !topology.is_host(host) {
        return Err(format!("\"{text}\" is a switch: write a host as 3"));
    }
    if host.0 >= topology.servers() {
        return Err(format!("host {text} is the host of an allocator, which cannot go down"));
    }
    Ok(with_peers(host, topology))
}

/// The ports, at both ends, of all links of a node.
pub(crate) fn with_peers(node: NodeId, topology: &Topology) -> Vec<PortId> {
    topology.port_ids_of(node).flat_map(|port| [port, topology.port(port).peer]).collect()
}

/// A single node.
fn node(part: &str, topology: &Topology) -> Result<NodeId, String> {
    if let Some(node) = topology.labelled(part) {
        return Ok(node);
    }
    let found = if part.contains(':') {
        switches(part, topology)?
    } else {
        host_set::parse(part, topology.hosts)?.into_iter().map(HostId::node).collect()
    };
    match found.as_slice() {
        &[node] => Ok(node),
        _ => Err(format!("\"{part}\" is more than one node: name one node as the end of a link")),
    }
}

/// The nodes of a part such as `leaf:3` or `spine:0-1`.
fn switches(part: &str, topology: &Topology) -> Result<Vec<NodeId>, String> {
    let (layer, numbers) = part.split_once(':').unwrap_or((part, ""));
    if layer == "host" {
        return Err(format!("\"{part}\": a host is named by its number alone: write {numbers}"));
    }
    if !LAYERS.contains(&layer) {
        return Err(format!("there is no layer \"{layer}\": write leaf:0, spine:0-1 or core:2"));
    }
    let nodes: Vec<NodeId> =
        topology.switch_ids().filter(|&node| topology.layer(node) == layer).collect();
    if nodes.is_empty() {
        return Err(format!("{part}: this network has no {layer} switches"));
    }
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let number =
        |text: &str| text.trim().parse().ok().filter(|&number: &usize| number < nodes.len());
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(nodes[first..=last].to_vec()),
        _ => Err(format!(
            "{part} names no {layer} switch: they are {layer}:0 to {layer}:{}, ranges such as \
             {layer}:0-1",
            nodes.len() - 1
        )),
    }
}

#[cfg(test)]
mod tests {
    use xoff_net::topo::{LeafSpineConfig, leaf_spine};

    use super::*;

    /// Two leaves with two hosts each, two spines.
    fn topology() -> Topology {
        let config =
            LeafSpineConfig { leaves: 2, spines: 2, hosts_per_leaf: 2, ..Default::default() };
        leaf_spine(&config).unwrap()
    }

    #[test]
    fn a_link_has_two_ends() {
        let error = |text: &str| link(text, &topology()).unwrap_err();
        for text in ["leaf0-spine1", "leaf:0", "0,leaf:0,spine:0"] {
            let wanted = "does not name two ends: write them as leaf:0,spine:1 or 3,leaf:0";
            assert_eq!(error(text), format!("\"{text}\" {wanted}"));
        }
        assert_eq!(
            error("0-1,leaf:0"),
            "\"0-1\" is more than one node: name one node as the end of a link"
        );
        assert_eq!(link("3, leaf:1", &topology()).unwrap().len(), 2);
    }

    #[test]
    fn an_error_names_what_does_not_exist() {
        let error = |text: &str| ports(text, &topology()).unwrap_err();
        assert_eq!(error("4"), "host 4 does not exist: hosts are 0 to 3");
        assert_eq!(error("tor:0"), "there is no layer \"tor\": write leaf:0, spine:0-1 or core:2");
        assert_eq!(error("host:3"), "\"host:3\": a host is named by its number alone: write 3");
        assert_eq!(error("core:0"), "core:0: this network has no core switches");
        for part in ["leaf:2", "leaf:1-0", "leaf:", "leaf:x", "leaf:-1"] {
            assert!(error(part).starts_with(&format!("{part} names no leaf switch: ")), "{part}");
        }
    }
}
