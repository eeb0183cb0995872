//! What faults do to a running network: they begin, end, and change routes.
//!
//! A fault begins and ends between two steps of the grid, at the first step at or after its time,
//! so that all partitions see it at once. When a link goes down, its packets in flight are lost,
//! and so are packets sent into it before its recovery. Packets that wait for it are sent and lost
//! too: both ends forget the pauses without an end that they sent and received, and pause frames
//! that wait are lost at once. All switches avoid the link from `detection` after its failure until
//! `detection` after its recovery. With local repair, the switches at its ends avoid it from its
//! failure to its recovery, whatever the others do.
//!
//! A host that is down sends into its links as before, and so do switches to it: no route leads
//! around. If it stays down, `simulation/dead_hosts.rs` stops waiting for its flows. When a switch
//! goes down, so do the hosts that have no link to another one.
//!
//! A link at a lower rate sends its next packet at that rate. Both of its ends know the new rate at
//! once: switches, for all that they compute from the rate of a port, and hosts, for the credits
//! and pull requests that they pace. Controls of flows go on with the rate of the network that they
//! were configured for.
//!
//! A link that is gone for good ([`Defect::Gone`]) follows the HPCC simulator. What waits for it is
//! lost at once, memories and hop controls of its ends go on counting it, and switches avoid the
//! link at once. Then hosts share their flows out to their links again.

use std::cmp::Reverse;
use std::sync::Arc;

use xoff_core::{HostId, PortId, Ps, Rng, rng::Purpose};
use xoff_host::cc::Carries;
use xoff_net::telemetry::HOPS_MAX;
use xoff_net::topo::{Missing, Routes};

use crate::faults::{Defect, Fault, changes, missing_in, repaired_in};
use crate::partition::{Partition, Place};
use crate::setup::Setup;

/// An action between two steps.
#[derive(Clone, Debug)]
enum Action {
    /// This fault begins.
    Begin(u32),
    /// This fault ends.
    End(u32),
    /// All switches use these routes. Those of a local repair are known to none but the switches at
    /// the ends of the failed links; otherwise all know the ports of the links that are avoided.
    Route(Arc<Routes>, Option<Vec<PortId>>),
    /// All hosts share their flows out to their links again.
    ShareOut,
}

/// New routes of all switches.
#[derive(Clone, Debug)]
pub(crate) struct Reroute {
    /// Time of the change.
    pub(crate) at: Ps,
    /// The routes.
    pub(crate) routes: Arc<Routes>,
    /// The ports of the avoided links.
    pub(crate) down: Vec<PortId>,
}

/// The routes that result from the faults of a network, in order.
///
/// # Errors
/// If hosts are disconnected, or if a path has too many switches.
pub(crate) fn reroutes(setup: &Setup) -> Result<Vec<Reroute>, String> {
    let reroute = |at: Ps| {
        let missing = missing_in(&setup.faults, Fault::avoided, at);
        let routes = Arc::new(FaultActions::routes_without(setup, &missing, at)?);
        Ok(Reroute { at, routes, down: missing.ports })
    };
    changes(&setup.faults, Fault::avoided).into_iter().map(reroute).collect()
}

/// The changes of routes, in order, and of local repairs between them.
fn routing(setup: &Setup, reroutes: Vec<Reroute>) -> Vec<(Ps, Action)> {
    let mut times = changes(&setup.faults, Fault::repaired);
    times.extend(reroutes.iter().map(|reroute| reroute.at));
    times.sort_unstable();
    times.dedup();
    let mut routes = Arc::clone(&setup.routes);
    let mut actions = Vec::new();
    let mut reroutes = reroutes.into_iter().peekable();
    for at in times {
        let known = reroutes.next_if(|reroute| reroute.at == at).map(|reroute| {
            routes = reroute.routes;
            reroute.down
        });
        let repaired = repaired_in(&setup.faults, at);
        let in_use = match repaired.as_slice() {
            [] => Arc::clone(&routes),
            failed => Arc::new(routes.repaired_locally(&setup.topology, failed)),
        };
        actions.push((at, Action::Route(in_use, known)));
    }
    actions
}

/// The pending actions of the faults of a run.
#[derive(Debug)]
pub(crate) struct FaultActions {
    /// In reverse order: the next one is last.
    actions: Vec<(Ps, Action)>,
    /// The routes in use.
    routes: Arc<Routes>,
}

impl FaultActions {
    /// Creates the actions of the faults of a network.
    ///
    /// # Errors
    /// If hosts are disconnected, or if a path has too many switches.
    pub(crate) fn new(setup: &Setup) -> Result<Self, String> {
        let mut actions = Vec::new();
        // Of the actions of one time, the last comes first.
        for (number, fault) in (0..).zip(&setup.faults) {
            if fault.defect == Defect::Gone {
                actions.push((fault.at, Action::ShareOut));
            }
            actions.push((fault.at, Action::Begin(number)));
            if fault.until != Ps::NEVER {
                actions.push((fault.until, Action::End(number)));
            }
        }
        for time in changes(&setup.faults, Fault::outage) {
            Self::routes_without(setup, &missing_in(&setup.faults, Fault::outage, time), time)?;
        }
        actions.extend(routing(setup, reroutes(setup)?));
        actions.sort_by_key(|(time, _)| Reverse(*time));
        Ok(Self { actions, routes: Arc::clone(&setup.routes) })
    }

    /// The routes at a time without some parts of the network.
    fn routes_without(setup: &Setup, missing: &Missing, time: Ps) -> Result<Routes, String> {
        let routes = Routes::without(&setup.topology, missing)
            .and_then(|routes| Self::check_joins(setup, missing, &routes).map(|()| routes))
            .map_err(|why| format!("[[fault]] at {time} disconnects the network: {why}"))?;
        // A packet may have covered most of its path when the routes change.
        let switches = (setup.routes.longest() + routes.longest() - 1) as usize;
        let record = !setup.hosts.literal && setup.hosts.control.carries() == Carries::Int;
        if record && switches > HOPS_MAX {
            return Err(format!(
                "[[fault]] at {time}: a packet may cross {switches} switches, but an INT record \
                 holds {HOPS_MAX}"
            ));
        }
        Ok(routes)
    }

    /// Checks that a partial network still joins the hosts that it joined, except those of dead
    /// switches. Other networks join all in any case.
    fn check_joins(setup: &Setup, missing: &Missing, routes: &Routes) -> Result<(), String> {
        let topology = &setup.topology;
        if !topology.is_partial {
            return Ok(());
        }
        let is_dead = |host: &HostId| {
            let mut ports = topology.ports_of(host.node()).iter();
            ports.all(|port| missing.dead.contains(&topology.neighbour(port)))
        };
        let hosts: Vec<HostId> = topology.host_ids().filter(|host| !is_dead(host)).collect();
        for &from in &hosts {
            let lost = |to: &&HostId| setup.routes.joins(from, **to) && !routes.joins(from, **to);
            if let Some(to) = hosts.iter().find(lost) {
                return Err(format!("host {from} cannot reach host {to}: no path joins them"));
            }
        }
        Ok(())
    }

    /// The routes that all switches use.
    pub(crate) fn routes(&self) -> &Arc<Routes> {
        &self.routes
    }

    /// The time of the next action; [`Ps::NEVER`] if there is none.
    pub(crate) fn next(&self) -> Ps {
        self.actions.last().map_or(Ps::NEVER, |(time, _)| *time)
    }

    /// True if an action is due.
    pub(crate) fn is_due(&self, now: Ps) -> bool {
        self.actions.last().is_some_and(|(time, _)| *time <= now)
    }

    /// Executes the actions that are due. `place` has the place of each port.
    pub(crate) fn apply(
        &mut self,
        now: Ps,
        setup: &Setup,
        place: &[Place],
        partitions: &mut [Partition],
    ) {
        let mut due = Vec::new();
        while self.is_due(now)
            && let Some((_, action)) = self.actions.pop()
        {
            due.push(action);
        }
        // A switch that forgets a pause sends at once. All links must be down by then: a packet on
        // a link to another partition would not be found there.
        for action in &due {
            if let Action::Begin(number) = *action {
                take_down(number, setup, place, partitions);
            }
        }
        for action in due {
            match action {
                Action::Begin(number) => begin(number, setup, place, partitions),
                Action::End(number) => end(number, setup, place, partitions),
                Action::Route(routes, down) => {
                    for partition in &mut *partitions {
                        partition.set_routes(&routes, down.as_deref());
                    }
                    self.routes = routes;
                }
                Action::ShareOut => partitions.iter_mut().for_each(Partition::share_out),
            }
        }
    }
}

/// Takes the links of a fault down, if it is one: what is on them is lost.
fn take_down(number: u32, setup: &Setup, place: &[Place], partitions: &mut [Partition]) {
    let fault = &setup.faults[number as usize];
    if !fault.defect.is_down() {
        return;
    }
    for &port in &fault.ports {
        let Place { partition, port: local } = place[port.index()];
        let fabric = partitions[partition as usize].fabric_mut();
        fabric.take_down(local);
        let lost = fabric.lose_in_flight(local);
        let Place { partition, port: peer } = place[setup.topology.port(port).peer.index()];
        partitions[partition as usize].fabric_mut().count_lost(peer, lost);
    }
}

fn begin(number: u32, setup: &Setup, place: &[Place], partitions: &mut [Partition]) {
    let fault = &setup.faults[number as usize];
    for &port in &fault.ports {
        let Place { partition, port: local } = place[port.index()];
        let fabric = partitions[partition as usize].fabric_mut();
        match fault.defect {
            Defect::Loss(loss) => {
                let entity = u64::from(number) << 32 | u64::from(port.0);
                let rng = Rng::stream(setup.seed, Purpose::LinkLoss, entity);
                fabric.begin_loss(local, number, loss, rng);
            }
            Defect::Degraded(rate) => {
                fabric.degrade(local, number, rate.0);
                announce_rate(port, setup, place, partitions);
            }
            Defect::Gone => partitions[partition as usize].on_link_gone(local),
            Defect::Down { .. } | Defect::HostDown => {
                partitions[partition as usize].on_link_down(local);
            }
        }
    }
}

fn end(number: u32, setup: &Setup, place: &[Place], partitions: &mut [Partition]) {
    let fault = &setup.faults[number as usize];
    for &port in &fault.ports {
        let Place { partition, port: local } = place[port.index()];
        let fabric = partitions[partition as usize].fabric_mut();
        match fault.defect {
            Defect::Loss(_) => fabric.end_loss(local, number),
            Defect::Degraded(_) => {
                fabric.restore_rate(local, number);
                announce_rate(port, setup, place, partitions);
            }
            Defect::Down { .. } | Defect::Gone | Defect::HostDown => fabric.repair(local),
        }
    }
}

/// Informs the ends of a link, and allocators, of the rate at which a port sends.
fn announce_rate(port: PortId, setup: &Setup, place: &[Place], partitions: &mut [Partition]) {
    let Place { partition, port: local } = place[port.index()];
    let rate = partitions[partition as usize].fabric().current_rate(local);
    partitions[partition as usize].on_rate(local, rate);
    let Place { partition, port: peer } = place[setup.topology.port(port).peer.index()];
    partitions[partition as usize].on_peer_rate(peer, rate);
    partitions.iter_mut().for_each(|partition| partition.tell_allocators(port, rate));
}
