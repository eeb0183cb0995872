//! Operations of ranks with dependencies, which programs at hosts run.

mod job;
mod matching;
mod progress;
mod rank;
mod shared;
#[cfg(test)]
pub(crate) mod testing;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use xoff_core::Ps;

pub(crate) use self::job::Dag;
use crate::collective::{Parts, Pattern};

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Sends a message.
    Send {
        /// Bytes, perhaps none.
        bytes: u64,
        /// The receiving rank.
        to: u32,
        /// Its tag.
        tag: u32,
    },
    /// Waits for a message.
    Recv {
        /// The sending rank; `None`: any.
        from: Option<u32>,
        /// Its tag; `None`: any.
        tag: Option<u32>,
    },
    /// Computes.
    Calc {
        /// For this time.
        time: Ps,
        /// On this processor, which does one thing at a time.
        cpu: u32,
    },
    /// Does nothing and takes no time.
    Join,
    /// Takes part in the collective operation with this number.
    Collective(u32),
}

/// A dependency: the first operation waits for the second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) waits: u32,
    pub(crate) before: u32,
    /// The second one must have begun, not ended.
    pub(crate) at_begin: bool,
}

/// The operations of a rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankOps {
    pub(crate) ops: Vec<Op>,
    /// The place of each operation in its file.
    pub(crate) places: Vec<u64>,
    pub(crate) edges: Vec<Edge>,
}

/// An operation of several ranks together.
#[derive(Clone, Debug)]
pub(crate) struct Collective {
    pub(crate) pattern: Arc<dyn Pattern>,
    pub(crate) parts: Parts,
    /// The ranks that take part, in order.
    pub(crate) ranks: Arc<[u32]>,
}

/// The operations of all ranks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    pub(crate) ranks: Vec<RankOps>,
    /// Each has one operation at each of its ranks.
    pub(crate) collectives: Vec<Collective>,
}

/// What is wrong with an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) rank: u32,
    /// Where its file has the operation.
    pub(crate) place: u64,
    pub(crate) problem: String,
}

impl Schedule {
    /// Checks that each message that a rank waits for is sent, that no operation waits for itself,
    /// and that ranks do not wait for each other.
    pub(crate) fn check(&self) -> Result<(), Mistake> {
        let ranks = self.ranks.len() as u32;
        // Messages minus receptions, by sender, receiver and tag, with a place.
        let mut left: BTreeMap<(u32, u32, u32), (i64, u32, u64)> = BTreeMap::new();
        // Ranks that receive messages of any sender or with any tag.
        let mut open = BTreeSet::new();
        for (rank, own) in (0..).zip(&self.ranks) {
            for (op, &place) in own.ops.iter().zip(&own.places) {
                let (key, change) = match *op {
                    Op::Send { to, tag, .. } => ((rank, to, tag), 1),
                    Op::Recv { from: Some(from), tag: Some(tag) } => ((from, rank, tag), -1),
                    Op::Recv { from, .. } => {
                        open.insert(rank);
                        // Counts as no message, but has to name a rank.
                        ((from.unwrap_or(rank), rank, 0), 0)
                    }
                    Op::Calc { .. } | Op::Join | Op::Collective(_) => continue,
                };
                let named = key.0.max(key.1);
                if named >= ranks {
                    let problem = format!("there is no rank {named}: the job has {ranks} ranks");
                    return Err(Mistake { rank, place, problem });
                }
                left.entry(key).or_insert((0, rank, place)).0 += change;
            }
            own.check_order().map_err(|(place, problem)| Mistake { rank, place, problem })?;
        }
        let differs = |((_, to, _), (count, ..)): &(&(u32, u32, u32), &(i64, u32, u64))| {
            *count != 0 && !open.contains(to)
        };
        match left.iter().find(differs) {
            Some((&(from, to, tag), &(count, rank, place))) => {
                let (more, fewer) =
                    if count > 0 { ("sent", "received") } else { ("received", "sent") };
                let problem = format!(
                    "from rank {from} to rank {to} with tag {tag}, {} more are {more} than {fewer}",
                    count.abs()
                );
                Err(Mistake { rank, place, problem })
            }
            None => self.check_progress(),
        }
    }

    /// Whether as many messages from one rank to another with a tag are sent as received.
    fn sends_all(&self, from: u32, to: u32, tag: u32) -> bool {
        let of_rank = |rank: u32, key: &dyn Fn(&Op) -> Option<(u32, u32)>, wanted| {
            let keys = self.ranks[rank as usize].ops.iter().filter_map(key);
            keys.filter(|&found| found == wanted).count()
        };
        let sent = |op: &Op| match *op {
            Op::Send { to, tag, .. } => Some((to, tag)),
            _ => None,
        };
        let received = |op: &Op| match *op {
            Op::Recv { from, tag } => from.zip(tag),
            _ => None,
        };
        of_rank(from, &sent, (to, tag)) >= of_rank(to, &received, (from, tag))
    }

    /// Checks that all operations can end.
    fn check_progress(&self) -> Result<(), Mistake> {
        let Some((rank, op)) = progress::stuck(self) else { return Ok(()) };
        let own = &self.ranks[rank as usize];
        let waits = match own.ops[op as usize] {
            Op::Recv { from: Some(from), tag: Some(tag) } => {
                let message = format!("for a message from rank {from} with tag {tag}");
                if !self.sends_all(from, rank, tag) {
                    let problem =
                        format!("this operation waits {message}, and fewer are sent than received");
                    return Err(Mistake { rank, place: own.places[op as usize], problem });
                }
                message
            }
            _ => "for other ranks to begin the same collective operation".into(),
        };
        let problem = format!(
            "ranks wait for each other: this operation waits {waits}, and what comes before that \
             waits in turn"
        );
        Err(Mistake { rank, place: own.places[op as usize], problem })
    }
}

impl RankOps {
    /// Adds an operation. Returns its number.
    pub(crate) fn add(&mut self, op: Op, place: u64) -> u32 {
        self.ops.push(op);
        self.places.push(place);
        self.ops.len() as u32 - 1
    }

    /// For each operation, how many others it waits for; and which wait for it, and whether for its
    /// begin.
    fn waits(&self) -> (Vec<u32>, Vec<Vec<(u32, bool)>>) {
        let (mut waiting, mut after) = (vec![0; self.ops.len()], vec![Vec::new(); self.ops.len()]);
        for &Edge { waits, before, at_begin } in &self.edges {
            waiting[waits as usize] += 1;
            after[before as usize].push((waits, at_begin));
        }
        (waiting, after)
    }

    /// Checks that some operation can always begin.
    fn check_order(&self) -> Result<(), (u64, String)> {
        let edges = self.edges.iter().map(|edge| (edge.before, edge.waits));
        match stuck(self.ops.len(), edges) {
            Some(op) => Err((self.places[op], "this operation waits for itself".into())),
            None => Ok(()),
        }
    }
}

/// One of `count` things that waits for itself, the first of its circle (Kahn's algorithm). The
/// second thing of an edge waits for the first.
pub(crate) fn stuck(count: usize, edges: impl Iterator<Item = (u32, u32)>) -> Option<usize> {
    let mut waiting = vec![0u32; count];
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (before, waits) in edges {
        waiting[waits as usize] += 1;
        after[before as usize].push(waits);
    }
    let mut ready: Vec<usize> = (0..count).filter(|&thing| waiting[thing] == 0).collect();
    while let Some(thing) = ready.pop() {
        for &next in &after[thing] {
            waiting[next as usize] -= 1;
            if waiting[next as usize] == 0 {
                ready.push(next as usize);
            }
        }
    }
    let first = waiting.iter().position(|&left| left > 0)?;
    // What is left waits for itself, or for something that does. Each thing waits for another thing
    // that is left, so going back along these leads to a circle.
    let mut before = vec![first; count];
    for thing in (0..count).filter(|&thing| waiting[thing] > 0) {
        after[thing].iter().for_each(|&next| before[next as usize] = thing);
    }
    let mut at = first;
    let mut seen = vec![false; count];
    while !std::mem::replace(&mut seen[at], true) {
        at = before[at];
    }
    let circle = std::iter::successors(Some(before[at]), |&thing| Some(before[thing]));
    circle.take_while(|&thing| thing != at).chain([at]).min()
}
