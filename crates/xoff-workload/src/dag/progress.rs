//! Whether a schedule can come to its end: ranks must not wait for each other in a circle.

use std::collections::{BTreeMap, VecDeque};

use super::{Op, RankOps, Schedule};

/// Sender, receiver and tag of a message.
type Key = (u32, u32, u32);

/// A schedule without times: all that may begin begins, and a message arrives when it is sent. The
/// order does not matter where each reception names its sender and tag.
struct Progress<'a> {
    schedule: &'a Schedule,
    /// For each rank and operation, how many others it still waits for.
    waiting: Vec<Vec<u32>>,
    /// For each rank and operation, what waits for it, and whether for its begin.
    after: Vec<Vec<Vec<(u32, bool)>>>,
    ended: Vec<Vec<bool>>,
    ready: Vec<(u32, u32)>,
    /// Receptions that have begun, and messages that no rank has received.
    receptions: BTreeMap<Key, VecDeque<(u32, u32)>>,
    arrived: BTreeMap<Key, u32>,
    /// The ranks, with their operation, that have begun each collective operation.
    together: Vec<Vec<(u32, u32)>>,
}

/// The first rank, and its operation, that waits in vain; `None` if all operations
/// end. Receptions from any rank or with any tag count as received.
pub(super) fn stuck(schedule: &Schedule) -> Option<(u32, u32)> {
    let mut progress = Progress::new(schedule);
    while let Some((rank, op)) = progress.ready.pop() {
        progress.begin(rank, op);
    }
    let of_rank = |(rank, ended): (u32, &Vec<bool>)| {
        let waits = &progress.waiting[rank as usize];
        let begun = (0..).zip(ended).find(|&(op, &ended)| !ended && waits[op as usize] == 0);
        begun.map(|(op, _)| (rank, op))
    };
    (0..).zip(&progress.ended).find_map(of_rank)
}

impl<'a> Progress<'a> {
    fn new(schedule: &'a Schedule) -> Self {
        let (waiting, after) = schedule.ranks.iter().map(RankOps::waits).unzip();
        let mut progress = Self {
            schedule,
            waiting,
            after,
            ended: schedule.ranks.iter().map(|own| vec![false; own.ops.len()]).collect(),
            ready: Vec::new(),
            receptions: BTreeMap::new(),
            arrived: BTreeMap::new(),
            together: vec![Vec::new(); schedule.collectives.len()],
        };
        for (rank, waiting) in (0..).zip(&progress.waiting) {
            let first = (0..).zip(waiting).filter(|&(_, &count)| count == 0);
            progress.ready.extend(first.map(|(op, _)| (rank, op)));
        }
        progress
    }

    /// An operation begins, and ends if it can.
    fn begin(&mut self, rank: u32, op: u32) {
        self.release(rank, op, true);
        match self.schedule.ranks[rank as usize].ops[op as usize] {
            Op::Send { to, tag, .. } => {
                self.end(rank, op);
                self.deliver((rank, to, tag));
            }
            Op::Recv { from: Some(from), tag: Some(tag) } => {
                let key = (from, rank, tag);
                match self.arrived.get_mut(&key).filter(|count| **count > 0) {
                    Some(count) => {
                        *count -= 1;
                        self.end(rank, op);
                    }
                    None => self.receptions.entry(key).or_default().push_back((rank, op)),
                }
            }
            Op::Recv { .. } | Op::Calc { .. } | Op::Join => self.end(rank, op),
            Op::Collective(number) => {
                let begun = &mut self.together[number as usize];
                begun.push((rank, op));
                if begun.len() == self.schedule.collectives[number as usize].ranks.len() {
                    let all = std::mem::take(begun);
                    all.into_iter().for_each(|(rank, op)| self.end(rank, op));
                }
            }
        }
    }

    fn deliver(&mut self, key: Key) {
        match self.receptions.get_mut(&key).and_then(VecDeque::pop_front) {
            Some((rank, op)) => self.end(rank, op),
            None => *self.arrived.entry(key).or_insert(0) += 1,
        }
    }

    fn end(&mut self, rank: u32, op: u32) {
        self.ended[rank as usize][op as usize] = true;
        self.release(rank, op, false);
    }

    /// An operation begins or ends: what waits for this may begin.
    fn release(&mut self, rank: u32, op: u32, begins: bool) {
        for place in 0..self.after[rank as usize][op as usize].len() {
            let (next, at_begin) = self.after[rank as usize][op as usize][place];
            let waiting = &mut self.waiting[rank as usize][next as usize];
            if at_begin == begins {
                *waiting -= 1;
                if *waiting == 0 {
                    self.ready.push((rank, next));
                }
            }
        }
    }
}
