//! From the layers of a scenario to a network, its traffic and a plan.

mod balance;
mod bfc;
mod crossbar;
mod driven;
mod effects;
mod elision;
mod expresspass;
mod faults;
mod flowtune;
mod homa;
mod hosts;
mod ndp;
mod network;
mod numerical;
mod pipelined;
mod scheduler;
pub(crate) mod size;
mod switch;
mod tcp;
mod tofino;
mod xcp;

use std::path::Path;
use std::sync::Arc;

use xoff_core::BitRate;
use xoff_core::knobs::{Knob, Knobs};
use xoff_core::seam::{Seam, Sections};
use xoff_host::cc::ControlConfig;
use xoff_host::hosts::HostSetup;
use xoff_host::transport::AckClass;
use xoff_net::fabric::{Instants, Rounding};
use xoff_net::packet::CLASSES;
use xoff_net::topo::TopologyConfig;
use xoff_sim::setup::{HopSetup, MarkDraws, Setup, SwitchSetup};
use xoff_sim::simulation::Plan;
use xoff_workload::Traffic;

use self::effects::Composition;
use self::hosts::nic_queues;
pub(crate) use self::numerical::Numerical;
use crate::diagnostic::Problems;
use crate::document::Document;
use crate::effective::Effective;
use crate::layers::Layers;
use crate::nearest::suggestion;
use crate::presets;
use crate::resources::Resources;
use crate::scalars::EngineKind;
use crate::sections::{FaultsConfig, NetworkConfig, RoundingKind, RunConfig};
use crate::size::Needs;
use crate::traffic::{self, Basis, Flows, Span};

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
    /// Load of the open-loop sources together.
    pub nominal_load: f64,
    /// What a load of 1 is.
    pub load_capacity: BitRate,
    /// Whether there are hosts that always send, beside it.
    pub fills: bool,
    /// Hosts whose access link is watched.
    pub monitored: Vec<u32>,
    /// Ports of the topology whose packets are captured.
    pub captured: Vec<u32>,
    /// The scenario with every default and derived value, as TOML.
    pub effective: String,
}

/// Every section a scenario may have but for those of topologies.
const OTHER_SECTIONS: &[&str] = &[
    "network",
    "run",
    "frame",
    "switch",
    "crossbar",
    "pause",
    "alb",
    "spray",
    "pipeline",
    "capfc",
    "ets",
    "buffer",
    "trim",
    "sfqcodel",
    "ecn",
    "pfc",
    "bfc",
    "tofino",
    "sfc",
    "transport",
    "tcp",
    "pfabric",
    "nic",
    "onramp",
    "ndp",
    "expresspass",
    "homa",
    "flowtune",
    "dctcp",
    "dcqcn",
    "dcqcn_rdma15",
    "hpcc",
    "cubic",
    "dctcp_tcp",
    "delay_window",
    "xcp",
    "faults",
    "fault",
    "traffic",
    "fluid",
    "convergence",
    "allocator",
];

/// Every section a scenario may have.
pub(crate) fn sections() -> Vec<&'static str> {
    let of_topologies = TopologyConfig::all_sections().into_iter().map(|section| section.name);
    OTHER_SECTIONS.iter().copied().chain(of_topologies).collect()
}

/// Every key at the top of a scenario.
const TOP_LEVEL: [&str; 4] = ["name", "engine", "seed", "scheme"];

/// What a scenario is run by; what cannot be read is for [`resolve`] to report.
pub(crate) fn engine(text: &str, file: &str, overrides: &[String]) -> EngineKind {
    let documents = || -> Result<Vec<Document>, Problems> {
        let mut documents = vec![Document::parse(file, text)?];
        documents.extend(Document::from_overrides(overrides)?);
        Ok(documents)
    };
    let named = documents().ok().and_then(|all| Layers::new(all).scalar("engine").ok().flatten());
    named.unwrap_or(EngineKind::Packets)
}

/// Reads a scenario for one of the numerical engines.
///
/// # Errors
/// All that is wrong with it, each with its place.
pub(crate) fn resolve_numerical(
    engine: EngineKind,
    text: &str,
    file: &str,
    overrides: &[String],
    resources: Resources,
) -> Result<Numerical, Problems> {
    let mut documents = vec![Document::parse(file, text)?];
    documents.extend(Document::from_overrides(overrides)?);
    let mut layers = Layers::new(documents);
    let folder = Path::new(file).parent().unwrap_or(Path::new("")).to_path_buf();
    let resolved = Reader::new(&mut layers, &folder, resources).numerical(engine);
    let known: Vec<&str> = sections().into_iter().chain(TOP_LEVEL).collect();
    layers.finish(&known, resolved.is_some())?;
    resolved.ok_or_else(|| Problems(Vec::new()))
}

/// Reads a scenario: `text` as the content of `file`, with overrides on top.
///
/// # Errors
/// All that is wrong with it, each with its place.
pub fn resolve(
    text: &str,
    file: &str,
    overrides: &[String],
    resources: Resources,
) -> Result<Resolved, Problems> {
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
    let resolved = Reader::new(&mut layers, &folder, resources).read();
    let known: Vec<&str> = sections().into_iter().chain(TOP_LEVEL).collect();
    layers.finish(&known, resolved.is_some())?;
    resolved.ok_or_else(|| Problems(Vec::new()))
}

struct Reader<'a> {
    layers: &'a mut Layers,
    folder: &'a Path,
    effective: Effective,
    needs: Needs,
    threads: usize,
}

impl<'a> Reader<'a> {
    fn new(layers: &'a mut Layers, folder: &'a Path, resources: Resources) -> Self {
        let (needs, threads) = (Needs::new(resources.memory), resources.threads.count);
        Self { layers, folder, effective: Effective::default(), needs, threads }
    }
}

impl Sections for Reader<'_> {
    fn read<K: Knobs>(&mut self) -> K {
        self.section()
    }

    fn unused(&mut self, section: &str, reason: &str) {
        self.layers.unused(section, reason);
    }
}

impl Reader<'_> {
    /// Reads everything, so that all mistakes are found; `None` if one of them leaves nothing to run.
    fn read(mut self) -> Option<Resolved> {
        let name = self.layers.scalar::<String>("name").ok()?.unwrap_or_default();
        let _ = self.layers.scalar::<EngineKind>("engine");
        let seed = self.layers.scalar::<u64>("seed").ok()?.unwrap_or(1);
        let scheme = self.scheme()?;
        self.effective.top(&[
            ("name", &name.show()),
            ("seed", &seed.show()),
            ("scheme", &scheme.show()),
        ]);
        let network = self.section::<NetworkConfig>();
        let shape = TopologyConfig::choose("network.topology", network.topology, &mut self);
        let topology = self.topology(&shape);
        let run = self.section::<RunConfig>();
        let frame = self.frame();
        let transport = self.transport();
        let tcp = self.tcp(&transport);
        let control = self.control(&transport, &tcp);
        let onramp = self.onramp(&transport);
        let switch = self.switch();
        let crossbar = self.crossbar(&switch, &transport, &tcp);
        let pipelined = self.pipelined(&switch, &transport, &tcp);
        let spray = self.spray(&switch, &transport, &tcp);
        let of_pipelined = pipelined.as_ref().map(|setup| &setup.pause);
        let pause = crossbar.as_ref().map(|setup| &setup.pause).or(of_pipelined).cloned();
        let buffer = match &pause {
            None => self.buffer(&switch, &frame, &shape),
            Some(_) => self.no_buffer(&switch),
        };
        let driven = self.driven(&transport, &switch, &buffer);
        let trim = self.trim(&transport, &switch, &buffer, &frame);
        let hop = self.hop(&switch, &buffer);
        let tofino = self.tofino(&hop, &frame);
        let scheduling = self.scheduling(&switch, &buffer);
        let flowtune = self.flowtune(&transport, &switch);
        let nic = self.nic(&switch, &hop, pause.as_ref());
        let ecn = self.ecn(&switch);
        let faults = self.section::<FaultsConfig>();
        self.check_fractions(&faults);
        self.check_effects(&Composition {
            switch: &switch,
            transport: &transport,
            control: &control,
            driven: driven.as_ref(),
            hop: &hop,
            scheduling: &scheduling,
            buffer: &buffer,
            trim: trim.as_ref(),
            pause: pause.as_ref(),
            allocator: flowtune.is_some(),
        });
        let plan = self.plan(&run);
        let (topology, routes, flowtune) = self.attach_allocators(flowtune, topology?)?;
        let hosts = topology.servers();
        let classes = crossbar.as_ref().map_or(CLASSES as u8, |setup| setup.config.classes);
        let queues = nic_queues(&hop, classes);
        let one_class = (!queues.tell_classes()).then_some(match &hop {
            HopSetup::Bfc(_) => "bfc.classes = 1: queues are those of flows",
            _ => "crossbar.classes = 1",
        });
        let span = plan.as_ref().map(Span::of);
        let capacity = traffic::capacity(&topology);
        let flows = self.flows(Basis { capacity: &capacity, seed, span, one_class })?;
        if let (Some(place), Some(driven)) = (&flows.stops, &driven) {
            let message = format!(
                "[[traffic]] flows that stop cannot go with {}, whose receivers are told the size of \
                 a flow by its first packet",
                driven.name()
            );
            self.layers.problem(Some(place.clone()), message, None);
        }
        let reads_labels = matches!(&hop, HopSetup::Bfc(bfc) if bfc.incast_queue);
        self.check_labels(reads_labels, flows.first_labelled.as_ref());
        self.check_sizes(&switch, &transport, &hop, flows.endless.as_ref());
        let monitored = self.monitored(&run, hosts)?;
        let captured = self.captured(&run, &topology)?;
        let faults_of_links = self.link_faults(&topology, &transport, &hop, &nic, run.grid);
        self.check_symmetric(&switch, &shape, &faults_of_links);
        let obey_pauses = match &hop {
            HopSetup::Bfc(bfc) => bfc.nics_obey,
            _ => nic.pfc,
        };
        if let Err((key, message)) = nic.check(topology.ports_of(0)[0].rate) {
            self.problem("nic", key, message);
        }
        let rtt = self.base_rtt(&transport, &topology, &routes, &frame);
        let base_rtts = self.base_rtts(&transport, &topology, &routes, &frame);
        self.check_allocator(flowtune.as_ref(), rtt, &frame);
        if let Some(tofino) = &tofino {
            self.check_pipelines(tofino, &topology);
        }
        let hop = self.derived_hop(hop, &buffer, &topology, rtt);
        let control = control.settled(rtt);
        self.check_min_rate(&control, &topology);
        self.check_timeout(&transport, &frame, &topology);
        self.effective.derive_network(&topology, rtt, &hop);
        if let ControlConfig::Xcp(xcp) = &control {
            self.effective.derive("xcp_initial_interval", xcp.initial_interval);
        }
        let bandwidth_delay_product = topology.ports_of(0)[0].rate.bytes_in(rtt);
        let scheduling = self.derived_scheduling(scheduling, rtt);
        let tcp = self.derived_tcp(tcp, &control, rtt);
        let buffer = self.derived_buffer(buffer, &switch, &frame, bandwidth_delay_product);
        let driven = driven.map(|driven| driven.settled(bandwidth_delay_product));
        let length = run.warmup + run.measure;
        let driven = driven.map(|driven| self.divide_priorities(driven, &flows, length, &frame));
        let trim = trim.map(|trim| trim.settled(bandwidth_delay_product));
        let credits = self.credits(driven.as_ref(), &frame);
        let hosts = HostSetup {
            acks_obey_pauses: transport.ack_class == AckClass::Data,
            frame,
            transport,
            control,
            tcp,
            onramp,
            driven,
            flowtune: flowtune::hosts(flowtune.as_ref()),
            queues,
            labelled: flows.labelled,
            obey_pauses,
            pause_response: pause.map_or(0, |pause| pause.response.0),
            nic,
            base_rtt: rtt.0,
            base_rtts,
            seed,
        };
        if let Some(crossbar) = &crossbar {
            self.settle_crossbar(crossbar, &topology, &hosts);
        }
        if let Some(pipelined) = &pipelined {
            self.settle_pipelined(pipelined, &topology, &hosts);
        }
        let mut setup = Setup {
            topology: Arc::new(topology),
            routes: Arc::new(routes),
            switch: SwitchSetup {
                crossbar,
                pipelined,
                spray,
                scheduling,
                quantum_bytes: u32::try_from(switch.quantum.0).unwrap_or(u32::MAX),
                buffer,
                trim,
                credits,
                hop,
                tofino,
                elided: None,
                ecn,
                mark_draws: MarkDraws::Own,
                control_loss: faults.control_loss,
                hash_by_node: false,
                symmetric_ecmp: switch.symmetric_ecmp,
            },
            hosts,
            rounding: match network.rounding {
                RoundingKind::Picosecond => Rounding::PicosecondUp,
                RoundingKind::Nanosecond => Rounding::NanosecondDown,
            },
            instants: Instants::Phases,
            labels: flowtune::labels(flowtune.as_ref()),
            flowtune,
            seed,
            faults: faults_of_links,
        };
        let plan = plan?;
        self.fits(&setup, &plan, &monitored, &captured)?;
        self.elide(&switch, &mut setup);
        Some(Resolved {
            name,
            scheme,
            setup,
            plan,
            traffic: flows.traffic,
            classes: flows.classes,
            class_of: flows.class_of,
            nominal_load: flows.nominal_load,
            load_capacity: flows.load_capacity,
            fills: flows.fills,
            monitored,
            captured,
            effective: self.effective.text(),
        })
    }

    fn flows(&mut self, basis: Basis<'_>) -> Option<Flows> {
        let Self { layers, folder, effective, needs, .. } = self;
        traffic::read(layers, folder, basis, needs, effective)
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

    /// A section of which keys have no effect where a condition holds, each for a reason of its own.
    fn section_where<K: Knobs>(&mut self, conditions: &[(bool, &str, &[&str])]) -> K {
        let mut unused: Vec<&str> = Vec::new();
        for (_, reason, keys) in conditions.iter().filter(|(holds, ..)| *holds) {
            for key in *keys {
                if !unused.contains(key) {
                    self.layers.unused_key(K::SECTION, key, reason);
                    unused.push(key);
                }
            }
        }
        let section: K = self.layers.section();
        self.effective.section(&section, &unused);
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

    fn check_fractions(&mut self, faults: &FaultsConfig) {
        if faults.control_loss > 1.0 {
            let message = "control_loss is a share of the frames: 0 to 1";
            self.problem("faults", "control_loss", message.into());
        }
    }
}
