//! Faults of links, on the grid: links that go down and recover, their detection by switches, and
//! links with random losses.
//!
//! A fault begins and ends between two steps of the grid, at the first step at or after its time,
//! so that all partitions see it at once. When a link goes down, its packets in flight are lost,
//! and so are packets sent into it before its recovery. Packets that wait for it are sent and lost
//! too, since no pause is in force on a link that is down: both ends forget the pauses they sent
//! and received. All switches avoid the link from `detection` after its failure until `detection`
//! after its recovery.

use std::cmp::Reverse;
use std::sync::Arc;

use xoff_core::{Ps, Rng, rng::Purpose};
use xoff_host::cc::Carries;
use xoff_net::telemetry::HOPS_MAX;
use xoff_net::topo::Routes;

use crate::partition::Partition;
use crate::setup::Setup;

mod link_down;
mod loss;
mod settings;

pub use link_down::LinkDownConfig;
pub use loss::LossConfig;
pub use settings::FaultSettings;

xoff_core::seam! {
    /// Kinds of fault.
    pub enum FaultConfig: dyn FaultSettings, named by FaultKind {
        /// A link goes down.
        LinkDown(LinkDownConfig) = "link-down",
        /// Links lose packets at random.
        Loss(LossConfig) = "loss",
    }
}

/// The defect of a faulty link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Defect {
    /// The links are down.
    Down {
        /// Delay until switches detect that a link is down, or back.
        detection: Ps,
    },
    /// The links lose packets at random.
    Loss {
        /// Fraction of packets lost.
        share: f64,
    },
}

/// A fault of some links.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The defect.
    pub defect: Defect,
    /// The affected ports, both ends of each link, by index in the topology.
    pub ports: Vec<u32>,
    /// Begin.
    pub at: Ps,
    /// End; [`Ps::NEVER`] if it is permanent.
    pub until: Ps,
}

/// Begin and end.
type Period = (Ps, Ps);

impl Fault {
    /// The period in which these links are down; `None` if they only lose packets.
    #[must_use]
    pub fn outage(&self) -> Option<Period> {
        matches!(self.defect, Defect::Down { .. }).then_some((self.at, self.until))
    }

    /// The period in which switches avoid these links; `None` if they never do, because they would
    /// detect the failure too late.
    #[must_use]
    pub fn avoided(&self) -> Option<Period> {
        let Defect::Down { detection } = self.defect else { return None };
        let after = |time: Ps| Ps(time.0.saturating_add(detection.0));
        (after(self.at) < self.until).then(|| (after(self.at), after(self.until)))
    }
}

/// An action between two steps.
#[derive(Clone, Debug)]
enum Action {
    /// This fault begins.
    Begin(u32),
    /// This fault ends.
    End(u32),
    /// All switches use these routes, which avoid the links of these ports.
    Route(Arc<Routes>, Vec<u32>),
}

/// New routes of all switches.
#[derive(Clone, Debug)]
pub struct Reroute {
    /// Time of the change.
    pub at: Ps,
    /// The routes.
    pub routes: Arc<Routes>,
    /// The ports of the avoided links.
    pub down: Vec<u32>,
}

/// The routes that result from the faults of a network, in order.
///
/// # Errors
/// If hosts are disconnected, or if a path has too many switches.
pub fn reroutes(setup: &Setup) -> Result<Vec<Reroute>, String> {
    let reroute = |at: Ps| {
        let down = down(setup, Fault::avoided, at);
        let routes = Arc::new(Faults::routes(setup, &down, at)?);
        Ok(Reroute { at, routes, down })
    };
    changes(&setup.faults, Fault::avoided).into_iter().map(reroute).collect()
}

/// The pending actions of the faults of a run.
#[derive(Debug)]
pub(crate) struct Faults {
    /// In reverse order: the next one is last.
    actions: Vec<(Ps, Action)>,
}

impl Faults {
    /// Creates the actions of the faults of a network.
    ///
    /// # Errors
    /// If hosts are disconnected, or if a path has too many switches.
    pub(crate) fn new(setup: &Setup) -> Result<Self, String> {
        let mut actions = Vec::new();
        for (number, fault) in (0..).zip(&setup.faults) {
            actions.push((fault.at, Action::Begin(number)));
            if fault.until != Ps::NEVER {
                actions.push((fault.until, Action::End(number)));
            }
        }
        for time in changes(&setup.faults, Fault::outage) {
            Self::routes(setup, &down(setup, Fault::outage, time), time)?;
        }
        for Reroute { at, routes, down } in reroutes(setup)? {
            actions.push((at, Action::Route(routes, down)));
        }
        actions.sort_by_key(|(time, _)| Reverse(*time));
        Ok(Self { actions })
    }

    /// The routes at a time without the links of these ports.
    fn routes(setup: &Setup, down: &[u32], time: Ps) -> Result<Routes, String> {
        let routes = Routes::without(&setup.topology, down)
            .map_err(|why| format!("[[fault]] at {time} disconnects the network: {why}"))?;
        // A packet may have covered most of its path when the routes change.
        let switches = (setup.routes.longest() + routes.longest() - 1) as usize;
        if setup.hosts.control.carries() == Carries::Int && switches > HOPS_MAX {
            return Err(format!(
                "[[fault]] at {time}: a packet may cross {switches} switches, but an INT record \
                 holds {HOPS_MAX}"
            ));
        }
        Ok(routes)
    }

    /// True if an action is due.
    pub(crate) fn is_due(&self, now: Ps) -> bool {
        self.actions.last().is_some_and(|(time, _)| *time <= now)
    }

    /// Executes the actions that are due. `place` has the partition of each port and its index
    /// there.
    pub(crate) fn apply(
        &mut self,
        now: Ps,
        setup: &Setup,
        place: &[(u32, u32)],
        partitions: &mut [Partition],
    ) {
        while self.is_due(now)
            && let Some((_, action)) = self.actions.pop()
        {
            match action {
                Action::Begin(number) => begin(number, setup, place, partitions),
                Action::End(number) => end(number, setup, place, partitions),
                Action::Route(routes, down) => {
                    for partition in &mut *partitions {
                        partition.set_routes(&routes, &down);
                    }
                }
            }
        }
    }
}

/// The ports of the faults with this time in their period.
fn down(setup: &Setup, period: fn(&Fault) -> Option<Period>, time: Ps) -> Vec<u32> {
    let holds =
        |fault: &&Fault| period(fault).is_some_and(|(at, until)| (at..until).contains(&time));
    let faults = setup.faults.iter().filter(holds);
    faults.flat_map(|fault| fault.ports.iter().copied()).collect()
}

/// The times at which any of these periods begins or ends, in order.
fn changes(faults: &[Fault], period: fn(&Fault) -> Option<Period>) -> Vec<Ps> {
    let periods = faults.iter().filter_map(period);
    let mut times: Vec<Ps> = periods.flat_map(|(at, until)| [at, until]).collect();
    times.retain(|time| *time != Ps::NEVER);
    times.sort_unstable();
    times.dedup();
    times
}

fn begin(number: u32, setup: &Setup, place: &[(u32, u32)], partitions: &mut [Partition]) {
    let fault = &setup.faults[number as usize];
    for &port in &fault.ports {
        let (partition, local) = place[port as usize];
        let fabric = partitions[partition as usize].fabric_mut();
        match fault.defect {
            Defect::Loss { share } => {
                let entity = u64::from(number) << 32 | u64::from(port);
                let rng = Rng::stream(setup.seed, Purpose::LinkLoss, entity);
                fabric.begin_loss(local, number, share, rng);
            }
            Defect::Down { .. } => {
                fabric.take_down(local);
                let lost = fabric.lose_in_flight(local);
                partitions[partition as usize].on_link_down(local);
                let (partition, peer) = place[setup.topology.ports[port as usize].peer as usize];
                partitions[partition as usize].fabric_mut().count_lost(peer, lost);
            }
        }
    }
}

fn end(number: u32, setup: &Setup, place: &[(u32, u32)], partitions: &mut [Partition]) {
    let fault = &setup.faults[number as usize];
    for &port in &fault.ports {
        let (partition, local) = place[port as usize];
        let fabric = partitions[partition as usize].fabric_mut();
        match fault.defect {
            Defect::Loss { .. } => fabric.end_loss(local, number),
            Defect::Down { .. } => fabric.repair(local),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn down(at: u64, until: u64, detection: u64) -> Fault {
        let defect = Defect::Down { detection: Ps(detection) };
        Fault { defect, ports: vec![1, 2], at: Ps(at), until: Ps(until) }
    }

    #[test]
    fn a_link_is_avoided_from_its_detection_to_the_detection_of_its_recovery() {
        assert_eq!(down(10, 50, 5).avoided(), Some((Ps(15), Ps(55))));
        assert_eq!(down(10, 50, 0).avoided(), Some((Ps(10), Ps(50))));
        assert_eq!(down(10, u64::MAX, 5).avoided(), Some((Ps(15), Ps::NEVER)));
        assert_eq!(down(10, 15, 5).avoided(), None, "it recovers before its detection");
        let loss = Fault { defect: Defect::Loss { share: 0.1 }, ..down(10, 50, 0) };
        assert_eq!((loss.avoided(), loss.outage()), (None, None));
    }

    #[test]
    fn changes_are_ordered_and_unique() {
        let faults = [down(10, 50, 5), down(50, u64::MAX, 5), down(0, 10, 0)];
        assert_eq!(changes(&faults, Fault::outage), [0, 10, 50].map(Ps));
        assert_eq!(changes(&faults, Fault::avoided), [0, 10, 15, 55].map(Ps));
    }
}
