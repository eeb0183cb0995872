//! Switches: memory, hop control, marking.

use xoff_core::Ps;
use xoff_core::knobs::Knob;
use xoff_core::seam::Seam as _;
use xoff_host::transport::{FlowControl, FrameConfig, RoundRobin, TransportConfig};
use xoff_net::buffer::{BufferConfig, BufferKind};
use xoff_net::hop::{BfcConfig, FRAME_BYTES, PfcConfig, SfcConfig, SignalAt};
use xoff_net::mark::EcnConfig;
use xoff_net::topo::{Topology, TopologyConfig};
use xoff_sim::faults::Fault;
use xoff_sim::setup::{EcnSetup, HopSetup};

use super::Reader;
use crate::sections::{ArchitectureKind, BalanceKind, HopKind, SchedulerKind, SwitchConfig};

impl Reader<'_> {
    pub(super) fn buffer(
        &mut self,
        switch: &SwitchConfig,
        frame: &FrameConfig,
        topology: &TopologyConfig,
    ) -> BufferConfig {
        let kind = self.layers.section::<BufferConfig>().kind;
        let (unused, why): (&[&str], _) = match (kind, switch.hop) {
            (BufferKind::Unlimited, _) => {
                (&["size", "gateway_size", "alpha"], "buffer.kind = \"unlimited\"")
            }
            (BufferKind::Dedicated, _) => (&["alpha"], "buffer.kind = \"dedicated\""),
            (_, HopKind::Pfc) => (&["alpha"], "PFC limits each ingress instead"),
            _ => (&[], ""),
        };
        let mut buffer: BufferConfig = self.layers.section();
        unused.iter().for_each(|key| self.layers.unused_key("buffer", key, why));
        let mut hidden = unused.to_vec();
        if !topology.has_gateways() {
            let why = format!("network.topology = {} has no gateways", topology.kind().show());
            self.layers.unused_key("buffer", "gateway_size", &why);
            hidden.push("gateway_size");
        }
        self.effective.section(&buffer, &hidden);
        if switch.hop == HopKind::Pfc {
            buffer.alpha = 0.0;
        }
        let derived = buffer.size.0 == 0 && switch.scheduler == SchedulerKind::PFabric;
        if buffer.size.0 == 0 && !derived && !unused.contains(&"size") {
            self.problem("buffer", "size", "size must be more than zero".into());
        }
        if kind == BufferKind::Dedicated && !derived {
            self.check_dedicated(&buffer, switch, frame);
        }
        buffer
    }

    /// A queue's own memory must hold a packet, and whoever limits it must tell queues apart.
    pub(super) fn check_dedicated(
        &mut self,
        buffer: &BufferConfig,
        switch: &SwitchConfig,
        frame: &FrameConfig,
    ) {
        let full = frame.payload.0 + frame.header.0;
        if buffer.size.0 < full {
            let message = format!("size is that of a queue, which must hold a packet of {full}B");
            self.problem("buffer", "size", message);
        }
        if switch.hop == HopKind::Pfc {
            let message = "PFC guards a memory that ports share, so it needs kind = \"shared\"";
            self.problem("buffer", "kind", message.into());
        }
        if matches!(switch.scheduler, SchedulerKind::PerFlow | SchedulerKind::PerFlowSrf) {
            let scheduler = switch.scheduler.show();
            let message =
                format!("scheduler = {scheduler} has no queues with a memory of their own");
            self.problem("buffer", "kind", message);
        }
    }

    pub(super) fn hop(&mut self, switch: &SwitchConfig, buffer: &BufferConfig) -> HopSetup {
        let transport = self.layers.section::<TransportConfig>();
        let held = transport.flow_control != FlowControl::None;
        if transport.round_robin == RoundRobin::Index && (switch.hop == HopKind::Sfc || held) {
            let message = "round_robin = \"index\" is that of a simulator that pauses no single flow: set \
                           round_robin = \"ready\"";
            self.problem("transport", "round_robin", message.into());
        }
        if switch.hop == HopKind::Sfc && held {
            let message = "SFC and flow_control both say until when a flow pauses: set flow_control = \
                           \"none\"";
            self.problem("transport", "flow_control", message.into());
        }
        let why = format!("switch.hop = {}", switch.hop.show());
        if switch.hop != HopKind::Pfc {
            self.layers.unused("pfc", &why);
        }
        if switch.hop != HopKind::Bfc {
            self.layers.unused("bfc", &why);
        }
        if switch.hop != HopKind::Sfc {
            self.layers.unused("sfc", &why);
        }
        match switch.hop {
            HopKind::None => HopSetup::None,
            HopKind::Pfc => {
                if switch.scheduler != SchedulerKind::Fifo {
                    let message = "PFC pauses classes, so it needs scheduler = \"fifo\"";
                    self.problem("switch", "scheduler", message.into());
                }
                if buffer.kind == BufferKind::Unlimited {
                    let message = "PFC guards a finite buffer: kind = \"unlimited\" never pauses";
                    self.problem("buffer", "kind", message.into());
                }
                let pfc = self.section::<PfcConfig>();
                if pfc.threshold > 1.0 {
                    let message = "threshold is a share of the free pool: 0 to 1";
                    self.problem("pfc", "threshold", message.into());
                }
                HopSetup::Pfc(pfc)
            }
            HopKind::Bfc => HopSetup::Bfc(self.bfc(switch, &transport)),
            HopKind::Sfc => {
                if switch.scheduler != SchedulerKind::Fifo {
                    let message =
                        "SFC watches the queue of a class, so it needs scheduler = \"fifo\"";
                    self.problem("switch", "scheduler", message.into());
                }
                HopSetup::Sfc(self.sfc())
            }
        }
    }

    fn sfc(&mut self) -> SfcConfig {
        let sfc = self.layers.section::<SfcConfig>();
        let at_egress = sfc.signal == SignalAt::Egress;
        if at_egress && (sfc.cache || sfc.estimator) {
            let message = "signal = \"egress\" knows its own queue only: set cache = false and \
                           estimator = false";
            self.problem("sfc", "signal", message.into());
        }
        self.section_where(&[
            (at_egress, "sfc.signal = \"egress\"", &["bit_delay"]),
            (!sfc.cache, "sfc.cache = false", &["cache_entries"]),
            (!sfc.estimator, "sfc.estimator = false", &["estimator_tau"]),
            (
                !sfc.filter,
                "sfc.filter = false",
                &["filter_key", "filter_hashes", "filter_cells", "filter_reset", "filter_version"],
            ),
        ])
    }

    /// Fills in what a hop control derives from the network, and checks it.
    pub(super) fn derived_hop(
        &mut self,
        hop: HopSetup,
        buffer: &BufferConfig,
        topology: &Topology,
        rtt: Ps,
    ) -> HopSetup {
        if let HopSetup::Bfc(bfc) = &hop
            && hop.sends_frames()
        {
            self.check_refreshes(bfc, topology);
        }
        let HopSetup::Sfc(sfc) = hop else { return hop };
        let rate = (0..topology.hosts).map(|host| topology.ports_of(host)[0].rate).max();
        let bdp = rate.map_or(0, |rate| rate.bytes_in(rtt).0);
        let sfc = sfc.derived(bdp, rtt);
        if let Err((key, message)) = sfc.check(rtt) {
            self.problem("sfc", key, format!("{key}: {message}"));
        }
        let most = buffer.queue_limit();
        if most.is_some_and(|most| sfc.trigger >= most) {
            let (trigger, most) = (sfc.trigger, most.unwrap_or_default());
            let message =
                format!("trigger ({trigger}) is never passed: a queue holds up to {most}");
            self.problem("sfc", "trigger", message);
        }
        HopSetup::Sfc(sfc)
    }

    /// Frames that come faster than a link sends them pile up without end.
    fn check_refreshes(&mut self, bfc: &BfcConfig, topology: &Topology) {
        let Some(slowest) = topology.ports.iter().map(|port| port.rate).min() else { return };
        let frame = slowest.time_for(u64::from(FRAME_BYTES));
        if frame >= bfc.refresh_period {
            let message = format!(
                "refresh_period = {} is no longer than a pause frame takes on a link of {} ({frame}): \
                 frames would pile up",
                bfc.refresh_period.show(),
                slowest.show()
            );
            self.problem("bfc", "refresh_period", message);
        }
    }

    pub(super) fn ecn(&mut self, switch: &SwitchConfig) -> EcnSetup {
        if !switch.ecn {
            self.layers.unused("ecn", "switch.ecn = false");
            return EcnSetup::None;
        }
        if matches!(switch.scheduler, SchedulerKind::PerFlow | SchedulerKind::PerFlowSrf) {
            let scheduler = switch.scheduler.show();
            let message = format!(
                "scheduler = {scheduler} has no queues whose length marks: set ecn = false"
            );
            self.problem("switch", "ecn", message);
        }
        let written = self.layers.section::<EcnConfig>();
        let step: &[&str] = if written.kmin == written.kmax { &["pmax"] } else { &[] };
        let ecn: EcnConfig = self.section_without(
            step,
            "ecn.kmin = ecn.kmax is one threshold: no queue is between them",
        );
        if ecn.kmin > ecn.kmax {
            self.problem("ecn", "kmin", "kmin must not be larger than kmax".into());
        }
        if ecn.pmax > 1.0 {
            self.problem("ecn", "pmax", "pmax is a probability: 0 to 1".into());
        }
        EcnSetup::Uniform(ecn)
    }

    /// Both directions of a flow take one path where switches of a layer have the same choices.
    pub(super) fn check_symmetric(
        &mut self,
        switch: &SwitchConfig,
        topology: &TopologyConfig,
        faults: &[Fault],
    ) {
        if !switch.symmetric_ecmp {
            return;
        }
        if switch.balance != BalanceKind::Ecmp {
            let message = format!(
                "symmetric_ecmp = true needs balance = \"ecmp\": with {} packets take no path of \
                 their flow",
                switch.balance.show()
            );
            self.problem("switch", "symmetric_ecmp", message);
        }
        if !topology.has_symmetric_choices() {
            let message = format!(
                "symmetric_ecmp = true cannot go with topology = {}, where switches of a layer have \
                 different choices",
                topology.kind().show()
            );
            self.problem("network", "topology", message);
        }
        if switch.architecture != ArchitectureKind::OutputQueued {
            let message = "symmetric_ecmp = true needs architecture = \"output-queued\"";
            self.problem("switch", "symmetric_ecmp", message.into());
        }
        if faults.iter().any(|fault| fault.outage().is_some()) {
            let message = "symmetric_ecmp = true cannot go with [[fault]] kind = \"link-down\": where \
                           a link is missing, switches of a layer have different choices";
            self.problem("switch", "symmetric_ecmp", message.into());
        }
    }

    /// A turn that allows nothing would never end; one of many packets is not fair queueing.
    pub(super) fn check_quantum(&mut self, switch: &SwitchConfig) {
        if !(64..=1_000_000).contains(&switch.quantum.0) {
            self.problem("switch", "quantum", "quantum must be from 64B to 1MB".into());
        }
    }
}
