//! Switches with a crossbar, their pauses and their load balancing.

use xoff_core::Bytes;
use xoff_core::knobs::Knob;
use xoff_host::hosts::HostSetup;
use xoff_host::intake::NicConfig;
use xoff_host::transport::{
    AckClass, AllocatorKind, Congestion, TcpConfig, TransportConfig, TransportKind,
};
use xoff_net::arch::{CrossbarConfig, PauseConfig, Reaction, Scope, Thresholds};
use xoff_net::buffer::{BufferConfig, BufferKind};
use xoff_net::hop::FRAME_BYTES;
use xoff_net::packet::CLASSES;
use xoff_net::ports::PORTS_MAX;
use xoff_net::topo::{Port, Topology};
use xoff_sim::setup::CrossbarSetup;

use super::Reader;
use crate::sections::{
    ArchitectureKind, BalanceKind, HopKind, OverflowKind, SchedulerKind, SwitchConfig,
};

/// What of `[pause]` says how switches ask for pauses.
const OF_PAUSES: [&str; 5] = ["xoff", "xon", "response", "generation_delay", "outstanding"];

impl Reader<'_> {
    pub(super) fn switch(&mut self) -> SwitchConfig {
        let written = self.layers.section::<SwitchConfig>();
        let pauses = matches!(written.hop, HopKind::Pfc | HopKind::Bfc);
        if pauses {
            self.effective.section(&written, &[]);
            return written;
        }
        let why = format!("switch.hop = {} has no backpressure to leave out", written.hop.show());
        self.layers.unused_key("switch", "elide", &why);
        self.effective.section(&written, &["elide"]);
        written
    }

    /// The sections of a crossbar switch, if switches are that.
    pub(super) fn crossbar(
        &mut self,
        switch: &SwitchConfig,
        transport: &TransportConfig,
        tcp: &TcpConfig,
    ) -> Option<CrossbarSetup> {
        if switch.architecture != ArchitectureKind::Crossbar {
            let why = format!("switch.architecture = {}", switch.architecture.show());
            self.layers.unused("crossbar", &why);
            if switch.architecture == ArchitectureKind::OutputQueued {
                ["pause", "alb"].iter().for_each(|name| self.layers.unused(name, &why));
                if switch.balance == BalanceKind::Adaptive {
                    let message = "balance = \"adaptive\" looks at egress queues of classes: set \
                                   architecture = \"crossbar\" or \"pipelined\"";
                    self.problem("switch", "balance", message.into());
                }
            }
            return None;
        }
        self.check_crossbar_scheduler(switch);
        self.check_beside_ingress_queues(switch, transport);
        let config = self.section::<CrossbarConfig>();
        self.check_crossbar(&config);
        let pause = self.pause();
        let adaptive = self.adaptive(switch, transport, tcp);
        Some(CrossbarSetup { config, pause, adaptive })
    }

    pub(super) fn pause(&mut self) -> PauseConfig {
        let scope = self.layers.section::<PauseConfig>().scope;
        let unused: &[&str] = if scope == Scope::None { &OF_PAUSES } else { &[] };
        self.section_without::<PauseConfig>(unused, "pause.scope = \"none\"")
    }

    /// The buffer of output-queued switches, which those with ingress queues have not.
    pub(super) fn no_buffer(&mut self, switch: &SwitchConfig) -> BufferConfig {
        let section =
            if switch.architecture == ArchitectureKind::Crossbar { "crossbar" } else { "pipeline" };
        let why = format!(
            "switch.architecture = {} has ingress_size and egress_size in section {section}",
            switch.architecture.show()
        );
        self.layers.unused("buffer", &why);
        BufferConfig { kind: BufferKind::Unlimited, ..BufferConfig::default() }
    }

    fn check_crossbar_scheduler(&mut self, switch: &SwitchConfig) {
        if switch.scheduler != SchedulerKind::Fifo {
            let message = "architecture = \"crossbar\" needs scheduler = \"fifo\": it serves classes strictly";
            self.problem("switch", "scheduler", message.into());
        }
    }

    /// What switches with ingress queues do themselves, or know nothing of.
    pub(super) fn check_beside_ingress_queues(
        &mut self,
        switch: &SwitchConfig,
        transport: &TransportConfig,
    ) {
        let needs = [
            (
                switch.hop != HopKind::None,
                ("switch", "hop"),
                "hop = \"none\": section pause is its flow control",
            ),
            (
                switch.overflow != OverflowKind::Drop,
                ("switch", "overflow"),
                "overflow = \"drop\": a full ingress queue drops",
            ),
            (
                transport.kind == TransportKind::Sender && transport.ack_class != AckClass::Data,
                ("transport", "ack_class"),
                "ack_class = \"data\": only its own frames go before all classes",
            ),
            (
                matches!(transport.congestion, Congestion::Hpcc | Congestion::Xcp),
                ("transport", "congestion"),
                "a control that switches write nothing for",
            ),
            (
                transport.allocator != AllocatorKind::None,
                ("transport", "allocator"),
                "allocator = \"none\"",
            ),
        ];
        for (wrong, (section, key), need) in needs {
            if wrong {
                let named = self.layers.has(section, key).is_some();
                let (section, key) =
                    if named { (section, key) } else { ("switch", "architecture") };
                let message = format!("architecture = {} needs {need}", switch.architecture.show());
                self.problem(section, key, message);
            }
        }
    }

    fn check_crossbar(&mut self, config: &CrossbarConfig) {
        let classes = format!("classes are 1 to {CLASSES}");
        for (wrong, key, message) in [
            (
                !(1.0..=1e3).contains(&config.speedup),
                "speedup",
                "speedup is 1 to 1000 times the rate of the fastest port",
            ),
            (config.iterations == 0, "iterations", "a matching takes one iteration at least"),
            (!(1..=CLASSES as u8).contains(&config.classes), "classes", &classes),
            (
                !(0.01..=1.0).contains(&config.rate_limit),
                "rate_limit",
                "rate_limit is a share of the line rate: 0.01 to 1",
            ),
        ] {
            if wrong {
                self.problem("crossbar", key, message.into());
            }
        }
    }

    /// What NICs have to do with the pauses of switches with ingress queues.
    pub(super) fn check_nic_beside(&mut self, pause: &PauseConfig, nic: &NicConfig) {
        if pause.scope != Scope::None && !nic.pfc {
            let message = "pfc = false leaves nobody to obey the pauses of the hosts' switches";
            self.problem("nic", "pfc", message.into());
        }
        if nic.receive_rate.0 > 0 {
            let message = "switches with ingress queues know no pauses without an end, which a NIC with a \
                           receive_rate asks for";
            self.problem("nic", "receive_rate", message.into());
        }
    }

    /// What the network's links and packets ask of a crossbar.
    pub(super) fn settle_crossbar(
        &mut self,
        setup: &CrossbarSetup,
        topology: &Topology,
        hosts: &HostSetup,
    ) {
        let most = most_ports(topology);
        if most > PORTS_MAX {
            let message =
                format!("a crossbar has up to {PORTS_MAX} ports, and a switch here {most}");
            self.problem("switch", "architecture", message);
        }
        let mtu = hosts.longest_packet();
        let CrossbarSetup { config, pause, .. } = setup;
        let classes = u64::from(config.classes);
        if config.egress_size.0 < classes * mtu {
            let message = format!(
                "egress_size must hold a packet of {mtu}B of each class: {}",
                Bytes(classes * mtu)
            );
            self.problem("crossbar", "egress_size", message);
        }
        if config.ingress_size.0 < mtu {
            let message = format!("ingress_size must hold a packet of {mtu}B");
            self.problem("crossbar", "ingress_size", message);
        }
        if pause.scope == Scope::None || !(1..=CLASSES as u64).contains(&classes) {
            return;
        }
        self.settle_pauses(pause, topology, mtu, |reaction| config.thresholds(pause, reaction));
    }

    /// What links ask of the pauses of switches with ingress queues: thresholds at every port.
    pub(super) fn settle_pauses(
        &mut self,
        pause: &PauseConfig,
        topology: &Topology,
        mtu: u64,
        thresholds: impl Fn(&Reaction) -> Result<Thresholds, (&'static str, String)>,
    ) {
        let reaction =
            |port: &Port| pause.reaction(port.rate.0, port.delay, mtu, u64::from(FRAME_BYTES));
        let wrong = topology.ports.iter().find_map(|port| thresholds(&reaction(port)).err());
        if let Some((key, message)) = wrong {
            // Where there is no room at all, what asks for more of it is to blame.
            let culprits = ["outstanding", "generation_delay", "response", "xoff"];
            let blamed = culprits.into_iter().find(|key| self.layers.has("pause", key).is_some());
            let key = if key == "scope" { blamed.unwrap_or(key) } else { key };
            self.problem("pause", key, message);
        }
        let first = reaction(&topology.ports_of(0)[0]);
        if let Ok(found) = thresholds(&first) {
            self.effective.derive("pause_reaction_time", first.time());
            self.effective.derive("pause_headroom", Bytes(first.headroom()));
            self.effective.derive("pause_xoff", Bytes(found.xoff));
            self.effective.derive("pause_xon", Bytes(found.xon));
        }
    }
}

/// How many ports the largest switch has.
pub(super) fn most_ports(topology: &Topology) -> usize {
    let switches = topology.hosts..topology.nodes();
    switches.map(|node| topology.ports_of(node).len()).max().unwrap_or(0)
}
