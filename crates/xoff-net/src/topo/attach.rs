//! Hosts that a system of the network has for itself, such as the NICs of an allocator of rates.
//!
//! They are numbered after the servers, so that code that counts servers (traffic, loads, base RTT,
//! results of hosts) is not affected, and code that forwards packets treats them as hosts. The
//! ports of the switches keep their numbers: an attached host takes the next one.

use xoff_core::{BitRate, HostId, NodeId, PortId, Ps};

use super::{Port, Topology};

/// A host to be attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its switch, as a node in the network without attached hosts.
    pub switch: NodeId,
    /// Rate of its link.
    pub rate: BitRate,
    /// Propagation delay of its link.
    pub delay: Ps,
}

impl Topology {
    /// The same network with these hosts attached, in order.
    ///
    /// # Errors
    /// If a host is to be attached to a node that is not a switch, or a switch gets more ports than
    /// can be numbered.
    pub fn attach(&self, attachments: &[Attachment]) -> Result<Self, String> {
        let added = attachments.len() as u32;
        let (hosts, nodes) = (self.hosts, self.nodes());
        let renamed = |node: NodeId| if node.0 < hosts { node } else { NodeId(node.0 + added) };
        let mut degree = vec![1; (hosts + added) as usize];
        degree.extend(self.switch_ids().map(|switch| self.ports_of(switch).len() as u32));
        for Attachment { switch, .. } in attachments {
            if !(hosts..nodes).contains(&switch.0) {
                return Err(format!(
                    "a host cannot be attached to node {switch}: it is not a \
                    switch"
                ));
            }
            degree[renamed(*switch).index()] += 1;
        }
        if let Some(node) = degree.iter().position(|&links| links > u32::from(u16::MAX)) {
            return Err(format!("node {node} has more than {} links", u16::MAX));
        }
        let mut first_port = vec![0];
        degree.iter().for_each(|links| first_port.push(first_port[first_port.len() - 1] + links));
        let place =
            |node: NodeId, number: u16| PortId(first_port[node.index()] + u32::from(number));
        let mut ports = vec![Port::BLANK; first_port[first_port.len() - 1] as usize];
        for port in &self.ports {
            let peer = self.port(port.peer);
            let (node, peer) = (renamed(port.node), place(renamed(peer.node), peer.number));
            ports[place(node, port.number).index()] = Port { node, peer, ..*port };
        }
        let mut next: Vec<u16> = self.switch_ids().map(|n| self.ports_of(n).len() as u16).collect();
        for (host, attachment) in (hosts..).map(NodeId).zip(attachments) {
            let Attachment { switch, rate, delay } = *attachment;
            let number = &mut next[self.switch_index(switch)];
            let ends = [(host, 0), (renamed(switch), *number)];
            *number += 1;
            for ((node, number), peer) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                let peer = place(peer.0, peer.1);
                ports[place(node, number).index()] =
                    Port { node, number, peer, rate, delay, ..Port::BLANK };
            }
        }
        let mut tiers = self.tiers.clone();
        tiers.splice(hosts as usize..hosts as usize, attachments.iter().map(|_| 0));
        let labels = self.labels.as_ref().map(|labels| {
            let (servers, switches) = labels.split_at(hosts as usize);
            let none = vec![String::new(); attachments.len()];
            [servers, &none, switches].concat().into()
        });
        Ok(Self {
            hosts: hosts + added,
            attached: self.attached + added,
            tiers,
            ports,
            first_port,
            given: None,
            labels,
            ..*self
        })
    }

    /// The number of servers: hosts 0 to servers - 1, without attached hosts.
    #[must_use]
    pub fn servers(&self) -> u32 {
        self.hosts - self.attached
    }

    /// The servers.
    pub fn server_ids(&self) -> impl ExactSizeIterator<Item = HostId> + Clone + use<> {
        (0..self.servers()).map(HostId)
    }

    /// Whether a node is an attached host.
    #[must_use]
    pub fn is_attached(&self, node: NodeId) -> bool {
        (self.servers()..self.hosts).contains(&node.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LeafSpineConfig, Routes, leaf_spine};
    use super::*;

    fn small() -> Topology {
        let (leaves, spines, hosts_per_leaf) = (3, 2, 4);
        leaf_spine(&LeafSpineConfig { leaves, spines, hosts_per_leaf, ..Default::default() })
            .unwrap()
    }

    fn at(switch: u32) -> Attachment {
        Attachment { switch: NodeId(switch), rate: BitRate::from_gbps(40), delay: Ps::from_us(2) }
    }

    #[test]
    fn attached_hosts_stand_between_servers_and_switches() {
        let plain = small();
        let topology = plain.attach(&[at(15), at(16)]).unwrap();
        assert_eq!((topology.servers(), topology.hosts, topology.nodes()), (12, 14, 19));
        assert_eq!(topology.capacities(), plain.capacities());
        for (host, spine) in [(HostId(12), NodeId(17)), (HostId(13), NodeId(18))] {
            let port = topology.port_of_host(host);
            let peer = topology.port(port.peer);
            assert_eq!((peer.node, peer.number), (spine, 3));
            assert_eq!((port.rate, peer.delay), (BitRate::from_gbps(40), Ps::from_us(2)));
            assert_eq!(topology.link_name(port), "attached-spine");
        }
        let routes = Routes::new(&topology).unwrap();
        assert_eq!([12, 11].map(|to| routes.links_between(HostId(0), HostId(to))), [3, 4]);
    }

    /// Nothing else changes: links of the network join the same ports as before.
    #[test]
    fn other_ports_keep_their_numbers_and_peers() {
        let plain = small();
        let topology = plain.attach(&[at(16), at(15), at(16)]).unwrap();
        let renamed = |node: NodeId| if node.0 < 12 { node } else { NodeId(node.0 + 3) };
        for port in &plain.ports {
            let peer = plain.port(port.peer);
            let now = topology.ports_of(renamed(port.node))[port.number as usize];
            let then = topology.port(now.peer);
            assert_eq!((then.node, then.number), (renamed(peer.node), peer.number));
        }
        for id in topology.port_ids() {
            assert_eq!(topology.port(topology.port(id).peer).peer, id);
        }
    }

    #[test]
    fn a_host_hangs_on_a_switch() {
        assert!(small().attach(&[at(3)]).unwrap_err().contains("not a switch"));
        assert!(small().attach(&[at(17)]).unwrap_err().contains("not a switch"));
    }
}
