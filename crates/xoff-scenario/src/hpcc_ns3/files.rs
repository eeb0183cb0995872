//! `topology.txt` and `flow.txt`.

use std::str::FromStr;

use xoff_core::{HostId, NodeId, Ps};
use xoff_net::topo::{Census, Link, Topology};
use xoff_workload::Arrival;

use super::config::{rate, seconds};
use crate::resources::Memory;

/// Words of a file, with their lines.
struct Words<'a> {
    file: &'a str,
    words: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    line: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a str, file: &'a str) -> Self {
        let words = text
            .lines()
            .enumerate()
            .flat_map(|(index, line)| line.split_whitespace().map(move |word| (index + 1, word)));
        Self { file, words: Box::new(words), line: 1 }
    }

    fn word(&mut self, what: &str) -> Result<&'a str, String> {
        let Some((line, word)) = self.words.next() else {
            return Err(format!(
                "{}:{}: the file ends where {what} should be",
                self.file, self.line
            ));
        };
        self.line = line;
        Ok(word)
    }

    fn fail(&self, what: &str) -> String {
        format!("{}:{}: {what}", self.file, self.line)
    }

    fn number<T: FromStr>(&mut self, what: &str) -> Result<T, String> {
        let word = self.word(what)?;
        word.parse().map_err(|_| self.fail(&format!("expected {what}, found {word:?}")))
    }
}

/// `nodes switches links`, the switches' numbers, then `a b rate delay error_rate` per link.
pub(super) fn topology(text: &str, file: &str, memory: Memory) -> Result<Topology, String> {
    let mut words = Words::new(text, file);
    let nodes: u32 = words.number("the number of nodes")?;
    let switches: u32 = words.number("the number of switches")?;
    let count: u32 = words.number("the number of links")?;
    let hosts =
        nodes.checked_sub(switches).ok_or_else(|| words.fail("more switches than nodes"))?;
    let census = Census {
        hosts: hosts.into(),
        switches: switches.into(),
        racks: hosts.min(switches).into(),
        links: count.into(),
        most_links: 0,
    };
    census.check().map_err(|what| words.fail(&what))?;
    memory.check("the network", census.bytes()).map_err(|what| words.fail(&what))?;
    for expected in hosts..nodes {
        let id: u32 = words.number("a switch's number")?;
        if id != expected {
            let what =
                format!("switch {id}: switches must be numbered after the hosts, from {hosts}");
            return Err(words.fail(&what));
        }
    }
    let mut links = Vec::new();
    for _ in 0..count {
        links.push(link(&mut words, nodes)?);
    }
    let tiers = tiers(hosts, nodes, &links);
    Topology::new(hosts, tiers, &links).map_err(|what| format!("{file}: {what}"))
}

fn link(words: &mut Words<'_>, nodes: u32) -> Result<Link, String> {
    let a: u32 = words.number("a node's number")?;
    let b: u32 = words.number("a node's number")?;
    if a >= nodes || b >= nodes {
        return Err(words.fail(&format!("a link joins {a} and {b}: nodes are 0 to {}", nodes - 1)));
    }
    let text = words.word("a rate")?;
    let rate = rate(text).map_err(|what| words.fail(&what))?;
    let text = words.word("a delay")?;
    let delay = delay(text).map_err(|what| words.fail(&what))?;
    let error_rate: f64 = words.number("an error rate")?;
    if error_rate != 0.0 {
        return Err(words.fail(&format!("error rate {error_rate} is not modelled: only 0 is")));
    }
    if rate.0 == 0 || delay.0 == 0 {
        return Err(words.fail("a link's rate and delay must be more than zero"));
    }
    Ok(Link { a: NodeId(a), b: NodeId(b), rate, delay })
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

/// The number of flows, then `src dst pg dport size_bytes start_seconds` per flow.
pub(super) fn flows(text: &str, file: &str, hosts: u32) -> Result<Vec<Arrival>, String> {
    let mut words = Words::new(text, file);
    let count: usize = words.number("the number of flows")?;
    let mut flows: Vec<Arrival> = Vec::new();
    for _ in 0..count {
        let src: u32 = words.number("a source host")?;
        let dst: u32 = words.number("a destination host")?;
        let class: u8 = words.number("a priority group")?;
        let port: u32 = words.number("a destination port")?;
        let bytes: u64 = words.number("a size in bytes")?;
        let text = words.word("a start in seconds")?;
        let start = seconds(text).map_err(|what| words.fail(&what))?;
        if src >= hosts || dst >= hosts || src == dst {
            let what =
                format!("a flow from host {src} to host {dst}: hosts are 0 to {}", hosts - 1);
            return Err(words.fail(&what));
        }
        if bytes == 0 || port != 100 {
            return Err(
                words.fail("a flow needs a size of at least 1 byte and destination port 100")
            );
        }
        let first = flows.first().map_or(class, |flow| flow.priority);
        if class != first || !(1..8).contains(&class) {
            return Err(words.fail("all flows must be of one priority group, 1 to 7"));
        }
        if flows.last().is_some_and(|last| last.start > start) {
            return Err(words.fail("flows must be sorted by their start"));
        }
        flows.push(Arrival {
            priority: class,
            ..Arrival::new(start, HostId(src), HostId(dst), bytes, 0)
        });
    }
    Ok(flows)
}
