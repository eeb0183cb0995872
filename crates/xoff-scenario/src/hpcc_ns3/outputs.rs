//! The output files of a case: their names, and what that simulator computes once for them.

use std::collections::BTreeMap;
use std::path::Path;

use xoff_core::{HostId, Ps};
use xoff_net::topo::Topology;
use xoff_sim::faults::Fault;
use xoff_sim::partition::queue_lengths::QueueLengthPlan;
use xoff_workload::Arrival;

use super::config::Config;
use super::rtts::Search;
use crate::outputs::{Outputs, Pair};

/// Time between two samples of queue lengths: that simulator's `qlen_mon_interval`. It has no key.
const SAMPLES_APART: Ps = Ps::from_ns(100);
/// Most lines of the file of queue lengths.
const MOST_LINES: u64 = 20_000_000;
/// Files of a run directory, whose names outputs cannot have.
const TAKEN: [&str; 6] = [
    "manifest.json",
    "scenario.toml",
    "summary.json",
    "trace.pcapng",
    "reference.csv",
    "manifest.json.new",
];

/// The output files of a case.
///
/// # Errors
/// The key whose name is taken, or that asks for too much.
pub(super) fn outputs(
    config: &Config,
    topology: &Topology,
    flows: &[Arrival],
    faults: &[Fault],
) -> Result<Outputs, String> {
    let fct = name("FCT_OUTPUT_FILE", &config.fct_file)?;
    let pfc = name("PFC_OUTPUT_FILE", &config.pfc_file)?;
    let mut names = vec![("FCT_OUTPUT_FILE", fct.clone()), ("PFC_OUTPUT_FILE", pfc.clone())];
    let mut queue_lengths = None;
    if !config.queue_file.is_empty() {
        let name = name("QLEN_MON_FILE", &config.queue_file)?;
        names.push(("QLEN_MON_FILE", name.clone()));
        queue_lengths = Some((name, queue_length_plan(config, topology)?));
    }
    for (index, (key, name)) in names.iter().enumerate() {
        if let Some((other, _)) = names[..index].iter().find(|(_, earlier)| earlier == name) {
            return Err(format!(
                "{other} and {key} both name {name}: all outputs are in the run directory, without \
                 their folders; give them different names"
            ));
        }
    }
    Ok(Outputs {
        fct,
        pfc,
        queue_lengths,
        stop: config.stop_time,
        payload: config.payload,
        pairs: pairs(config, topology, flows, faults),
        failure: faults.first().map_or(Ps::NEVER, |fault| fault.at),
    })
}

/// The name in the run directory of an output.
fn name(key: &str, path: &str) -> Result<String, String> {
    let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.ok_or_else(|| format!("{key} {path} names no file"))?;
    let is_table = Path::new(&name).extension().is_some_and(|extension| extension == "parquet");
    if TAKEN.contains(&name.as_str()) || is_table || name.starts_with('.') {
        return Err(format!(
            "{key} {path}: a run directory has a file of its own with this name; choose another"
        ));
    }
    Ok(name)
}

fn queue_length_plan(config: &Config, topology: &Topology) -> Result<QueueLengthPlan, String> {
    let plan = QueueLengthPlan {
        start: config.queues_from,
        interval: SAMPLES_APART,
        end: config.queues_until,
        stop: config.stop_time,
    };
    let ports: usize = topology.switch_ids().map(|node| topology.ports_of(node).len()).sum();
    if plan.dumps().saturating_mul(ports as u64) > MOST_LINES {
        return Err(format!(
            "QLEN_MON_FILE gets a line per port of a switch and 100 ms from QLEN_MON_START to \
             QLEN_MON_END: more than {MOST_LINES} lines; choose an earlier QLEN_MON_END or \
             SIMULATOR_STOP_TIME"
        ));
    }
    Ok(plan)
}

/// The pairs of hosts that have flows.
fn pairs(
    config: &Config,
    topology: &Topology,
    flows: &[Arrival],
    faults: &[Fault],
) -> BTreeMap<(HostId, HostId), Pair> {
    let before = Search::new(topology, config.payload).ways_of_pairs(flows);
    let down: Vec<_> = faults.iter().flat_map(|fault| fault.ports.iter().copied()).collect();
    let after = (!down.is_empty())
        .then(|| Search::new(topology, config.payload).without(&down).ways_of_pairs(flows));
    let pair = |(ends, way): (&(HostId, HostId), &super::rtts::Way)| {
        let later = after.as_ref().and_then(|after| after.get(ends)).unwrap_or(way);
        let (base_rtt_ns, _) = way.rtt_and_bdp();
        (*ends, Pair { base_rtt_ns, rate: way.rate, rate_after_failure: later.rate })
    };
    before.iter().map(pair).collect()
}
