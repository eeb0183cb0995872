//! Pipelined switches: processor, memory, pauses and CaPFC.

use xoff_core::Bytes;
use xoff_core::knobs::Knob;
use xoff_host::hosts::HostSetup;
use xoff_host::transport::{TcpConfig, TransportConfig};
use xoff_net::arch::{
    CapfcConfig, MemoryKind, OF_DEDICATED, OF_SHARED, PipelineConfig, Policy, Scope,
};
use xoff_net::ports::PORTS_MAX;
use xoff_net::topo::Topology;
use xoff_sim::setup::PipelinedSetup;

use super::Reader;
use super::crossbar::most_ports;
use crate::sections::{ArchitectureKind, SchedulerKind, SwitchConfig};

impl Reader<'_> {
    /// The sections of a pipelined switch, if switches are that.
    pub(super) fn pipelined(
        &mut self,
        switch: &SwitchConfig,
        transport: &TransportConfig,
        tcp: &TcpConfig,
    ) -> Option<PipelinedSetup> {
        if switch.architecture != ArchitectureKind::Pipelined {
            let why = format!("switch.architecture = {}", switch.architecture.show());
            ["pipeline", "capfc"].iter().for_each(|name| self.layers.unused(name, &why));
            return None;
        }
        self.check_beside_ingress_queues(switch, transport);
        if !matches!(switch.scheduler, SchedulerKind::Ets | SchedulerKind::Fifo) {
            let message = "architecture = \"pipelined\" needs scheduler = \"ets\" or \"fifo\": its egress \
                           queues are those of classes";
            self.problem("switch", "scheduler", message.into());
        }
        let memory = self.layers.section::<PipelineConfig>().memory;
        let unused: &[&str] =
            if memory == MemoryKind::Dedicated { &OF_SHARED } else { &OF_DEDICATED };
        let why = format!("pipeline.memory = {}", memory.show());
        let config: PipelineConfig = self.section_without(unused, &why);
        let pause = self.pause();
        if pause.scope == Scope::Port {
            let message = "scope = \"port\": a pipelined switch counts the bytes of each class, so it \
                           pauses classes: set scope = \"class\"";
            self.problem("pause", "scope", message.into());
        }
        let capfc = self.capfc();
        if capfc.policy != Policy::None && pause.scope == Scope::None {
            let message = "CaPFC asks neighbours to pause classes: set pause.scope = \"class\"";
            self.problem("capfc", "policy", message.into());
        }
        let adaptive = self.adaptive(switch, transport, tcp);
        Some(PipelinedSetup { config, capfc, pause, adaptive })
    }

    fn capfc(&mut self) -> CapfcConfig {
        let policy = self.layers.section::<CapfcConfig>().policy;
        let unused: &[&str] = match policy {
            Policy::None => &["xoff", "xon", "warn", "cut"],
            Policy::StopMax => &["cut"],
            Policy::StopCalibrate => &[],
        };
        self.section_without(unused, &format!("capfc.policy = {}", policy.show()))
    }

    /// What the network's links and packets ask of a pipelined switch.
    pub(super) fn settle_pipelined(
        &mut self,
        setup: &PipelinedSetup,
        topology: &Topology,
        hosts: &HostSetup,
    ) {
        let most = most_ports(topology);
        if most > PORTS_MAX {
            let message =
                format!("a pipelined switch has up to {PORTS_MAX} ports, and one here {most}");
            self.problem("switch", "architecture", message);
        }
        let mtu = hosts.longest_packet();
        let PipelinedSetup { config, capfc, pause, .. } = setup;
        if let Err((key, message)) = config.check(Bytes(mtu)) {
            self.problem("pipeline", key, message);
            return;
        }
        let [_, egress] = config.capacities();
        if capfc.policy != Policy::None
            && let Err((key, message)) = capfc.check(egress)
        {
            self.problem("capfc", key, message);
        }
        if pause.scope != Scope::Class {
            return;
        }
        self.settle_pauses(pause, topology, mtu, |reaction| config.thresholds(pause, reaction));
    }
}
