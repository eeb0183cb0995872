//! Runs a case of the HPCC ns-3 simulator unchanged: `config.txt`, topology and flows.
//!
//! Every key is either obeyed, or known to affect only output, or refused by name. The model
//! follows that simulator: times truncated to 1 ns, events of one instant in the order of setting,
//! acknowledgements in the data queue, NICs that search their flows by index, ECN at dequeue with
//! that simulator's random numbers, hashes seeded with the switch's number, go-back-N to the
//! letter. In all runs compared so far every flow ends at the same nanosecond. That repository's
//! `config_doc.txt` and `traffic_gen/README.md` describe the grammar of the files.

mod checks;
mod config;
mod dialects;
mod errors;
mod files;
mod link_down;
mod next_hops;
mod outputs;
mod rtts;
mod spec;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use xoff_core::{HostId, Ps};
use xoff_host::hosts::{GivenPath, HostSetup};
use xoff_net::fabric::{Instants, Rounding};
use xoff_net::sequence::END_PS;
use xoff_net::topo::{NextHops, Routes, Topology};
use xoff_sim::setup::{Labels, MarkDraws, Setup, SwitchSetup};
use xoff_sim::simulation::Plan;
use xoff_workload::{Arrival, Source, Traffic};

use crate::diagnostic::{Diagnostic, Problems};
use crate::resolve::build::{self, NetworkRtts};
use crate::resolve::{Resolved, Spec};
use crate::resources::{Memory, Resources};
use crate::sections::RunConfig;
use config::Config;
use files::LossyLink;

/// Class of all flows.
const CLASS: &str = "flows";
const GRID: Ps = Ps::from_us(10);
const SEED: u64 = 1;
/// The class with which NICs pause acknowledgements.
const ACK_CLASS: u8 = 3;
/// The last step of the grid within the order of setting.
const END: Ps = Ps(END_PS / GRID.0 * GRID.0);

/// Reads a case; `file` is its `config.txt`.
///
/// # Errors
/// What is wrong with it, or not modelled.
pub fn resolve(
    text: &str,
    file: &str,
    overrides: &[String],
    resources: Resources,
) -> Result<Resolved, Problems> {
    build(text, file, overrides, resources)
        .map_err(|message| Problems(vec![Diagnostic { message, place: None, help: None }]))
}

/// The text of a file that a key names, and where the file is.
fn read(folder: &Path, key: &str, name: &str, memory: Memory) -> Result<(String, String), String> {
    let path = find(folder, name);
    crate::files::read(&path, memory)
        .map(|text| (text, path.display().to_string()))
        .map_err(|error| format!("{key} {}: {error}{}", path.display(), also_tried(name)))
}

/// Memory that a run takes, in bytes.
fn needed(setup: &Setup, plan: &Plan, threads: usize) -> u128 {
    setup.simulated_bytes(plan).saturating_add(setup.partition_bytes(plan, threads))
}

/// The case as a comment, behind a note, and what is not written of it.
fn as_comment(text: &str, note: &str, config: &Config) -> String {
    let lines: String = text.lines().map(|line| format!("#   {line}\n")).collect();
    let unwritten = if config.traces && !config.trace_file.is_empty() {
        let file = &config.trace_file;
        format!("# TRACE_OUTPUT_FILE {file} is not written. It changes no result.\n")
    } else {
        String::new()
    };
    format!("# An HPCC ns-3 case, run as it is:\n{note}{lines}{unwritten}")
}

/// Derived values as a comment, with the reason for the order of next hops, and the files.
fn derived(setup: &Setup, reason: &str, topology: &str, flows: &str) -> String {
    let next_hops = match setup.topology.next_hops {
        NextHops::Descending => "descending",
        _ => "ascending",
    };
    let base_rtt = Ps(setup.hosts.base_rtt);
    format!(
        "# Derived:\n#   base_rtt = {base_rtt}\n#   next_hops = {next_hops} ({reason})\n\
         #   topology = {topology}\n#   flows = {flows}\n"
    )
}

fn build(
    text: &str,
    file: &str,
    overrides: &[String],
    resources: Resources,
) -> Result<Resolved, String> {
    let asked = asked_order(overrides, file)?;
    let translated = dialects::translate(text, file)?;
    let of_file = |what: String| format!("{file}: {what}{}", translated.context);
    let config = Config::parse(&translated.text, file)
        .map_err(|what| format!("{what}{}", translated.context))?;
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let read = |key, name: &str| read(folder, key, name, resources.memory).map_err(of_file);
    let (topology_text, topology_file) = read("TOPOLOGY_FILE", &config.topology_file)?;
    dialects::check_topology(&topology_text, &topology_file)?;
    let (mut topology, lossy) = files::topology(&topology_text, &topology_file, resources.memory)?;
    checks::check(&config, &topology).map_err(of_file)?;
    let (flow_text, flow_file) = read("FLOW_FILE", &config.flow_file)?;
    let listed = files::flows(&dialects::flows(&flow_text), &flow_file, &topology)?;
    let ((flows, ports), flow_list) = begun(listed, config.stop_time, &flow_file)?;
    let (order, reason) = next_hops::choose(asked, &topology, folder, resources.memory)?;
    topology.next_hops = order;
    let routes = Routes::new(&topology).map_err(|why| format!("{topology_file}: {why}"))?;
    let search = rtts::Search::new(&topology, config.payload);
    let longest = search.longest();
    let whole =
        GivenPath { window: if config.has_window { longest.window } else { u64::MAX }, ..longest };
    let of_pairs = (!config.global_t).then(|| search.of_pairs(&flows, config.has_window));
    let spec = spec::spec(&config, run(&config, &flow_file, &flows)?, &whole);
    let plan = build::plan(&spec.run);
    let faults = link_down::faults(&config, &topology).map_err(of_file)?;
    let outputs = outputs::outputs(&config, &topology, &flows, &faults).map_err(of_file)?;
    let class = flows.first().map_or(ACK_CLASS, |flow| flow.priority);
    let mut setup = Setup {
        faults,
        ..setup(&config, spec, (topology, &lossy), routes, (whole.base_rtt, class))
    };
    setup.labels = Labels::Pairs(ports.into());
    setup.hosts.given_paths = of_pairs.map(Arc::new);
    resources.memory.check("the network", needed(&setup, &plan, resources.threads.count))?;
    let effective = as_comment(text, &translated.note, &config)
        + &derived(&setup, reason, &topology_file, &flow_list);
    let (core, host_links) = setup.topology.capacities();
    Ok(Resolved {
        name: folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into()),
        scheme: config.control.name().into(),
        setup,
        plan,
        traffic: Traffic::new(vec![Box::new(Listed { flows, next: 0 })]),
        classes: vec![CLASS.into()],
        class_of: vec![0],
        nominal_load: 0.0,
        load_capacity: if core.0 > 0 { core } else { host_links },
        fills: false,
        monitored: Vec::new(),
        captured: Vec::new(),
        outputs: Some(outputs),
        effective,
    })
}

/// A file named by a case: in the case's folder, or where that simulator looks, in the folder that
/// the program is started in. A name without a folder is not looked for there: it could be that of
/// another case.
fn find(folder: &Path, name: &str) -> PathBuf {
    let local = folder.join(name);
    let here = PathBuf::from(name);
    if !local.exists() && names_a_folder(name) && here.exists() { here } else { local }
}

fn names_a_folder(name: &str) -> bool {
    Path::new(name).components().count() > 1
}

fn also_tried(name: &str) -> String {
    if names_a_folder(name) {
        format!(" (nor is there {name} in the current folder)")
    } else {
        String::new()
    }
}

/// The order of next hops that `--set next_hops=` asks for.
fn asked_order(overrides: &[String], file: &str) -> Result<Option<NextHops>, String> {
    let mut asked = None;
    for text in overrides {
        asked = match text.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
            Some(("next_hops", "ascending")) => Some(NextHops::Ascending),
            Some(("next_hops", "descending")) => Some(NextHops::Descending),
            Some(("next_hops", other)) => {
                return Err(format!(
                    "--set next_hops: expected ascending or descending, found {other:?}"
                ));
            }
            _ => {
                return Err(format!(
                    "{file}: --set {text} does not apply to an ns-3 case, except next_hops: \
                     change the file"
                ));
            }
        };
    }
    Ok(asked)
}

/// Leaves out the flows that begin when that simulator has stopped. It schedules its stop
/// before all flows, so flows of that time do not begin, either. Also returns what the effective
/// scenario says of the flows.
///
/// # Errors
/// If no flow is left.
fn begun(
    (mut flows, mut ports): files::Flows,
    stop: Ps,
    file: &str,
) -> Result<(files::Flows, String), String> {
    let (begun, all) = (flows.partition_point(|flow| flow.start < stop), flows.len());
    if let Some(first) = flows.first().filter(|_| begun == 0) {
        return Err(format!(
            "{file}: the first flow begins at {}, but SIMULATOR_STOP_TIME is {stop}: set it later",
            first.start
        ));
    }
    flows.truncate(begun);
    ports.truncate(begun);
    let said = match all - begun {
        0 => file.to_owned(),
        late => format!("{file}, without the last {late}, as that simulator stops at {stop}"),
    };
    Ok(((flows, ports), said))
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

/// All flows are measured. The run ends with the last flow, at the simulator's stop time, or when
/// the order of setting ends.
fn run(config: &Config, file: &str, flows: &[Arrival]) -> Result<RunConfig, String> {
    let (Some(first), Some(last)) = (flows.first(), flows.last()) else {
        return Err(format!("{file}: there are no flows"));
    };
    let grid = link_down::grid(config, GRID);
    let warmup = Ps(first.start.0 / grid.0 * grid.0);
    let until = Ps((last.start.0 / grid.0 + 1) * grid.0);
    if until >= END {
        return Err(format!(
            "{file}: the last flow begins at {}: flows must begin within the first {END} of a run",
            last.start
        ));
    }
    Ok(RunConfig {
        warmup,
        measure: until - warmup,
        drain: Ps(config.stop_time.0.min(END.0).saturating_sub(until.0)),
        grid,
        // Nothing times out in that simulator: flows that lost packets may wait until it stops.
        watchdog: Ps::NEVER,
        ..RunConfig::default()
    })
}

/// The setup of the spec, with that simulator's order of events, roundings, hashes and random
/// numbers.
fn setup(
    config: &Config,
    spec: Spec,
    (topology, lossy): (Topology, &[LossyLink]),
    routes: Routes,
    (base_rtt, class): (u64, u8),
) -> Setup {
    let rtts = NetworkRtts { longest: Ps(base_rtt), pairs: None };
    // NICs hold acknowledgements while this class is paused, whatever the class of their flow,
    // unless they are prioritised. In switches they wait with data.
    let acks_obey_pauses = !config.ack_high_priority && class == ACK_CLASS;
    let hosts =
        HostSetup { acks_obey_pauses, literal: true, ..build::hosts(&spec, None, &[], rtts, SEED) };
    let buffer = spec.buffer.clone().unwrap_or_default();
    Setup {
        switch: SwitchSetup {
            ecn: spec::ecn(config),
            mark_draws: MarkDraws::FirstOfStreams(first_stream(&topology, lossy)),
            hash_by_node: true,
            // That simulator's `get_nic_rate`.
            nic_rate: Some(topology.port_of_host(HostId(0)).rate.0),
            ..build::switches(spec, buffer, None)
        },
        hosts,
        receive_errors: errors::receive_errors(&topology, lossy, config.error_rate),
        topology: Arc::new(topology),
        routes: Arc::new(routes),
        rounding: Rounding::BinarySeconds,
        instants: Instants::AsSet,
        flowtune: None,
        labels: Labels::Hashed,
        seed: SEED,
        faults: Vec::new(),
    }
}

/// The stream of the first draw of a run, after the streams taken by that simulator's set-up. Each
/// node's internet stack takes six (one for its global routing, five for its IPv6 extensions:
/// hop-by-hop, destination, fragment, routing, loose routing). The error model shared by all links
/// takes one for itself, and one for the variable that replaces its own. So does that of each link
/// with an error rate of its own.
fn first_stream(topology: &Topology, lossy: &[LossyLink]) -> u64 {
    6 * u64::from(topology.nodes()) + 2 * (1 + lossy.len() as u64)
}

#[cfg(test)]
mod tests;
