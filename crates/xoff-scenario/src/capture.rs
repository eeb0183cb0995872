//! The capture of a run: the captured links, and the bytes of the file.

use xoff_formats::pcapng::{self, Interface};
use xoff_formats::{Frames, SMALLEST_FRAME};
use xoff_net::fabric::Captured;
use xoff_net::topo::{Port, Topology};
use xoff_sim::Setup;
use xoff_workload::host_set;

/// Layers of switches.
const LAYERS: [&str; 4] = ["leaf", "spine", "core", "gateway"];

/// The sending ports of the links in `text`, by their numbers in the topology. Hosts are written as
/// in a set of hosts; switches as a layer, a colon, and a number or a range.
///
/// # Errors
/// What cannot be read or does not exist.
pub fn ports(text: &str, topology: &Topology) -> Result<Vec<u32>, String> {
    let is_switch = |part: &&str| part.contains(':');
    let parts = || text.split(',').map(str::trim);
    let mut nodes = Vec::new();
    let hosts: Vec<&str> = parts().filter(|part| !is_switch(part)).collect();
    if !hosts.is_empty() && !text.is_empty() {
        nodes.extend(host_set::parse(&hosts.join(","), topology.servers())?);
    }
    for part in parts().filter(is_switch) {
        nodes.extend(switches(part, topology)?);
    }
    let own =
        |node: u32| topology.first_port[node as usize]..topology.first_port[node as usize + 1];
    let mut ports: Vec<u32> = nodes.into_iter().flat_map(own).collect();
    ports.extend_from_within(..);
    let own = ports.len() / 2;
    ports[own..].iter_mut().for_each(|port| *port = topology.ports[*port as usize].peer);
    ports.sort_unstable();
    ports.dedup();
    Ok(ports)
}

/// The ports, at both ends, of all links between two nodes. Hosts are written as numbers, switches
/// as `leaf:3`.
///
/// # Errors
/// What cannot be read or does not exist.
pub fn link(text: &str, topology: &Topology) -> Result<Vec<u32>, String> {
    let nodes = text.split(',').map(|part| node(part.trim(), topology));
    let nodes = nodes.collect::<Result<Vec<u32>, String>>()?;
    let &[one, other] = nodes.as_slice() else {
        return Err(format!("\"{text}\" does not name two ends: write them as leaf:0,spine:1"));
    };
    let mut ports = Vec::new();
    for (own, port) in (topology.first_port[one as usize]..).zip(topology.ports_of(one)) {
        if topology.ports[port.peer as usize].node == other {
            ports.extend([own, port.peer]);
        }
    }
    if ports.is_empty() {
        return Err(format!("no link joins {}", text.replace(',', " and ")));
    }
    Ok(ports)
}

/// A single node.
fn node(part: &str, topology: &Topology) -> Result<u32, String> {
    let found = if part.contains(':') {
        switches(part, topology)?
    } else {
        host_set::parse(part, topology.hosts)?
    };
    match found.as_slice() {
        &[node] => Ok(node),
        _ => Err(format!("\"{part}\" is more than one node: name one node as the end of a link")),
    }
}

/// The nodes of a part such as `leaf:3` or `spine:0-1`.
fn switches(part: &str, topology: &Topology) -> Result<Vec<u32>, String> {
    let (layer, numbers) = part.split_once(':').unwrap_or((part, ""));
    if !LAYERS.contains(&layer) {
        return Err(format!("there is no layer \"{layer}\": write leaf:0, spine:0-1 or core:2"));
    }
    let nodes: Vec<u32> =
        (topology.hosts..topology.nodes()).filter(|&node| topology.layer(node) == layer).collect();
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

/// Converts captured packets into the bytes of a file.
#[derive(Debug)]
pub struct Capture {
    frames: Frames,
    /// The captured ports in the order of their numbers. The index of a port is the number of its
    /// interface.
    ports: Vec<u32>,
    /// The beginning of the file, until it is read.
    begin: Vec<u8>,
}

impl Capture {
    /// A file of the packets from these ports, in the order of port numbers; `None` if there are no
    /// ports.
    #[must_use]
    pub fn new(ports: Vec<u32>, setup: &Setup) -> Option<Self> {
        if ports.is_empty() {
            return None;
        }
        let topology = &setup.topology;
        let interface = |&port: &u32| interface(topology, &topology.ports[port as usize]);
        let interfaces: Vec<Interface> = ports.iter().map(interface).collect();
        let mut begin = Vec::new();
        pcapng::begin(&interfaces, &mut begin);
        let frames = Frames {
            payload_bytes: setup.hosts.frame.payload.0,
            pauses_queues: setup.switch.hop.pauses_queues(),
        };
        Some(Self { frames, ports, begin })
    }

    /// The captured ports.
    #[must_use]
    pub fn ports(&self) -> &[u32] {
        &self.ports
    }

    /// The next bytes of the file: these packets and, the first time, the file's beginning.
    pub fn bytes(&mut self, captured: &[Captured], topology: &Topology) -> Vec<u8> {
        let mut out = std::mem::take(&mut self.begin);
        let mut frame = Vec::with_capacity(2 * SMALLEST_FRAME);
        for Captured { time_ps, port, packet } in captured {
            // No other port is captured.
            let Ok(interface) = self.ports.binary_search(port) else { continue };
            frame.clear();
            self.frames.write(packet, topology.ports[*port as usize].node, &mut frame);
            let wire_bytes = Frames::wire_bytes(packet, &frame);
            pcapng::packet(interface as u32, *time_ps, wire_bytes, &frame, &mut out);
        }
        out
    }
}

/// A port as an interface, for the packets it sends.
fn interface(topology: &Topology, port: &Port) -> Interface {
    let name = |port: &Port| {
        let layer = topology.layer(port.node);
        let first = (0..topology.nodes()).find(|&node| topology.layer(node) == layer);
        format!("{layer}{}:{}", port.node - first.unwrap_or(0), port.number)
    };
    let peer = &topology.ports[port.peer as usize];
    Interface {
        name: name(port),
        description: format!("to {}", name(peer)),
        speed_bps: port.rate.0,
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

    fn names(text: &str) -> Vec<String> {
        let topology = topology();
        let name = |port| {
            let Interface { name, description, .. } = interface(&topology, &topology.ports[port]);
            format!("{name} {description}")
        };
        ports(text, &topology).unwrap().into_iter().map(|port| name(port as usize)).collect()
    }

    #[test]
    fn hosts_have_one_link_and_switches_all_of_theirs() {
        assert!(names("").is_empty());
        assert_eq!(names("2"), ["host2:0 to leaf1:0", "leaf1:0 to host2:0"]);
        assert_eq!(
            names("spine:1"),
            [
                "leaf0:3 to spine1:0",
                "leaf1:3 to spine1:1",
                "spine1:0 to leaf0:3",
                "spine1:1 to leaf1:3"
            ]
        );
        // A link named twice occurs once.
        assert_eq!(names("0, leaf:0").len(), 8);
        assert_eq!(names("all,leaf:0-1,spine:0-1").len(), 16);
    }

    #[test]
    fn what_does_not_exist_is_said() {
        let error = |text: &str| ports(text, &topology()).unwrap_err();
        assert_eq!(error("4"), "host 4 does not exist: hosts are 0 to 3");
        assert_eq!(error("tor:0"), "there is no layer \"tor\": write leaf:0, spine:0-1 or core:2");
        assert_eq!(error("core:0"), "core:0: this network has no core switches");
        for part in ["leaf:2", "leaf:1-0", "leaf:", "leaf:x", "leaf:-1"] {
            assert!(error(part).starts_with(&format!("{part} names no leaf switch: ")), "{part}");
        }
    }
}
