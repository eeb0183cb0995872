//! Results that need care.

use xoff_core::{HostId, Ps};
use xoff_sim::Simulation;

use super::Context;

/// Unfinished flows of a class that are described.
const SHOWN: usize = 3;

/// One text for each. `payload_load` is the load realised, `drops` the packets that switches
/// dropped.
pub(super) fn warnings(
    simulation: &Simulation,
    context: &Context,
    payload_load: f64,
    drops: u64,
) -> Vec<String> {
    let mut warnings: Vec<String> = of_load(context, payload_load).into_iter().collect();
    let (mut any, until) = (false, until(simulation));
    for (number, class) in (0..).zip(simulation.classes()) {
        let unfinished = class.all.flows() - class.all.finished();
        if unfinished > 0 {
            warnings.push(format!(
                "{unfinished} of {} flows of class {} did not finish {until}; they count as \
                 infinitely slow",
                class.all.flows(),
                class.name
            ));
            warnings.extend(simulation.unfinished_flows(number, SHOWN));
            any = true;
        }
    }
    warnings.extend(simulation.lost_on_links().filter(|_| any));
    warnings.extend(of_drops(simulation, drops));
    warnings.extend(of_requests(simulation));
    warnings.extend(of_jobs(simulation));
    warnings.extend(of_dead_hosts(simulation));
    warnings
}

/// When flows should have finished; in a run that is not over, the time that it has reached.
fn until(simulation: &Simulation) -> String {
    let progress = simulation.progress();
    match progress.sim_ps < progress.drain_end_ps {
        true => format!("by {}, before the end of the drain time", Ps(progress.sim_ps)),
        false => "within the drain time".into(),
    }
}

/// Jobs with rounds that did not end.
fn of_jobs(simulation: &Simulation) -> impl Iterator<Item = String> {
    let jobs = simulation.jobs().iter().enumerate();
    let unfinished = jobs.filter(|(_, job)| (job.durations.len() as u32) < job.rounds);
    unfinished.map(|(index, job)| {
        let why = match simulation.dead_rank(index) {
            Some(host) => format!(": its host {} is down", given_number(simulation, host)),
            None => format!(" {}", until(simulation)),
        };
        format!(
            "the job of class {} finished {} of {} rounds{why}",
            simulation.class_of_source(job.source),
            job.durations.len(),
            job.rounds
        )
    })
}

fn given_number(simulation: &Simulation, host: HostId) -> u32 {
    simulation.setup().topology.given_number(host.node())
}

/// Hosts that went down for good.
fn of_dead_hosts(simulation: &Simulation) -> impl Iterator<Item = String> {
    simulation.dead_hosts().into_iter().map(|dead| {
        format!(
            "host {} has been down since {}: {} measured flows and {} web requests to and from it \
             cannot end; no percentile counts them",
            given_number(simulation, dead.host),
            dead.since,
            dead.flows,
            dead.requests
        )
    })
}

fn of_load(context: &Context, realised: f64) -> Option<String> {
    let nominal = context.nominal_load;
    let differs = nominal > 0.0 && !context.fills && (realised / nominal - 1.0).abs() > 0.05;
    differs.then(|| {
        format!(
            "realised load {:.1} % differs from nominal {:.1} % by more than 5 %: measure for \
             longer, unless traffic begins or stops in the measured time",
            realised * 100.0,
            nominal * 100.0
        )
    })
}

/// Packets that switches dropped, where pauses should keep them from that.
fn of_drops(simulation: &Simulation, drops: u64) -> Vec<String> {
    if drops == 0 {
        return Vec::new();
    }
    let reasons = simulation.setup().why_dropped().into_iter();
    reasons.map(|reason| format!("switches dropped {drops} packets: {reason}")).collect()
}

/// Classes with web requests that did not end.
fn of_requests(simulation: &Simulation) -> Vec<String> {
    let classes = simulation.classes().iter().zip(simulation.requests());
    let until = until(simulation);
    let texts = classes.filter_map(|(class, results)| {
        let all = results.requests.get(&None)?;
        let unfinished = all.flows() - all.finished();
        (unfinished > 0).then(|| {
            format!(
                "{unfinished} of {} web requests of class {} did not finish {until}; they count as \
                 infinitely long",
                all.flows(),
                class.name
            )
        })
    });
    texts.collect()
}
