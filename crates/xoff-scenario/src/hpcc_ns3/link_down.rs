//! `LINK_DOWN`: a link that fails.

use xoff_core::{NodeId, Ps};
use xoff_net::topo::{Missing, Routes, Topology};
use xoff_sim::faults::{Defect, Fault};

use super::config::{Config, LinkDown};
use super::files::Numbers;

/// The link that fails, if the network has it: that simulator ignores another one.
///
/// # Errors
/// If the network has no such node, or hosts are cut off: then that simulator's behaviour is
/// undefined.
pub(super) fn faults(config: &Config, topology: &Topology) -> Result<Vec<Fault>, String> {
    let Some(LinkDown { at, ends: [a, b] }) = config.link_down else { return Ok(Vec::new()) };
    let numbers = Numbers::of(topology);
    let node = |given: u32| {
        let last = topology.nodes() - 1;
        let missing = || format!("LINK_DOWN names node {given}: nodes are 0 to {last}");
        numbers.node(given).ok_or_else(missing)
    };
    let (from, to) = (node(a)?, node(b)?);
    let mut of_node = topology.port_ids_of(from);
    let Some(port) = of_node.find(|&port| topology.far_end(port) == to) else {
        return Ok(Vec::new());
    };
    let only_link = |node: &NodeId| topology.is_host(*node) && topology.ports_of(*node).len() == 1;
    if let Some(host) = [from, to].into_iter().find(only_link) {
        let host = topology.given_number(host);
        return Err(format!("LINK_DOWN cuts off host {host}: it has no other link"));
    }
    let ports = vec![port, topology.port(port).peer];
    Routes::without(topology, &Missing::links(ports.clone()))
        .map_err(|why| format!("LINK_DOWN of {a} and {b} disconnects the network: {why}"))?;
    Ok(vec![Fault {
        defect: Defect::Gone,
        ports,
        dead_switch: None,
        entry: 0,
        at,
        until: Ps::NEVER,
    }])
}

/// The longest step of the grid, up to `most`, that meets the failure.
pub(super) fn grid(config: &Config, most: Ps) -> Ps {
    let Some(LinkDown { at, .. }) = config.link_down else { return most };
    let steps = [most, Ps::from_us(5), Ps::from_us(2)].into_iter();
    let meets = |step: &Ps| at.0.is_multiple_of(step.0);
    steps.filter(meets).max().unwrap_or(Ps::from_us(1))
}
