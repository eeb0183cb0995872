//! The backpressure graph of a network and its routes: which port can hold back which. It gives the
//! cycles of this graph, and the pairs of ports at which backpressure has to be left out so that no
//! cycle remains (BFC App. B).
//!
//! Its nodes are <switch, egress port>. Port A at one switch and port B at the next one are joined
//! if "a packet can go from A to B in a single hop" and "trigger backpressure from B to A". The
//! paper draws the edge from B to A; here it follows the packets, and cycles are the same. A
//! packet's ingress names A, so an edge is a turn at one switch: from an ingress to an egress.
//! Hosts cause no backpressure: no cycle leads through them.

use xoff_core::{NodeId, PortId};

use super::digraph::Digraph;
use super::{Port, Route, Routes, Topology};

/// A set of turns: for each ingress port of a switch that faces another switch, egress ports of the
/// same switch. As a table of pairs without backpressure it is the paper's match-action table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// Index of the first bit of each port, by port number in the topology; one more entry than
    /// ports.
    first: Vec<usize>,
    words: Vec<u64>,
}

impl Turns {
    /// An empty set.
    #[must_use]
    pub fn new(topology: &Topology) -> Self {
        let mut first = vec![0];
        for port in &topology.ports {
            let faces_switch =
                !topology.is_host(port.node) && !topology.is_host(topology.neighbour(port));
            let words = topology.ports_of(port.node).len().div_ceil(64);
            first.push(first[first.len() - 1] + if faces_switch { words } else { 0 });
        }
        let words = vec![0; first[first.len() - 1]];
        Self { first, words }
    }

    fn row(&self, ingress: PortId) -> &[u64] {
        &self.words[self.first[ingress.index()]..self.first[ingress.index() + 1]]
    }

    /// Adds a turn from a port of the topology to a port of the same switch.
    fn insert(&mut self, ingress: PortId, egress: u16) {
        self.words[self.first[ingress.index()] + usize::from(egress / 64)] |= 1 << (egress % 64);
    }

    /// Adds all turns of another set of the same network.
    fn extend(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(own, other)| *own |= other);
    }

    /// The turns from a port of the topology: port numbers at its switch, in order.
    pub fn of(&self, ingress: PortId) -> impl Iterator<Item = u16> + '_ {
        let bits = |(index, &word): (usize, &u64)| {
            let base = index as u16 * 64;
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| base + bit)
        };
        self.row(ingress).iter().enumerate().flat_map(bits)
    }

    /// All turns, as an ingress (its number in the topology) and an egress (its number at the
    /// switch).
    pub fn pairs(&self) -> impl Iterator<Item = (PortId, u16)> + '_ {
        let ports = (0..self.first.len() as u32 - 1).map(PortId);
        ports.flat_map(|ingress| self.of(ingress).map(move |egress| (ingress, egress)))
    }

    /// The number of turns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are no turns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }
}

/// Ports that can hold each other back in cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knot {
    /// The number of egress ports. Each lies on a cycle with every other one.
    pub ports: usize,
    /// A shortest cycle among them: egress ports by their numbers in the topology, in the direction
    /// of packets, from the lowest one on.
    pub shortest: Vec<PortId>,
}

impl Topology {
    /// The switches that packets pass on a cycle of egress ports, by their names, with the
    /// first one again at the end.
    #[must_use]
    pub fn cycle_of_switches(&self, ports: &[PortId]) -> String {
        let node = |&port: &PortId| self.name(self.port(port).node);
        let names: Vec<String> = ports.iter().chain(ports.first()).map(node).collect();
        names.join(" -> ")
    }

    /// A turn, by the names of the nodes before, at and after it.
    #[must_use]
    pub fn turn(&self, ingress: PortId, egress: u16) -> String {
        let node = self.port(ingress).node;
        let to = self.far_end(self.port_at(node, egress));
        let [from, at, to] = [self.far_end(ingress), node, to].map(|node| self.name(node));
        format!("{at}, from {from} to {to}")
    }
}

/// The backpressure graph of a network.
#[derive(Clone, Debug)]
pub struct Backpressure<'a> {
    topology: &'a Topology,
    turns: Turns,
}

impl<'a> Backpressure<'a> {
    /// Of packets between all hosts by these routes. With several routes, a packet may follow one
    /// of them at one switch and another one at the next, as packets in flight do when routes
    /// change.
    #[must_use]
    pub fn new(topology: &'a Topology, routes: &[&Routes]) -> Self {
        let mut graph = Self { topology, turns: Turns::new(topology) };
        let leaves = leaves(topology, routes);
        let known = routes.iter().map(|routes| Known::new(topology, routes)).collect();
        let mut walk = Walk { topology, routes, known };
        for group in 0..leaves.len() {
            walk.add_group(&leaves, group, &mut graph.turns);
        }
        graph
    }

    /// Approximate bytes of a network's graph and the search for its cycles.
    #[must_use]
    pub fn bytes(topology: &Topology) -> u128 {
        let turns = topology.switch_ids().map(|node| {
            let links = topology.ports_of(node).iter();
            let trunks = links.filter(|port| !topology.is_host(topology.neighbour(port)));
            (trunks.count() * topology.ports_of(node).len()) as u128
        });
        // Arcs twice, bits in some sets, and the state of the search for each port.
        turns.sum::<u128>() * 18 + topology.ports.len() as u128 * 100
    }

    /// Adds the edges of another graph of the same network.
    pub fn extend(&mut self, other: &Self) {
        self.turns.extend(&other.turns);
    }

    /// The same without these turns.
    #[must_use]
    pub fn without(mut self, elided: &Turns) -> Self {
        self.turns.words.iter_mut().zip(&elided.words).for_each(|(own, gone)| *own &= !gone);
        self
    }

    /// The turns that packets take: its edges.
    #[must_use]
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// The number of egress ports of switches: its nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.topology.ports.len() - self.topology.first_port(NodeId(self.topology.hosts)).index()
    }

    /// The sets of ports that hold each other back in cycles.
    #[must_use]
    pub fn knots(&self) -> Vec<Knot> {
        let graph = self.digraph();
        let knot = |knot: Vec<u32>| {
            let shortest = graph.shortest_cycle(&knot).into_iter().map(PortId).collect();
            Knot { ports: knot.len(), shortest }
        };
        graph.knots().into_iter().map(knot).collect()
    }

    /// The turns to leave out so that no cycle remains. Of the turns in cycles, it first takes all
    /// that lead from a higher layer back to a higher one: "in Clos topologies" these are the turns
    /// to leave out (App. B), and packets take them only when links fail. If cycles remain, as
    /// among switches of one layer, it adds the feedback arcs of [`Digraph::feedback`].
    #[must_use]
    pub fn to_elide(&self) -> Turns {
        let ports = |(from, to): (u32, u32)| (PortId(from), PortId(to));
        let mut elided = Turns::new(self.topology);
        let graph = self.digraph();
        let bounces = graph.knots().into_iter().flat_map(|knot| {
            let arcs = |&from: &u32| graph.of(from).iter().map(move |&to| (from, to));
            let inside = |&(_, to): &(u32, u32)| knot.binary_search(&to).is_ok();
            let arcs: Vec<_> = knot.iter().flat_map(arcs).filter(inside).collect();
            arcs.into_iter().map(ports).filter(|&(from, to)| self.is_bounce(from, to))
        });
        bounces.for_each(|(from, to)| self.elide(&mut elided, from, to));
        let rest = self.clone().without(&elided).digraph();
        for knot in rest.knots() {
            let arcs = rest.feedback(&knot).into_iter().map(ports);
            arcs.for_each(|(from, to)| self.elide(&mut elided, from, to));
        }
        elided
    }

    fn elide(&self, elided: &mut Turns, from: PortId, to: PortId) {
        elided.insert(self.topology.port(from).peer, self.topology.port(to).number);
    }

    /// Whether a packet goes down through one egress port and up again through the next one.
    fn is_bounce(&self, from: PortId, to: PortId) -> bool {
        let topology = self.topology;
        let nodes = [topology.port(from).node, topology.port(to).node, topology.far_end(to)];
        let [before, here, after] = nodes.map(|node| topology.tier(node));
        before > here && after > here
    }

    /// The graph over all ports of the topology. Ports of hosts have no arcs.
    fn digraph(&self) -> Digraph {
        let arc = |(ingress, egress): (PortId, u16)| {
            let port = self.topology.port(ingress);
            (port.peer.0, self.topology.port_at(port.node, egress).0)
        };
        Digraph::new(self.topology.ports.len(), self.turns.pairs().map(arc).collect())
    }
}

/// The switch of each group of hosts.
fn leaves(topology: &Topology, routes: &[&Routes]) -> Vec<NodeId> {
    let Some(routes) = routes.first() else { return Vec::new() };
    let groups = routes.groups().iter().max().map_or(0, |&group| group as usize + 1);
    let mut leaves = vec![NodeId(0); groups];
    for host in topology.host_ids() {
        let leaf = topology.neighbour(topology.port_of_host(host));
        leaves[routes.group_of(host) as usize] = leaf;
    }
    leaves
}

/// The lists of a switch's ports, by their first index, that are known for each ingress: most
/// groups share their ports with others.
struct Known {
    /// Index of the first bit of each ingress. The bits of its switch's own hosts come first.
    first: Vec<usize>,
    words: Vec<u64>,
}

impl Known {
    fn new(topology: &Topology, routes: &Routes) -> Self {
        let mut bits = 0;
        let mut begin = |port: &Port| {
            let first = bits;
            let switch = port.node.0.checked_sub(topology.hosts);
            bits += switch.map_or(0, |switch| routes.choices[switch as usize].len() + 1);
            first
        };
        let first = topology.ports.iter().map(&mut begin).collect();
        Self { first, words: vec![0; bits.div_ceil(64)] }
    }

    /// Adds the list of a route. Returns whether it is new.
    fn insert(&mut self, ingress: PortId, route: Route) -> bool {
        let place = if route.count == 0 { 0 } else { 1 + route.first as usize };
        let bit = self.first[ingress.index()] + place;
        let (word, mask) = (&mut self.words[bit / 64], 1 << (bit % 64));
        let is_new = *word & mask == 0;
        *word |= mask;
        is_new
    }
}

/// Follows packets through the network.
struct Walk<'a> {
    topology: &'a Topology,
    routes: &'a [&'a Routes],
    /// The turns in the set, by each of the routes.
    known: Vec<Known>,
}

impl Walk<'_> {
    /// Adds the turns of packets for a group from the hosts of all others.
    fn add_group(&mut self, leaves: &[NodeId], group: usize, turns: &mut Turns) {
        let topology = self.topology;
        let mut reached = vec![false; topology.switch_ids().len()];
        let mut stack: Vec<NodeId> =
            leaves.iter().copied().filter(|&leaf| leaf != leaves[group]).collect();
        stack.iter().for_each(|&leaf| reached[topology.switch_index(leaf)] = true);
        while let Some(node) = stack.pop() {
            for routes in self.routes {
                for &number in routes.ports(topology.switch_index(node), group) {
                    let ingress = topology.port(topology.port_at(node, number)).peer;
                    let next = topology.port(ingress).node;
                    // A host with several links: the packets have arrived.
                    if topology.is_host(next) {
                        continue;
                    }
                    self.add_turns(ingress, group, turns);
                    if !std::mem::replace(&mut reached[topology.switch_index(next)], true) {
                        stack.push(next);
                    }
                }
            }
        }
    }

    /// Adds the turns of packets for a group that arrived at a port.
    fn add_turns(&mut self, ingress: PortId, group: usize, turns: &mut Turns) {
        let topology = self.topology;
        let node = topology.port(ingress).node;
        let switch = topology.switch_index(node);
        for (routes, known) in self.routes.iter().zip(&mut self.known) {
            let route = routes.by_switch[switch][group];
            if !known.insert(ingress, route) {
                continue;
            }
            if route.count > 0 {
                routes.ports(switch, group).iter().for_each(|&port| turns.insert(ingress, port));
                continue;
            }
            for port in topology.ports_of(node) {
                if topology.is_host(topology.neighbour(port)) {
                    turns.insert(ingress, port.number);
                }
            }
        }
    }
}

/// All turns from a higher layer back to a higher one, whether a route uses them or not. "For Clos
/// topologies, this just includes backpressure edges corresponding to packets that are coming from
/// a higher layer and going back to a higher layer" (App. B). Other paths go up and then down, so
/// no route can close a cycle.
///
/// # Errors
/// If a link joins two switches of one layer: then this rule is not sufficient.
pub fn bounces(topology: &Topology) -> Result<Turns, String> {
    let mut turns = Turns::new(topology);
    let tier = |node| topology.tier(node);
    for node in topology.switch_ids() {
        let mut ports = topology.port_ids_of(node);
        let up: Vec<PortId> =
            ports.clone().filter(|&port| tier(topology.far_end(port)) > tier(node)).collect();
        if let Some(port) = ports.find(|&port| tier(topology.far_end(port)) == tier(node)) {
            let (one, other) = (topology.name(node), topology.name(topology.far_end(port)));
            return Err(format!("a link joins {one} and {other}, which are of one layer"));
        }
        for &ingress in &up {
            up.iter().for_each(|&egress| turns.insert(ingress, topology.port(egress).number));
        }
    }
    Ok(turns)
}

#[cfg(test)]
#[path = "backpressure_tests.rs"]
mod tests;
