//! The order in which switches list their next hops.
//!
//! That simulator sorts them by memory address: by the numbers of nodes, up or down. A case does
//! not say which. A recorded `paths.txt` decides: `data|ack src dst sport dport switch next_node`
//! for each choice that a switch made.

use std::path::Path;

use xoff_core::{HostId, NodeId};
use xoff_net::balance::{address, murmur3};
use xoff_net::topo::{NextHops, Routes, Topology};

use super::files::{Numbers, Words};
use crate::resources::Memory;

/// An order, and why it was chosen.
pub(super) type Chosen = (NextHops, &'static str);

const FILE: &str = "paths.txt";

/// The order of a case: the one asked for, or the one in which most choices in `paths.txt` come
/// out, or ascending. After a link has failed, choices differ from those of the whole network.
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
    let text = crate::files::read(&path, memory).map_err(|why| format!("{file}: {why}"))?;
    let choices = choices(&text, &file, topology)?;
    let mut topology = topology.clone();
    let mut fits = |order| {
        topology.next_hops = order;
        let routes = Routes::new(&topology).map_err(|why| format!("{file}: {why}"))?;
        Ok::<_, String>(
            choices.iter().filter(|choice| choice.comes_out(&topology, &routes)).count(),
        )
    };
    let all = choices.len();
    let (up, down) = (fits(NextHops::Ascending)?, fits(NextHops::Descending)?);
    let order = if down > up { NextHops::Descending } else { NextHops::Ascending };
    let reason = match (up == all, down == all) {
        (true, true) => "the choices of paths.txt fit both orders",
        (false, false) => "most choices of paths.txt come out, but neither order gives all",
        _ => "all choices of paths.txt come out",
    };
    Ok((order, reason))
}

/// A switch's choice for the packets of a flow, or for their acknowledgements.
struct Choice {
    src: HostId,
    dst: HostId,
    label: u32,
    switch: NodeId,
    next: u32,
}

fn choices(text: &str, file: &str, topology: &Topology) -> Result<Vec<Choice>, String> {
    let numbers = Numbers::of(topology);
    let host = |given| numbers.node(given).and_then(|node| topology.host(node));
    let is_switch = |node: &NodeId| !topology.is_host(*node);
    let mut words = Words::new(text, file);
    let mut found = Vec::new();
    while let Some(kind) = words.next_word() {
        if !["data", "ack"].contains(&kind) {
            return Err(words.fail(&format!("expected data or ack, found {kind:?}")));
        }
        let (src, dst) = (words.number("a source")?, words.number("a destination")?);
        let sport: u16 = words.number("a source port")?;
        let dport: u16 = words.number("a destination port")?;
        let (switch, next) = (words.number("a switch")?, words.number("a node")?);
        let (Some(src), Some(dst)) = (host(src), host(dst)) else {
            return Err(words.fail(&format!("{src} and {dst} are not both hosts")));
        };
        let Some(switch) = numbers.node(switch).filter(is_switch) else {
            return Err(words.fail(&format!("{switch} is not a switch")));
        };
        let label = u32::from(sport) | u32::from(dport) << 16;
        found.push(Choice { src, dst, label, switch, next });
    }
    Ok(found)
}

impl Choice {
    fn comes_out(&self, topology: &Topology, routes: &Routes) -> bool {
        let switch = topology.switch_index(self.switch);
        let ports = routes.ports(switch, routes.group_of(self.dst) as usize);
        let ends = [self.src, self.dst].map(|host| address(topology.given_number(host.node())));
        let hash = murmur3([ends[0], ends[1], self.label], topology.given_number(self.switch));
        let Some(place) = hash.checked_rem(ports.len() as u32) else { return false };
        let next = topology.far_end(topology.port_at(self.switch, ports[place as usize]));
        topology.given_number(next) == self.next
    }
}
