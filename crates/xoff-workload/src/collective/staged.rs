//! A job whose ranks go through the stages of a pattern, in several lanes and rounds.

use std::sync::Arc;

use xoff_core::program::{Act, Event, Job, Program};
use xoff_core::rng::Purpose;
use xoff_core::{HostId, Ps, Rng};

use super::pass::{Links, Numbers, Pass};
use super::pattern::{Parts, Pattern};

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

/// The job.
#[derive(Debug)]
pub(crate) struct Staged {
    pub(super) pattern: Arc<dyn Pattern>,
    pub(super) hosts: Arc<[HostId]>,
    pub(super) parts: Parts,
    pub(super) rounds: u32,
    pub(super) pace: Pace,
    pub(super) priority: u8,
    /// Bytes of a round, and the factor of the bus bandwidth, if it has them.
    pub(super) measure: Option<(u64, f64)>,
}

impl Staged {
    fn numbers(&self) -> Numbers {
        Numbers::of(&*self.pattern, self.hosts.len())
    }

    /// Numbers in a round.
    fn in_round(&self) -> u64 {
        self.numbers().count(self.parts)
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
        u64::from(self.rounds).saturating_mul(self.in_round())
    }

    fn priority(&self) -> u8 {
        self.priority
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn step(&self, message: u64) -> (u32, u32) {
        let (round, message) = (message / self.in_round(), message % self.in_round());
        (round as u32, self.numbers().id(message).stage)
    }

    fn messages_of_step(&self, step: u32) -> u64 {
        u64::from(self.parts.count()) * self.pattern.messages(step)
    }

    fn measure(&self) -> Option<(u64, f64)> {
        self.measure
    }

    fn each_pair(&self, see: &mut dyn FnMut(HostId, HostId)) {
        self.pattern.each_pair(self.parts, &self.hosts, see);
    }

    fn program(&self, rank: u32) -> Box<dyn Program> {
        let entity = u64::from(self.pace.source) | u64::from(rank + 1) << 16;
        Box::new(Rank {
            pattern: Arc::clone(&self.pattern),
            hosts: Arc::clone(&self.hosts),
            parts: self.parts,
            in_round: self.in_round(),
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
            pass: None,
            links: Links::default(),
        })
    }
}

/// The program of a rank.
#[derive(Debug)]
struct Rank {
    pattern: Arc<dyn Pattern>,
    hosts: Arc<[HostId]>,
    parts: Parts,
    /// Numbers of messages in a round.
    in_round: u64,
    rank: u32,
    rounds: u32,
    compute: Ps,
    jitter: Ps,
    straggle: Ps,
    rng: Rng,
    round: u32,
    /// The round, unless it has not begun.
    pass: Option<Pass>,
    links: Links,
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
        let first = u64::from(self.round) * self.in_round;
        let of_round = self.pattern.of_round(self.round);
        let pattern = of_round.as_ref().unwrap_or(&self.pattern);
        let mut pass = Pass::new(pattern, &self.hosts, self.parts, first, self.rank);
        pass.begin(&mut self.links, acts);
        self.pass = Some(pass);
        self.finish_if_ready(acts);
    }

    fn arrived(&mut self, message: u64, acts: &mut Vec<Act>) {
        let round = message / self.in_round;
        match &mut self.pass {
            Some(pass) if round == u64::from(self.round) => {
                pass.arrived(message, &mut self.links, acts);
                self.finish_if_ready(acts);
            }
            _ if round >= u64::from(self.round) => self.links.keep(message),
            // A duplicate of an earlier round.
            _ => {}
        }
    }

    fn sent(&mut self, message: u64, acts: &mut Vec<Act>) {
        self.links.connections.left(message, acts);
        if let Some(pass) = &mut self.pass {
            pass.sent();
            self.finish_if_ready(acts);
        }
    }

    fn finish_if_ready(&mut self, acts: &mut Vec<Act>) {
        if !self.pass.as_ref().is_some_and(Pass::is_over) {
            return;
        }
        acts.push(Act::Finish { round: self.round });
        self.pass = None;
        let first = u64::from(self.round) * self.in_round;
        self.links.forget(first..first + self.in_round);
        self.round += 1;
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
            Event::Left(message) => self.links.connections.left(message, acts),
            Event::Sent(message) => self.sent(message, acts),
        }
    }
}
