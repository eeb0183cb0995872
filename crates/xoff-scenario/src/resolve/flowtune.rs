//! Flowtune: the allocator's settings, their requirements, and the allocator's NICs in the network.

use xoff_alloc::OptimizerKind;
use xoff_core::Ps;
use xoff_core::knobs::Knob as _;
use xoff_host::flowtune::Detection;
use xoff_host::hosts::FlowtuneHostSetup;
use xoff_host::transport::{
    AckClass, AllocatorKind, FlowControl, FrameConfig, Recovery, RoundRobin, TransportConfig,
    TransportKind, Window,
};
use xoff_net::topo::{Routes, Topology};
use xoff_sim::flowtune::{
    Allocators, FailuresKind, FlowtuneConfig, FlowtuneSetup, PathsKind, UtilityKind,
};
use xoff_sim::setup::Labels;

use super::Reader;
use super::tcp::is_tcp;
use crate::sections::{HopKind, SchedulerKind, SwitchConfig};

impl Reader<'_> {
    /// The allocator's settings, if there is one.
    pub(super) fn flowtune(
        &mut self,
        transport: &TransportConfig,
        switch: &SwitchConfig,
    ) -> Option<FlowtuneConfig> {
        if transport.allocator == AllocatorKind::None {
            self.layers.unused("flowtune", "transport.allocator = \"none\"");
            return None;
        }
        self.check_under_allocator(transport, switch);
        let written = self.layers.section::<FlowtuneConfig>();
        let (send, idle) = (Detection::Send, Detection::Idle);
        let one = written.allocators == Allocators::One;
        let one_switch = written.paths == PathsKind::BigSwitch;
        let unknown = written.failures == FailuresKind::Unknown;
        if !one_switch && transport.window != Window::Unlimited {
            let named = self.layers.has("transport", "window").is_some();
            let message = format!(
                "window = {} would bound the windows that rates open (flowtune.window_rtts): \
                 allocator = \"flowtune\" needs window = \"unlimited\"",
                transport.window.show()
            );
            self.problem("transport", if named { "window" } else { "allocator" }, message);
        }
        let flowtune: FlowtuneConfig = self.section_where(&[
            (written.utility == UtilityKind::Log, "flowtune.utility = \"log\"", &["alpha"]),
            (
                written.optimizer != OptimizerKind::NewtonLike,
                "flowtune.optimizer measures nothing",
                &["newton_interval"],
            ),
            (written.detection == send, "flowtune.detection = \"send\"", &["idle_threshold"]),
            (
                written.detection == idle,
                "flowtune.detection = \"idle\"",
                &["coalesce", "advance_notice"],
            ),
            (
                one_switch,
                "flowtune.paths = \"big-switch\"",
                &["failures", "path_discovery", "window_rtts"],
            ),
            (one, "flowtune.allocators = \"one\"", &["transit_share"]),
            (unknown, "flowtune.failures = \"unknown\"", &["path_discovery"]),
        ]);
        if let Err((key, message)) = flowtune.check() {
            self.problem("flowtune", key, message);
            return None;
        }
        Some(flowtune)
    }

    /// Rejects settings that cannot be combined with rates from an allocator.
    fn check_under_allocator(&mut self, transport: &TransportConfig, switch: &SwitchConfig) {
        let needs = [
            (
                transport.kind != TransportKind::Sender,
                "transport",
                "kind",
                "kind = \"sender\": NDP's receivers decide what is sent",
            ),
            (
                transport.flow_control != FlowControl::None,
                "transport",
                "flow_control",
                "flow_control = \"none\": it would hold flows that have a rate",
            ),
            (
                transport.round_robin != RoundRobin::Ready,
                "transport",
                "round_robin",
                "round_robin = \"ready\"",
            ),
            (
                transport.recovery != Recovery::Sack,
                "transport",
                "recovery",
                "recovery = \"sack\": its control connections, and flows without a rate, are TCP's",
            ),
            (
                !is_tcp(transport.congestion),
                "transport",
                "congestion",
                "congestion = \"newreno\", \"cubic\" or \"dctcp-tcp\": rates fall back to a window",
            ),
            (!transport.pacing, "transport", "pacing", "pacing = true: only paced flows obey a \
                rate"),
            (
                transport.ack_class != AckClass::Data,
                "transport",
                "ack_class",
                "ack_class = \"data\": its messages share the queues of the data",
            ),
            (
                switch.hop != HopKind::None,
                "switch",
                "hop",
                "hop = \"none\": pauses hold back allocated traffic",
            ),
            (
                switch.scheduler != SchedulerKind::Fifo,
                "switch",
                "scheduler",
                "scheduler = \"fifo\": others divide bandwidth by their own rules",
            ),
        ];
        for (wrong, section, key, need) in needs {
            if wrong {
                let named = self.layers.has(section, key).is_some();
                let (section, key) =
                    if named { (section, key) } else { ("transport", "allocator") };
                let message = format!("allocator = \"flowtune\" needs {need}");
                self.problem(section, key, message);
            }
        }
    }

    /// Rejects settings that do not fit the network's round trips and packets.
    pub(super) fn check_allocator(
        &mut self,
        flowtune: Option<&FlowtuneSetup>,
        rtt: Ps,
        frame: &FrameConfig,
    ) {
        let Some(FlowtuneSetup { config, .. }) = flowtune else { return };
        let ack_share = frame.ack.0 as f64 / (frame.payload.0 + frame.header.0) as f64;
        for checked in [config.check_times(rtt), config.check_shares(ack_share)] {
            if let Err((key, message)) = checked {
                self.problem("flowtune", key, message);
            }
        }
    }

    /// Adds the allocator's NICs to the network.
    pub(super) fn attach_allocators(
        &mut self,
        config: Option<FlowtuneConfig>,
        network: (Topology, Routes),
    ) -> Option<(Topology, Routes, Option<FlowtuneSetup>)> {
        let Some(config) = config else { return Some((network.0, network.1, None)) };
        let attached = FlowtuneSetup::attach(config, &network.0)
            .and_then(|(topology, setup)| Ok((Routes::new(&topology)?, topology, setup)));
        match attached {
            Ok((routes, topology, setup)) => {
                self.effective.derive("allocator_nics", topology.attached);
                Some((topology, routes, Some(setup)))
            }
            Err(message) => {
                let mut nodes = 0..network.0.nodes();
                let (section, key) = if nodes.any(|node| network.0.is_gateway(node)) {
                    ("network", "topology")
                } else {
                    ("flowtune", "allocators")
                };
                self.problem(section, key, message);
                None
            }
        }
    }
}

/// The allocator's settings for hosts.
pub(super) fn hosts(flowtune: Option<&FlowtuneSetup>) -> Option<FlowtuneHostSetup> {
    flowtune.map(|flowtune| FlowtuneHostSetup {
        agent: flowtune.config.agent(flowtune.sites[0].servers.len() as u32),
        stream: flowtune.config.stream(),
    })
}

/// Flows that join a flowlet use its connection.
pub(super) fn labels(flowtune: Option<&FlowtuneSetup>) -> Labels {
    if flowtune.is_some_and(|flowtune| flowtune.config.joins()) {
        Labels::Connections
    } else {
        Labels::Hashed
    }
}
