//! The `[[fault]]` entries of a scenario.

use xoff_core::knobs::{Capabilities, Knob as _};
use xoff_core::seam::Seam as _;
use xoff_core::{NodeId, PortId, Ps};
use xoff_net::capability::CONTROL_FRAMES;
use xoff_net::fabric::RandomLoss;
use xoff_net::topo::Topology;
use xoff_sim::faults::{Defect, Direction, Fault, FaultConfig, PERIODS_MAX, Part};

use super::Resolver;
use super::rules::SET_TIMEOUT;
use super::spec::Spec;
use crate::entries::Entries;
use crate::links;

impl Resolver<'_> {
    /// Reads all entries. Problems are in the layers.
    pub(super) fn link_faults(&mut self, topology: &Topology, spec: &Spec) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (number, entry) in (0..).zip(self.reader.layers.tables("fault")) {
            let (layers, effective) = (&mut *self.reader.layers, &mut self.reader.effective);
            let mut list = Entries { list: "fault", layers, effective, lacking: &[] };
            let Some((settings, _)) = list.read::<FaultConfig>(&entry) else { continue };
            match faults_of((number, &settings), topology, spec) {
                Ok(found) => faults.extend(found),
                Err(message) => {
                    let message = format!("[[fault]] {message}");
                    self.reader.layers.problem(Some(entry.place()), message, None);
                }
            }
        }
        faults
    }
}

/// The faults for which an entry stands.
fn faults_of(
    (entry, settings): (u32, &FaultConfig),
    topology: &Topology,
    spec: &Spec,
) -> Result<Vec<Fault>, String> {
    settings.check()?;
    if let Defect::Down { detection: Ps(0), local_repair: true } = settings.defect() {
        return Err(
            "local_repair = true has no effect with detection = \"0s\": all switches avoid \
                    the link at once"
                .into(),
        );
    }
    let (at, until) = settings.times();
    if until != Ps(0) && until <= at {
        return Err(format!("until is {until}, which is not after at ({at}); 0s means never"));
    }
    check_composition(settings, spec)?;
    let Parts { ports, dead_switch, hosts } = parts(settings, topology)?;
    check_rate(settings, &ports, spec, topology)?;
    let (end, grid) = (spec.run.end(), spec.run.grid);
    let periods = settings.periods(end);
    if periods.is_empty() {
        return Err(format!("at ({at}) is not before the end of the run ({end})"));
    }
    if periods.len() > PERIODS_MAX {
        return Err(format!(
            "would happen more than {PERIODS_MAX} times until the run ends after {end}: set a \
             longer period, or until"
        ));
    }
    let fault = |(at, until): (Ps, Ps)| {
        let until = if until == Ps(0) { Ps::NEVER } else { until };
        let (defect, ports) = (settings.defect(), ports.clone());
        let fault = Fault { defect, ports, dead_switch, entry, at, until };
        check_steps(&fault, grid)?;
        let host = |ports: &Vec<PortId>| {
            let (defect, ports) = (Defect::HostDown, ports.clone());
            Fault { defect, ports, dead_switch: None, entry, at, until }
        };
        let faults: Vec<Fault> = hosts.iter().map(host).chain([fault]).collect();
        faults.iter().try_for_each(|fault| check_timeout(fault, spec))?;
        Ok(faults)
    };
    let faults: Result<Vec<_>, String> = periods.into_iter().map(fault).collect();
    Ok(faults?.into_iter().flatten().collect())
}

/// The parts of the network that are faulty.
struct Parts {
    /// The ports that send into the faulty links.
    ports: Vec<PortId>,
    /// The switch that is down, if hosts are down with it.
    dead_switch: Option<NodeId>,
    /// The ports of the links of each of these hosts.
    hosts: Vec<Vec<PortId>>,
}

fn parts(settings: &FaultConfig, topology: &Topology) -> Result<Parts, String> {
    let ports = match settings.part() {
        Part::Switch(name) => {
            return dead_switch(name, topology).map_err(|why| format!("switch: {why}"));
        }
        Part::Host(name) => links::host(name, topology).map_err(|why| format!("host: {why}"))?,
        Part::Link(name) => ports_of_link(name, settings, topology)?,
    };
    Ok(Parts { ports, dead_switch: None, hosts: Vec::new() })
}

/// A switch that is down. With it go the hosts that have no link to another switch.
fn dead_switch(name: &str, topology: &Topology) -> Result<Parts, String> {
    let switch = links::switch(name, topology)?;
    let mut ports = links::with_peers(switch, topology);
    let neighbours = topology.ports_of(switch).iter().map(|port| topology.neighbour(port));
    let is_lonely = |host: &NodeId| {
        let mut others = topology.ports_of(*host).iter().map(|port| topology.neighbour(port));
        topology.is_host(*host) && others.all(|other| other == switch)
    };
    let mut hosts: Vec<NodeId> = neighbours.filter(is_lonely).collect();
    hosts.sort_unstable();
    hosts.dedup();
    if hosts.iter().any(|host| host.0 >= topology.servers()) {
        return Err(format!("the host of an allocator is on {name}, so the switch cannot go down"));
    }
    let of_host = |port: &PortId| {
        let port = topology.port(*port);
        [port.node, topology.neighbour(port)].iter().any(|node| hosts.contains(node))
    };
    ports.retain(|port| !of_host(port));
    let dead_switch = (!hosts.is_empty()).then_some(switch);
    let hosts = hosts.iter().map(|&host| links::with_peers(host, topology)).collect();
    Ok(Parts { ports, dead_switch, hosts })
}

/// The ports that send into the faulty links that a name means.
fn ports_of_link(
    link: &str,
    settings: &FaultConfig,
    topology: &Topology,
) -> Result<Vec<PortId>, String> {
    let is_outage = settings.defect().is_outage();
    if link == "all" && !is_outage {
        if settings.direction() != Direction::Both {
            return Err(
                "direction has no meaning for link = \"all\": name the two ends of a link".into()
            );
        }
        return Ok(topology.port_ids().collect());
    }
    let ports = links::link(link, topology).map_err(|why| format!("link: {why}"))?;
    let host = ports.iter().map(|&port| topology.port(port).node).min();
    if let Some(host) = host.filter(|&node| is_outage && topology.is_host(node)) {
        return Err(match topology.ports_of(host).len() {
            1 => format!(
                "link: host {host} has no other link, so it would be cut off: to do that, use kind \
                 = \"host-down\""
            ),
            _ => format!("link: host {host} would not move its flows to its other links"),
        });
    }
    let first = topology.port(ports[0]).node;
    let keeps = |port: &PortId| match settings.direction() {
        Direction::Both => true,
        Direction::There => topology.port(*port).node == first,
        Direction::Back => topology.port(*port).node != first,
    };
    Ok(ports.into_iter().filter(keeps).collect())
}

/// Whether a degraded link works at a lower rate than its own, at which a switch still sends the
/// frames of its hop control.
fn check_rate(
    settings: &FaultConfig,
    ports: &[PortId],
    spec: &Spec,
    topology: &Topology,
) -> Result<(), String> {
    let Defect::Degraded(rate) = settings.defect() else { return Ok(()) };
    let mut links = ports.iter().map(|&port| topology.port(port));
    if let Some(port) = links.clone().find(|port| port.rate <= rate) {
        return Err(format!(
            "rate is {rate}, which is not lower than the {} of the link from {} to {}",
            port.rate,
            topology.name(port.node),
            topology.name(topology.neighbour(port)),
        ));
    }
    if links.all(|port| topology.is_host(port.node)) {
        return Ok(());
    }
    let section = spec.hop.own_section();
    let with = |(_, why)| format!("rate cannot be combined with section {section}: {why}");
    spec.hop.check_rate(rate).map_err(with)
}

/// Whether a fault lasts for at least one step of the grid, to which its times are rounded up.
fn check_steps(fault: &Fault, grid: Ps) -> Result<(), String> {
    let Fault { at, until, .. } = *fault;
    let step = |time: Ps| time.0.div_ceil(grid.0.max(1));
    if step(at) < step(until) {
        return Ok(());
    }
    Err(format!(
        "at ({at}) and until ({until}) are rounded up to the same step of run.grid ({grid}), so \
         the fault would have no effect: make it longer, or make run.grid shorter"
    ))
}

/// Whether the composition recovers from lost packets and from lost pause or resume frames. When a
/// link goes down, both of its ends notice and start again. A link with random loss could leave a
/// queue paused.
fn check_composition(settings: &FaultConfig, spec: &Spec) -> Result<(), String> {
    let defect = settings.defect();
    if !defect.loses_packets() {
        return Ok(());
    }
    if spec.recovery.relies_on_switches() {
        let recovery = spec.recovery.kind().show();
        return Err(format!(
            "cannot be combined with transport.recovery = {recovery}: switches report their drops, \
             but no switch reports losses of a link"
        ));
    }
    let keeps_pauses = matches!(defect, Defect::Loss(RandomLoss { keeps_pauses: true, .. }));
    let nic_pauses = spec.nic.receive_rate.0 > 0;
    let mut found = Capabilities::default();
    spec.hop.provide(&mut found);
    spec.architecture.provide(&mut found);
    let pauses = nic_pauses || found.missing(CONTROL_FRAMES).is_none();
    if keeps_pauses && !pauses {
        return Err("keep_pauses = true has no effect: nothing sends pauses".into());
    }
    let survives = match defect.is_down() {
        true => spec.hop.survives_link_down(),
        false => keeps_pauses || spec.hop.survives_loss() && !nic_pauses,
    };
    if survives {
        return Ok(());
    }
    let hop = spec.hop.kind().show();
    Err(match defect.is_down() {
        true => format!(
            "cannot be combined with switch.hop = {hop} as it is set: a switch would keep pauses \
             of a link that is down; under BFC, set bfc.backpressure = \"queues\""
        ),
        false => format!(
            "would lose pauses and resumes of switch.hop = {hop} or nic.receive_rate, and a queue \
             whose resume is lost would wait without end: set keep_pauses = true"
        ),
    })
}

/// A link that loses packets needs someone who sends them again: without a timeout no sender
/// notices that the last packets of a flow are lost. The flows of a host that stays down have an
/// end that answers nothing.
fn check_timeout(fault: &Fault, spec: &Spec) -> Result<(), String> {
    let loses = fault.defect.loses_packets() && !fault.is_from_the_start() && !fault.is_death();
    match spec.waits_without_limit() {
        Some(waiting) if loses => Err(format!(
            "cannot be combined with transport.timeout = \"0ps\": {waiting} waits without limit \
             for packets that a link loses; {SET_TIMEOUT}"
        )),
        _ => Ok(()),
    }
}
