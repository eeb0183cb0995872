//! Rules for switches: marks, queues, memory, paths.

use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam;
use xoff_host::cc::Carries;
use xoff_host::receiver_driven::DriverConfig;
use xoff_host::transport::AckClass;
use xoff_net::balance::PathPer;
use xoff_net::hop::HopQueues;
use xoff_net::sched::SchedulerConfig;

use crate::resolve::reader::Reader;
use crate::resolve::spec::Spec;
use crate::sections::FlowRows;

/// Marks and a control that reacts to them require each other.
pub(super) fn marks(spec: &Spec, reader: &mut Reader<'_>) {
    let reacts = !spec.receiver_driven() && spec.control.reacts_to_marks(&spec.tcp());
    let (section, key) = spec.control.marks_setting();
    let name = spec.control_name();
    match (reacts, spec.switch.ecn) {
        (false, true) => {
            let or = if section == "tcp" { ", or tcp.ecn = true" } else { "" };
            reader.problem(
                "switch",
                "ecn",
                format!("{name} ignores ECN marks: set ecn = false{or}"),
            );
        }
        (true, false) => {
            let message = format!("{name} needs ECN marks: set switch.ecn = true");
            if reader.layers.set_by_user("switch", "ecn") {
                reader.problem("switch", "ecn", message);
            } else {
                reader.problem(section, key, message);
            }
        }
        (true, true) | (false, false) => {}
    }
    if spec.switch.ecn && !spec.scheduler.has_queues() {
        let scheduler = spec.switch.scheduler.show();
        let message =
            format!("scheduler = {scheduler} has no queues to mark by length: set ecn = false");
        reader.problem("switch", "ecn", message);
    }
}

/// The scheduler must serve the queues of the hop control, and the priorities in packets.
pub(super) fn queues(spec: &Spec, reader: &mut Reader<'_>) {
    let (hop, scheduler) = (spec.switch.hop.show(), spec.switch.scheduler.show());
    let queues = spec.hop.queues();
    if let Err(why) = spec.scheduler.serves(&queues) {
        let others = match &queues {
            HopQueues::Any => String::new(),
            HopQueues::Classes | HopQueues::Assigned(_) => {
                format!("; set {}", schedulers_for(&queues))
            }
        };
        let message = format!(
            "scheduler = {scheduler} cannot be combined with hop = {hop}: it {why}{others}"
        );
        reader.problem("switch", "scheduler", message);
    }
    let (carries, serves) =
        (spec.driver.carries_priorities(), spec.scheduler.serves_carried_priorities());
    if serves && !carries {
        let carry = DriverConfig::all().into_iter().filter(|driver| driver.carries_priorities());
        let names: Vec<String> = carry.map(|driver| driver.kind().show()).collect();
        let message = format!(
            "scheduler = {scheduler} serves priorities in packets: set transport.kind = {}",
            names.join(" or ")
        );
        reader.problem("switch", "scheduler", message);
    }
}

/// The schedulers that serve these queues, as a setting.
pub(super) fn schedulers_for(queues: &HopQueues) -> String {
    let serve = |scheduler: &SchedulerConfig| {
        scheduler.serves(queues).is_ok() && !scheduler.serves_carried_priorities()
    };
    let all = SchedulerConfig::all().into_iter().filter(serve);
    let names: Vec<String> = all.map(|scheduler| scheduler.kind().show()).collect();
    format!("scheduler = {}", names.join(" or "))
}

/// A packet memory needs a size, and must hold a packet.
pub(super) fn buffer(spec: &Spec, reader: &mut Reader<'_>) {
    let Some(buffer) = &spec.buffer else { return };
    let derived = buffer.size.0 == 0 && spec.scheduler.port_memory(xoff_core::Bytes(1)).is_some();
    if derived || buffer.is_unlimited() {
        return;
    }
    if buffer.size.0 == 0 {
        reader.problem("buffer", "size", "size must be more than zero");
    }
    let full = spec.frame.full_packet();
    if !buffer.is_dedicated() {
        return;
    }
    if buffer.size.0 < full {
        let message = format!("a queue of size = {} must hold a packet of {full}B", buffer.size);
        reader.problem("buffer", "size", message);
    }
    if !spec.scheduler.has_queues() {
        let scheduler = spec.switch.scheduler.show();
        let message = format!("scheduler = {scheduler} has no queues with their own memory");
        reader.problem("buffer", "kind", message);
    }
}

/// A quantum of 0 would never end; one of many packets is not fair queueing.
pub(super) fn quantum(spec: &Spec, reader: &mut Reader<'_>) {
    if spec.scheduler.takes_turns() && !(64..=1_000_000).contains(&spec.switch.quantum.0) {
        reader.problem("switch", "quantum", "quantum must be from 64B to 1MB");
    }
}

/// Packets of a flow may take several paths only if no part needs a single one.
pub(super) fn paths(spec: &Spec, reader: &mut Reader<'_>) {
    let balance = spec.switch.balance.show();
    if spec.switch.symmetric_ecmp && !spec.balance.hashes() {
        let does = if spec.balance.path_per() == PathPer::Flow {
            "hashes nothing"
        } else {
            "spreads the packets of a flow"
        };
        let message = format!(
            "symmetric_ecmp = true requires balance = \"ecmp\": balance = {balance} {does}"
        );
        reader.problem("switch", "symmetric_ecmp", message);
    }
    if spec.run.paths && spec.run.flows == FlowRows::None {
        let message = "paths = true has no effect with flows = \"none\", which selects no flow: \
                       set flows = \"all\" or \"sample\"";
        reader.problem("run", "paths", message);
    }
    let (each, overtakes) = match spec.balance.path_per() {
        PathPer::Flow => return,
        PathPer::Flowlet => ("flowlet", false),
        PathPer::Packet => ("packet", true),
    };
    if spec.run.paths {
        let message = format!(
            "paths = true requires flows that take one path each: switch.balance = {balance} sends \
             each {each} its own way; remove paths (ports.parquet has what each link carried), or \
             set switch.balance = \"ecmp\""
        );
        reader.problem("run", "paths", message);
    }
    if overtakes && spec.needs_order() {
        let message = format!(
            "balance = {balance} lets packets of a flow overtake each other, which these hosts \
             take for losses: set transport.recovery = \"sack\" with tcp.duplicate_acks = 0 or \
             more than 3, or \"perfect\""
        );
        reader.problem("switch", "balance", message);
    }
    for reason in [spec.control.needs_one_path(), spec.hop.needs_one_path()].into_iter().flatten() {
        let message =
            format!("balance = {balance} needs flows that may take several paths, but {reason}");
        reader.problem("switch", "balance", message);
    }
}

/// Switches with ingress queues write no headers of congestion controls. They have one queue ahead
/// of all classes, for their own frames.
pub(super) fn ingress_queues(spec: &Spec, reader: &mut Reader<'_>) {
    let architecture = spec.switch.architecture.show();
    if spec.switch.symmetric_ecmp && spec.architecture.has_ingress_queues() {
        let message = "symmetric_ecmp = true requires architecture = \"output-queued\"";
        reader.problem("switch", "symmetric_ecmp", message);
    }
    if !spec.architecture.has_ingress_queues() {
        return;
    }
    if spec.control.carries() != Carries::Nothing {
        let message = format!(
            "architecture = {architecture} does not write the headers that congestion = {} needs",
            spec.control.kind().show()
        );
        let here = [("transport", "congestion"), ("switch", "architecture")];
        reader.problem_at(&here, message);
    }
    if !spec.receiver_driven() && spec.transport.ack_class != AckClass::Data {
        let message = format!(
            "architecture = {architecture} requires ack_class = \"data\": only its own frames go \
             ahead of all classes"
        );
        reader.problem_at(&[("transport", "ack_class"), ("switch", "architecture")], message);
    }
}

/// A scheduler that uses the sizes of flows needs packets with the bytes left of their flow.
pub(super) fn sizes_of_flows(spec: &Spec, reader: &mut Reader<'_>) {
    if !spec.scheduler.uses_flow_sizes() {
        return;
    }
    let scheduler = spec.switch.scheduler.show();
    let needs = format!("scheduler = {scheduler} needs packets with the bytes left of their flow");
    if spec.receiver_driven() {
        let message =
            format!("{needs}, which transport.kind = {} does not write", spec.driver.kind().show());
        reader.problem_at(&[("transport", "kind"), ("switch", "scheduler")], message);
    } else if !spec.recovery.tells_what_is_left() {
        let message = format!(
            "{needs}; with transport.recovery = {} a retransmitted packet counts bytes that have \
             arrived: set recovery = \"go-back-n\"",
            spec.recovery.kind().show()
        );
        reader.problem_at(&[("transport", "recovery"), ("switch", "scheduler")], message);
    }
}
