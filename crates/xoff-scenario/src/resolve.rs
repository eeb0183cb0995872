//! From the layers of a scenario to a network, its traffic and a plan.

mod ndp;

use std::path::Path;
use std::sync::Arc;

use xoff_core::Ps;
use xoff_core::knobs::{Knob, Knobs};
use xoff_host::cc::{ControlConfig, DcqcnConfig, DcqcnRdma15Config, DctcpConfig, HpccConfig};
use xoff_host::hosts::HostSetup;
use xoff_host::intake::NicConfig;
use xoff_host::nic::NicQueues;
use xoff_host::onramp::OnRampConfig;
use xoff_host::transport::{
    AckClass, Congestion, FlowControl, FrameConfig, Recovery, TransportConfig, TransportKind,
    Window,
};
use xoff_net::buffer::{BufferConfig, BufferKind};
use xoff_net::fabric::{Instants, Rounding};
use xoff_net::hop::{Assignment, BfcConfig, PfcConfig, SfcConfig, SignalAt};
use xoff_net::mark::EcnConfig;
use xoff_net::topo::{
    DumbbellConfig, FatTreeConfig, LeafSpineConfig, Routes, StarConfig, Topology, dumbbell,
    fat_tree, leaf_spine, star,
};
use xoff_sim::setup::{
    EcnSetup, HopSetup, Labels, MarkDraws, Scheduling, Setup, SwitchSetup, base_rtt,
};
use xoff_sim::simulation::Plan;
use xoff_workload::Traffic;

use crate::capture;
use crate::diagnostic::Problems;
use crate::document::Document;
use crate::effective::Effective;
use crate::layers::Layers;
use crate::nearest::suggestion;
use crate::presets;
use crate::sections::{
    FaultsConfig, FlowRows, HopKind, NetworkConfig, RoundingKind, RunConfig, SchedulerKind,
    SwitchConfig, TopologyKind,
};
use crate::traffic;

/// Everything a run needs.
pub struct Resolved {
    /// The scenario's name.
    pub name: String,
    /// The preset it starts from.
    pub scheme: String,
    /// Network and hosts.
    pub setup: Setup,
    /// When to measure.
    pub plan: Plan,
    /// Flows to come.
    pub traffic: Traffic,
    /// Traffic classes.
    pub classes: Vec<String>,
    /// The class of each traffic source.
    pub class_of: Vec<u16>,
    /// Load of the open-loop sources together, against the core links.
    pub nominal_load: f64,
    /// Hosts whose access link is watched.
    pub monitored: Vec<u32>,
    /// Ports of the topology whose packets are captured.
    pub captured: Vec<u32>,
    /// The scenario with every default and derived value, as TOML.
    pub effective: String,
}

/// Every section a scenario may have.
pub const SECTIONS: [&str; 24] = [
    "network",
    "leaf_spine",
    "fat_tree",
    "star",
    "dumbbell",
    "run",
    "frame",
    "switch",
    "buffer",
    "trim",
    "ecn",
    "pfc",
    "bfc",
    "sfc",
    "transport",
    "nic",
    "onramp",
    "ndp",
    "dctcp",
    "dcqcn",
    "dcqcn_rdma15",
    "hpcc",
    "faults",
    "traffic",
];

/// Reads a scenario: `text` as the content of `file`, with overrides on top.
///
/// # Errors
/// All that is wrong with it, each with its place.
pub fn resolve(text: &str, file: &str, overrides: &[String]) -> Result<Resolved, Problems> {
    let mut own = vec![Document::parse(file, text)?];
    own.extend(Document::from_overrides(overrides)?);
    let scheme = Layers::new(own.clone()).scalar::<String>("scheme").ok().flatten();
    let scheme = scheme.unwrap_or_default();
    let mut documents = Vec::new();
    for preset in presets::find(&scheme).unwrap_or_default() {
        documents.push(Document::preset(&scheme, preset)?);
    }
    documents.extend(own);
    let mut layers = Layers::new(documents);
    let folder = Path::new(file).parent().unwrap_or(Path::new("")).to_path_buf();
    let resolved =
        Reader { layers: &mut layers, folder: &folder, effective: Effective::default() }.read();
    let known: Vec<&str> = SECTIONS.into_iter().chain(["name", "seed", "scheme"]).collect();
    layers.finish(&known, resolved.is_some())?;
    resolved.ok_or_else(|| Problems(Vec::new()))
}

struct Reader<'a> {
    layers: &'a mut Layers,
    folder: &'a Path,
    effective: Effective,
}

impl Reader<'_> {
    /// Reads everything, so that all mistakes are found; `None` if one of them leaves nothing to run.
    fn read(mut self) -> Option<Resolved> {
        let name = self.layers.scalar::<String>("name").ok()?.unwrap_or_default();
        let seed = self.layers.scalar::<u64>("seed").ok()?.unwrap_or(1);
        let scheme = self.scheme()?;
        self.effective.top(&[
            ("name", &name.show()),
            ("seed", &seed.show()),
            ("scheme", &scheme.show()),
        ]);
        let network = self.section::<NetworkConfig>();
        let topology = self.topology(&network);
        let run = self.section::<RunConfig>();
        let frame = self.frame();
        let transport = self.transport();
        let control = self.control(&transport);
        let onramp = self.onramp(&transport);
        let switch = self.section::<SwitchConfig>();
        self.check_quantum(&switch);
        let buffer = self.buffer(&switch, &frame);
        let mut ndp = self.ndp(&transport, &switch);
        let mut trim = self.trim(&transport, &switch, &buffer, &frame);
        let hop = self.hop(&switch, &buffer);
        let nic = self.nic(&switch, &hop);
        let ecn = self.ecn(&switch);
        let faults = self.section::<FaultsConfig>();
        self.check_fractions(&faults);
        let plan = self.plan(&run);
        let (topology, routes) = topology?;
        let hosts = topology.hosts;
        let (core, _) = topology.capacities();
        let capacity = xoff_workload::Capacity {
            core,
            host_rates: (0..hosts).map(|host| topology.ports_of(host)[0].rate).collect(),
        };
        let flows =
            traffic::read(self.layers, self.folder, hosts, &capacity, seed, &mut self.effective)?;
        let monitored = self.monitored(&run, hosts)?;
        let captured = self.captured(&run, &topology)?;
        let queues = nic_queues(&hop);
        let obey_pauses = match &hop {
            HopSetup::Bfc(bfc) => bfc.nics_obey,
            _ => nic.pfc,
        };
        if let Err((key, message)) = nic.check(topology.ports_of(0)[0].rate) {
            self.problem("nic", key, message);
        }
        let rtt = self.base_rtt(&transport, &topology, &routes, &frame);
        let hop = self.derived_hop(hop, &topology, rtt);
        self.effective.derive_network(&topology, rtt, &hop);
        let bandwidth_delay_product = topology.ports_of(0)[0].rate.bytes_in(rtt);
        ndp::settle(ndp.as_mut(), trim.as_mut(), bandwidth_delay_product);
        let setup = Setup {
            topology: Arc::new(topology),
            routes: Arc::new(routes),
            switch: SwitchSetup {
                scheduling: match switch.scheduler {
                    SchedulerKind::Fifo => Scheduling::Fifo,
                    SchedulerKind::Drr => Scheduling::Drr,
                    SchedulerKind::PerFlow => Scheduling::PerFlow,
                },
                quantum_bytes: u32::try_from(switch.quantum.0).unwrap_or(u32::MAX),
                buffer,
                trim,
                hop,
                ecn,
                mark_draws: MarkDraws::Own,
                control_loss: faults.control_loss,
                hash_by_node: false,
            },
            hosts: HostSetup {
                acks_obey_pauses: transport.ack_class == AckClass::Data,
                frame,
                transport,
                control,
                onramp,
                ndp,
                queues,
                obey_pauses,
                nic,
                base_rtt: rtt.0,
                seed,
            },
            rounding: match network.rounding {
                RoundingKind::Picosecond => Rounding::PicosecondUp,
                RoundingKind::Nanosecond => Rounding::NanosecondDown,
            },
            instants: Instants::Phases,
            labels: Labels::Hashed,
            seed,
        };
        Some(Resolved {
            name,
            scheme,
            setup,
            plan: plan?,
            traffic: flows.traffic,
            classes: flows.classes,
            class_of: flows.class_of,
            nominal_load: flows.nominal_load,
            monitored,
            captured,
            effective: self.effective.text(),
        })
    }

    fn section<K: Knobs>(&mut self) -> K {
        let section: K = self.layers.section();
        self.effective.section(&section, &[]);
        section
    }

    /// A section of which some keys have no effect here: an error if the user wrote one.
    fn section_without<K: Knobs>(&mut self, unused: &[&str], why: &str) -> K {
        let section: K = self.layers.section();
        unused.iter().for_each(|key| self.layers.unused_key(K::SECTION, key, why));
        self.effective.section(&section, unused);
        section
    }

    /// A mistake at a key of a section, or of the section as a whole.
    fn problem(&mut self, section: &str, key: &str, message: String) {
        let place = self.layers.has(section, key);
        self.layers.problem(place, format!("[{section}] {message}"), None);
    }

    fn scheme(&mut self) -> Option<String> {
        let names: Vec<&str> = presets::PRESETS.iter().map(|preset| preset.0).collect();
        let Some(scheme) = self.layers.scalar::<String>("scheme").ok()? else {
            let help = format!("write scheme = \"bfc\"; the schemes are {}", names.join(", "));
            self.layers.problem(None, "the scenario names no scheme", Some(help));
            return None;
        };
        if presets::find(&scheme).is_none() {
            let place = self.layers.has("", "scheme");
            let help = suggestion(&scheme, &names);
            self.layers.problem(place, format!("unknown scheme \"{scheme}\""), help);
            return None;
        }
        Some(scheme)
    }

    fn topology(&mut self, network: &NetworkConfig) -> Option<(Topology, Routes)> {
        let kind = network.topology;
        let why = format!("network.topology = {}", kind.show());
        for (other, name) in [
            (TopologyKind::LeafSpine, "leaf_spine"),
            (TopologyKind::FatTree, "fat_tree"),
            (TopologyKind::Star, "star"),
            (TopologyKind::Dumbbell, "dumbbell"),
        ] {
            if other != kind {
                self.layers.unused(name, &why);
            }
        }
        let (name, built) = match kind {
            TopologyKind::LeafSpine => {
                ("leaf_spine", leaf_spine(&self.section::<LeafSpineConfig>()))
            }
            TopologyKind::FatTree => {
                let config = self.section::<FatTreeConfig>();
                if let Err((key, message)) = config.check() {
                    self.problem("fat_tree", key, message);
                    return None;
                }
                ("fat_tree", fat_tree(&config))
            }
            TopologyKind::Star => ("star", star(&self.section::<StarConfig>())),
            TopologyKind::Dumbbell => ("dumbbell", dumbbell(&self.section::<DumbbellConfig>())),
        };
        let routed = built.and_then(|topology| {
            if topology.ports.iter().any(|port| port.rate.0 == 0) {
                return Err("a link's rate must be more than zero".into());
            }
            if topology.ports.iter().any(|port| port.delay.0 == 0) {
                return Err("a link's delay must be more than zero".into());
            }
            let routes = Routes::new(&topology)?;
            Ok((topology, routes))
        });
        routed
            .map_err(|message| self.layers.problem(None, format!("[{name}] {message}"), None))
            .ok()
    }

    fn frame(&mut self) -> FrameConfig {
        const LONGEST: u64 = 60_000;
        let frame = self.section::<FrameConfig>();
        if frame.payload.0 == 0 {
            self.problem("frame", "payload", "payload must be more than zero".into());
        }
        if frame.payload.0 + frame.header.0 > LONGEST
            || frame.ack.0.max(frame.ack_header.0) > LONGEST
        {
            let message = format!("a frame may have up to {LONGEST} bytes with its headers");
            self.problem("frame", "payload", message);
        }
        if frame.ack.0 == 0 || frame.header.0 == 0 {
            self.problem("frame", "header", "headers and acknowledgements take some bytes".into());
        }
        frame
    }

    fn control(&mut self, transport: &TransportConfig) -> ControlConfig {
        let why = format!("transport.congestion = {}", transport.congestion.show());
        for (congestion, name) in [
            (Congestion::Dctcp, "dctcp"),
            (Congestion::Dcqcn, "dcqcn"),
            (Congestion::DcqcnRdma15, "dcqcn_rdma15"),
            (Congestion::Hpcc, "hpcc"),
        ] {
            if congestion != transport.congestion {
                self.layers.unused(name, &why);
            }
        }
        match transport.congestion {
            Congestion::None => ControlConfig::None,
            Congestion::Dctcp => ControlConfig::Dctcp(self.section::<DctcpConfig>()),
            Congestion::Dcqcn => {
                let dcqcn = self.section::<DcqcnConfig>();
                let intervals = [
                    ("alpha_interval", dcqcn.alpha_interval.0),
                    ("decrease_interval", dcqcn.decrease_interval.0),
                    ("increase_interval", dcqcn.increase_interval.0),
                ];
                self.check_positive("dcqcn", &intervals);
                ControlConfig::Dcqcn(dcqcn)
            }
            Congestion::DcqcnRdma15 => {
                let dcqcn = self.section::<DcqcnRdma15Config>();
                let intervals = [
                    ("alpha_interval", dcqcn.alpha_interval.0),
                    ("timer", dcqcn.timer.0),
                    ("byte_counter", dcqcn.byte_counter.0),
                ];
                self.check_positive("dcqcn_rdma15", &intervals);
                ControlConfig::DcqcnRdma15(dcqcn)
            }
            Congestion::Hpcc => {
                if transport.window == Window::Unlimited {
                    let message =
                        "window = \"unlimited\" cannot go with HPCC, which controls a window";
                    self.problem("transport", "window", message.into());
                }
                let hpcc = self.section::<HpccConfig>();
                if hpcc.int_overhead.0 > 4096 {
                    self.problem("hpcc", "int_overhead", "int_overhead may be up to 4096B".into());
                }
                ControlConfig::Hpcc(hpcc)
            }
        }
    }

    fn onramp(&mut self, transport: &TransportConfig) -> Option<OnRampConfig> {
        if transport.flow_control == FlowControl::None {
            self.layers.unused("onramp", "transport.flow_control = \"none\"");
            return None;
        }
        let onramp = self.section::<OnRampConfig>();
        if !(onramp.gain > 0.0 && onramp.gain <= 1.0) {
            let message = "gain is a share: more than 0, up to 1";
            self.problem("onramp", "gain", message.into());
        }
        Some(onramp)
    }

    fn transport(&mut self) -> TransportConfig {
        let written = self.layers.section::<TransportConfig>();
        if written.kind == TransportKind::Ndp {
            return self.ndp_transport();
        }
        let (unused, why): (&[&str], _) = match written.recovery {
            Recovery::GoBackN => (
                &["timeout_low", "timeout_low_packets"],
                "transport.recovery = \"go-back-n\" has one timeout",
            ),
            // Its receivers count bytes, so a packet sent again without need would count twice.
            Recovery::Perfect => (
                &["timeout", "timeout_low", "timeout_low_packets", "nack_interval"],
                "transport.recovery = \"perfect\" hears of every loss",
            ),
            Recovery::SelectiveRepeat if written.timeout.0 == 0 => (
                &["timeout_low", "timeout_low_packets", "nack_interval"],
                "transport.timeout = \"0ps\" is never, and selective repeat reports every packet \
                 out of order",
            ),
            Recovery::SelectiveRepeat => (
                &["nack_interval"],
                "transport.recovery = \"selective-repeat\" reports every packet out of order",
            ),
        };
        let (mut unused, mut why) = (unused.to_vec(), why.to_owned());
        if written.window == Window::Fixed {
            if written.window_size.0 == 0 {
                let message = "window = \"fixed\" needs a window_size of more than zero";
                self.problem("transport", "window", message.into());
            }
        } else {
            unused.push("window_size");
            why = format!("transport.window = {}, and {why}", written.window.show());
        }
        let mut transport: TransportConfig = self.section_without(&unused, &why);
        if transport.recovery == Recovery::Perfect {
            transport.timeout = Ps(0);
        }
        self.check_pacing(&transport);
        let two_timeouts = !unused.contains(&"timeout_low");
        if two_timeouts && transport.timeout_low > transport.timeout {
            let message = format!(
                "timeout_low = {} must not be longer than timeout = {}",
                transport.timeout_low, transport.timeout
            );
            self.problem("transport", "timeout_low", message);
        }
        transport
    }

    /// Without pacing a rate acts only through the window.
    fn check_pacing(&mut self, transport: &TransportConfig) {
        if transport.pacing {
            return;
        }
        if transport.congestion == Congestion::None {
            let message = "pacing = false has no effect with congestion = \"none\": its rate is the \
                           link's";
            self.problem("transport", "pacing", message.into());
        } else if !transport.window_follows_rate || transport.window == Window::Unlimited {
            let message = "pacing = false needs window_follows_rate = true and window = \"bdp\": \
                           nothing else obeys the rate of the congestion control";
            self.problem("transport", "pacing", message.into());
        }
    }

    fn buffer(&mut self, switch: &SwitchConfig, frame: &FrameConfig) -> BufferConfig {
        let kind = self.layers.section::<BufferConfig>().kind;
        let (unused, why): (&[&str], _) = match (kind, switch.hop) {
            (BufferKind::Unlimited, _) => (&["size", "alpha"], "buffer.kind = \"unlimited\""),
            (BufferKind::Dedicated, _) => (&["alpha"], "buffer.kind = \"dedicated\""),
            (_, HopKind::Pfc) => (&["alpha"], "PFC limits each ingress instead"),
            _ => (&[], ""),
        };
        let mut buffer = self.section_without::<BufferConfig>(unused, why);
        if switch.hop == HopKind::Pfc {
            buffer.alpha = 0.0;
        }
        if buffer.size.0 == 0 && !unused.contains(&"size") {
            self.problem("buffer", "size", "size must be more than zero".into());
        }
        if kind == BufferKind::Dedicated {
            self.check_dedicated(&buffer, switch, frame);
        }
        buffer
    }

    /// A queue's own memory must hold a packet, and whoever limits it must tell queues apart.
    fn check_dedicated(
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
        if switch.scheduler == SchedulerKind::PerFlow {
            let message = "scheduler = \"per-flow\" has no queues with a memory of their own";
            self.problem("buffer", "kind", message.into());
        }
    }

    fn hop(&mut self, switch: &SwitchConfig, buffer: &BufferConfig) -> HopSetup {
        let held = self.layers.section::<TransportConfig>().flow_control != FlowControl::None;
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
            HopKind::Bfc => {
                if switch.scheduler != SchedulerKind::Drr {
                    let message = "BFC schedules its queues, so it needs scheduler = \"drr\"";
                    self.problem("switch", "scheduler", message.into());
                }
                let bfc = self.section::<BfcConfig>();
                if let Err((key, message)) = bfc.check() {
                    self.problem("bfc", key, format!("{key}: {message}"));
                }
                HopSetup::Bfc(bfc)
            }
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
        let mut unused: Vec<&str> = Vec::new();
        let mut why = Vec::new();
        for (holds, reason, keys) in [
            (at_egress, "sfc.signal = \"egress\"", &["bit_delay"][..]),
            (!sfc.cache, "sfc.cache = false", &["cache_entries"]),
            (!sfc.estimator, "sfc.estimator = false", &["estimator_tau"]),
            (
                !sfc.filter,
                "sfc.filter = false",
                &["filter_key", "filter_hashes", "filter_cells", "filter_reset", "filter_version"],
            ),
        ] {
            if holds {
                unused.extend(keys);
                why.push(reason);
            }
        }
        self.section_without(&unused, &why.join(" and "))
    }

    /// Fills in what a hop control derives from the network, and checks it.
    fn derived_hop(&mut self, hop: HopSetup, topology: &Topology, rtt: Ps) -> HopSetup {
        let HopSetup::Sfc(sfc) = hop else { return hop };
        let rate = (0..topology.hosts).map(|host| topology.ports_of(host)[0].rate).max();
        let bdp = rate.map_or(0, |rate| rate.bytes_in(rtt).0);
        let sfc = sfc.derived(bdp, rtt);
        if let Err((key, message)) = sfc.check() {
            self.problem("sfc", key, format!("{key}: {message}"));
        }
        HopSetup::Sfc(sfc)
    }

    fn nic(&mut self, switch: &SwitchConfig, hop: &HopSetup) -> NicConfig {
        let written = self.layers.section::<NicConfig>();
        let paused = match hop {
            HopSetup::Pfc(_) => true,
            HopSetup::Sfc(sfc) => sfc.to_pfc,
            HopSetup::None | HopSetup::Bfc(_) => false,
        };
        if matches!(hop, HopSetup::Sfc(sfc) if sfc.to_pfc) && !written.pfc {
            let message = "pfc = false leaves nobody to obey the frames of sfc.to_pfc = true";
            self.problem("nic", "pfc", message.into());
        }
        let unlimited = written.receive_rate.0 == 0;
        if !unlimited && switch.scheduler != SchedulerKind::Fifo {
            let message = "a NIC pauses classes, so receive_rate needs scheduler = \"fifo\"";
            self.problem("nic", "receive_rate", message.into());
        }
        let mut unused = Vec::new();
        let mut why = Vec::new();
        for (holds, reason, keys) in [
            (!paused, "switches send NICs no PFC frames", &["pfc"][..]),
            (unlimited, "nic.receive_rate = \"0bps\"", &["receive_xoff", "receive_xon"]),
        ] {
            if holds {
                unused.extend(keys);
                why.push(reason);
            }
        }
        self.section_without(&unused, &why.join(" and "))
    }

    fn ecn(&mut self, switch: &SwitchConfig) -> EcnSetup {
        if !switch.ecn {
            self.layers.unused("ecn", "switch.ecn = false");
            return EcnSetup::None;
        }
        let ecn = self.section::<EcnConfig>();
        if ecn.kmin > ecn.kmax {
            self.problem("ecn", "kmin", "kmin must not be larger than kmax".into());
        }
        if ecn.pmax > 1.0 {
            self.problem("ecn", "pmax", "pmax is a probability: 0 to 1".into());
        }
        EcnSetup::Uniform(ecn)
    }

    /// A turn that allows nothing would never end; one of many packets is not fair queueing.
    fn check_quantum(&mut self, switch: &SwitchConfig) {
        if !(64..=1_000_000).contains(&switch.quantum.0) {
            self.problem("switch", "quantum", "quantum must be from 64B to 1MB".into());
        }
    }

    fn check_positive(&mut self, section: &str, settings: &[(&str, u64)]) {
        for (key, value) in settings {
            if *value < 2 {
                self.problem(section, key, format!("{key} must be more than zero"));
            }
        }
    }

    fn check_fractions(&mut self, faults: &FaultsConfig) {
        if faults.control_loss > 1.0 {
            let message = "control_loss is a share of the frames: 0 to 1";
            self.problem("faults", "control_loss", message.into());
        }
    }

    fn plan(&mut self, run: &RunConfig) -> Option<Plan> {
        let grid = run.grid.0;
        if grid == 0 || run.measure.0 == 0 || run.watchdog.0 == 0 {
            let message = "grid, measure and watchdog must be more than zero";
            self.problem("run", "grid", message.into());
            return None;
        }
        for (key, time) in [("warmup", run.warmup), ("measure", run.measure)] {
            if !time.0.is_multiple_of(grid) {
                self.problem(
                    "run",
                    key,
                    format!("{key} must be a multiple of grid = {}", run.grid),
                );
            }
        }
        Some(Plan {
            warmup: run.warmup,
            measure: run.measure,
            drain: run.drain,
            grid: run.grid,
            watchdog: run.watchdog,
            row_every: match run.flows {
                FlowRows::All => 1,
                FlowRows::Sample => 100,
                FlowRows::None => 0,
            },
            partitions: usize::from(run.partitions),
        })
    }

    fn monitored(&mut self, run: &RunConfig, hosts: u32) -> Option<Vec<u32>> {
        if run.monitor.is_empty() {
            return Some(Vec::new());
        }
        let parsed = xoff_workload::host_set::parse(&run.monitor, hosts);
        parsed.map_err(|message| self.problem("run", "monitor", message)).ok()
    }

    fn captured(&mut self, run: &RunConfig, topology: &Topology) -> Option<Vec<u32>> {
        let ports = capture::ports(&run.capture, topology);
        ports.map_err(|message| self.problem("run", "capture", message)).ok()
    }

    fn base_rtt(
        &mut self,
        transport: &TransportConfig,
        topology: &Topology,
        routes: &Routes,
        frame: &FrameConfig,
    ) -> Ps {
        if transport.base_rtt.0 > 0 {
            return transport.base_rtt;
        }
        base_rtt(topology, routes, frame.payload.0)
    }
}

/// "BFC's NIC assigns flows to the same number of queues by the same rule as a switch"; otherwise a
/// queue a class.
fn nic_queues(hop: &HopSetup) -> NicQueues {
    match hop {
        HopSetup::Bfc(bfc) => match bfc.assignment {
            Assignment::Dynamic => NicQueues::Dynamic(bfc.data_queues()),
            Assignment::Stochastic | Assignment::Single => NicQueues::Hashed(bfc.data_queues()),
        },
        _ => NicQueues::Classes,
    }
}
