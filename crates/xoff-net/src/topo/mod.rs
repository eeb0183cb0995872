//! Networks: nodes, links, and the shortest paths between hosts.
//!
//! Hosts are numbered from 0, switches after them. A node's ports are numbered in the order in
//! which its links were added. Each builder is a plain function that returns a [`Topology`]. A
//! system of the network may attach hosts of its own ([`Topology::attach`]); the other hosts are
//! servers.

mod attach;
mod backpressure;
mod census;
mod clos;
mod digraph;
mod dragonfly;
mod dumbbell;
mod fat_tree;
mod graph;
mod host_routes;
mod leaf_spine;
mod missing;
mod nodes;
mod places;
mod rail;
mod repair;
mod routes;
mod search;
mod star;
mod torus;
mod two_dc;
mod uniform;

use std::cmp::Reverse;
use std::sync::Arc;

use xoff_core::{BitRate, Files, HostId, NodeId, PortId, Ps};

use uniform::uniform_capacity;

pub use attach::Attachment;
pub use backpressure::{Backpressure, Knot, Turns, bounces};
pub use census::Census;
pub use clos::{ClosConfig, clos};
pub use digraph::Digraph;
pub use dragonfly::{DragonflyConfig, dragonfly};
pub use dumbbell::{DumbbellConfig, dumbbell};
pub use fat_tree::{FatTreeConfig, fat_tree};
pub use graph::{Graph, GraphConfig};
pub use leaf_spine::{LeafSpineConfig, leaf_spine};
pub use missing::Missing;
pub use rail::{RailConfig, rail};
pub use routes::{Route, Routes};
pub use star::{StarConfig, star};
pub use torus::{TorusConfig, torus};
pub use two_dc::{TwoDcConfig, two_dc};

/// A setting of a topology and its value.
pub type Count = (&'static str, u32);

/// The name of a value that follows from the settings, and the value.
pub type Derived = (&'static str, String);

/// The settings of a topology.
pub trait TopologySettings {
    /// The settings that count parts. They decide the size of the network.
    fn counts(&self) -> Vec<Count>;

    /// Reads the files that the settings name. Returns values derived from them, by name.
    ///
    /// # Errors
    /// The key of the file, and what is wrong with it.
    fn load(&mut self, _files: &dyn Files) -> Result<Vec<Derived>, (&'static str, String)> {
        Ok(Vec::new())
    }

    /// Checks the settings one by one.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    fn check(&self) -> Result<(), (&'static str, String)> {
        Ok(())
    }

    /// The number of hosts, switches and links that the network will have.
    fn census(&self) -> Census;

    /// Builds the network. Its census must have passed [`Census::check`].
    ///
    /// # Errors
    /// What is wrong with the settings.
    fn build(&self) -> Result<Topology, String>;

    /// Whether the core's capacity is the uniform traffic that fills the busiest link, which
    /// follows from the routes.
    fn has_uniform_core(&self) -> bool {
        false
    }

    /// Whether gateways join data centres.
    fn has_gateways(&self) -> bool {
        false
    }

    /// Whether the switches of a layer have the same choices, so that equal hashes lead both
    /// directions of a flow over the same links.
    fn has_symmetric_choices(&self) -> bool {
        true
    }
}

xoff_core::seam! {
    /// Shapes of network.
    pub enum TopologyConfig: dyn TopologySettings, named by TopologyKind {
        /// Two layers, section `leaf_spine`.
        LeafSpine(LeafSpineConfig) = "leaf-spine",
        /// Three layers, section `fat_tree`.
        FatTree(FatTreeConfig) = "fat-tree",
        /// Two or three layers in pods, section `clos`.
        Clos(ClosConfig) = "clos",
        /// One switch, section `star`.
        Star(StarConfig) = "star",
        /// A chain of two or three switches, section `dumbbell`.
        Dumbbell(DumbbellConfig) = "dumbbell",
        /// Two leaf-spine fabrics joined by a long link, section `two_dc`.
        TwoDc(TwoDcConfig) = "two-dc",
        /// A grid of switches with rings in two or three dimensions, section `torus`.
        Torus(TorusConfig) = "torus",
        /// Groups of routers, each linked to each, section `dragonfly`.
        Dragonfly(DragonflyConfig) = "dragonfly",
        /// Servers of GPUs with a leaf for each place in a server, section `rail`.
        Rail(RailConfig) = "rail",
        /// Any network, read from a file, section `graph`.
        Graph(Graph) = "graph",
    }
}

/// A link between two nodes, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// One end.
    pub a: NodeId,
    /// The other.
    pub b: NodeId,
    /// Bits per second each way.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Ps,
}

/// One end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// Its node.
    pub node: NodeId,
    /// Its number at that node.
    pub number: u16,
    /// The port at the other end.
    pub peer: PortId,
    /// Bits per second.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Ps,
    /// What the link adds to the cost of a path, if it joins switches: 1, unless the network gives
    /// costs of its own. Packets take the paths of the lowest cost.
    pub cost: u16,
}

impl Port {
    /// A port whose link is not known yet.
    const BLANK: Self = Self {
        node: NodeId(0),
        number: 0,
        peer: PortId(0),
        rate: BitRate(0),
        delay: Ps(0),
        cost: 1,
    };
}

/// The order in which a switch lists its equal-cost ports: a hash picks one by its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextHops {
    /// By their numbers.
    #[default]
    ByPort,
    /// As a breadth-first search from the destination finds the nodes behind them, which visits the
    /// neighbours of a node by ascending numbers.
    Ascending,
    /// The same by descending numbers.
    Descending,
}

impl NextHops {
    /// Sorts what leads to nodes as a search visits these.
    fn sort<T>(self, next: &mut [T], node: impl Fn(&T) -> u32) {
        match self {
            NextHops::ByPort => {}
            NextHops::Ascending => next.sort_by_key(node),
            NextHops::Descending => next.sort_by_key(|to| Reverse(node(to))),
        }
    }
}

/// A network.
#[derive(Clone, Debug)]
pub struct Topology {
    /// The number of hosts: nodes 0 to hosts - 1.
    pub hosts: u32,
    /// The number of hosts, the last ones, that are attached for a system's own use.
    pub attached: u32,
    /// The layer of each node: 0 for hosts, 1 for the switches of hosts, and so on.
    tiers: Vec<u8>,
    /// The layer at which core links end: the top one, but below gateways if there are any.
    pub core_tier: u8,
    /// The traffic that fills the core links, if it is not the sum of their rates one way.
    pub core_capacity: Option<BitRate>,
    /// The order of equal-cost ports.
    pub next_hops: NextHops,
    /// Rows, columns and planes of switches that are numbered row by row and plane by plane, and
    /// have links to their neighbours in each dimension: pictures draw them so.
    pub grid: Option<[u32; 3]>,
    /// The number of successive hosts that are the GPUs of a server, if hosts are GPUs.
    pub in_server: Option<u32>,
    /// Whether there may be hosts that no path joins, so that traffic must not need one.
    pub is_partial: bool,
    /// The most table entries of a route, if routes list a port several times by its capacity.
    pub weighted: Option<u32>,
    /// The number of each node where it comes from, if it has another here.
    given: Option<Arc<[u32]>>,
    /// The label of each node where the network comes from, or none.
    labels: Option<Arc<[String]>>,
    /// All ports, grouped by node and in the node's order.
    ports: Vec<Port>,
    /// Index of each node's first port; one more entry than nodes.
    first_port: Vec<u32>,
}

impl Topology {
    /// Builds the port tables of a network.
    ///
    /// # Errors
    /// If a host has no link, a link names a node that does not exist, or a node has more links
    /// than port numbers.
    pub fn new(hosts: u32, tiers: Vec<u8>, links: &[Link]) -> Result<Self, String> {
        let nodes = tiers.len() as u32;
        let mut degree = vec![0u32; nodes as usize];
        for link in links {
            for end in [link.a, link.b] {
                if end.0 >= nodes {
                    return Err(format!("a link names node {end}: nodes are 0 to {}", nodes - 1));
                }
                degree[end.index()] += 1;
            }
        }
        if let Some(host) = (0..hosts).find(|&host| degree[host as usize] == 0) {
            return Err(format!("host {host} has no link: a host needs one at least"));
        }
        // The number u16::MAX stands for "no port" in tables of results.
        if let Some(node) = degree.iter().position(|&links| links > u32::from(u16::MAX)) {
            let links = degree[node];
            return Err(format!("node {node} has {links} links: it may have {}", u16::MAX));
        }
        let mut first_port = vec![0u32];
        for node in &degree {
            first_port.push(first_port[first_port.len() - 1] + node);
        }
        let mut used = vec![0u16; nodes as usize];
        let mut ports = vec![Port::BLANK; links.len() * 2];
        for link in links {
            let ends = [link.a, link.b].map(|node| {
                let number = used[node.index()];
                used[node.index()] += 1;
                (node, number, PortId(first_port[node.index()] + u32::from(number)))
            });
            for (end, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                ports[end.2.index()] = Port {
                    node: end.0,
                    number: end.1,
                    peer: other.2,
                    rate: link.rate,
                    delay: link.delay,
                    ..Port::BLANK
                };
            }
        }
        let core_tier = tiers.iter().copied().max().unwrap_or(0);
        let core_capacity = None;
        let next_hops = NextHops::default();
        Ok(Self {
            hosts,
            attached: 0,
            tiers,
            core_tier,
            core_capacity,
            next_hops,
            grid: None,
            in_server: None,
            is_partial: false,
            weighted: None,
            given: None,
            labels: None,
            ports,
            first_port,
        })
    }

    /// The same with a latency of every switch, by layer: a packet has it before it reaches its
    /// egress queue, so it is part of the delay of the way into the switch.
    #[must_use]
    pub fn with_latencies(mut self, of_tier: &[Ps]) -> Self {
        for index in 0..self.ports.len() {
            let into = self.ports[self.ports[index].peer.index()].node;
            self.ports[index].delay.0 += of_tier[usize::from(self.tiers[into.index()])].0;
        }
        self
    }

    /// The same with a cost, at least 1, of each of the links from which it was built.
    #[must_use]
    pub fn with_costs(mut self, links: &[Link], costs: &[u16]) -> Self {
        // A node's ports are in the order of its links.
        let mut next = self.first_port.clone();
        for (link, &cost) in links.iter().zip(costs) {
            for end in [link.a, link.b] {
                let port = &mut next[end.index()];
                self.ports[*port as usize].cost = cost;
                *port += 1;
            }
        }
        self
    }

    /// Its parts. The racks are those of servers and of attached hosts.
    #[must_use]
    pub fn census(&self) -> Census {
        let switches = self.switch_ids();
        let is_rack = |node: &NodeId| {
            self.ports_of(*node).iter().any(|port| self.is_host(self.neighbour(port)))
        };
        let links = |node: NodeId| self.ports_of(node).len() as u128;
        Census {
            hosts: self.hosts.into(),
            switches: switches.len() as u128,
            racks: switches.clone().filter(is_rack).count() as u128,
            links: self.ports.len() as u128 / 2,
            most_links: switches.map(links).max().unwrap_or(0),
        }
    }

    /// The same with the capacity of a uniform core ([`TopologySettings::has_uniform_core`]).
    #[must_use]
    pub fn with_uniform_core(self, routes: &Routes) -> Self {
        let core_capacity = Some(uniform_capacity(&self, routes));
        Self { core_capacity, ..self }
    }

    /// The sum of the rates, one way, of the core links and of the servers' links. Core links join
    /// switches and end at the core layer: a flow that crosses it takes one of them up and one
    /// down, with any number of layers below. If paths do not go up and down, the topology gives
    /// the capacity of its core.
    #[must_use]
    pub fn capacities(&self) -> (BitRate, BitRate) {
        let sum = |of_hosts: bool| {
            let counted = |port: &&Port| {
                let (own, other) = (port.node, self.neighbour(port));
                if [own, other].into_iter().any(|node| self.is_attached(node)) {
                    return false;
                }
                let host_link = self.is_host(own) || self.is_host(other);
                let tier = self.tier(own).max(self.tier(other));
                let core_link = !host_link && tier == self.core_tier;
                own < other && if of_hosts { host_link } else { core_link }
            };
            BitRate::total(self.ports.iter().filter(counted).map(|port| port.rate))
        };
        (self.core_capacity.unwrap_or_else(|| sum(false)), sum(true))
    }

    /// The number of hosts in a rack and the total rate of its uplinks one way, if the network is a
    /// fabric of two layers with equal racks and hosts numbered rack by rack.
    #[must_use]
    pub fn racks(&self) -> Option<(u32, BitRate)> {
        if self.attached > 0 || self.tiers.iter().any(|&tier| tier > 2) || self.core_tier != 2 {
            return None;
        }
        let leaves = self.switch_ids().filter(|&node| self.tier(node) == 1);
        let mut found = None;
        let mut next_host = 0;
        for leaf in leaves {
            let (mut hosts, mut uplinks) = (0, BitRate(0));
            for port in self.ports_of(leaf) {
                match self.host(self.neighbour(port)) {
                    Some(HostId(host)) if host == next_host => {
                        (hosts, next_host) = (hosts + 1, next_host + 1)
                    }
                    Some(_) => return None,
                    None => uplinks = BitRate::total([uplinks, port.rate].into_iter()),
                }
            }
            let rack = (hosts, uplinks);
            if *found.get_or_insert(rack) != rack {
                return None;
            }
        }
        let (hosts, uplinks) = found?;
        let rates = self.host_ids().map(|host| self.port_of_host(host).rate);
        let alike = rates.clone().all(|rate| Some(rate) == rates.clone().next());
        (hosts > 0 && next_host == self.hosts && alike).then_some((hosts, uplinks))
    }
}
