//! A schedule on hosts.

use std::sync::Arc;

use xoff_core::program::{Job, Program};
use xoff_core::{Bytes, HostId, Ps};

use super::rank::Rank;
use super::shared::{Message, Shared, Together};
use super::{Collective, Op, RankOps, Schedule};
use crate::{Crowd, Frequency, Mix, NoFlows, Offer};

/// A schedule on hosts.
#[derive(Debug)]
pub(crate) struct Dag {
    ranks: Vec<RankOps>,
    shared: Arc<Shared>,
    /// The first message of each rank.
    first: Vec<u64>,
    /// Messages that hosts send to others.
    flows: u64,
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
                _ => None,
            }));
        }
        let mut next = messages.len() as u64;
        let place = |operation: Collective| {
            let own = operation.ranks.iter().map(|&rank| hosts[rank as usize]).collect();
            let together = Together { operation, hosts: own, first: next };
            next = together.end();
            together
        };
        let together: Vec<_> = schedule.collectives.into_iter().map(place).collect();
        let to_others = |rank: &u32, own: &RankOps| {
            let others = |op: &&Op| matches!(op, Op::Send { to, .. } if to != rank);
            own.ops.iter().filter(others).count() as u64
        };
        let alone = (0..).zip(&schedule.ranks).map(|(rank, own)| to_others(&rank, own));
        let flows = alone.chain(together.iter().map(Together::messages)).sum();
        let shared = Arc::new(Shared { hosts, messages, together });
        Self { ranks: schedule.ranks, shared, first, flows, start, priority }
    }

    /// The traffic of this job. `derived` are values derived from its settings, by name; those of
    /// its operations follow them.
    pub(crate) fn offer(self, mut derived: Vec<(&'static str, String)>) -> Offer {
        derived.extend(self.contents());
        let crowd = Crowd::of(self.crowd()).between(self.start, Ps(0));
        let sizes = Some(self.mix());
        let job = Some(Arc::new(self) as _);
        Offer { sizes, job, derived, ..Offer::new(NoFlows, crowd) }
    }

    /// What its ranks do in all, except for collective operations.
    fn contents(&self) -> Vec<(&'static str, String)> {
        let (mut messages, mut empty, mut bytes) = (0u64, 0u64, 0u64);
        let (mut computations, mut computing, mut joins) = (0u64, 0u64, 0u64);
        for op in self.ranks.iter().flat_map(|rank| &rank.ops) {
            match *op {
                Op::Send { bytes: own, .. } => {
                    messages += 1;
                    empty += u64::from(own == 0);
                    bytes = bytes.saturating_add(own);
                }
                Op::Calc { time, .. } => {
                    computations += 1;
                    computing = computing.saturating_add(time.0);
                }
                Op::Join => joins += 1,
                Op::Recv { .. } | Op::Collective(_) => {}
            }
        }
        vec![
            ("ranks", self.ranks.len().to_string()),
            ("messages", messages.to_string()),
            ("messages_without_bytes", empty.to_string()),
            ("message_bytes", Bytes(bytes).to_string()),
            ("computations", computations.to_string()),
            ("computing", Ps(computing).to_string()),
            ("operations_without_time", joins.to_string()),
            ("collectives", self.shared.together.len().to_string()),
        ]
    }

    /// The sizes of all messages.
    pub(crate) fn mix(&self) -> Mix {
        let all = self.ranks.iter().flat_map(|rank| &rank.ops);
        let bytes = all.filter_map(|op| match *op {
            Op::Send { bytes, .. } => Some(bytes.max(1)),
            _ => None,
        });
        let mut mix = Mix::default();
        mix.add_flows(Frequency::InAll(self.shared.messages.len() as f64), bytes.collect());
        for together in &self.shared.together {
            let pattern = &together.operation.pattern;
            let sends = |stage| pattern.stage(0, stage, 0).sends;
            let sizes = (0..pattern.stages()).flat_map(sends).map(|(_, bytes)| bytes.max(1));
            let flows = Frequency::InAll(together.messages() as f64);
            mix.add_flows(flows, sizes.collect());
        }
        mix
    }

    /// Most messages that are under way together: all that are sent alone, and those of a stage of
    /// the largest collective operation.
    pub(crate) fn crowd(&self) -> f64 {
        let stage = |together: &Together| {
            let stages = f64::from(together.operation.pattern.stages());
            together.messages() as f64 / stages
        };
        let stages = self.shared.together.iter().map(stage);
        self.shared.messages.len() as f64 + stages.fold(0.0, f64::max)
    }
}

impl Job for Dag {
    fn start(&self) -> Ps {
        self.start
    }

    fn hosts(&self) -> &[HostId] {
        &self.shared.hosts
    }

    fn messages(&self) -> u64 {
        self.shared.together.last().map_or(self.shared.messages.len() as u64, Together::end)
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
        self.flows
    }

    fn measure(&self) -> Option<(u64, f64)> {
        None
    }

    fn each_pair(&self, see: &mut dyn FnMut(HostId, HostId)) {
        let hosts = &self.shared.hosts;
        for (rank, &from) in self.ranks.iter().zip(hosts) {
            for op in &rank.ops {
                if let Op::Send { to, .. } = *op
                    && hosts[to as usize] != from
                {
                    see(from, hosts[to as usize]);
                }
            }
        }
        for Together { operation, hosts, .. } in &self.shared.together {
            operation.pattern.each_pair(operation.parts, hosts, see);
        }
    }

    fn program(&self, rank: u32) -> Box<dyn Program> {
        let own = &self.ranks[rank as usize];
        Box::new(Rank::new(own, rank, self.first[rank as usize], Arc::clone(&self.shared)))
    }
}
