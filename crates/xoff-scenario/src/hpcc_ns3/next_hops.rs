//! The order in which switches list their next hops.
//!
//! That simulator sorts them by memory address: by the numbers of nodes, up or down. A case does
//! not say which. A recorded `paths.txt` decides: `data|ack src dst sport dport switch next_node`
//! for each choice that a switch made.

use std::path::Path;

use xoff_net::balance::{address, murmur3};
use xoff_net::topo::{NextHops, Routes, Topology};

use super::files::{Numbers, Words};
use crate::resources::Memory;

/// An order, and why it was chosen.
pub(super) type Chosen = (NextHops, &'static str);

const FILE: &str = "paths.txt";

/// The order of a case: the one asked for, or the one in which all choices in `paths.txt` come out,
/// or ascending.
///
/// # Errors
/// The line of `paths.txt` that cannot be read.
pub(super) fn choose(
    asked: Option<NextHops>,
    topology: &Topology,
    folder: &Path,
    memory: Memory,
) -> Result<Chosen, String> {
    if let Some(order) = asked {
        return Ok((order, "as set"));
    }
    let path = folder.join(FILE);
    if !path.is_file() {
        return Ok((
            NextHops::Ascending,
            "not recorded: `--set next_hops=descending` is the other",
        ));
    }
    let file = path.display().to_string();
    let text =
        crate::traffic::files::read(&path, memory).map_err(|why| format!("{file}: {why}"))?;
    let choices = choices(&text, &file)?;
    let numbers = Numbers::of(topology);
    let mut topology = topology.clone();
    for order in [NextHops::Ascending, NextHops::Descending] {
        topology.next_hops = order;
        let routes = Routes::new(&topology)?;
        if choices.iter().all(|choice| choice.comes_out(&topology, &numbers, &routes)) {
            return Ok((order, "all choices of paths.txt come out"));
        }
    }
    Ok((NextHops::Ascending, "paths.txt has choices that neither order gives"))
}

/// A switch's choice for a flow's data packets.
struct Choice {
    src: u32,
    dst: u32,
    label: u32,
    switch: u32,
    next: u32,
}

fn choices(text: &str, file: &str) -> Result<Vec<Choice>, String> {
    let mut words = Words::new(text, file);
    let mut found = Vec::new();
    while let Some(kind) = words.next_word() {
        let [src, dst, sport, dport, switch, next] = [
            words.number("a source")?,
            words.number("a destination")?,
            words.number("a source port")?,
            words.number("a destination port")?,
            words.number("a switch")?,
            words.number("a node")?,
        ];
        match kind {
            "data" => {
                found.push(Choice { src, dst, label: sport | dport << 16, switch, next });
            }
            "ack" => {}
            _ => return Err(words.fail(&format!("expected data or ack, found {kind:?}"))),
        }
    }
    Ok(found)
}

impl Choice {
    fn comes_out(&self, topology: &Topology, numbers: &Numbers, routes: &Routes) -> bool {
        let ends = (numbers.node(self.switch), numbers.node(self.dst));
        let (Some(switch), Some(dst)) = ends else { return false };
        let Some(dst) = topology.host(dst).filter(|_| !topology.is_host(switch)) else {
            return false;
        };
        let ports = routes.ports(topology.switch_index(switch), routes.group_of(dst) as usize);
        let words = [address(self.src), address(self.dst), self.label];
        let Some(place) = murmur3(words, self.switch).checked_rem(ports.len() as u32) else {
            return false;
        };
        let next = topology.far_end(topology.port_at(switch, ports[place as usize]));
        topology.given_number(next) == self.next
    }
}
