//! Cycles of pauses that a run's routes allow: the backpressure graph (BFC App. B) of the initial
//! routes, of the routes after faults, and of packets in flight during changes of routes.

use xoff_core::Ps;
use xoff_net::topo::{Backpressure, Missing, Routes, Turns, bounces};

use crate::fault_actions;
use crate::setup::Setup;

/// The pairs of ports without backpressure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elision {
    /// Pairs that break all cycles of the run's routes.
    Cycles,
    /// All pairs from a higher layer back to a higher layer, whether or not a route uses them.
    Bounces,
}

/// The validity of routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// From the start.
    Start,
    /// For packets in flight when routes change at this time.
    Change(Ps),
    /// From this time.
    From(Ps),
    /// With any single link down, and for packets in flight when it is avoided.
    AnyLinkDown {
        /// Number of links between switches whose failure isolates a host; they are excluded.
        cut_off: usize,
    },
}

/// The graphs of a run, in order: before, during and after each change of routes.
///
/// # Errors
/// If faults disconnect hosts.
pub fn stages(setup: &Setup) -> Result<Vec<(When, Backpressure<'_>)>, String> {
    let graph = |routes: &[&Routes]| Backpressure::new(&setup.topology, routes);
    let reroutes = fault_actions::reroutes(setup)?;
    // Links that are down from the start were never in use.
    let (first, later) = match reroutes.split_first() {
        Some((first, later)) if first.at == Ps(0) => (&*first.routes, later),
        _ => (&*setup.routes, reroutes.as_slice()),
    };
    let mut stages = vec![(When::Start, graph(&[first]))];
    let mut before = first;
    for reroute in later {
        stages.push((When::Change(reroute.at), graph(&[before, &reroute.routes])));
        stages.push((When::From(reroute.at), graph(&[&reroute.routes])));
        before = &reroute.routes;
    }
    Ok(stages)
}

/// The graph of the routes with all links up, with any single link between switches down, and of
/// packets in flight in between.
#[must_use]
pub fn any_link_down(setup: &Setup) -> (When, Backpressure<'_>) {
    let topology = &setup.topology;
    let mut all = Backpressure::new(topology, &[&setup.routes]);
    let mut cut_off = 0;
    for (id, port) in topology.port_ids().zip(topology.ports()) {
        let is_trunk = !topology.is_host(port.node) && !topology.is_host(topology.neighbour(port));
        if is_trunk && id < port.peer {
            match Routes::without(topology, &Missing::links([id, port.peer])) {
                Ok(left) => all.extend(&Backpressure::new(topology, &[&setup.routes, &left])),
                Err(_) => cut_off += 1,
            }
        }
    }
    (When::AnyLinkDown { cut_off }, all)
}

/// The pairs of ports without backpressure, constant over the run.
///
/// # Errors
/// If faults disconnect hosts, or if the rule for Clos networks is used in another
/// network.
pub fn elided(setup: &Setup, elision: Elision) -> Result<Turns, String> {
    match elision {
        Elision::Bounces => bounces(&setup.topology),
        Elision::Cycles => Ok(union(stages(setup)?.into_iter().map(|(_, graph)| graph)).to_elide()),
    }
}

/// The union of at least one graph.
fn union<'a>(mut graphs: impl Iterator<Item = Backpressure<'a>>) -> Backpressure<'a> {
    let mut all = graphs.next().expect("a run has routes");
    graphs.for_each(|graph| all.extend(&graph));
    all
}
