//! Runs a case of the HPCC ns-3 simulator as it is: `config.txt`, topology and flows.
//!
//! Every key is either honoured, or known to change nothing but output, or refused by name. The
//! model is set to that simulator's: times truncated to 1 ns, events of one instant in the order in
//! which they were set, acknowledgements in the data queue, NICs that search their flows by index,
//! ECN at dequeue with that simulator's random numbers, hashes seeded with the switch's number. In
//! all runs compared so far (none with drops) every flow ends at the same nanosecond.
//! The file grammar is described by that repository's `config_doc.txt` and `traffic_gen/README.md`.

mod config;
mod files;

use std::path::Path;
use std::sync::Arc;

use xoff_core::{BitRate, Bytes, Ps};
use xoff_host::cc::{ControlConfig, DcqcnConfig, DctcpConfig, HpccConfig};
use xoff_host::hosts::HostSetup;
use xoff_host::intake::NicConfig;
use xoff_host::nic::NicQueues;
use xoff_host::receiver_driven::DriverConfig;
use xoff_host::recovery::RecoveryConfig;
use xoff_host::transport::{
    Congestion, FrameConfig, RoundRobin, TcpConfig, TransportConfig, Window,
};
use xoff_net::arch::ArchitectureConfig;
use xoff_net::balance::BalanceConfig;
use xoff_net::buffer::{BufferConfig, BufferKind};
use xoff_net::fabric::{Instants, Rounding};
use xoff_net::hop::{HopConfig, PfcConfig};
use xoff_net::mark::{EcnConfig, MarkAt};
use xoff_net::sched::SchedulerConfig;
use xoff_net::topo::{Routes, Topology};
use xoff_net::trim::OverflowConfig;
use xoff_sim::setup::{EcnSetup, Labels, MarkDraws, Setup, SwitchSetup, base_rtt};
use xoff_sim::simulation::Plan;
use xoff_workload::{Arrival, Source, Traffic};

use crate::diagnostic::{Diagnostic, Problems};
use crate::resolve::Resolved;
use crate::resources::Resources;
use config::{Config, Control};

/// Class of all flows.
const CLASS: &str = "flows";
const GRID: Ps = Ps::from_us(10);

/// Reads a case; `file` is its `config.txt`.
///
/// # Errors
/// What is wrong with it, or what it asks for that is not modelled.
pub fn resolve(
    text: &str,
    file: &str,
    overrides: &[String],
    resources: Resources,
) -> Result<Resolved, Problems> {
    build(text, file, overrides, resources)
        .map_err(|message| Problems(vec![Diagnostic { message, place: None, help: None }]))
}

fn build(
    text: &str,
    file: &str,
    overrides: &[String],
    resources: Resources,
) -> Result<Resolved, String> {
    if !overrides.is_empty() {
        return Err(format!("{file}: --set does not apply to an ns-3 case: change the file"));
    }
    let config = Config::parse(text, file)?;
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let read = |name: &str| {
        let path = folder.join(name);
        crate::traffic::files::read(&path, resources.memory)
            .map(|text| (text, path.display().to_string()))
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    let (topology_text, topology_file) = read(&config.topology_file)?;
    let topology = files::topology(&topology_text, &topology_file, resources.memory)?;
    let (flow_text, flow_file) = read(&config.flow_file)?;
    let flows = files::flows(&flow_text, &flow_file, topology.hosts)?;
    let routes = Routes::new(&topology)?;
    let plan = plan(&config, &flows)?;
    let setup = setup(&config, topology, routes)?;
    let of_partitions = setup.partition_bytes(&plan, resources.threads.count);
    resources
        .memory
        .check("the network", setup.simulated_bytes(&plan).saturating_add(of_partitions))?;
    let lines: Vec<String> = text.lines().map(|line| format!("#   {line}")).collect();
    let effective = format!(
        "# An HPCC ns-3 case, run as it is:\n{}\n# Derived:\n#   base_rtt = {}\n",
        lines.join("\n"),
        Ps(setup.hosts.base_rtt)
    );
    let (core, host_links) = setup.topology.capacities();
    let load_capacity = if core.0 > 0 { core } else { host_links };
    Ok(Resolved {
        name: folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into()),
        scheme: config.control.name().into(),
        setup,
        plan,
        traffic: Traffic::new(vec![Box::new(Listed { flows, next: 0 })]),
        classes: vec![CLASS.into()],
        class_of: vec![0],
        nominal_load: 0.0,
        load_capacity,
        fills: false,
        monitored: Vec::new(),
        captured: Vec::new(),
        effective,
    })
}

struct Listed {
    flows: Vec<Arrival>,
    next: usize,
}

impl Source for Listed {
    fn next(&mut self) -> Option<Arrival> {
        self.next += 1;
        self.flows.get(self.next - 1).copied()
    }
}

/// All flows are measured; the run ends when they have, or at the simulator's stop time.
fn plan(config: &Config, flows: &[Arrival]) -> Result<Plan, String> {
    let (Some(first), Some(last)) = (flows.first(), flows.last()) else {
        return Err(format!("{}: there are no flows", config.flow_file));
    };
    let warmup = Ps(first.start.0 / GRID.0 * GRID.0);
    let until = Ps((last.start.0 / GRID.0 + 1) * GRID.0);
    Ok(Plan {
        warmup,
        measure: until - warmup,
        drain: Ps(config.stop_time.0.saturating_sub(until.0)),
        grid: GRID,
        watchdog: Ps::from_us(50_000),
        row_every: 1,
        flow_series: Ps(0),
        port_samples: Ps(0),
        link_delays: false,
        partitions: 0,
    })
}

fn setup(config: &Config, topology: Topology, routes: Routes) -> Result<Setup, String> {
    let frame = FrameConfig { payload: Bytes(config.payload), ..FrameConfig::default() };
    // That simulator's base RTT counts payloads, not whole frames.
    let rtt = base_rtt(&topology, &routes, config.payload);
    let transport = TransportConfig {
        congestion: congestion(&config.control),
        window: if config.has_window { Window::Bdp } else { Window::Unlimited },
        window_follows_rate: config.window_follows_rate,
        round_robin: RoundRobin::Index,
        ..TransportConfig::default()
    };
    Ok(Setup {
        switch: SwitchSetup {
            architecture: ArchitectureConfig::default(),
            balance: BalanceConfig::default(),
            scheduler: SchedulerConfig::default(),
            quantum_bytes: 1,
            buffer: BufferConfig {
                kind: BufferKind::Shared,
                size: config.buffer,
                alpha: 0.0,
                ..BufferConfig::default()
            },
            overflow: OverflowConfig::default(),
            credits: None,
            hop: HopConfig::Pfc(PfcConfig {
                threshold: 0.125,
                threshold_follows_rate: true,
                frame_size: Bytes(43),
                ..PfcConfig::default()
            }),
            ecn: ecn(config),
            mark_draws: MarkDraws::FirstOfStreams(first_stream(&topology)),
            elided: None,
            control_loss: 0.0,
            hash_by_node: true,
            symmetric_ecmp: false,
        },
        hosts: HostSetup {
            frame,
            transport,
            control: control(config),
            recovery: RecoveryConfig::default(),
            tcp: TcpConfig::default(),
            onramp: None,
            driver: DriverConfig::default(),
            flowtune: None,
            queues: NicQueues::Classes(8),
            labelled: Vec::new(),
            obey_pauses: true,
            pause_response: 0,
            nic: NicConfig::default(),
            acks_obey_pauses: !config.ack_high_priority,
            base_rtt: rtt.0,
            base_rtts: None,
            seed: 1,
        },
        topology: Arc::new(topology),
        routes: Arc::new(routes),
        rounding: Rounding::BinarySeconds,
        instants: Instants::AsSet,
        flowtune: None,
        labels: Labels::Pairs,
        seed: 1,
        faults: Vec::new(),
    })
}

/// The stream of the first draw of a run: how many that simulator's set-up has taken. Each node's
/// internet stack takes six (one its global routing, five its IPv6 extensions: hop-by-hop,
/// destination, fragment, routing, loose routing); the error model that all links share takes one
/// for itself and one for the variable it is given instead.
fn first_stream(topology: &Topology) -> u64 {
    6 * u64::from(topology.nodes()) + 2
}

fn congestion(control: &Control) -> Congestion {
    match control {
        Control::Dcqcn => Congestion::Dcqcn,
        Control::Hpcc => Congestion::Hpcc,
        Control::Dctcp => Congestion::Dctcp,
    }
}

fn control(config: &Config) -> ControlConfig {
    match config.control {
        Control::Dcqcn => ControlConfig::Dcqcn(DcqcnConfig {
            gain: config.gain,
            alpha_interval: config.alpha_interval,
            decrease_interval: config.decrease_interval,
            increase_interval: config.increase_interval,
            fast_recovery_steps: config.fast_recovery_steps,
            additive_increase: config.rate_ai,
            hyper_increase: config.rate_hai,
            min_rate: config.min_rate,
            clamp_target: config.clamp_target,
        }),
        Control::Hpcc => ControlConfig::Hpcc(HpccConfig {
            target_utilisation: config.target_utilisation,
            max_stage: config.max_stage,
            additive_increase: config.rate_ai,
            min_rate: config.min_rate,
            int_overhead: Bytes(42),
            int_time_unit: Ps::from_ns(1),
            int_bytes_unit: Bytes(128 * config.int_multi),
            int_queue_unit: Bytes(80 * config.int_multi),
        }),
        Control::Dctcp => ControlConfig::Dctcp(DctcpConfig {
            gain: config.gain,
            additive_increase: config.dctcp_ai,
            min_rate: config.min_rate,
            ..DctcpConfig::default()
        }),
    }
}

fn ecn(config: &Config) -> EcnSetup {
    if !config.ecn {
        return EcnSetup::None;
    }
    let entry = |&(rate, kmax): &(BitRate, u64)| {
        let of = |map: &[(BitRate, u64)]| {
            map.iter().find(|entry| entry.0 == rate).map_or(0, |entry| entry.1)
        };
        let pmax = config.pmax.iter().find(|entry| entry.0 == rate).map_or(0.0, |entry| entry.1);
        let ecn = EcnConfig {
            kmin: Bytes(of(&config.kmin) * 1000),
            kmax: Bytes(kmax * 1000),
            pmax,
            at: MarkAt::Dequeue,
        };
        (rate.0, ecn)
    };
    EcnSetup::ByRate(config.kmax.iter().map(entry).collect())
}

#[cfg(test)]
mod tests;
