//! Programs that run the operations of a schedule.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use xoff_core::program::{Act, Event, Job, Program};
use xoff_core::{HostId, Ps};

use super::matching::Matching;
use super::{Edge, Op, RankOps, Schedule};
use crate::in_order::InOrder;

/// A message, by its number: the sends of all ranks, one rank after the other.
#[derive(Clone, Copy, Debug)]
struct Message {
    from: u32,
    tag: u32,
}

/// A schedule on hosts.
#[derive(Debug)]
pub(crate) struct Dag {
    schedule: Schedule,
    hosts: Arc<[HostId]>,
    messages: Arc<[Message]>,
    /// The first message of each rank.
    first: Vec<u64>,
    start: Ps,
    priority: u8,
}

impl Dag {
    pub(crate) fn new(schedule: Schedule, hosts: Vec<HostId>, start: Ps, priority: u8) -> Self {
        let (mut messages, mut first) = (Vec::new(), Vec::new());
        for (from, rank) in (0..).zip(&schedule.ranks) {
            first.push(messages.len() as u64);
            messages.extend(rank.ops.iter().filter_map(|op| match *op {
                Op::Send { tag, .. } => Some(Message { from, tag }),
                Op::Recv { .. } | Op::Calc { .. } => None,
            }));
        }
        Self { schedule, hosts: hosts.into(), messages: messages.into(), first, start, priority }
    }

    /// The bytes of all messages.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        let all = self.schedule.ranks.iter().flat_map(|rank| &rank.ops);
        let bytes = all.filter_map(|op| match *op {
            Op::Send { bytes, .. } => Some(bytes.max(1)),
            Op::Recv { .. } | Op::Calc { .. } => None,
        });
        bytes.collect()
    }
}

impl Job for Dag {
    fn start(&self) -> Ps {
        self.start
    }

    fn hosts(&self) -> &[HostId] {
        &self.hosts
    }

    fn messages(&self) -> u64 {
        self.messages.len() as u64
    }

    fn priority(&self) -> u8 {
        self.priority
    }

    fn rounds(&self) -> u32 {
        1
    }

    fn step(&self, _message: u64) -> (u32, u32) {
        (0, 0)
    }

    fn messages_of_step(&self, _step: u32) -> u64 {
        self.messages()
    }

    fn measure(&self) -> Option<(u64, f64)> {
        None
    }

    fn program(&self, rank: u32) -> Box<dyn Program> {
        let own = &self.schedule.ranks[rank as usize];
        let first = self.first[rank as usize];
        Box::new(Rank::new(own, rank, first, Arc::clone(&self.hosts), Arc::clone(&self.messages)))
    }
}

/// The program of a rank.
#[derive(Debug)]
struct Rank {
    rank: u32,
    hosts: Arc<[HostId]>,
    messages: Arc<[Message]>,
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
    /// Operations that may begin.
    ready: VecDeque<u32>,
    /// Calculations that wait for each processor, which is busy with the first of them.
    processors: BTreeMap<u32, VecDeque<u32>>,
    matching: Matching,
    connections: InOrder,
    /// Messages that have arrived, a bit for each of the job; a message may be reported again.
    arrived: BTreeMap<u64, u64>,
}

impl Rank {
    fn new(
        own: &RankOps,
        rank: u32,
        first: u64,
        hosts: Arc<[HostId]>,
        messages: Arc<[Message]>,
    ) -> Self {
        let count = own.ops.len();
        let (mut waiting, mut after) = (vec![0; count], vec![Vec::new(); count]);
        for &Edge { waits, before, at_begin } in &own.edges {
            waiting[waits as usize] += 1;
            after[before as usize].push((waits, at_begin));
        }
        let sends = |op: &u32| matches!(own.ops[*op as usize], Op::Send { .. });
        let all = 0..count as u32;
        let ready = all.clone().filter(|&op| waiting[op as usize] == 0).collect();
        Self {
            rank,
            hosts,
            messages,
            first,
            senders: all.filter(sends).collect(),
            ops: own.ops.clone(),
            waiting,
            after,
            left: count as u32,
            ready,
            processors: BTreeMap::new(),
            matching: Matching::default(),
            connections: InOrder::default(),
            arrived: BTreeMap::new(),
        }
    }

    /// Begins all that may begin.
    fn go_on(&mut self, acts: &mut Vec<Act>) {
        while let Some(op) = self.ready.pop_front() {
            self.release(op, true);
            match self.ops[op as usize] {
                Op::Send { bytes, to, .. } => self.send(op, bytes, to, acts),
                Op::Recv { from, tag } => {
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
            }
        }
    }

    fn send(&mut self, op: u32, bytes: u64, to: u32, acts: &mut Vec<Act>) {
        let place = self.senders.binary_search(&op).expect("it is a send");
        let message = self.first + place as u64;
        if to == self.rank {
            self.end(op);
            self.deliver(message);
            return;
        }
        let to = self.hosts[to as usize];
        // A message without bytes still has a header.
        self.connections.send((0, to), message, bytes.max(1), acts);
    }

    fn compute(&self, op: u32, acts: &mut Vec<Act>) {
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
        let Message { from, tag } = self.messages[message as usize];
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

    fn react_to(&mut self, event: Event, acts: &mut Vec<Act>) {
        match event {
            Event::Begin => {}
            Event::Arrived(message) => {
                if self.is_new(message) {
                    self.deliver(message);
                }
            }
            Event::Left(message) => self.connections.left(message, acts),
            Event::Sent(message) => {
                self.connections.left(message, acts);
                let op = self.senders[(message - self.first) as usize];
                self.end(op);
            }
            Event::Computed(key) => self.computed(key as u32, acts),
        }
    }
}

impl Program for Rank {
    fn react(&mut self, event: Event, acts: &mut Vec<Act>) {
        let was_over = self.left == 0 && event != Event::Begin;
        self.react_to(event, acts);
        self.go_on(acts);
        if self.left == 0 && !was_over {
            acts.push(Act::Finish { round: 0 });
        }
    }
}
