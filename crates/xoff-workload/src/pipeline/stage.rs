//! The program of a stage.

use std::collections::BTreeSet;
use std::sync::Arc;

use xoff_core::program::{Act, Event, Program};
use xoff_core::rng::Purpose;
use xoff_core::{HostId, Ps, Rng};

use super::Shape;
use super::order::{Pass, Work};
use crate::in_order::InOrder;

/// The program of a stage.
#[derive(Debug)]
pub(super) struct Stage {
    shape: Shape,
    hosts: Arc<[HostId]>,
    stage: u32,
    rng: Rng,
    round: u32,
    /// The place in the order of its work.
    place: u32,
    is_computing: bool,
    /// Inputs that have arrived and were not used.
    inputs: BTreeSet<u64>,
    /// Inputs of this round that were used: they may be reported again.
    used: BTreeSet<u64>,
    /// Messages of this round that are not acknowledged.
    unacknowledged: u32,
    connections: InOrder,
}

impl Stage {
    pub(super) fn new(shape: Shape, hosts: Arc<[HostId]>, stage: u32) -> Self {
        let entity = u64::from(shape.source) | u64::from(stage + 1) << 16;
        Self {
            shape,
            hosts,
            stage,
            rng: Rng::stream(shape.seed, Purpose::Traffic, entity),
            round: 0,
            place: 0,
            is_computing: false,
            inputs: BTreeSet::new(),
            used: BTreeSet::new(),
            unacknowledged: 0,
            connections: InOrder::default(),
        }
    }

    /// The work that is next or under way; `None` when all of this round is over.
    fn work(&self) -> Option<Work> {
        let Shape { stages, micro_batches, schedule, .. } = self.shape;
        let later = stages - 1 - self.stage;
        (self.place < 2 * micro_batches).then(|| schedule.work(self.place, later, micro_batches))
    }

    /// Begins the next computation if its input is here, and the next round if this one is over.
    fn go_on(&mut self, acts: &mut Vec<Act>) {
        while !self.is_computing && self.round < self.shape.rounds {
            if let Some(work) = self.work() {
                if let Some(input) = self.shape.input(self.round, self.stage, work) {
                    if !self.inputs.remove(&input) {
                        return;
                    }
                    self.used.insert(input);
                }
                self.compute(work, acts);
            } else if self.unacknowledged == 0 {
                acts.push(Act::Finish { round: self.round });
                (self.round, self.place) = (self.round + 1, 0);
                self.used.clear();
            } else {
                return;
            }
        }
    }

    fn compute(&mut self, work: Work, acts: &mut Vec<Act>) {
        let time = self.shape.times[usize::from(work.pass == Pass::Backward)];
        let jitter = match self.shape.jitter {
            Ps(0) => 0,
            Ps(most) => self.rng.below(most.saturating_add(1)),
        };
        let time = Ps(time.0.saturating_add(jitter));
        if time > Ps(0) {
            self.is_computing = true;
            acts.push(Act::Compute { key: u64::from(self.place), time });
        } else {
            self.send(work, acts);
        }
    }

    /// A computation is over: sends its output.
    fn send(&mut self, work: Work, acts: &mut Vec<Act>) {
        self.place += 1;
        if let Some(message) = self.shape.message(self.round, self.stage, work) {
            let to = match work.pass {
                Pass::Forward => self.stage + 1,
                Pass::Backward => self.stage - 1,
            };
            self.unacknowledged += 1;
            let to = self.hosts[to as usize];
            self.connections.send((0, to), message, self.shape.bytes, acts);
        }
    }

    fn computed(&mut self, acts: &mut Vec<Act>) {
        self.is_computing = false;
        if let Some(work) = self.work() {
            self.send(work, acts);
        }
    }

    fn arrived(&mut self, message: u64) {
        let round = message / self.shape.in_round();
        if round >= u64::from(self.round) && !self.used.contains(&message) {
            self.inputs.insert(message);
        }
    }
}

impl Program for Stage {
    fn react(&mut self, event: Event, acts: &mut Vec<Act>) {
        match event {
            Event::Begin => {}
            Event::Computed(_) => self.computed(acts),
            Event::Arrived(message) => self.arrived(message),
            Event::Left(message) => self.connections.left(message, acts),
            Event::Sent(message) => {
                self.connections.left(message, acts);
                self.unacknowledged -= 1;
            }
        }
        self.go_on(acts);
    }
}
