//! One execution of a pattern by a rank.

use std::collections::BTreeSet;
use std::sync::Arc;

use xoff_core::HostId;
use xoff_core::program::Act;

use super::pattern::{Parts, Pattern};
use crate::in_order::InOrder;

/// Numbers of the messages of an execution: by lane, stage, sender, and index among the messages of
/// the sender in the stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    stages: u64,
    ranks: u64,
    fan: u64,
}

/// A message's place among all of its execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageId {
    pub(crate) lane: u32,
    pub(crate) stage: u32,
    pub(crate) sender: u32,
    pub(crate) index: u32,
}

impl Numbers {
    pub(crate) fn of(pattern: &dyn Pattern, ranks: usize) -> Self {
        let [stages, fan] = [pattern.stages(), pattern.fan()].map(u64::from);
        Self { stages, ranks: ranks as u64, fan }
    }

    /// Numbers of all parts.
    pub(crate) fn count(self, parts: Parts) -> u64 {
        u64::from(parts.count()) * self.stages * self.ranks * self.fan
    }

    fn number(self, id: MessageId) -> u64 {
        let place = u64::from(id.lane) * self.stages + u64::from(id.stage);
        (place * self.ranks + u64::from(id.sender)) * self.fan + u64::from(id.index)
    }

    pub(crate) fn id(self, number: u64) -> MessageId {
        let (index, place) = (number % self.fan, number / self.fan);
        let (sender, place) = (place % self.ranks, place / self.ranks);
        let (stage, lane) = (place % self.stages, place / self.stages);
        let [lane, stage, sender, index] = [lane, stage, sender, index].map(|part| part as u32);
        MessageId { lane, stage, sender, index }
    }
}

/// What the executions of a rank share.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// Messages that arrived before a stage waited for them.
    early: BTreeSet<u64>,
    pub(crate) connections: InOrder,
}

impl Links {
    /// Keeps a message for an execution that has not begun.
    pub(crate) fn keep(&mut self, message: u64) {
        self.early.insert(message);
    }

    /// Forgets the messages of an execution that is over, which have arrived twice.
    pub(crate) fn forget(&mut self, messages: std::ops::Range<u64>) {
        let mut later = self.early.split_off(&messages.start);
        self.early.append(&mut later.split_off(&messages.end));
    }
}

/// One lane.
#[derive(Clone, Debug, Default)]
struct Lane {
    stage: u32,
    /// The messages that its stage waits for.
    missing: BTreeSet<u64>,
}

/// The execution.
#[derive(Debug)]
pub(crate) struct Pass {
    pattern: Arc<dyn Pattern>,
    /// The hosts of the ranks.
    hosts: Arc<[HostId]>,
    numbers: Numbers,
    /// The number of its first message.
    first: u64,
    rank: u32,
    parts: Parts,
    lanes: Vec<Lane>,
    /// Lanes that have come to the end.
    ready: u32,
    /// Messages that are not acknowledged.
    unacknowledged: u64,
}

impl Pass {
    /// An execution that has not begun.
    pub(crate) fn new(
        pattern: &Arc<dyn Pattern>,
        hosts: &Arc<[HostId]>,
        parts: Parts,
        first: u64,
        rank: u32,
    ) -> Self {
        Self {
            pattern: Arc::clone(pattern),
            hosts: Arc::clone(hosts),
            numbers: Numbers::of(&**pattern, hosts.len()),
            first,
            rank,
            parts,
            lanes: vec![Lane::default(); parts.count() as usize],
            ready: 0,
            unacknowledged: 0,
        }
    }

    pub(crate) fn begin(&mut self, links: &mut Links, acts: &mut Vec<Act>) {
        for lane in 0..self.lanes.len() as u32 {
            self.enter(lane, links, acts);
        }
    }

    /// Enters the stage of a lane, and those after it as far as their messages have arrived.
    fn enter(&mut self, lane: u32, links: &mut Links, acts: &mut Vec<Act>) {
        loop {
            let stage = self.lanes[lane as usize].stage;
            let waits = self.pattern.stage(lane, stage, self.rank).waits;
            for (stage, sender, index) in waits {
                let id = MessageId { lane, stage, sender, index };
                let number = self.first + self.numbers.number(id);
                if !links.early.remove(&number) {
                    self.lanes[lane as usize].missing.insert(number);
                }
            }
            let is_complete = self.lanes[lane as usize].missing.is_empty();
            if !is_complete || !self.go_on(lane, links, acts) {
                return;
            }
        }
    }

    /// All messages of the lane's stage have arrived: sends what follows. Returns false if it was
    /// the last stage.
    fn go_on(&mut self, lane: u32, links: &mut Links, acts: &mut Vec<Act>) -> bool {
        let stage = self.lanes[lane as usize].stage;
        let sends = self.pattern.stage(lane, stage, self.rank).sends;
        self.unacknowledged += sends.len() as u64;
        for (index, (to, bytes)) in (0..).zip(sends) {
            let id = MessageId { lane, stage, sender: self.rank, index };
            let message = self.first + self.numbers.number(id);
            let to = self.hosts[to as usize];
            // A message without bytes still has a header.
            links.connections.send((self.parts.lane(lane), to), message, bytes.max(1), acts);
        }
        let is_last = stage == self.pattern.stages();
        self.ready += u32::from(is_last);
        self.lanes[lane as usize].stage += 1;
        !is_last
    }

    /// A message of this execution has arrived, perhaps not for the first time.
    pub(crate) fn arrived(&mut self, message: u64, links: &mut Links, acts: &mut Vec<Act>) {
        let id = self.numbers.id(message - self.first);
        let lane = &mut self.lanes[id.lane as usize];
        if !lane.missing.remove(&message) {
            links.early.insert(message);
        } else if lane.missing.is_empty() && self.go_on(id.lane, links, acts) {
            self.enter(id.lane, links, acts);
        }
    }

    /// A message of the rank is acknowledged.
    pub(crate) fn sent(&mut self) {
        self.unacknowledged -= 1;
    }

    /// True when all has arrived and all that the rank sent is acknowledged.
    pub(crate) fn is_over(&self) -> bool {
        self.ready == self.lanes.len() as u32 && self.unacknowledged == 0
    }
}
