//! Whether the routes of a run let pauses go round in circles: the backpressure graph (BFC App. B) of the
//! routes it begins with, of those that its faults lead to, and of packets that are under way when
//! routes change.

use xoff_core::Ps;
use xoff_net::topo::{Backpressure, Routes, Turns, bounces};

use crate::faults;
use crate::setup::Setup;

/// Which pairs of ports backpressure is left out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elision {
    /// Those that break all cycles of the run's routes.
    Cycles,
    /// All that lead from a higher layer back to a higher one, whether or not a route does.
    Bounces,
}

/// When routes hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// From the start on.
    Start,
    /// For packets that are under way when routes change at this time.
    Change(Ps),
    /// From this time on.
    From(Ps),
    /// With any one link down, and for packets that are under way when it is avoided.
    AnyLinkDown {
        /// Links between switches without which some host is cut off: those are not among them.
        cut_off: usize,
    },
}

/// The graph of each time of a run, in order: what there is before, during and after each change of routes.
///
/// # Errors
/// If faults cut hosts off from each other.
pub fn stages(setup: &Setup) -> Result<Vec<(When, Backpressure<'_>)>, String> {
    let graph = |routes: &[&Routes]| Backpressure::new(&setup.topology, routes);
    let reroutes = faults::reroutes(setup)?;
    // What is down from the start on was never in use.
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

/// The graph of the routes with all links up, with any one link between switches down, and of packets
/// that are under way in between.
#[must_use]
pub fn any_link_down(setup: &Setup) -> (When, Backpressure<'_>) {
    let topology = &setup.topology;
    let mut all = Backpressure::new(topology, &[&setup.routes]);
    let mut cut_off = 0;
    for (id, port) in (0..).zip(&topology.ports) {
        let is_trunk = [port.node, topology.far_end(id)].iter().all(|&node| node >= topology.hosts);
        if is_trunk && id < port.peer {
            match Routes::without(topology, &[id, port.peer]) {
                Ok(left) => all.extend(&Backpressure::new(topology, &[&setup.routes, &left])),
                Err(_) => cut_off += 1,
            }
        }
    }
    (When::AnyLinkDown { cut_off }, all)
}

/// The pairs of ports for which backpressure is to be left out, the same for the whole run.
///
/// # Errors
/// If faults cut hosts off from each other, or the rule for Clos networks is wanted in another network.
pub fn elided(setup: &Setup, elision: Elision) -> Result<Turns, String> {
    match elision {
        Elision::Bounces => bounces(&setup.topology),
        Elision::Cycles => Ok(union(stages(setup)?.into_iter().map(|(_, graph)| graph)).to_elide()),
    }
}

/// One graph with what all of them have; there must be one.
fn union<'a>(mut graphs: impl Iterator<Item = Backpressure<'a>>) -> Backpressure<'a> {
    let mut all = graphs.next().expect("a run has routes");
    graphs.for_each(|graph| all.extend(&graph));
    all
}
