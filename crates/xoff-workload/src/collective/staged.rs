//! A job whose ranks go through the stages of a pattern, in several lanes and rounds.

use std::collections::BTreeSet;
use std::sync::Arc;

use xoff_core::program::{Act, Event, Job, Program};
use xoff_core::rng::Purpose;
use xoff_core::{HostId, Ps, Rng};

use super::pattern::Pattern;
use crate::in_order::InOrder;

/// When ranks begin their rounds.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// Start of the job.
    pub(super) start: Ps,
    /// Time that a rank computes before each round.
    pub(super) compute: Ps,
    /// Up to this much more, drawn for each rank and round.
    pub(super) jitter: Ps,
    /// Ranks that compute longer, in order.
    pub(super) stragglers: Vec<u32>,
    /// By this much.
    pub(super) straggle: Ps,
    /// Seed of the run, and the job's source.
    pub(super) seed: u64,
    pub(super) source: u16,
}

/// Numbers of messages: by round, lane, stage, sender, and index among the messages of the sender
/// in the stage.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    lanes: u64,
    stages: u64,
    ranks: u64,
    fan: u64,
}

/// A message's place among all of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MessageId {
    round: u32,
    lane: u32,
    stage: u32,
    sender: u32,
    index: u32,
}

impl Numbers {
    /// Numbers in a round.
    fn in_round(self) -> u64 {
        self.lanes * self.stages * self.ranks * self.fan
    }

    fn number(self, id: MessageId) -> u64 {
        let place = u64::from(id.round) * self.lanes + u64::from(id.lane);
        let place = place * self.stages + u64::from(id.stage);
        (place * self.ranks + u64::from(id.sender)) * self.fan + u64::from(id.index)
    }

    fn id(self, number: u64) -> MessageId {
        let (index, place) = (number % self.fan, number / self.fan);
        let (sender, place) = (place % self.ranks, place / self.ranks);
        let (stage, place) = (place % self.stages, place / self.stages);
        let [lane, round] = [place % self.lanes, place / self.lanes].map(|part| part as u32);
        let [stage, sender, index] = [stage, sender, index].map(|part| part as u32);
        MessageId { round, lane, stage, sender, index }
    }
}

/// The job.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) pattern: Arc<dyn Pattern>,
    pub(super) hosts: Arc<[HostId]>,
    pub(super) lanes: u32,
    pub(super) rounds: u32,
    pub(super) pace: Pace,
    pub(super) priority: u8,
    /// Bytes of a round, and the factor of the bus bandwidth, if it has them.
    pub(super) measure: Option<(u64, f64)>,
}

impl Staged {
    fn numbers(&self) -> Numbers {
        Numbers {
            lanes: u64::from(self.lanes),
            stages: u64::from(self.pattern.stages()),
            ranks: self.hosts.len() as u64,
            fan: u64::from(self.pattern.fan()),
        }
    }
}

impl Job for Staged {
    fn start(&self) -> Ps {
        self.pace.start
    }

    fn hosts(&self) -> &[HostId] {
        &self.hosts
    }

    fn messages(&self) -> u64 {
        u64::from(self.rounds).saturating_mul(self.numbers().in_round())
    }

    fn priority(&self) -> u8 {
        self.priority
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn step(&self, message: u64) -> (u32, u32) {
        let MessageId { round, stage, .. } = self.numbers().id(message);
        (round, stage)
    }

    fn messages_of_step(&self, step: u32) -> u64 {
        u64::from(self.lanes) * self.pattern.messages(step)
    }

    fn measure(&self) -> Option<(u64, f64)> {
        self.measure
    }

    fn program(&self, rank: u32) -> Box<dyn Program> {
        let entity = u64::from(self.pace.source) | u64::from(rank + 1) << 16;
        let lane = || Lane { stage: 0, missing: BTreeSet::new() };
        Box::new(Rank {
            pattern: Arc::clone(&self.pattern),
            hosts: Arc::clone(&self.hosts),
            numbers: self.numbers(),
            rank,
            rounds: self.rounds,
            straggle: self
                .pace
                .stragglers
                .binary_search(&rank)
                .map_or(Ps(0), |_| self.pace.straggle),
            compute: self.pace.compute,
            jitter: self.pace.jitter,
            rng: Rng::stream(self.pace.seed, Purpose::Traffic, entity),
            round: 0,
            lanes: (0..self.lanes).map(|_| lane()).collect(),
            ready: 0,
            unacknowledged: 0,
            early: BTreeSet::new(),
            connections: InOrder::default(),
        })
    }
}

/// One lane of a rank, in a round.
#[derive(Debug)]
struct Lane {
    stage: u32,
    /// The messages that its stage waits for.
    missing: BTreeSet<u64>,
}

/// The program of a rank.
#[derive(Debug)]
struct Rank {
    pattern: Arc<dyn Pattern>,
    hosts: Arc<[HostId]>,
    numbers: Numbers,
    rank: u32,
    rounds: u32,
    compute: Ps,
    jitter: Ps,
    straggle: Ps,
    rng: Rng,
    round: u32,
    lanes: Vec<Lane>,
    /// Lanes that are ready in this round.
    ready: u32,
    /// Messages of this round that are not acknowledged.
    unacknowledged: u64,
    /// Messages that arrived before a stage waited for them.
    early: BTreeSet<u64>,
    connections: InOrder,
}

impl Rank {
    /// Computes, then communicates.
    fn begin_round(&mut self, acts: &mut Vec<Act>) {
        let jitter =
            if self.jitter > Ps(0) { self.rng.below(self.jitter.0.saturating_add(1)) } else { 0 };
        let time = [self.compute.0, self.straggle.0, jitter];
        let time = Ps(time.into_iter().fold(0, u64::saturating_add));
        if time > Ps(0) {
            acts.push(Act::Compute { key: u64::from(self.round), time });
        } else {
            self.communicate(acts);
        }
    }

    fn communicate(&mut self, acts: &mut Vec<Act>) {
        self.ready = 0;
        for lane in 0..self.lanes.len() as u32 {
            self.lanes[lane as usize].stage = 0;
            self.enter(lane, acts);
        }
        self.finish_if_ready(acts);
    }

    /// Enters the stage of a lane, and those after it as far as their messages have arrived.
    fn enter(&mut self, lane: u32, acts: &mut Vec<Act>) {
        loop {
            let stage = self.lanes[lane as usize].stage;
            let waits = self.pattern.stage(lane, stage, self.rank).waits;
            for (stage, sender, index) in waits {
                let id = MessageId { round: self.round, lane, stage, sender, index };
                let number = self.numbers.number(id);
                if !self.early.remove(&number) {
                    self.lanes[lane as usize].missing.insert(number);
                }
            }
            if !self.lanes[lane as usize].missing.is_empty() || !self.go_on(lane, acts) {
                return;
            }
        }
    }

    /// All messages of the lane's stage have arrived: sends what follows. Returns false if it was
    /// the last stage.
    fn go_on(&mut self, lane: u32, acts: &mut Vec<Act>) -> bool {
        let stage = self.lanes[lane as usize].stage;
        let sends = self.pattern.stage(lane, stage, self.rank).sends;
        self.unacknowledged += sends.len() as u64;
        for (index, (to, bytes)) in (0..).zip(sends) {
            let id = MessageId { round: self.round, lane, stage, sender: self.rank, index };
            let (message, to) = (self.numbers.number(id), self.hosts[to as usize]);
            self.connections.send((lane, to), message, bytes, acts);
        }
        let is_last = stage == self.pattern.stages();
        self.ready += u32::from(is_last);
        self.lanes[lane as usize].stage += 1;
        !is_last
    }

    fn arrived(&mut self, message: u64, acts: &mut Vec<Act>) {
        let id = self.numbers.id(message);
        let lane = &mut self.lanes[id.lane as usize];
        if !lane.missing.remove(&message) {
            // A duplicate of an earlier round, which no stage awaits, is not kept.
            if id.round >= self.round {
                self.early.insert(message);
            }
            return;
        }
        if lane.missing.is_empty() && self.go_on(id.lane, acts) {
            self.enter(id.lane, acts);
        }
        self.finish_if_ready(acts);
    }

    /// A rank has finished a round when all has arrived and all that it sent is acknowledged.
    fn finish_if_ready(&mut self, acts: &mut Vec<Act>) {
        if self.ready < self.lanes.len() as u32 || self.unacknowledged > 0 {
            return;
        }
        acts.push(Act::Finish { round: self.round });
        self.round += 1;
        self.ready = 0;
        // What is left of this round has arrived twice.
        self.early = self.early.split_off(&(u64::from(self.round) * self.numbers.in_round()));
        if self.round < self.rounds {
            self.begin_round(acts);
        }
    }
}

impl Program for Rank {
    fn react(&mut self, event: Event, acts: &mut Vec<Act>) {
        match event {
            Event::Begin => self.begin_round(acts),
            Event::Computed(_) => self.communicate(acts),
            Event::Arrived(message) => self.arrived(message, acts),
            Event::Left(message) => self.connections.left(message, acts),
            Event::Sent(message) => {
                self.connections.left(message, acts);
                self.unacknowledged -= 1;
                self.finish_if_ready(acts);
            }
        }
    }
}
