//! Programs that run the operations of a schedule.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use xoff_core::program::{Act, Event, Program};

use super::matching::Matching;
use super::shared::{Message, Shared};
use super::{Op, RankOps};
use crate::collective::{Links, Pass};

/// The program of a rank.
#[derive(Debug)]
pub(super) struct Rank {
    rank: u32,
    shared: Arc<Shared>,
    /// The number of its first message, and the operation that sends each of its messages.
    first: u64,
    senders: Vec<u32>,
    ops: Vec<Op>,
    /// The number of operations that each one still waits for.
    waiting: Vec<u32>,
    /// For each operation, the operations that wait for it, and whether for its begin.
    after: Vec<Vec<(u32, bool)>>,
    /// Operations that have not ended.
    left: u32,
    is_finished: bool,
    /// Operations that may begin.
    ready: VecDeque<u32>,
    /// Calculations that wait for each processor, which is busy with the first of them.
    processors: BTreeMap<u32, VecDeque<u32>>,
    matching: Matching,
    links: Links,
    /// The operation of each collective operation in which the rank takes part, with its execution
    /// if that has begun and is not over.
    together: BTreeMap<u32, (u32, State)>,
    /// Messages of sends that have arrived, a bit for each; a message may be reported again.
    arrived: BTreeMap<u64, u64>,
}

/// The execution of a collective operation.
#[derive(Debug)]
enum State {
    Waits,
    Runs(Pass),
    Over,
}

impl Rank {
    pub(super) fn new(own: &RankOps, rank: u32, first: u64, shared: Arc<Shared>) -> Self {
        let count = own.ops.len();
        let (waiting, after) = own.waits();
        let sends = |op: &u32| matches!(own.ops[*op as usize], Op::Send { .. });
        let all = 0..count as u32;
        let ready = all.clone().filter(|&op| waiting[op as usize] == 0).collect();
        let collective = |op: u32| match own.ops[op as usize] {
            Op::Collective(number) => Some((number, (op, State::Waits))),
            _ => None,
        };
        let together = all.clone().filter_map(collective).collect();
        Self {
            rank,
            shared,
            first,
            senders: all.filter(sends).collect(),
            ops: own.ops.clone(),
            waiting,
            after,
            left: count as u32,
            is_finished: false,
            ready,
            processors: BTreeMap::new(),
            matching: Matching::default(),
            links: Links::default(),
            together,
            arrived: BTreeMap::new(),
        }
    }

    /// Begins all that may begin.
    fn go_on(&mut self, acts: &mut Vec<Act>) {
        while let Some(op) = self.ready.pop_front() {
            match self.ops[op as usize] {
                Op::Send { bytes, to, .. } => self.send(op, bytes, to, acts),
                Op::Recv { from, tag } => {
                    self.release(op, true);
                    if self.matching.receive(op, (from, tag)) {
                        self.end(op);
                    }
                }
                Op::Calc { cpu, .. } => {
                    let queue = self.processors.entry(cpu).or_default();
                    queue.push_back(op);
                    if queue.len() == 1 {
                        self.compute(op, acts);
                    }
                }
                Op::Join => {
                    self.release(op, true);
                    self.end(op);
                }
                Op::Collective(number) => {
                    self.release(op, true);
                    self.begin(number, acts);
                }
            }
        }
    }

    fn send(&mut self, op: u32, bytes: u64, to: u32, acts: &mut Vec<Act>) {
        let place = self.senders.binary_search(&op).expect("it is a send");
        let message = self.first + place as u64;
        if to == self.rank {
            self.release(op, true);
            self.end(op);
            self.deliver(message);
            return;
        }
        let to = self.shared.hosts[to as usize];
        // A message without bytes still has a header.
        self.links.connections.send((0, to), message, bytes.max(1), acts);
    }

    /// Begins a collective operation.
    fn begin(&mut self, number: u32, acts: &mut Vec<Act>) {
        let together = &self.shared.together[number as usize];
        let operation = &together.operation;
        let rank = operation.ranks.binary_search(&self.rank).expect("it takes part") as u32;
        let mut pass =
            Pass::new(&operation.pattern, &together.hosts, operation.parts, together.first, rank);
        pass.begin(&mut self.links, acts);
        self.set(number, State::Runs(pass));
        self.end_if_over(number);
    }

    fn set(&mut self, number: u32, state: State) {
        self.together.get_mut(&number).expect("it takes part").1 = state;
    }

    fn end_if_over(&mut self, number: u32) {
        let Some((op, State::Runs(pass))) = self.together.get(&number) else { return };
        if pass.is_over() {
            let op = *op;
            let together = &self.shared.together[number as usize];
            self.links.forget(together.first..together.end());
            self.set(number, State::Over);
            self.end(op);
        }
    }

    /// Begins a calculation, whose processor is free.
    fn compute(&mut self, op: u32, acts: &mut Vec<Act>) {
        self.release(op, true);
        if let Op::Calc { time, .. } = self.ops[op as usize] {
            acts.push(Act::Compute { key: u64::from(op), time });
        }
    }

    fn computed(&mut self, op: u32, acts: &mut Vec<Act>) {
        if let Op::Calc { cpu, .. } = self.ops[op as usize] {
            let queue = self.processors.entry(cpu).or_default();
            queue.pop_front();
            let next = queue.front().copied();
            next.into_iter().for_each(|next| self.compute(next, acts));
        }
        self.end(op);
    }

    /// A message has arrived.
    fn deliver(&mut self, message: u64) {
        let Message { from, tag } = self.shared.messages[message as usize];
        if let Some(op) = self.matching.deliver((from, tag)) {
            self.end(op);
        }
    }

    /// True if a message is reported for the first time.
    fn is_new(&mut self, message: u64) -> bool {
        let bits = self.arrived.entry(message / 64).or_insert(0);
        let is_new = *bits & 1 << (message % 64) == 0;
        *bits |= 1 << (message % 64);
        is_new
    }

    /// An operation begins, or ends: operations that wait for this may begin.
    fn release(&mut self, op: u32, begins: bool) {
        for place in 0..self.after[op as usize].len() {
            let (next, at_begin) = self.after[op as usize][place];
            if at_begin == begins {
                self.waiting[next as usize] -= 1;
                if self.waiting[next as usize] == 0 {
                    self.ready.push_back(next);
                }
            }
        }
    }

    fn end(&mut self, op: u32) {
        self.left -= 1;
        self.release(op, false);
    }

    fn arrived(&mut self, message: u64, acts: &mut Vec<Act>) {
        let Some(number) = self.shared.collective(message) else {
            if self.is_new(message) {
                self.deliver(message);
            }
            return;
        };
        match self.together.get_mut(&number) {
            Some((_, State::Runs(pass))) => {
                pass.arrived(message, &mut self.links, acts);
                self.end_if_over(number);
            }
            Some((_, State::Waits)) => self.links.keep(message),
            // A duplicate.
            _ => {}
        }
    }

    fn sent(&mut self, message: u64, acts: &mut Vec<Act>) {
        self.links.connections.left(message, acts);
        let Some(number) = self.shared.collective(message) else {
            let op = self.senders[(message - self.first) as usize];
            self.end(op);
            return;
        };
        if let Some((_, State::Runs(pass))) = self.together.get_mut(&number) {
            pass.sent();
            self.end_if_over(number);
        }
    }

    /// Sends among these acts begin: none of them waits behind another one any more.
    fn release_sends(&mut self, acts: &[Act]) {
        for act in acts {
            if let Act::Send { message, .. } = *act
                && self.shared.collective(message).is_none()
            {
                self.release(self.senders[(message - self.first) as usize], true);
            }
        }
    }

    fn react_to(&mut self, event: Event, acts: &mut Vec<Act>) {
        match event {
            Event::Begin => {}
            Event::Arrived(message) => self.arrived(message, acts),
            Event::Left(message) => self.links.connections.left(message, acts),
            Event::Sent(message) => self.sent(message, acts),
            Event::Computed(key) => self.computed(key as u32, acts),
        }
    }
}

impl Program for Rank {
    fn react(&mut self, event: Event, acts: &mut Vec<Act>) {
        let mut seen = acts.len();
        self.react_to(event, acts);
        while seen < acts.len() || !self.ready.is_empty() {
            self.release_sends(&acts[seen..]);
            seen = acts.len();
            self.go_on(acts);
        }
        if self.left == 0 && !self.is_finished {
            self.is_finished = true;
            acts.push(Act::Finish { round: 0 });
        }
    }
}
