//! Jobs: the rounds that ranks finish, and the steps of each round.

use std::collections::BTreeMap;

use xoff_core::program::MESSAGES_MAX;
use xoff_core::{FlowId, HostId, rng::mix64};
use xoff_host::hosts::{HostedJob, LabelRule, RoundEnd};
use xoff_host::{Finished, FlowStart};
use xoff_workload::Traffic;

use crate::setup::{Labels, Setup};
use crate::tables::{RoundRow, Rows, StepRow};

/// The first flow of a job: other flows count up from 0.
const FIRST: u64 = (1 << 32) - MESSAGES_MAX;

/// A step of a round with messages under way.
#[derive(Debug)]
struct Step {
    row: StepRow,
    /// Messages that have not ended.
    left: u64,
}

/// A round that some ranks have not finished.
#[derive(Debug)]
struct Round {
    begin_ps: u64,
    /// Ranks that have finished it, and the sum of their times (ps).
    ranks: u64,
    ends: u128,
}

/// The results of a job's rounds, for the summary.
#[derive(Clone, Debug, Default)]
pub struct JobResults {
    /// Its traffic source.
    pub source: u16,
    /// Number of its ranks.
    pub ranks: u32,
    /// Rounds in all.
    pub rounds: u32,
    /// Bytes of a round, and the factor of the bus bandwidth, if it has them.
    pub measure: Option<(u64, f64)>,
    /// Start of the job, and end of its last finished round (ps).
    pub start_ps: u64,
    /// Each finished round: from its first message to its end (ps).
    pub durations: Vec<u64>,
    /// End of the last finished round (ps).
    pub end_ps: u64,
    /// The time in which any of these rounds was under way (ps): ranks may begin a round before the
    /// last one has finished the round before.
    pub busy_ps: u64,
    /// From a rank's end of a round to that of the last rank, summed over finished rounds and
    /// averaged over ranks (ps).
    pub waited_ps: f64,
}

impl JobResults {
    /// All ranks have finished a round. Rounds come in their order.
    fn add_round(&mut self, begin_ps: u64, end_ps: u64) {
        self.durations.push(end_ps - begin_ps);
        self.busy_ps += end_ps - begin_ps.max(self.end_ps);
        self.end_ps = end_ps;
    }
}

/// The jobs of a run.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    /// The jobs, in the order of their flows.
    pub(crate) hosted: Vec<HostedJob>,
    pub(crate) results: Vec<JobResults>,
    steps: BTreeMap<(u32, u32, u32), Step>,
    rounds: BTreeMap<(u32, u32), Round>,
    unfinished: u64,
    row_every: u64,
}

impl Jobs {
    /// The jobs of a traffic.
    ///
    /// # Errors
    /// They do not fit the network.
    pub(crate) fn new(traffic: &Traffic, setup: &Setup, row_every: u64) -> Result<Self, String> {
        let mut jobs = Self { row_every, ..Self::default() };
        let mut first = FIRST;
        for (source, job) in traffic.jobs() {
            if setup.hosts.frame.whole_packets {
                return Err("[[traffic]] jobs have messages of any size: set \
                            frame.whole_packets = false"
                    .into());
            }
            let (label, first_flow) = (rule(&setup.labels)?, FlowId(first));
            first = first.saturating_add(job.messages());
            if first - FIRST > MESSAGES_MAX {
                return Err(format!(
                    "[[traffic]] the jobs have {} messages or more, but at most {MESSAGES_MAX} can \
                     be numbered: take fewer rounds, lanes or hosts",
                    first - FIRST
                ));
            }
            let (measure, start_ps) = (job.measure(), job.start().0);
            let ranks = job.hosts().len() as u32;
            jobs.results.push(JobResults {
                source: *source,
                ranks,
                rounds: job.rounds(),
                measure,
                start_ps,
                end_ps: start_ps,
                ..JobResults::default()
            });
            let job = std::sync::Arc::clone(job);
            jobs.hosted.push(HostedJob { job, source: *source, first: first_flow, label });
        }
        jobs.unfinished = jobs.hosted.len() as u64;
        Ok(jobs)
    }

    /// True if a flow belongs to a job.
    #[inline]
    pub(crate) fn have(&self, flow: FlowId) -> bool {
        flow.0 >= FIRST && !self.hosted.is_empty()
    }

    /// Jobs with rounds left.
    pub(crate) fn unfinished(&self) -> u64 {
        self.unfinished
    }

    /// The index of a flow's job.
    pub(crate) fn job_of(&self, flow: FlowId) -> Option<u32> {
        Some(self.step_of(flow)?.0)
    }

    /// The job, the round and the step of a flow.
    fn step_of(&self, flow: FlowId) -> Option<(u32, u32, u32)> {
        if !self.have(flow) {
            return None;
        }
        let (index, message) = self
            .hosted
            .iter()
            .enumerate()
            .find_map(|(index, job)| Some((index, job.message_of(flow)?)))?;
        let (round, step) = self.hosted[index].job.step(message);
        Some((index as u32, round, step))
    }

    /// A flow has begun.
    pub(crate) fn on_begun(&mut self, start: &FlowStart, class: u16) {
        let Some((job, round, step)) = self.step_of(start.id) else { return };
        let messages = self.hosted[job as usize].job.messages_of_step(step);
        let new = || {
            let row = StepRow {
                job: start.source,
                round,
                step,
                class,
                begin_ps: start.start_ps,
                end_ps: 0,
                messages,
                last: 0,
            };
            Step { row, left: messages }
        };
        self.steps.entry((job, round, step)).or_insert_with(new);
        let new = || Round { begin_ps: start.start_ps, ranks: 0, ends: 0 };
        self.rounds.entry((job, round)).or_insert_with(new);
    }

    /// A flow has ended. Flows come in the order of their ends.
    pub(crate) fn on_finished(&mut self, done: &Finished, rows: &mut Rows) {
        let Some(key) = self.step_of(done.flow.id) else { return };
        let Some(step) = self.steps.get_mut(&key) else { return };
        let (end, flow) = (done.received_ps, done.flow.id.0);
        if (end, flow) > (step.row.end_ps, step.row.last) {
            (step.row.end_ps, step.row.last) = (end, flow);
        }
        step.left -= 1;
        if step.left > 0 {
            return;
        }
        let step = self.steps.remove(&key).map(|step| step.row);
        rows.steps.extend(step.filter(|_| self.row_every > 0));
    }

    /// A rank has finished a round. Events come in the order of time.
    pub(crate) fn on_round(&mut self, end: &RoundEnd, class: u16, rows: &mut Rows) {
        let job = &self.hosted[end.job as usize];
        let ranks = job.job.hosts().len() as u64;
        let new = || Round { begin_ps: end.time_ps, ranks: 0, ends: 0 };
        let round = self.rounds.entry((end.job, end.round)).or_insert_with(new);
        round.ranks += 1;
        round.ends += u128::from(end.time_ps);
        if round.ranks < ranks {
            return;
        }
        // Since events come in order, this rank is the last one.
        let mean = round.ends as f64 / ranks as f64;
        let (begin_ps, waited) = (round.begin_ps, end.time_ps as f64 - mean);
        self.rounds.remove(&(end.job, end.round));
        let results = &mut self.results[end.job as usize];
        results.add_round(begin_ps, end.time_ps);
        results.waited_ps += waited;
        self.unfinished -= u64::from(results.durations.len() as u32 == results.rounds);
        if self.row_every > 0 {
            rows.rounds.push(RoundRow {
                job: job.source,
                round: end.round,
                class,
                begin_ps,
                end_ps: end.time_ps,
                waited_ps: waited as u64,
                slowest: job.job.hosts()[end.rank as usize].0,
            });
        }
    }
}

/// What switches hash of a flow besides its hosts.
fn rule(labels: &Labels) -> Result<LabelRule, String> {
    match labels {
        Labels::Hashed => Ok(hash_of_flow),
        Labels::Connections => Ok(hash_of_hosts),
        Labels::Pairs(_) => Err("a case of the HPCC simulator has no jobs".into()),
    }
}

/// The label of a flow with a connection of its own.
pub(crate) fn hash_of_flow(seed: u64, flow: FlowId, _src: HostId, _dst: HostId) -> u32 {
    mix64(seed ^ flow.0.rotate_left(32)) as u32
}

/// The label of a flow on the connection of its hosts.
pub(crate) fn hash_of_hosts(seed: u64, _flow: FlowId, src: HostId, dst: HostId) -> u32 {
    let pair = u64::from(src.0) << 32 | u64::from(dst.0);
    mix64(mix64(seed) ^ pair) as u32
}
