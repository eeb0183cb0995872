//! The capture of a run: the captured links, and the bytes of the file.

use xoff_core::PortId;
use xoff_formats::pcapng::{self, Interface};
use xoff_formats::{Frames, SMALLEST_FRAME};
use xoff_net::fabric::Captured;
use xoff_net::topo::{Port, Topology};
use xoff_sim::Setup;

/// Converts captured packets into the bytes of a file.
#[derive(Debug)]
pub struct Capture {
    frames: Frames,
    /// The captured ports in the order of their numbers. The index of a port is the number of its
    /// interface.
    ports: Vec<PortId>,
    /// The beginning of the file, until it is read.
    begin: Vec<u8>,
}

impl Capture {
    /// A file of the packets from these ports, in the order of port numbers; `None` if there are no
    /// ports.
    #[must_use]
    pub fn new(ports: Vec<PortId>, setup: &Setup) -> Option<Self> {
        if ports.is_empty() {
            return None;
        }
        let topology = &setup.topology;
        let numbers = topology.numbers();
        let interface = |&port: &PortId| interface(topology, &numbers, topology.port(port));
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
    pub fn ports(&self) -> &[PortId] {
        &self.ports
    }

    /// The next bytes of the file: these packets and, the first time, the file's beginning.
    pub fn bytes(&mut self, captured: &[Captured], topology: &Topology) -> Vec<u8> {
        let mut out = std::mem::take(&mut self.begin);
        let mut frame = Vec::with_capacity(2 * SMALLEST_FRAME);
        for Captured { time_ps, port, packet } in captured {
            // No other port is captured.
            let Ok(interface) = self.ports.binary_search(&PortId(*port)) else { continue };
            frame.clear();
            self.frames.write(packet, topology.port(self.ports[interface]).node, &mut frame);
            let wire_bytes = Frames::wire_bytes(packet, &frame);
            pcapng::packet(interface as u32, *time_ps, wire_bytes, &frame, &mut out);
        }
        out
    }
}

/// A port as an interface, for the packets it sends.
fn interface(topology: &Topology, numbers: &[u32], port: &Port) -> Interface {
    let name = |port: &Port| {
        let number = numbers[port.node.index()];
        format!("{}{number}:{}", topology.layer(port.node), port.number)
    };
    let peer = topology.port(port.peer);
    Interface {
        name: name(port),
        description: format!("to {}", name(peer)),
        speed_bps: port.rate.0,
    }
}

#[cfg(test)]
mod tests {
    use xoff_net::topo::{LeafSpineConfig, RailConfig, leaf_spine, rail};
    use xoff_scenario::links;

    use super::*;

    /// Two leaves with two hosts each, two spines.
    fn topology() -> Topology {
        let config =
            LeafSpineConfig { leaves: 2, spines: 2, hosts_per_leaf: 2, ..Default::default() };
        leaf_spine(&config).unwrap()
    }

    fn names(text: &str) -> Vec<String> {
        names_in(&topology(), text)
    }

    fn names_in(topology: &Topology, text: &str) -> Vec<String> {
        let name = |port| {
            let Interface { name, description, .. } =
                interface(topology, &topology.numbers(), topology.port(port));
            format!("{name} {description}")
        };
        links::ports(text, topology).unwrap().into_iter().map(name).collect()
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

    /// Leaves and the switches of servers are one layer, with spines between them.
    #[test]
    fn a_switch_has_its_number_in_its_layer() {
        let topology = rail(&RailConfig::default()).unwrap();
        let leaves = topology.switch_ids().filter(|&node| topology.layer(node) == "leaf").count();
        let last = format!("leaf:{}", leaves - 1);
        let names = names_in(&topology, &last);
        let own = format!("leaf{}:0 to ", leaves - 1);
        assert!(names.iter().any(|name| name.starts_with(&own)), "{names:?}");
    }
}
