//! Rules for hosts: windows, pacing, recovery, NICs.

use xoff_core::Ps;
use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam;
use xoff_host::tcp::Halved;
use xoff_host::transport::{AllocatorKind, BaseRttOf, RoundRobin, Window};
use xoff_net::arch::Scope;
use xoff_net::hop::{HopKind as Hop, HopQueues};

use super::switches::schedulers_for;
use crate::resolve::reader::Reader;
use crate::resolve::spec::Spec;

/// A fixed window needs a size, and a control that scales the window needs a window.
pub(super) fn window(spec: &Spec, reader: &mut Reader<'_>) {
    let transport = &spec.transport;
    if transport.window == Window::Fixed && transport.window_size.0 == 0 {
        reader.problem(
            "transport",
            "window",
            "window = \"fixed\" needs a window_size of more than zero",
        );
    }
    if let Some(name) =
        spec.control.scales_window().filter(|_| transport.window == Window::Unlimited)
    {
        let message = format!("{name} controls a window, but window = \"unlimited\" has none");
        reader.problem("transport", "window", message);
    }
}

/// Without pacing, a rate acts only through the window.
pub(super) fn pacing(spec: &Spec, reader: &mut Reader<'_>) {
    let transport = &spec.transport;
    // At a NIC with a queue of its own, a window admits packets before the link can send them.
    let queues = transport.round_robin == RoundRobin::Fifo;
    let admits = queues && spec.control.has_tcp_window();
    if transport.pacing || spec.control.sets_own_window() || admits {
        return;
    }
    let message = if !spec.control.controls() {
        "pacing = false has no effect with congestion = \"none\": flows send at the rate of their \
         link"
    } else if !transport.window_follows_rate || transport.window == Window::Unlimited {
        "pacing = false needs window_follows_rate = true and window = \"bdp\": otherwise flows \
         ignore the rate of the congestion control"
    } else {
        return;
    };
    reader.problem("transport", "pacing", message);
}

/// Packets that flows have handed over to their NIC cannot be paused by class or by flow. A flow
/// that may hand over none sends none.
pub(super) fn handed_over(spec: &Spec, reader: &mut Reader<'_>) {
    if spec.transport.round_robin == RoundRobin::Posted && spec.transport.posted_packets == 0 {
        let message = "posted_packets must be at least 1: flows could send nothing";
        reader.problem("transport", "posted_packets", message);
    }
    let pauses = spec.architecture.pause().is_some_and(|pause| pause.scope != Scope::None);
    let round_robin = spec.transport.round_robin;
    let hands_over = matches!(round_robin, RoundRobin::Fifo | RoundRobin::Posted);
    if !hands_over || !pauses && spec.hop.kind() == Hop::None {
        return;
    }
    let cause = if pauses {
        "pause.scope".to_owned()
    } else {
        format!("switch.hop = {}", spec.hop.kind().show())
    };
    let message = format!(
        "round_robin = {} cannot be combined with {cause}: packets that wait at the NIC cannot be \
         paused",
        round_robin.show()
    );
    reader.problem("transport", "round_robin", message);
}

/// The timeout for few packets is the shorter one.
pub(super) fn timeouts(spec: &Spec, reader: &mut Reader<'_>) {
    let transport = &spec.transport;
    let two = spec.recovery.timeouts() == xoff_host::recovery::Timeouts::Two;
    if two && transport.timeout.0 > 0 && transport.timeout_low > transport.timeout {
        let message = format!(
            "timeout_low = {} must not be longer than timeout = {}",
            transport.timeout_low, transport.timeout
        );
        reader.problem("transport", "timeout_low", message);
    }
}

/// A flow that times out within the RTT sends again what is on its way, again and again.
pub(in crate::resolve) fn timeouts_exceed_rtt(spec: &Spec, base_rtt: Ps, reader: &mut Reader<'_>) {
    let transport = &spec.transport;
    let two = spec.recovery.timeouts() == xoff_host::recovery::Timeouts::Two;
    let keys = [("timeout", transport.timeout, true), ("timeout_low", transport.timeout_low, two)];
    let acts = transport.timeout.0 > 0 && spec.recovery.timeouts().act();
    for (key, timeout, used) in keys {
        if acts && used && timeout.0 > 0 && timeout <= base_rtt {
            let message = format!(
                "{key} = {timeout} is not longer than the base RTT of {base_rtt}: flows would send \
                 again what is on its way; set it to more than a round trip with queues"
            );
            reader.problem("transport", key, message);
        }
    }
}

/// Some controls depend on loss reports, and those with timeouts of their own on probes.
pub(super) fn losses(spec: &Spec, reader: &mut Reader<'_>) {
    let own = spec.control.recovery(Ps(1)).is_some();
    let enough = if own { spec.recovery.probes() } else { spec.recovery.reports_losses() };
    if !spec.control.needs_loss_reports() || enough {
        return;
    }
    let congestion = spec.control.kind().show();
    let recoveries = if own { "\"sack\"" } else { "\"sack\", \"newreno\" or \"sack1\"" };
    let message = format!(
        "congestion = {congestion} requires recovery = {recoveries}: no other recovery reports \
         losses to it"
    );
    reader.problem_at(&[("transport", "recovery"), ("transport", "congestion")], message);
}

/// Only NewReno's control knows a window to halve.
pub(super) fn halved(spec: &Spec, reader: &mut Reader<'_>) {
    let tcp = spec.tcp();
    if tcp.halved == Halved::Window && !spec.control.halves_window() {
        let message = "halved = \"window\" requires congestion = \"newreno\": set \"flight\"";
        reader.problem("tcp", "halved", message);
    }
}

/// A probe is a packet without payload, which needs a header.
pub(super) fn headers(spec: &Spec, reader: &mut Reader<'_>) {
    let tcp = spec.control.recovery(Ps(1)).unwrap_or_else(|| spec.tcp());
    if spec.frame.header.0 == 0 && (spec.receiver_driven() || tcp.probe_after > 0) {
        let message = "header = \"0B\" leaves no bytes of a packet without payload, which these \
                       hosts send: set it to more than zero";
        reader.problem("frame", "header", message);
    }
}

/// A capture needs a frame format for all packets.
pub(super) fn capture(spec: &Spec, reader: &mut Reader<'_>) {
    if spec.run.capture.is_empty() {
        return;
    }
    if let Some(name) = spec.driver.receiver_driven() {
        let message = format!("no frame format is known for packets of {name}: remove capture");
        reader.problem("run", "capture", message);
    } else if !spec.recovery.can_be_captured() {
        let message = "no frame format is known for TCP's acknowledgements: remove capture";
        reader.problem("run", "capture", message);
    }
}

/// A transport that only retransmits after a timeout needs one if packets can be dropped.
pub(super) fn timeout_after_drops(spec: &Spec, reader: &mut Reader<'_>) {
    let drops = spec.buffer.as_ref().is_none_or(|buffer| !buffer.is_unlimited());
    if !spec.driver.repeats_after_timeout() || !drops || spec.transport.timeout.0 > 0 {
        return;
    }
    let name = spec.driver.receiver_driven().unwrap_or_default();
    let message = format!(
        "timeout = \"0ps\" waits without limit for dropped packets: set the time after which \
         {name}'s receivers ask again, or set buffer.kind = \"unlimited\""
    );
    reader.problem("transport", "timeout", message);
}

/// What to write where something waits for lost packets.
pub(in crate::resolve) const SET_TIMEOUT: &str = "set transport.timeout = \"10ms\", or another \
     time that is longer than a round trip with queues";

/// Packets that switches drop although they pause neighbours need someone who sends them again.
pub(super) fn timeout_after_losses(spec: &Spec, reader: &mut Reader<'_>) {
    let Some(waiting) = spec.waits_without_limit() else { return };
    let section = spec.hop.own_section();
    if let Some((key, drops)) = spec.hop.loses_packets() {
        let message =
            format!("{key} {drops}, and {waiting} waits for them without limit: {SET_TIMEOUT}");
        reader.problem(section, key, message);
    }
    let lossy = spec.buffer.as_ref().and_then(|buffer| buffer.by_class.lossy().next());
    if let Some(class) = lossy.filter(|_| spec.hop.pauses_classes()) {
        let message = format!(
            "class {class} of by_class is lossy, and {waiting} waits for lost packets without \
             limit: {SET_TIMEOUT}"
        );
        reader.problem("buffer", "by_class", message);
    }
}

/// Flows can use the base RTT of their own path only if no part uses one value for all flows.
pub(super) fn own_base_rtt(spec: &Spec, reader: &mut Reader<'_>) {
    let transport = &spec.transport;
    if transport.base_rtt_of == BaseRttOf::Longest {
        return;
    }
    let contradiction = if transport.base_rtt.0 > 0 {
        format!("base_rtt = {} applies to all pairs: remove it", transport.base_rtt)
    } else if spec.receiver_driven() {
        format!("kind = {} has one first window for all flows", transport.kind.show())
    } else if transport.allocator != AllocatorKind::None {
        format!("allocator = {} uses one for all flows", transport.allocator.show())
    } else {
        return;
    };
    let message = format!("base_rtt_of = \"pair\": {contradiction}");
    reader.problem("transport", "base_rtt_of", message);
}

/// A host that receives data slowly pauses classes of its switch.
pub(super) fn slow_receivers(spec: &Spec, reader: &mut Reader<'_>) {
    if spec.nic.receive_rate.0 == 0 {
        return;
    }
    if spec.scheduler.serves(&HopQueues::Classes).is_err() {
        let schedulers = schedulers_for(&HopQueues::Classes);
        let message = format!("a NIC pauses classes, so receive_rate requires {schedulers}");
        reader.problem("nic", "receive_rate", message);
    }
    if let Some(name) = spec.driver.receiver_driven() {
        let message = format!(
            "{name}'s receivers request data at the rate of their link: remove receive_rate"
        );
        reader.problem("nic", "receive_rate", message);
    }
}

/// An allocator falls back to a congestion window.
pub(super) fn under_allocator(spec: &Spec, reader: &mut Reader<'_>) {
    if spec.allocator.is_none() || spec.control.has_tcp_window() {
        return;
    }
    let allocator = spec.transport.allocator.show();
    let message = format!(
        "allocator = {allocator} requires a congestion control of TCP, such as congestion = \
         \"newreno\": rates fall back to its window"
    );
    reader.problem_at(&[("transport", "congestion"), ("transport", "allocator")], message);
}
