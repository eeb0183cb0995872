//! Rules that depend on the network, its faults, and the traffic.

use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam;
use xoff_core::{BitRate, Bytes, HostId, Ps};
use xoff_host::cc::Carries;
use xoff_host::hosts::HostSetup;
use xoff_net::arch::{PauseConfig, Scope};
use xoff_net::hop::PfcPort;
use xoff_net::telemetry::RATE_UNIT;
use xoff_net::topo::{Port, Topology, TopologyConfig};
use xoff_sim::faults::{Defect, Fault};
use xoff_sim::flowtune::FlowtuneSetup;

use super::leaf_spine;
use crate::resolve::reader::Reader;
use crate::resolve::spec::Spec;
use crate::sections::{Departure, InstantsKind};
use crate::traffic::Flows;

/// The input of these rules, in addition to the spec.
pub(in crate::resolve) struct Context<'a> {
    pub(in crate::resolve) shape: &'a TopologyConfig,
    pub(in crate::resolve) topology: &'a Topology,
    pub(in crate::resolve) base_rtt: Ps,
    pub(in crate::resolve) flows: &'a Flows,
    pub(in crate::resolve) faults: &'a [Fault],
    pub(in crate::resolve) flowtune: Option<&'a FlowtuneSetup>,
}

/// Checks everything that depends on the network.
pub(in crate::resolve) fn check_network(
    spec: &Spec,
    context: &Context<'_>,
    reader: &mut Reader<'_>,
) {
    const RULES: [fn(&Spec, &Context<'_>, &mut Reader<'_>); 16] = [
        labels,
        triggers,
        given_paths,
        |spec, context, reader| leaf_spine::check(spec, context.topology, reader),
        stops,
        sizes,
        priorities,
        symmetric,
        nic,
        least_rate,
        told_rates,
        timeout,
        base_rtt,
        allocator,
        hop_switches,
        room_besides_headroom,
    ];
    for rule in RULES {
        rule(spec, context, reader);
    }
}

/// Only some parts keep events of one instant in the order of setting.
pub(in crate::resolve) fn check_instants(
    spec: &Spec,
    instants: InstantsKind,
    faults: &[Fault],
    reader: &mut Reader<'_>,
) {
    if instants != InstantsKind::AsSet {
        return;
    }
    let wanted = if spec.architecture.has_ingress_queues() {
        "switch.architecture = \"output-queued\": other switches act in phases"
    } else if !faults.is_empty() {
        "a scenario without [[fault]]: links that fail lose packets in phases"
    } else {
        return;
    };
    reader.problem("network", "instants", format!("instants = \"as-set\" requires {wanted}"));
}

/// Packets leave their queues late only where ports and links do nothing else with them. What that
/// requires of other settings is [`Departure::needs`].
pub(in crate::resolve) fn check_departure(spec: &Spec, faults: &[Fault], reader: &mut Reader<'_>) {
    let wanted = if spec.switch.departure == Departure::Start {
        return;
    } else if spec.driver.credits(spec.frame.full_packet()).is_some() {
        "a transport without credits, which ports shape"
    } else if !faults.is_empty() {
        "a scenario without [[fault]]: links lose packets when a transmission starts"
    } else {
        return;
    };
    reader.problem("switch", "departure", format!("departure = \"end\" requires {wanted}"));
}

/// Flow labels and a hop control that reads them require each other.
fn labels(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    match (spec.hop.reads_labels(), &context.flows.first_labelled) {
        (true, None) => {
            let message = "incast_queue = true, but no traffic is labelled: set labelled = true \
                           where kind = \"incast\"";
            reader.problem(spec.hop.own_section(), "incast_queue", message);
        }
        (false, Some(place)) => {
            let message = "[[traffic]] labelled = true has no effect: only bfc.incast_queue = true \
                           reads labels";
            reader.problem_in(place.clone(), message);
        }
        _ => {}
    }
}

/// A trigger acts on all hosts at once, so these are in one partition. A flow with a trigger may
/// begin after the measured time, which batches divide.
fn triggers(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    if context.flows.triggers.is_none() {
        return;
    }
    if spec.run.partitions > 1 {
        let message = "[[traffic]] flows with triggers need partitions = 0 or 1";
        reader.problem("run", "partitions", message);
    }
    if spec.run.batches > 0 {
        let message = "[[traffic]] flows with triggers belong to no batch of time: batches = 0";
        reader.problem("run", "batches", message);
    }
}

/// Paths that lists of flows give and the load balancer that takes them require each other.
fn given_paths(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    let columns = "columns data_path,ack_path";
    match (spec.balance.takes_given_paths(), context.flows) {
        (true, Flows { without_paths: Some(_), .. }) => {
            let message = format!(
                "balance = \"given\" requires [[traffic]] of kind = \"list\" with {columns}"
            );
            reader.problem("switch", "balance", message);
        }
        (false, Flows { with_paths: Some(place), .. }) => {
            let message = format!(
                "[[traffic]] {columns} have no effect: only switch.balance = \"given\" reads them"
            );
            reader.problem_in(place.clone(), message);
        }
        _ => {}
    }
}

/// Receivers that decide what is sent learn the size of a flow from its first packet.
fn stops(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    if let (Some(place), Some(name)) = (&context.flows.stops, spec.driver.receiver_driven()) {
        let message = format!(
            "[[traffic]] flows that stop cannot be combined with {name}, whose receivers learn the \
             size of a flow from its first packet"
        );
        reader.problem_in(place.clone(), message);
    }
}

/// A scheduler that uses the sizes of flows needs flows with a size.
fn sizes(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    let endless = context.flows.endless.as_ref().filter(|_| spec.scheduler.uses_flow_sizes());
    if let Some(place) = endless {
        let message = format!(
            "[[traffic]] flows without end have no size, which scheduler = {} needs: set bytes",
            spec.switch.scheduler.show()
        );
        reader.problem_in(place.clone(), message);
    }
}

/// A transport that divides priorities by flow size needs to know the sizes.
fn priorities(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    let unknown = context.flows.of_no_size.as_ref().filter(|_| spec.driver.needs_flow_sizes());
    if let Some(place) = unknown {
        let message = format!(
            "{} divides its priorities by the sizes of flows, which this [[traffic]] does not \
             determine: set homa.cutoffs",
            spec.driver.receiver_driven().unwrap_or_default()
        );
        reader.problem_in(place.clone(), message);
    }
}

/// Both directions of a flow take one path only if switches of a layer have the same choices.
fn symmetric(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    if !spec.switch.symmetric_ecmp {
        return;
    }
    if !context.shape.has_symmetric_choices() {
        let message = format!(
            "symmetric_ecmp = true cannot be combined with topology = {}, where switches of a \
             layer have different choices",
            context.shape.kind().show()
        );
        reader.problem("network", "topology", message);
    }
    if context.faults.iter().any(|fault| fault.outage().is_some()) {
        let message = "symmetric_ecmp = true cannot be combined with [[fault]] kind = \
                       \"link-down\": where a link is missing, switches of a layer have different \
                       choices";
        reader.problem("switch", "symmetric_ecmp", message);
    }
}

fn nic(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    if let Err((key, message)) = spec.nic.check(context.topology.port_of_host(HostId(0)).rate) {
        reader.problem("nic", key, message);
    }
}

/// A control with a lowest rate equal to a host's link rate would never slow down there.
fn least_rate(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    let Some((section, least)) = spec.control.min_rate() else { return };
    let hosts = context.topology.server_ids();
    let rates = hosts.map(|host| context.topology.port_of_host(host).rate);
    if let Some(slowest) = rates.min().filter(|&slowest| least >= slowest) {
        let message = format!(
            "min_rate = {} cannot slow down a host with a link of {}: set it lower",
            least.show(),
            slowest.show()
        );
        reader.problem(section, "min_rate", message);
    }
}

/// Rejects rates of links that switches cannot write into INT entries.
fn told_rates(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    if spec.control.carries() != Carries::Int {
        return;
    }
    let degraded = context.faults.iter().filter_map(|fault| match fault.defect {
        Defect::Degraded(rate) => Some(rate),
        _ => None,
    });
    let mut rates = context.topology.ports().iter().map(|port| port.rate).chain(degraded);
    let fits = |rate: BitRate| {
        rate.0.is_multiple_of(RATE_UNIT) && u32::try_from(rate.0 / RATE_UNIT).is_ok()
    };
    if let Some(rate) = rates.find(|&rate| !fits(rate)) {
        let message = format!(
            "congestion = {} reads the rates of links from INT entries, in whole Mbps: a link of \
             {rate} does not fit",
            spec.control.kind().show()
        );
        reader.problem("transport", "congestion", message);
    }
}

/// Rejects retransmissions that come faster than a link sends them: their queue would grow without
/// limit.
fn timeout(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    let slowest = slowest(context.topology);
    let packet = slowest.time_for(spec.frame.full_packet());
    let timeout = spec.transport.timeout;
    if timeout > Ps(0) && timeout <= packet {
        let message = format!(
            "timeout = {} is not longer than a packet takes on a link of {} ({packet}): no \
             acknowledgement could arrive in time",
            timeout.show(),
            slowest.show()
        );
        reader.problem("transport", "timeout", message);
    }
}

fn base_rtt(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    if let Err((key, message)) = spec.control.check_base_rtt(context.base_rtt) {
        reader.problem(spec.control.own_section(), key, message);
    }
}

/// Checks that the allocator's times and shares fit the network.
fn allocator(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    let Some(FlowtuneSetup { config, .. }) = context.flowtune else { return };
    let ack_share = spec.frame.ack.0 as f64 / spec.frame.full_packet() as f64;
    for checked in [config.check_times(context.base_rtt), config.check_shares(ack_share)] {
        if let Err((key, message)) = checked {
            reader.problem("flowtune", key, message);
        }
    }
    if let Err(message) = config.check_payload(spec.frame.payload) {
        reader.problem("frame", "payload", message);
    }
}

fn hop_switches(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    let switches = context.topology.switch_ids();
    let ports = switches.map(|node| (node.0, context.topology.ports_of(node).len()));
    let ports: Vec<(u32, usize)> = ports.collect();
    let checked = spec.hop.check_switches(spec.frame.full_packet(), &ports);
    if let Err((section, key, message)) = checked {
        reader.problem(section, key, message);
    }
}

/// What a flow control sets aside in a switch must leave memory for its ports to share.
fn room_besides_headroom(spec: &Spec, context: &Context<'_>, reader: &mut Reader<'_>) {
    let Some(buffer) = spec.buffer.as_ref().filter(|buffer| !buffer.is_unlimited()) else { return };
    let topology = context.topology;
    let aside_of = |ports: &[Port]| {
        spec.hop.set_aside(buffer, &ports.iter().map(PfcPort::from).collect::<Vec<_>>())
    };
    let of_one = |port: &Port| aside_of(std::slice::from_ref(port));
    for node in topology.switch_ids() {
        let ports = topology.ports_of(node);
        let (aside, gateway) = (aside_of(ports), topology.is_gateway(node));
        let size = buffer.of(gateway).size;
        if aside <= size.0 {
            continue;
        }
        let Some(port) = ports.iter().max_by_key(|port| of_one(port)) else { continue };
        let key = if gateway { "gateway_size" } else { "size" };
        // As much as other switches have to share.
        let enough = Bytes((aside + buffer.size.0).div_ceil(1_000_000) * 1_000_000);
        let (of, or) = match (spec.hop.pauses_classes(), buffer.by_class.is_empty()) {
            (true, true) => ("PFC's reserves and headrooms", "a smaller pfc.headroom_factor"),
            (true, false) => ("reserves and headrooms", "smaller ones in buffer.by_class"),
            (false, _) => ("reserves", "smaller ones in buffer.by_class"),
        };
        let message = format!(
            "{of} take {} of a buffer of {size} at {}, {} of it for the link to {} ({}, {}): set \
             buffer.{key} = {} or more, or {or}",
            Bytes(aside),
            topology.name(node),
            Bytes(of_one(port)),
            topology.name(topology.neighbour(port)),
            port.rate,
            port.delay,
            enough.show(),
        );
        reader.problem_at(&[("buffer", "by_class"), ("buffer", key)], message);
        return;
    }
}

/// The rate of the slowest link.
pub(in crate::resolve) fn slowest(topology: &Topology) -> BitRate {
    topology.ports().iter().map(|port| port.rate).min().unwrap_or(BitRate(1))
}

/// Checks an architecture against links and packets, and shows the derived thresholds.
pub(in crate::resolve) fn check_architecture(
    spec: &Spec,
    topology: &Topology,
    hosts: &HostSetup,
    reader: &mut Reader<'_>,
) {
    let switches = topology.switch_ids();
    let most_ports = switches.map(|node| topology.ports_of(node).len()).max().unwrap_or(0);
    let mtu = hosts.longest_packet();
    let problems = spec.architecture.check_network(mtu, most_ports).err().unwrap_or_default();
    let in_memory =
        problems.iter().any(|(section, ..)| *section == spec.architecture.own_section());
    for (section, key, message) in problems {
        reader.problem(section, key, message);
    }
    match spec.architecture.pause().filter(|pause| pause.scope != Scope::None) {
        Some(pause) if !in_memory => check_pauses(spec, pause, topology, mtu, reader),
        _ => {}
    }
}

/// Rates of links that errors name, in bit/s.
const COMMON_RATES: [u64; 9] = {
    const GBPS: u64 = 1_000_000_000;
    [
        GBPS,
        10 * GBPS,
        25 * GBPS,
        40 * GBPS,
        50 * GBPS,
        100 * GBPS,
        200 * GBPS,
        400 * GBPS,
        800 * GBPS,
    ]
};

/// Thresholds at every port.
fn check_pauses(
    spec: &Spec,
    pause: &PauseConfig,
    topology: &Topology,
    mtu: u64,
    reader: &mut Reader<'_>,
) {
    let frame = u64::from(spec.hop.frame_bytes());
    let reaction_at = |rate, port: &Port| pause.reaction(rate, port.delay, mtu, frame);
    let reaction = |port: &Port| reaction_at(port.rate.0, port);
    let thresholds = |port: &Port| spec.architecture.thresholds(&reaction(port));
    if let Some((port, (key, mut message))) =
        topology.ports().iter().find_map(|port| Some((port, thresholds(port).err()?)))
    {
        let fits = |rate: &u64| {
            *rate < port.rate.0 && spec.architecture.thresholds(&reaction_at(*rate, port)).is_ok()
        };
        message += &format!(
            " (a link of {} with a delay of {}; at this delay it fits links of ",
            port.rate, port.delay
        );
        message += &match COMMON_RATES.iter().rev().find(|rate| fits(rate)) {
            Some(&rate) => format!("up to {})", BitRate(rate)),
            None => "no lower rate, either)".to_owned(),
        };
        // If there is no room at all, the error belongs to the setting that needs more of it.
        let culprits = ["outstanding", "generation_delay", "response", "xoff"];
        let written = |key: &&str| reader.layers.has("pause", key).is_some();
        let blamed = culprits.into_iter().find(written).filter(|_| key == "scope");
        reader.problem("pause", blamed.unwrap_or(key), message);
    }
    let first = reaction(topology.port_of_host(HostId(0)));
    if let Ok(found) = spec.architecture.thresholds(&first) {
        reader.effective.derive("pause_reaction_time", first.time());
        reader.effective.derive("pause_headroom", Bytes(first.headroom()));
        reader.effective.derive("pause_xoff", Bytes(found.xoff));
        reader.effective.derive("pause_xon", Bytes(found.xon));
    }
}
