//! All settings of a scenario with packets, read once.

use xoff_core::knobs::{CLASSES, Capabilities, Knob as _};
use xoff_core::seam::{Seam, SectionDoc, Sections};
use xoff_host::cc::ControlConfig;
use xoff_host::intake::NicConfig;
use xoff_host::onramp::FlowControlConfig;
use xoff_host::receiver_driven::DriverConfig;
use xoff_host::recovery::{RecoveryConfig, Timeouts};
use xoff_host::transport::{
    AckClass, AllocatorKind, Congestion, FlowControl, FrameConfig, Recovery, TcpConfig,
    TransportConfig, Window,
};
use xoff_net::arch::ArchitectureConfig;
use xoff_net::balance::BalanceConfig;
use xoff_net::buffer::BufferConfig;
use xoff_net::capability as needs;
use xoff_net::hop::{HopConfig, HopQueues};
use xoff_net::mark::EcnConfig;
use xoff_net::sched::SchedulerConfig;
use xoff_net::topo::TopologyConfig;
use xoff_net::trim::OverflowConfig;
use xoff_sim::flowtune::FlowtuneConfig;

use super::reader::Reader;
use crate::sections::{FaultsConfig, RunConfig, SwitchConfig};

/// The sections of hosts and switches. Topology, traffic and faults of links depend on files and
/// sizes, and are read separately.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spec {
    pub(crate) run: RunConfig,
    pub(crate) frame: FrameConfig,
    /// With the settings of senders at fixed values if receivers decide what is sent.
    pub(crate) transport: TransportConfig,
    pub(crate) recovery: RecoveryConfig,
    pub(crate) control: ControlConfig,
    pub(crate) flow_control: FlowControlConfig,
    pub(crate) switch: SwitchConfig,
    pub(crate) architecture: ArchitectureConfig,
    pub(crate) balance: BalanceConfig,
    /// `None` if the architecture has its own memory.
    pub(crate) buffer: Option<BufferConfig>,
    pub(crate) driver: DriverConfig,
    pub(crate) overflow: OverflowConfig,
    pub(crate) hop: HopConfig,
    pub(crate) scheduler: SchedulerConfig,
    pub(crate) allocator: Option<FlowtuneConfig>,
    pub(crate) nic: NicConfig,
    pub(crate) ecn: Option<EcnConfig>,
    pub(crate) faults: FaultsConfig,
}

impl Spec {
    /// Reads all of them. Problems are in the reader.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let run = reader.read::<RunConfig>();
        let frame = reader.read::<FrameConfig>();
        let written = reader.read::<TransportConfig>();
        let recovery = recovery(reader, &written);
        let control = reader.choose::<ControlConfig>("transport.congestion", written.congestion);
        let flow_control = reader.choose("transport.flow_control", written.flow_control);
        let switch = reader.read::<SwitchConfig>();
        let architecture: ArchitectureConfig =
            reader.choose("switch.architecture", switch.architecture);
        let balance = reader.choose("switch.balance", switch.balance);
        let buffer = buffer(reader, &architecture);
        let driver: DriverConfig = reader.choose("transport.kind", written.kind);
        let transport = in_effect(written, &driver, &recovery);
        reader.overrule(&transport);
        // Written settings of senders are refused, and ignored from here on.
        let sender = driver.receiver_driven().is_none();
        let recovery = if sender { recovery } else { RecoveryConfig::default() };
        let control = if sender { control } else { ControlConfig::default() };
        let flow_control = if sender { flow_control } else { FlowControlConfig::default() };
        Self {
            run,
            frame,
            recovery,
            control,
            flow_control,
            architecture,
            balance,
            buffer,
            overflow: reader.choose("switch.overflow", switch.overflow),
            hop: reader.choose("switch.hop", switch.hop),
            scheduler: reader.choose("switch.scheduler", switch.scheduler),
            allocator: allocator(reader, transport.allocator),
            nic: reader.read(),
            ecn: ecn(reader, switch.ecn),
            faults: reader.read(),
            driver,
            transport,
            switch,
        }
    }

    /// The sections of such a scenario.
    pub(super) fn sections() -> Vec<SectionDoc> {
        let single = vec![
            SectionDoc::of::<RunConfig>(),
            SectionDoc::of::<FrameConfig>(),
            SectionDoc::of::<TransportConfig>(),
            SectionDoc::of::<SwitchConfig>(),
            SectionDoc::of::<BufferConfig>(),
            SectionDoc::of::<FlowtuneConfig>(),
            SectionDoc::of::<NicConfig>(),
            SectionDoc::of::<EcnConfig>(),
            SectionDoc::of::<FaultsConfig>(),
        ];
        let seams = [
            RecoveryConfig::all_sections(),
            ControlConfig::all_sections(),
            FlowControlConfig::all_sections(),
            ArchitectureConfig::all_sections(),
            BalanceConfig::all_sections(),
            DriverConfig::all_sections(),
            OverflowConfig::all_sections(),
            HopConfig::all_sections(),
            SchedulerConfig::all_sections(),
        ];
        single.into_iter().chain(seams.into_iter().flatten()).collect()
    }

    /// True if receivers decide what is sent.
    pub(super) fn receiver_driven(&self) -> bool {
        self.driver.receiver_driven().is_some()
    }

    /// The setting of the part that would wait without limit for a lost packet, if one would.
    pub(super) fn waits_without_limit(&self) -> Option<String> {
        if self.transport.timeout.0 > 0 {
            None
        } else if self.receiver_driven() {
            Some(format!("transport.kind = {}", self.driver.kind().show()))
        } else {
            let waits = self.recovery.timeouts().act();
            waits.then(|| format!("transport.recovery = {}", self.recovery.kind().show()))
        }
    }

    /// The name of the part that controls senders, for messages.
    pub(super) fn control_name(&self) -> String {
        match self.driver.receiver_driven() {
            Some(name) => name.to_owned(),
            None => format!("congestion = {}", self.control.kind().show()),
        }
    }

    /// TCP's settings.
    pub(super) fn tcp(&self) -> TcpConfig {
        self.recovery.tcp()
    }

    /// True if reordered packets of a flow are taken for losses.
    pub(super) fn needs_order(&self) -> bool {
        !self.receiver_driven() && self.recovery.needs_order()
    }

    /// The reason that no queue distinguishes traffic classes, if none does.
    pub(super) fn one_class(&self) -> Option<String> {
        let queues = self.hop.nic_queues(self.architecture.classes());
        (!queues.tell_classes()).then(|| match self.hop.own_section() {
            "" => format!("{}.classes = 1", self.architecture.own_section()),
            section => format!("{section}.classes = 1: queues are those of flows"),
        })
    }

    /// The capabilities of its parts.
    pub(super) fn capabilities(&self, shape: &TopologyConfig) -> Capabilities {
        let mut found = Capabilities::default();
        self.hop.provide(&mut found);
        self.scheduler.provide(&mut found);
        self.architecture.provide(&mut found);
        self.provide_of_hosts(&mut found);
        let by_flow = self.flows_use_base_rtt();
        found.provide(needs::FLOW_BASE_RTT, by_flow);
        found.provide(needs::BASE_RTT, by_flow || self.network_uses_base_rtt());
        found.provide(needs::DYNAMIC_THRESHOLD, !self.hop.limits_ingress() || self.has_lossy());
        found.provide_or(CLASSES, self.one_class());
        found.provide(needs::GATEWAYS, shape.has_gateways());
        let reason = format!("network.topology = {} has no gateways", shape.kind().show());
        found.explain(needs::GATEWAYS, reason);
        self.provide_turns(&mut found);
        let hop = self.switch.hop.show();
        let reason = format!("switch.hop = {hop} has no backpressure to leave out");
        found.explain(needs::BACKPRESSURE, reason);
        found
    }

    /// True if a class is lossy by the threshold of all classes, also under PFC.
    fn has_lossy(&self) -> bool {
        let classes = self.buffer.iter().flat_map(|buffer| buffer.by_class.iter());
        classes.into_iter().any(|(_, own)| own.lossy && own.alpha.is_none())
    }

    /// Queues take turns if there are several.
    fn provide_turns(&self, found: &mut Capabilities) {
        let alone = matches!(&self.hop.queues(), HopQueues::Assigned(queues) if queues.count == 1);
        found.provide(needs::TURNS, self.scheduler.takes_turns() && !alone);
        let scheduler = self.switch.scheduler.show();
        found.explain(
            needs::TURNS,
            match alone {
                true => "one queue takes no turns".to_owned(),
                false => format!("switch.scheduler = {scheduler} serves its queues without turns"),
            },
        );
    }

    fn provide_of_hosts(&self, found: &mut Capabilities) {
        let name = self.control_name();
        let sender = !self.receiver_driven();
        found.provide_or(
            needs::SENDER_DRIVEN,
            self.driver.receiver_driven().map(|name| {
                format!(
                    "transport.kind = {}: {name}'s receivers decide what is sent",
                    self.driver.kind().show()
                )
            }),
        );
        found.provide_or(
            needs::ACK_HEADER,
            self.control
                .header_bytes()
                .is_none()
                .then(|| format!("{name} puts no header of its own into acknowledgements")),
        );
        let rate = self.control.sets_rate();
        found.provide_or(needs::RATE_FOR_WINDOW, (!rate).then(|| format!("{name} sets no rate")));
        let own = self.control.recovery(xoff_core::Ps(0)).is_some();
        found.provide(needs::TCP_WINDOW, self.control.has_tcp_window() && !own);
        let of_control = if sender { format!("transport.{name}") } else { name.clone() };
        found.explain(needs::TCP_WINDOW, format!("{of_control} has no TCP window"));
        found.explain(needs::TCP_MARKS, format!("{of_control} ignores tcp.ecn"));
        let (section, _) = self.control.marks_setting();
        found.provide(needs::TCP_MARKS, section == "tcp");
        found.provide(needs::RENO, self.control.grows_as_reno() && !own);
        found.provide(needs::DUPLICATES, self.recovery.counts_duplicates());
        found.provide(needs::FLIGHT, self.control.reduces_flight() && !own);
        let shrinks = self.control.shrinks_in_recovery() && !own;
        found.provide(needs::DEFLATION, self.recovery.deflates() && shrinks);
        found.provide(needs::PROBES, self.recovery.probes());
        let tells = self.control.tells_window() && !own;
        found.provide(needs::REDUCTION, self.recovery.probes() && tells);
        found.provide(needs::REPORTS, self.recovery.reports_blocks());
        let timeouts = if sender { self.recovery.timeouts() } else { Timeouts::One };
        let (none, two) = match timeouts {
            Timeouts::None(reason) => (Some(reason.to_owned()), false),
            Timeouts::One => (None, false),
            Timeouts::Two => (None, true),
        };
        let recovery = self.recovery.kind().show();
        let no_timeout = none.clone();
        found.provide_or(needs::TIMEOUT, none);
        if let Some(reason) = no_timeout {
            found.explain(needs::SHORT_TIMEOUT, reason);
        }
        let short = || format!("transport.recovery = {recovery} has one timeout");
        found.provide_or(needs::SHORT_TIMEOUT, (!two).then(short));
        let requests = || format!("transport.recovery = {recovery} does not repeat requests");
        found.provide_or(needs::NACK_INTERVAL, (!self.recovery.limits_requests()).then(requests));
    }

    /// True if flows depend on the base RTT of their own path.
    fn flows_use_base_rtt(&self) -> bool {
        let window = !self.receiver_driven() && self.transport.window == Window::Bdp;
        let held = self.flow_control.onramp().is_some();
        window || held || self.control.uses_base_rtt() || self.allocator.is_some()
    }

    /// True if another part depends on the base RTT of the longest path.
    fn network_uses_base_rtt(&self) -> bool {
        let size = self.buffer.as_ref().is_some_and(|buffer| buffer.size.0 == 0);
        let port_memory = self.scheduler.port_memory(xoff_core::Bytes(1)).is_some();
        self.hop.derives_from_base_rtt()
            || self.scheduler.derives_from_base_rtt()
            || (size && port_memory)
            || self.control.derives_from_base_rtt()
            || self.driver.derives_from_bdp()
            || self.overflow.derives_from_bdp()
    }
}

/// The recovery. A congestion control that fixes its settings leaves section `tcp` without effect.
fn recovery(reader: &mut Reader<'_>, transport: &TransportConfig) -> RecoveryConfig {
    let fixed = ControlConfig::all()
        .into_iter()
        .find(|control| control.kind() == transport.congestion)
        .is_some_and(|control| control.recovery(xoff_core::Ps(1)).is_some());
    let recovery = RecoveryConfig::with_defaults(transport.recovery);
    if fixed && recovery.own_section() == TcpConfig::SECTION {
        let congestion = transport.congestion.show();
        let reason = format!("transport.congestion = {congestion} has timeouts of its own");
        reader.unused("tcp", &reason);
        return recovery;
    }
    reader.choose("transport.recovery", transport.recovery)
}

fn buffer(reader: &mut Reader<'_>, architecture: &ArchitectureConfig) -> Option<BufferConfig> {
    if !architecture.has_ingress_queues() {
        return Some(reader.read());
    }
    let reason = format!(
        "switch.architecture = {} has ingress_size and egress_size in section {}",
        architecture.kind().show(),
        architecture.own_section()
    );
    reader.unused("buffer", &reason);
    None
}

fn allocator(reader: &mut Reader<'_>, kind: AllocatorKind) -> Option<FlowtuneConfig> {
    if kind == AllocatorKind::None {
        reader.unused("flowtune", "transport.allocator = \"none\"");
        return None;
    }
    Some(reader.read())
}

fn ecn(reader: &mut Reader<'_>, marks: bool) -> Option<EcnConfig> {
    if !marks {
        reader.unused("ecn", "switch.ecn = false");
        return None;
    }
    Some(reader.read())
}

/// The transport without settings that another part decides.
fn in_effect(
    written: TransportConfig,
    driver: &DriverConfig,
    recovery: &RecoveryConfig,
) -> TransportConfig {
    let no_timeout = matches!(recovery.timeouts(), Timeouts::None(_));
    if driver.receiver_driven().is_none() {
        let timeout = if no_timeout { xoff_core::Ps(0) } else { written.timeout };
        return TransportConfig { timeout, ..written };
    }
    TransportConfig {
        congestion: Congestion::None,
        allocator: AllocatorKind::None,
        window: Window::Unlimited,
        window_follows_rate: false,
        pacing: true,
        flow_control: FlowControl::None,
        recovery: Recovery::GoBackN,
        ack_class: AckClass::Control,
        round_robin: driver.round_robin(),
        ..written
    }
}
