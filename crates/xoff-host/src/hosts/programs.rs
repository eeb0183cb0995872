//! Hosts that run the programs of jobs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use xoff_core::program::{Act, Event, Job, Program};
use xoff_core::{FlowId, HostId, TimerId};
use xoff_net::{Fabric, phase};

use super::Hosts;
use crate::flow::FlowStart;

/// What switches hash of a flow besides its hosts, from the seed of the run, the flow and its ends.
pub type LabelRule = fn(u64, FlowId, HostId, HostId) -> u32;

/// A job of a run.
#[derive(Clone, Debug)]
pub struct HostedJob {
    /// The job.
    pub job: Arc<dyn Job>,
    /// Its traffic source.
    pub source: u16,
    /// The flow of its first message. The flows of all messages follow one another.
    pub first: FlowId,
    /// The labels of its flows.
    pub label: LabelRule,
}

impl HostedJob {
    /// The message of a flow; `None` if the flow belongs to something else.
    #[must_use]
    pub fn message_of(&self, flow: FlowId) -> Option<u64> {
        let message = flow.0.checked_sub(self.first.0)?;
        (message < self.job.messages()).then_some(message)
    }
}

/// A host has finished a round of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoundEnd {
    /// Time (ps).
    pub time_ps: u64,
    /// The index of the job.
    pub job: u32,
    /// The round.
    pub round: u32,
    /// The host's rank.
    pub rank: u32,
}

/// The program of one host.
#[derive(Debug)]
struct Running {
    job: u32,
    rank: u32,
    nic: u32,
    program: Box<dyn Program>,
    begun: bool,
    timer: TimerId,
    /// Computations by their end (ps), with their keys.
    computing: BinaryHeap<Reverse<(u64, u64)>>,
    /// Messages that have left at this instant.
    left: Vec<u64>,
}

/// The programs of a partition's hosts.
#[derive(Debug, Default)]
pub struct Programs {
    /// The jobs with programs here, by index.
    jobs: BTreeMap<u32, HostedJob>,
    running: Vec<Running>,
    /// The program of a host in a job.
    places: FxHashMap<(u32, HostId), u32>,
    acts: Vec<Act>,
    /// Rounds that hosts have finished since they were last taken.
    pub ends: Vec<RoundEnd>,
}

impl Programs {
    /// True if hosts here run programs.
    #[inline]
    pub(super) fn are_here(&self) -> bool {
        !self.running.is_empty()
    }

    /// True if a host here has yet to begin this job, or computes for it.
    #[must_use]
    pub fn compute(&self, job: u32) -> bool {
        let is_busy =
            |host: &Running| !host.begun || !host.computing.is_empty() || !host.left.is_empty();
        self.running.iter().any(|host| host.job == job && is_busy(host))
    }

    /// The job of a flow, by the number in its packets, and its message.
    fn find(&self, flow: u32) -> Option<(u32, u64)> {
        let flow = FlowId(u64::from(flow));
        self.jobs.iter().find_map(|(&index, job)| Some((index, job.message_of(flow)?)))
    }
}

impl Hosts {
    /// Adds the program of a rank of the job with this index. `nic` is the first NIC of its host.
    /// `tag` is that of events of programs.
    pub fn add_program(
        &mut self,
        fabric: &mut Fabric,
        (index, job): (u32, &HostedJob),
        rank: u32,
        nic: u32,
        tag: u32,
    ) {
        let programs = &mut self.programs;
        programs.jobs.entry(index).or_insert_with(|| job.clone());
        let host = job.job.hosts()[rank as usize];
        let place = programs.running.len() as u32;
        let order = u64::from(index) << 32 | u64::from(host.0);
        let timer = fabric.wheel.add_timer(phase::TIMER | phase::kind(10) | order, tag + place);
        fabric.wheel.arm(timer, job.job.start().0);
        programs.places.insert((index, host), place);
        programs.running.push(Running {
            job: index,
            rank,
            nic,
            program: job.job.program(rank),
            begun: false,
            timer,
            computing: BinaryHeap::new(),
            left: Vec::new(),
        });
    }

    /// A flow has arrived whole, perhaps not for the first time, or has ended at its sender: the
    /// program of the host hears of it.
    #[cold]
    pub(super) fn tell_program(
        &mut self,
        fabric: &mut Fabric,
        nic: u32,
        flow: u32,
        event: fn(u64) -> Event,
    ) {
        let Some((job, message)) = self.programs.find(flow) else { return };
        let host = self.nics[nic as usize].host;
        if let Some(&place) = self.programs.places.get(&(job, host)) {
            self.react(fabric, place, event(message));
        }
    }

    /// All bytes of a flow of a host have left. As the port is about to send, its program hears of
    /// it in an event of its own at this instant.
    #[cold]
    pub(super) fn note_left(&mut self, fabric: &mut Fabric, sender: u32) {
        let flow = &self.flows[sender as usize];
        let (id, host) = (flow.start.id, flow.start.src);
        let Some((job, message)) = self.programs.find(id.0 as u32) else { return };
        if let Some(&place) = self.programs.places.get(&(job, host)) {
            let running = &mut self.programs.running[place as usize];
            running.left.push(message);
            fabric.wheel.arm(running.timer, fabric.now);
        }
    }

    /// The timer of a program: the job begins, or computations are over.
    pub fn on_program_timer(&mut self, fabric: &mut Fabric, place: u32) {
        let running = &mut self.programs.running[place as usize];
        if !running.begun {
            running.begun = true;
            self.react(fabric, place, Event::Begin);
        }
        for message in std::mem::take(&mut self.programs.running[place as usize].left) {
            self.react(fabric, place, Event::Left(message));
        }
        while let Some(&Reverse((time, key))) =
            self.programs.running[place as usize].computing.peek()
        {
            if time > fabric.now {
                break;
            }
            self.programs.running[place as usize].computing.pop();
            self.react(fabric, place, Event::Computed(key));
        }
        self.arm_program(fabric, place);
    }

    fn arm_program(&mut self, fabric: &mut Fabric, place: u32) {
        let running = &self.programs.running[place as usize];
        let next = running.computing.peek().map_or(u64::MAX, |&Reverse((time, _))| time);
        fabric.wheel.arm(running.timer, next);
    }

    fn react(&mut self, fabric: &mut Fabric, place: u32, event: Event) {
        let mut acts = std::mem::take(&mut self.programs.acts);
        let running = &mut self.programs.running[place as usize];
        running.program.react(event, &mut acts);
        let (index, rank, nic) = (running.job, running.rank, running.nic);
        for act in acts.drain(..) {
            match act {
                Act::Send { message, to, bytes } => {
                    let start = self.message(index, rank, (message, to, bytes));
                    self.begin(fabric, nic, start);
                }
                Act::Compute { key, time } => {
                    let running = &mut self.programs.running[place as usize];
                    running.computing.push(Reverse((fabric.now.saturating_add(time.0), key)));
                    self.arm_program(fabric, place);
                }
                Act::Finish { round } => {
                    let end = RoundEnd { time_ps: fabric.now, job: index, round, rank };
                    self.programs.ends.push(end);
                }
            }
        }
        self.programs.acts = acts;
    }

    /// The flow of a message of a rank.
    fn message(
        &self,
        index: u32,
        rank: u32,
        (message, to, bytes): (u64, HostId, u64),
    ) -> FlowStart {
        let HostedJob { job, source, first, label } = &self.programs.jobs[&index];
        let (id, src) = (FlowId(first.0 + message), job.hosts()[rank as usize]);
        FlowStart {
            id,
            start_ps: 0, // `begin` sets it
            src,
            dst: to,
            bytes,
            label: label(self.setup.seed, id, src, to),
            source: *source,
            class: job.priority(),
        }
    }
}
