//! The nodes and ports of a network: their numbers, their neighbours and their names.

use std::sync::Arc;

use xoff_core::{HostId, NodeId, PortId};

use super::{Port, Topology};

impl Topology {
    /// The number of nodes.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.tiers.len() as u32
    }

    /// All nodes, hosts first.
    pub fn node_ids(&self) -> impl ExactSizeIterator<Item = NodeId> + Clone + use<> {
        (0..self.nodes()).map(NodeId)
    }

    /// All hosts, servers first.
    pub fn host_ids(&self) -> impl ExactSizeIterator<Item = HostId> + Clone + use<> {
        (0..self.hosts).map(HostId)
    }

    /// All switches.
    pub fn switch_ids(&self) -> impl ExactSizeIterator<Item = NodeId> + Clone + use<> {
        (self.hosts..self.nodes()).map(NodeId)
    }

    /// The same network, whose nodes have these numbers where it comes from.
    #[must_use]
    pub fn with_given_numbers(self, given: Vec<u32>) -> Self {
        Self { given: Some(given.into()), ..self }
    }

    /// The numbers of all nodes where the network comes from, if they have other ones here.
    #[must_use]
    pub fn given_numbers(&self) -> Option<&Arc<[u32]>> {
        self.given.as_ref()
    }

    /// The number of a node where the network comes from.
    #[must_use]
    pub fn given_number(&self, node: NodeId) -> u32 {
        self.given.as_ref().map_or(node.0, |given| given[node.index()])
    }

    /// The same network, whose nodes have these labels where it comes from; no labels at all, or
    /// one for each node, which may be empty.
    #[must_use]
    pub fn with_labels(self, labels: Vec<String>) -> Self {
        Self { labels: (!labels.is_empty()).then(|| labels.into()), ..self }
    }

    /// The label of a node where the network comes from.
    #[must_use]
    pub fn label(&self, node: NodeId) -> Option<&str> {
        let label = self.labels.as_ref().map(|labels| labels[node.index()].as_str());
        label.filter(|label| !label.is_empty())
    }

    /// The node with this label, if scenarios can name a node by it: a label that begins with a
    /// letter is no number, and has neither colon nor comma.
    #[must_use]
    pub fn labelled(&self, label: &str) -> Option<NodeId> {
        self.node_ids().find(|&node| self.label(node) == Some(label) && is_name(label))
    }

    /// The host that a node is; none if it is a switch.
    #[must_use]
    pub fn host(&self, node: NodeId) -> Option<HostId> {
        (node.0 < self.hosts).then_some(HostId(node.0))
    }

    /// Whether a node is a host.
    #[must_use]
    pub fn is_host(&self, node: NodeId) -> bool {
        node.0 < self.hosts
    }

    /// The number of a switch among switches, counted from 0.
    #[must_use]
    pub fn switch_index(&self, switch: NodeId) -> usize {
        (switch.0 - self.hosts) as usize
    }

    /// The layer of a node: 0 for hosts, 1 for the switches of hosts, and so on.
    #[must_use]
    pub fn tier(&self, node: NodeId) -> u8 {
        self.tiers[node.index()]
    }

    /// The highest layer.
    #[must_use]
    pub fn top_tier(&self) -> u8 {
        self.tiers.iter().copied().max().unwrap_or(0)
    }

    /// All ports, by their numbers: grouped by node and in the node's order.
    #[must_use]
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// The numbers of all ports.
    pub fn port_ids(&self) -> impl ExactSizeIterator<Item = PortId> + Clone + use<> {
        (0..self.ports.len() as u32).map(PortId)
    }

    /// A port.
    #[must_use]
    pub fn port(&self, port: PortId) -> &Port {
        &self.ports[port.index()]
    }

    /// A node's first port.
    #[must_use]
    pub fn first_port(&self, node: NodeId) -> PortId {
        PortId(self.first_port[node.index()])
    }

    /// The port of this number at a node.
    #[must_use]
    pub fn port_at(&self, node: NodeId, number: u16) -> PortId {
        PortId(self.first_port[node.index()] + u32::from(number))
    }

    /// A host's only port, or the first of several.
    #[must_use]
    pub fn port_of_host(&self, host: HostId) -> &Port {
        self.port(self.first_port(host.node()))
    }

    /// A node's ports.
    #[must_use]
    pub fn ports_of(&self, node: NodeId) -> &[Port] {
        let range =
            self.first_port[node.index()] as usize..self.first_port[node.index() + 1] as usize;
        &self.ports[range]
    }

    /// The numbers of a node's ports.
    pub fn port_ids_of(
        &self,
        node: NodeId,
    ) -> impl ExactSizeIterator<Item = PortId> + Clone + use<> {
        (self.first_port[node.index()]..self.first_port[node.index() + 1]).map(PortId)
    }

    /// The node at the other end of a port's link.
    #[must_use]
    pub fn neighbour(&self, port: &Port) -> NodeId {
        self.port(port.peer).node
    }

    /// The node at the other end of the link of the port with this number.
    #[must_use]
    pub fn far_end(&self, port: PortId) -> NodeId {
        self.neighbour(self.port(port))
    }

    /// The name of a node's layer.
    #[must_use]
    pub fn layer(&self, node: NodeId) -> &'static str {
        match self.tier(node) {
            0 if self.is_attached(node) => "attached",
            0 => "host",
            1 => "leaf",
            2 => "spine",
            tier if tier > self.core_tier => "gateway",
            _ => "core",
        }
    }

    /// Whether a node joins data centres.
    #[must_use]
    pub fn is_gateway(&self, node: NodeId) -> bool {
        self.tier(node) > self.core_tier
    }

    /// The name of a node in scenarios: its label if that can be one; otherwise a switch by its
    /// layer and its number there, such as `leaf:3`, and a host by its number.
    #[must_use]
    pub fn name(&self, node: NodeId) -> String {
        if let Some(label) = self.label(node).filter(|label| is_name(label)) {
            return label.to_owned();
        }
        if self.is_host(node) {
            return self.given_number(node).to_string();
        }
        let layer = self.layer(node);
        let before = self.switch_ids().filter(|&other| other < node && self.layer(other) == layer);
        format!("{layer}:{}", before.count())
    }

    /// The layers that a port's link joins, such as `host-leaf`.
    #[must_use]
    pub fn link_name(&self, port: &Port) -> String {
        format!("{}-{}", self.layer(port.node), self.layer(self.neighbour(port)))
    }
}

/// Whether a label can stand for its node in scenarios.
fn is_name(label: &str) -> bool {
    label.starts_with(|first: char| first.is_alphabetic()) && !label.contains([':', ','])
}
