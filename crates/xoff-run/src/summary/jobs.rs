//! Jobs: how long their rounds took.

use xoff_sim::Simulation;
use xoff_sim::jobs::JobResults;

use super::keys::keys;

keys! {
    /// The rounds of a job. Bandwidths are those of NCCL's tests: the bytes of all finished rounds
    /// over the time in which they were under way, and that times the share of the bytes that each
    /// rank must send at least.
    pub struct Job {
        /// Class of its traffic source.
        class: String,
        /// Number of its ranks.
        ranks: u32,
        /// Rounds in all.
        rounds: u32,
        /// Rounds that all ranks have finished.
        finished: u32,
        /// Time of a round from its first message to its end, mean over finished rounds, in
        /// microseconds. Null without any.
        mean_us: Option<f64>,
        /// The longest time of a round.
        max_us: Option<f64>,
        /// Time from the start of the job to the end of its last finished round, over their number:
        /// with the time that ranks compute.
        iteration_us: Option<f64>,
        /// From a rank's end of a round to that of the last rank, mean over ranks and finished
        /// rounds.
        waited_us: Option<f64>,
        /// Algorithm bandwidth, in Gbyte/s; null for a barrier or a schedule.
        algorithm_gbytes_per_s: Option<f64>,
        /// Bus bandwidth, in Gbyte/s.
        bus_gbytes_per_s: Option<f64>,
    }
}

const PS_PER_US: f64 = 1e6;

impl Job {
    fn of(results: &JobResults, class: &str) -> Self {
        let finished = results.durations.len();
        let per_round =
            |total_ps: f64| (finished > 0).then(|| total_ps / finished as f64 / PS_PER_US);
        let mean_us = per_round(results.durations.iter().map(|&ps| ps as f64).sum());
        // Bytes per microsecond are 1e-3 Gbyte/s.
        let busy_us = per_round(results.busy_ps as f64);
        let bandwidth = |bytes: f64| Some(bytes / busy_us.filter(|&busy| busy > 0.0)? / 1e3);
        let (algorithm, bus) = match results.measure {
            Some((bytes, factor)) => (bandwidth(bytes as f64), bandwidth(bytes as f64 * factor)),
            None => (None, None),
        };
        Self {
            class: class.to_owned(),
            ranks: results.ranks,
            rounds: results.rounds,
            finished: finished as u32,
            mean_us,
            max_us: results.durations.iter().max().map(|&ps| ps as f64 / PS_PER_US),
            iteration_us: per_round((results.end_ps - results.start_ps) as f64),
            waited_us: per_round(results.waited_ps),
            algorithm_gbytes_per_s: algorithm,
            bus_gbytes_per_s: bus,
        }
    }
}

/// The jobs in the order of their sources; `None` without any.
pub(super) fn jobs(simulation: &Simulation) -> Option<Vec<Job>> {
    let name = |source: u16| simulation.class_of_source(source);
    let jobs = simulation.jobs().iter().map(|job| Job::of(job, name(job.source)));
    (!simulation.jobs().is_empty()).then(|| jobs.collect())
}
