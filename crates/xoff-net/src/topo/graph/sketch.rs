//! A network as its file has it, and the topology that follows from it.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use xoff_core::knobs::{Knob as _, Value};
use xoff_core::{BitRate, NodeId, Ps};

use super::super::{Census, Link, Topology};
use super::GraphConfig;

/// What is wrong with a file, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) line: Option<usize>,
    pub(super) message: String,
}

impl Trouble {
    pub(super) fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), message: message.into() }
    }

    pub(super) fn anywhere(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into() }
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Host,
    Switch,
}

impl Kind {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        match text {
            "host" => Ok(Self::Host),
            "switch" => Ok(Self::Switch),
            _ => Err(format!("kind is \"{text}\": write host or switch")),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) kind: Option<Kind>,
    pub(super) line: usize,
}

/// What a file says of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wire {
    rate: Option<BitRate>,
    delay: Option<Ps>,
    cost: Option<u16>,
}

impl Wire {
    pub(super) fn set_rate(&mut self, text: &str) -> Result<(), String> {
        let rate = BitRate::read(&Value::Text(text.into()));
        self.rate = Some(rate.map_err(|message| format!("rate: {message}"))?);
        positive("rate", self.rate != Some(BitRate(0)))
    }

    /// A rate in bit/s without its unit.
    pub(super) fn set_bits_per_second(&mut self, text: &str) -> Result<(), String> {
        let number = text.trim().parse::<f64>().ok().filter(|bits| (1.0..1e18).contains(bits));
        let number = number.ok_or_else(|| format!("\"{text}\" is no rate in bit/s"))?;
        self.rate = Some(BitRate(number as u64));
        Ok(())
    }

    pub(super) fn set_delay(&mut self, text: &str) -> Result<(), String> {
        let delay = Ps::read(&Value::Text(text.into()));
        self.delay = Some(delay.map_err(|message| format!("delay: {message}"))?);
        positive("delay", self.delay != Some(Ps(0)))
    }

    pub(super) fn set_cost(&mut self, text: &str) -> Result<(), String> {
        self.set_named_cost("cost", text)
    }

    /// The cost, which the file calls `name`. Libraries may write whole numbers as 2.0.
    pub(super) fn set_named_cost(&mut self, name: &str, text: &str) -> Result<(), String> {
        let cost = text.strip_suffix(".0").unwrap_or(text).parse().ok().filter(|&cost| cost > 0);
        let error = || format!("{name} is \"{text}\": give a whole number from 1 to {}", u16::MAX);
        self.cost = Some(cost.ok_or_else(error)?);
        Ok(())
    }
}

fn positive(what: &str, is: bool) -> Result<(), String> {
    if is { Ok(()) } else { Err(format!("{what} must be more than zero")) }
}

#[derive(Clone, Debug)]
struct Edge {
    ends: [u32; 2],
    wire: Wire,
    line: usize,
}

/// The nodes and links of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Sketch {
    nodes: Vec<Node>,
    numbers: FxHashMap<String, u32>,
    edges: Vec<Edge>,
}

impl Sketch {
    /// Adds a node. Returns false if there is one of this name.
    pub(super) fn add(&mut self, name: &str, kind: Option<Kind>, line: usize) -> bool {
        let number = self.nodes.len() as u32;
        let is_new = self.numbers.insert(name.to_owned(), number).is_none();
        self.nodes.push(Node { name: name.to_owned(), kind, line });
        is_new
    }

    /// The number of a node.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The number of a node, which is added if it is new.
    pub(super) fn number_or_add(&mut self, name: &str, line: usize) -> u32 {
        self.number(name).unwrap_or_else(|| {
            self.add(name, None, line);
            self.nodes.len() as u32 - 1
        })
    }

    /// Gives a node another name, for results.
    pub(super) fn rename(&mut self, number: u32, name: &str) {
        name.clone_into(&mut self.nodes[number as usize].name);
    }

    /// The number of links.
    pub(super) fn links(&self) -> usize {
        self.edges.len()
    }

    pub(super) fn link(&mut self, ends: [u32; 2], wire: Wire, line: usize) -> Result<(), Trouble> {
        if ends[0] == ends[1] {
            let name = &self.nodes[ends[0] as usize].name;
            return Err(Trouble::at(line, format!("\"{name}\" is linked to itself")));
        }
        self.edges.push(Edge { ends, wire, line });
        Ok(())
    }

    fn degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.nodes.len()];
        self.edges.iter().flat_map(|edge| edge.ends).for_each(|end| degrees[end as usize] += 1);
        degrees
    }

    /// Decides what each node is, and puts hosts before switches.
    pub(super) fn finish(mut self, config: &GraphConfig) -> Result<Self, Trouble> {
        self.decide_kinds(config.hosts_per_switch > 0)?;
        let is_host = |node: &Node| node.kind == Some(Kind::Host);
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|&node| !is_host(&self.nodes[node]));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new as u32);
        self.nodes = order.into_iter().map(|node| self.nodes[node].clone()).collect();
        self.edges.iter_mut().for_each(|edge| edge.ends = edge.ends.map(|end| place[end as usize]));
        self.numbers.clear();
        self.check(config.hosts_per_switch)?;
        Ok(self)
    }

    fn decide_kinds(&mut self, all_switches: bool) -> Result<(), Trouble> {
        let given = self.nodes.iter().filter(|node| node.kind.is_some()).count();
        if given == 0 {
            let degrees = self.degrees();
            for (node, degree) in self.nodes.iter_mut().zip(degrees) {
                let is_host = degree == 1 && !all_switches;
                node.kind = Some(if is_host { Kind::Host } else { Kind::Switch });
            }
        }
        match self.nodes.iter().find(|node| node.kind.is_none()) {
            Some(Node { name, line, .. }) => {
                let message = format!("\"{name}\" has no kind, but other nodes have one");
                Err(Trouble::at(*line, message))
            }
            None => Ok(()),
        }
    }

    fn hosts(&self) -> usize {
        self.nodes.iter().filter(|node| node.kind == Some(Kind::Host)).count()
    }

    fn check(&self, hosts_per_switch: u32) -> Result<(), Trouble> {
        let hosts = self.hosts();
        if hosts_per_switch > 0 && hosts > 0 {
            let message = format!(
                "the file has {hosts} hosts, so none can be added: set graph.hosts_per_switch = 0"
            );
            return Err(Trouble::anywhere(message));
        }
        let added = (self.nodes.len() - hosts) as u128 * u128::from(hosts_per_switch);
        if hosts as u128 + added < 2 {
            return Err(Trouble::anywhere(format!(
                "it has {} switches and {hosts} hosts: a network needs at least 2 hosts; \
                 graph.hosts_per_switch adds some to each switch",
                self.nodes.len() - hosts
            )));
        }
        let degrees = self.degrees();
        let lonely = self.nodes.iter().zip(degrees).take(hosts).find(|(_, degree)| *degree == 0);
        if let Some((Node { name, line, .. }, _)) = lonely {
            return Err(Trouble::at(*line, format!("host \"{name}\" has no link")));
        }
        for Edge { ends, wire, line } in &self.edges {
            let of_hosts = ends.iter().filter(|&&end| (end as usize) < hosts).count();
            let [one, other] = ends.map(|end| &self.nodes[end as usize].name);
            if of_hosts == 2 {
                let message = format!(
                    "\"{one}\" and \"{other}\" are hosts: a host is linked to switches only"
                );
                return Err(Trouble::at(*line, message));
            }
            if of_hosts == 1 && wire.cost.is_some() {
                let message = "a host's link has no cost: the host has no other way";
                return Err(Trouble::at(*line, message));
            }
        }
        Ok(())
    }

    pub(super) fn census(&self, hosts_per_switch: u32) -> Census {
        let links = self.edges.iter().map(|edge| edge.ends.map(|end| end as usize));
        Census::of_links((self.hosts(), self.nodes.len()), links, hosts_per_switch)
    }

    /// The layers of nodes: 0 for hosts, 1 for switches with hosts, then one more for each link
    /// away from these.
    fn tiers(&self, hosts: usize, nodes: usize, links: &[Link]) -> Vec<u8> {
        let mut tiers = vec![u8::MAX; nodes];
        tiers[..hosts].fill(0);
        let mut next = vec![Vec::new(); nodes];
        for link in links {
            next[link.a.index()].push(link.b.index());
            next[link.b.index()].push(link.a.index());
        }
        let mut queue: VecDeque<usize> = (0..hosts).collect();
        while let Some(node) = queue.pop_front() {
            for &other in &next[node] {
                if tiers[other] == u8::MAX {
                    tiers[other] = tiers[node].saturating_add(1).min(u8::MAX - 1);
                    queue.push_back(other);
                }
            }
        }
        tiers
    }

    /// The topology: hosts of the file or hosts added switch by switch, then switches.
    pub(super) fn build(&self, config: &GraphConfig) -> Result<Topology, String> {
        let hosts_in_file = self.hosts();
        let switches = self.nodes.len() - hosts_in_file;
        let added = switches * config.hosts_per_switch as usize;
        let hosts = hosts_in_file + added;
        let mut labels = vec![String::new(); added];
        labels.extend(self.nodes.iter().map(|node| node.name.clone()));
        let mut links: Vec<Link> = Vec::with_capacity(added + self.edges.len());
        let mut costs = vec![1; added];
        for host in 0..added as u32 {
            let switch = NodeId(added as u32 + host / config.hosts_per_switch);
            let (rate, delay) = (config.rate, config.delay);
            links.push(Link { a: NodeId(host), b: switch, rate, delay });
        }
        for Edge { ends, wire, .. } in &self.edges {
            let [a, b] = ends.map(|end| NodeId(end + added as u32));
            let rate = wire.rate.unwrap_or(config.rate);
            links.push(Link { a, b, rate, delay: wire.delay.unwrap_or(config.delay) });
            costs.push(wire.cost.unwrap_or(1));
        }
        let tiers = self.tiers(hosts, hosts + switches, &links);
        if let Some(alone) = tiers.iter().position(|&tier| tier == u8::MAX) {
            return Err(format!("no path leads from a host to \"{}\"", labels[alone]));
        }
        Ok(Topology::new(hosts as u32, tiers, &links)?
            .with_costs(&links, &costs)
            .with_labels(labels))
    }
}
