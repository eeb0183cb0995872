//! Faults of links: links that go down and recover, their detection by switches, links with random
//! losses, and links at a lower rate. A switch or a host goes down with all of its links.

use xoff_core::{BitRate, HostId, NodeId, PortId, Ps};
use xoff_net::fabric::RandomLoss;
use xoff_net::topo::{Missing, Topology};

mod bit_errors;
mod degrade;
mod flap;
mod host_down;
mod link_down;
mod loss;
mod settings;
mod switch_down;

pub use bit_errors::BitErrorsConfig;
pub use degrade::DegradeConfig;
pub use flap::FlapConfig;
pub use host_down::HostDownConfig;
pub use link_down::LinkDownConfig;
pub use loss::LossConfig;
pub use settings::{Direction, FaultSettings, PERIODS_MAX, Part};
pub use switch_down::SwitchDownConfig;

xoff_core::seam! {
    /// Kinds of fault.
    pub enum FaultConfig: dyn FaultSettings, named by FaultKind {
        /// A link goes down.
        LinkDown(LinkDownConfig) = "link-down",
        /// A link goes down again and again.
        Flap(FlapConfig) = "flap",
        /// A switch goes down.
        SwitchDown(SwitchDownConfig) = "switch-down",
        /// A host goes down.
        HostDown(HostDownConfig) = "host-down",
        /// Links lose packets at random.
        Loss(LossConfig) = "loss",
        /// Links lose packets with wrong bits.
        BitErrors(BitErrorsConfig) = "bit-errors",
        /// A link works at a lower rate.
        Degrade(DegradeConfig) = "degrade",
    }
}

/// The defect of a faulty link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Defect {
    /// The links are down.
    Down {
        /// Delay until all switches know that a link is down, or back.
        detection: Ps,
        /// Whether the switches at its ends avoid it at once.
        local_repair: bool,
    },
    /// The links are gone for good, as in the HPCC simulator: switches avoid them at once, and
    /// hosts share their flows out to their links again.
    Gone,
    /// The links are down, and so is the host at their end: no switch can route around them.
    HostDown,
    /// The links lose packets at random.
    Loss(RandomLoss),
    /// The links work at this rate.
    Degraded(BitRate),
}

impl Defect {
    /// Whether the links lose packets.
    #[must_use]
    pub fn loses_packets(&self) -> bool {
        !matches!(self, Defect::Degraded(_))
    }

    /// Whether the links carry nothing. Both ends of such a link know, and forget the pauses of
    /// before.
    #[must_use]
    pub fn is_down(&self) -> bool {
        self.is_outage() || *self == Defect::HostDown
    }

    /// Whether the links carry nothing, so that switches must route around them.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        matches!(self, Defect::Down { .. } | Defect::Gone)
    }
}

/// A fault of some links.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The defect.
    pub defect: Defect,
    /// The affected ports, which send into the links.
    pub ports: Vec<PortId>,
    /// The switch that is down, if hosts are down with it because they have no link to another.
    pub dead_switch: Option<NodeId>,
    /// The number of its entry in the scenario, which may have several faults.
    pub entry: u32,
    /// Begin.
    pub at: Ps,
    /// End; [`Ps::NEVER`] if it is permanent.
    pub until: Ps,
}

/// Begin and end.
type Period = (Ps, Ps);

impl Fault {
    /// The host that is down, if it is one.
    #[must_use]
    pub fn host(&self, topology: &Topology) -> Option<HostId> {
        (self.defect == Defect::HostDown).then(|| {
            let nodes = self.ports.iter().map(|&port| topology.port(port).node);
            let host = nodes.min().expect("a host has a link");
            HostId(host.0)
        })
    }

    /// Whether a host goes down and does not come back.
    #[must_use]
    pub fn is_death(&self) -> bool {
        self.defect == Defect::HostDown && self.until == Ps::NEVER
    }

    /// The period in which switches need routes without these links; `None` if there is none, or
    /// if the links carry some packets.
    #[must_use]
    pub fn outage(&self) -> Option<Period> {
        self.defect.is_outage().then_some((self.at, self.until))
    }

    /// Whether the links are missing from the start, so that no packet is sent into them.
    #[must_use]
    pub fn is_from_the_start(&self) -> bool {
        self.at == Ps(0) && self.avoided().is_some_and(|(from, _)| from == Ps(0))
    }

    /// The period in which the switches at the ends of these links avoid them by local repair.
    #[must_use]
    pub fn repaired(&self) -> Option<Period> {
        let is_repaired = matches!(self.defect, Defect::Down { local_repair: true, .. });
        is_repaired.then_some((self.at, self.until))
    }

    /// The period in which all switches avoid these links; `None` if they never do, because they
    /// would detect the failure too late.
    #[must_use]
    pub fn avoided(&self) -> Option<Period> {
        let detection = match self.defect {
            Defect::Down { detection, .. } => detection,
            Defect::Gone => Ps(0),
            Defect::HostDown | Defect::Loss(_) | Defect::Degraded(_) => return None,
        };
        let after = |time: Ps| Ps(time.0.saturating_add(detection.0));
        (after(self.at) < self.until).then(|| (after(self.at), after(self.until)))
    }
}

/// The links that the switches at their ends avoid at this time, whatever other switches know.
pub(crate) fn repaired_in(faults: &[Fault], time: Ps) -> Vec<PortId> {
    let holds =
        |fault: &&Fault| fault.repaired().is_some_and(|(at, until)| (at..until).contains(&time));
    faults.iter().filter(holds).flat_map(|fault| fault.ports.iter().copied()).collect()
}

/// The links of the faults with this time in their period, and their dead switches.
pub(crate) fn missing_in(
    faults: &[Fault],
    period: fn(&Fault) -> Option<Period>,
    time: Ps,
) -> Missing {
    let holds =
        |fault: &&Fault| period(fault).is_some_and(|(at, until)| (at..until).contains(&time));
    let faults = || faults.iter().filter(holds);
    Missing {
        ports: faults().flat_map(|fault| fault.ports.iter().copied()).collect(),
        dead: faults().filter_map(|fault| fault.dead_switch).collect(),
    }
}

/// The times at which any of these periods begins or ends, in order.
pub(crate) fn changes(faults: &[Fault], period: fn(&Fault) -> Option<Period>) -> Vec<Ps> {
    let periods = faults.iter().filter_map(period);
    let mut times: Vec<Ps> = periods.flat_map(|(at, until)| [at, until]).collect();
    times.retain(|time| *time != Ps::NEVER);
    times.sort_unstable();
    times.dedup();
    times
}

#[cfg(test)]
mod tests {
    use xoff_net::fabric::LossOf;

    use super::*;

    fn down(at: u64, until: u64, detection: u64) -> Fault {
        let defect = Defect::Down { detection: Ps(detection), local_repair: false };
        let ports = vec![PortId(1), PortId(2)];
        Fault { defect, ports, dead_switch: None, entry: 0, at: Ps(at), until: Ps(until) }
    }

    #[test]
    fn a_link_is_avoided_from_its_detection_to_the_detection_of_its_recovery() {
        assert_eq!(down(10, 50, 5).avoided(), Some((Ps(15), Ps(55))));
        assert_eq!(down(10, 50, 0).avoided(), Some((Ps(10), Ps(50))));
        assert_eq!(down(10, u64::MAX, 5).avoided(), Some((Ps(15), Ps::NEVER)));
        assert_eq!(down(10, 15, 5).avoided(), None, "it recovers before its detection");
        let loss = Fault {
            defect: Defect::Loss(RandomLoss { of: LossOf::Packets(0.1), keeps_pauses: false }),
            ..down(10, 50, 0)
        };
        assert_eq!((loss.avoided(), loss.outage()), (None, None));
        let host = Fault { defect: Defect::HostDown, ..down(10, 50, 0) };
        assert_eq!((host.avoided(), host.outage()), (None, None), "there is no other route");
        assert!(host.defect.is_down() && host.defect.loses_packets());
        assert_eq!(down(10, 50, 5).repaired(), None);
        let repaired = Defect::Down { detection: Ps(5), local_repair: true };
        let repaired = Fault { defect: repaired, ..down(10, 50, 5) };
        assert_eq!(repaired.repaired(), Some((Ps(10), Ps(50))));
        let missing = [down(0, 50, 0), down(0, 50, 5), down(10, 50, 0)];
        assert_eq!(missing.map(|fault| fault.is_from_the_start()), [true, false, false]);
    }

    #[test]
    fn changes_are_ordered_and_unique() {
        let faults = [down(10, 50, 5), down(50, u64::MAX, 5), down(0, 10, 0)];
        assert_eq!(changes(&faults, Fault::outage), [0, 10, 50].map(Ps));
        assert_eq!(changes(&faults, Fault::avoided), [0, 10, 15, 55].map(Ps));
    }
}
