//! `topology.txt` and `flow.txt`.

use std::collections::HashSet;
use std::str::FromStr;

use xoff_core::{NodeId, Ps};
use xoff_net::topo::{Census, Link, Topology};
use xoff_workload::Arrival;

use super::config::{rate, seconds};
use crate::resources::Memory;

/// Words of a file, with their lines.
pub(super) struct Words<'a> {
    file: &'a str,
    words: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    line: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str, file: &'a str) -> Self {
        let words = text
            .lines()
            .enumerate()
            .flat_map(|(index, line)| line.split_whitespace().map(move |word| (index + 1, word)));
        Self { file, words: Box::new(words), line: 1 }
    }

    pub(super) fn next_word(&mut self) -> Option<&'a str> {
        let (line, word) = self.words.next()?;
        self.line = line;
        Some(word)
    }

    fn word(&mut self, what: &str) -> Result<&'a str, String> {
        self.next_word().ok_or_else(|| {
            format!("{}:{}: the file ends where {what} should be", self.file, self.line)
        })
    }

    pub(super) fn fail(&self, what: &str) -> String {
        format!("{}:{}: {what}", self.file, self.line)
    }

    pub(super) fn number<T: FromStr>(&mut self, what: &str) -> Result<T, String> {
        let word = self.word(what)?;
        word.parse().map_err(|_| self.fail(&format!("expected {what}, found {word:?}")))
    }
}

/// The ends of a link that loses packets, and their share.
pub(super) type LossyLink = ([NodeId; 2], f64);

/// `nodes switches links`, the switches' numbers, then `a b rate delay error_rate` per link. What
/// follows is not read. Where switches are not numbered after hosts, nodes get other numbers here.
/// Also returns the links that have an error rate.
pub(super) fn topology(
    text: &str,
    file: &str,
    memory: Memory,
) -> Result<(Topology, Vec<LossyLink>), String> {
    let mut words = Words::new(text, file);
    let nodes: u32 = words.number("the number of nodes")?;
    let switches: u32 = words.number("the number of switches")?;
    let count: u32 = words.number("the number of links")?;
    let hosts =
        nodes.checked_sub(switches).ok_or_else(|| words.fail("more switches than nodes"))?;
    if hosts == 0 {
        return Err(words.fail("there are no hosts"));
    }
    let census = Census {
        hosts: hosts.into(),
        switches: switches.into(),
        racks: hosts.min(switches).into(),
        links: count.into(),
        most_links: 0,
    };
    census.check().map_err(|what| words.fail(&what))?;
    memory.check("the network", census.bytes()).map_err(|what| words.fail(&what))?;
    let mut is_switch = vec![false; nodes as usize];
    for _ in 0..switches {
        let id: u32 = words.number("a switch's number")?;
        match is_switch.get_mut(id as usize) {
            None => {
                return Err(words.fail(&format!("switch {id}: nodes are 0 to {}", nodes - 1)));
            }
            Some(true) => return Err(words.fail(&format!("switch {id} is listed twice"))),
            Some(known) => *known = true,
        }
    }
    let of_kind = |kind| (0..nodes).filter(move |&id| is_switch[id as usize] == kind);
    let given: Vec<u32> = of_kind.clone()(false).chain(of_kind(true)).collect();
    let numbers = Numbers::new(&given);
    let (mut links, mut lossy) = (Vec::new(), Vec::new());
    let mut pairs = HashSet::new();
    for _ in 0..count {
        let (link, error_rate) = link(&mut words, &numbers)?;
        if !pairs.insert((link.a.min(link.b), link.a.max(link.b))) {
            return Err(words.fail("a second link between two nodes is not modelled"));
        }
        links.push(link);
        if error_rate > 0.0 {
            lossy.push(([link.a, link.b], error_rate));
        }
    }
    // Again, because each host with several links needs routes of its own.
    let ends = links.iter().map(|link| [link.a.index(), link.b.index()]);
    let census = Census::of_links((hosts as usize, nodes as usize), ends, 0);
    let fits = census.check().and_then(|()| memory.check("the network", census.bytes()));
    fits.map_err(|what| format!("{file}: {what}"))?;
    let tiers = tiers(hosts, nodes, &links);
    let topology = Topology::new(hosts, tiers, &links).map_err(|what| format!("{file}: {what}"))?;
    let is_other = given.iter().enumerate().any(|(here, &given)| here as u32 != given);
    Ok((if is_other { topology.with_given_numbers(given) } else { topology }, lossy))
}

/// The nodes by their numbers in the files.
pub(super) struct Numbers(Vec<NodeId>);

impl Numbers {
    /// From the files' numbers, in the order of the nodes here.
    fn new(given: &[u32]) -> Self {
        let mut nodes = vec![NodeId(0); given.len()];
        for (node, &given) in (0..).map(NodeId).zip(given) {
            nodes[given as usize] = node;
        }
        Self(nodes)
    }

    /// The numbers of a network that was read.
    pub(super) fn of(topology: &Topology) -> Self {
        let given: Vec<u32> = topology.node_ids().map(|node| topology.given_number(node)).collect();
        Self::new(&given)
    }

    /// The node with a number, if there is one.
    pub(super) fn node(&self, given: u32) -> Option<NodeId> {
        self.0.get(given as usize).copied()
    }
}

fn link(words: &mut Words<'_>, numbers: &Numbers) -> Result<(Link, f64), String> {
    let a: u32 = words.number("a node's number")?;
    let b: u32 = words.number("a node's number")?;
    let (Some(a), Some(b)) = (numbers.node(a), numbers.node(b)) else {
        let last = numbers.0.len() - 1;
        return Err(words.fail(&format!("a link joins {a} and {b}: nodes are 0 to {last}")));
    };
    if a == b {
        return Err(words.fail("a link from a node to itself: give it two ends"));
    }
    let text = words.word("a rate")?;
    let rate = rate(text).map_err(|what| words.fail(&what))?;
    let text = words.word("a delay")?;
    let delay = delay(text).map_err(|what| words.fail(&what))?;
    let error_rate: f64 = words.number("an error rate")?;
    if !(0.0..=1.0).contains(&error_rate) {
        return Err(words.fail(&format!("error rate {error_rate}: expected a share from 0 to 1")));
    }
    if rate.0 == 0 || delay.0 == 0 {
        return Err(words.fail("a link's rate and delay must be more than zero"));
    }
    Ok((Link { a, b, rate, delay }, error_rate))
}

/// A delay such as `1000ns` or `0.001ms`.
fn delay(text: &str) -> Result<Ps, String> {
    let wrong = || format!("expected a delay such as 1000ns or 0.001ms, found {text:?}");
    let end = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wrong)?;
    let factor = match &text[end..] {
        "s" => 1e12,
        "ms" => 1e9,
        "us" => 1e6,
        "ns" => 1e3,
        "ps" => 1.0,
        _ => return Err(wrong()),
    };
    let value: f64 = text[..end].parse().map_err(|_| wrong())?;
    if value < 0.0 || !value.is_finite() {
        return Err(wrong());
    }
    Ok(Ps((value * factor).round() as u64))
}

/// Layers: hosts 0, their switches 1, and so on.
fn tiers(hosts: u32, nodes: u32, links: &[Link]) -> Vec<u8> {
    let mut tiers = vec![u8::MAX; nodes as usize];
    tiers[..hosts as usize].fill(0);
    for tier in 0..u8::MAX - 1 {
        let mut changed = false;
        for link in links {
            for (from, to) in [(link.a, link.b), (link.b, link.a)] {
                if tiers[from.index()] == tier && tiers[to.index()] == u8::MAX {
                    tiers[to.index()] = tier + 1;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    tiers
}

/// Flows, and the destination port of each.
pub(super) type Flows = (Vec<Arrival>, Vec<u16>);

/// The number of flows, then `src dst pg dport size_bytes start_seconds` per flow. What follows is
/// not read.
pub(super) fn flows(text: &str, file: &str, topology: &Topology) -> Result<Flows, String> {
    let numbers = Numbers::of(topology);
    let host = |given| numbers.node(given).and_then(|node| topology.host(node));
    let mut words = Words::new(text, file);
    let count: usize = words.number("the number of flows")?;
    let (mut flows, mut ports): Flows = Default::default();
    for _ in 0..count {
        let src: u32 = words.number("a source host")?;
        let dst: u32 = words.number("a destination host")?;
        let class: u8 = words.number("a priority group")?;
        ports.push(words.number("a destination port from 0 to 65535")?);
        let bytes: u32 = words.number("a size in bytes, below 4294967296")?;
        let text = words.word("a start in seconds")?;
        let start = seconds(text).map_err(|what| words.fail(&what))?;
        let (Some(src), Some(dst)) = (host(src), host(dst)) else {
            let wrong = if host(src).is_none() { src } else { dst };
            let what = format!("a flow from {src} to {dst}: {wrong} is not a host");
            return Err(words.fail(&what));
        };
        if src == dst {
            return Err(words.fail("a flow from a host to itself"));
        }
        if bytes == 0 {
            return Err(words.fail("a flow needs a size of at least 1 byte"));
        }
        let first = flows.first().map_or(class, |flow| flow.priority);
        if class != first || !(1..8).contains(&class) {
            return Err(words.fail("all flows must be of one priority group, 1 to 7"));
        }
        if flows.last().is_some_and(|last| last.start > start) {
            return Err(words.fail("flows must be sorted by their start"));
        }
        flows.push(Arrival { priority: class, ..Arrival::new(start, src, dst, bytes.into(), 0) });
    }
    Ok((flows, ports))
}
