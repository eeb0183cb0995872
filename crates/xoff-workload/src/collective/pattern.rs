//! The messages of one round of a collective operation.

use std::sync::Arc;

use xoff_core::HostId;

/// What a rank waits for and then sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stage {
    /// Messages that must have arrived: the stage and the rank that sent each, and its index among
    /// the messages that the rank sent in that stage.
    pub(crate) waits: Vec<(u32, u32, u32)>,
    /// Receivers and bytes of the messages that follow.
    pub(crate) sends: Vec<(u32, u64)>,
}

/// The parts of an operation's bytes that have messages of their own: chunks of lanes. Part p is
/// chunk p / lanes of lane p % lanes, so that every other part belongs to every other lane if
/// their number is even. All chunks of a lane between two ranks use one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) lanes: u32,
    /// Chunks of each lane.
    pub(crate) chunks: u32,
}

impl Parts {
    /// Parts in all.
    pub(crate) fn count(self) -> u32 {
        self.lanes * self.chunks
    }

    /// The lane of a part.
    pub(crate) fn lane(self, part: u32) -> u32 {
        part % self.lanes
    }
}

/// The algorithm of a collective operation, for a part of its bytes. Parameters named `lane` are
/// numbers of [`Parts`].
pub(crate) trait Pattern: std::fmt::Debug + Send + Sync {
    /// The number of stages in which ranks send. A rank is ready after one more, in which it waits
    /// only.
    fn stages(&self) -> u32;
    /// The number of successive ranks that are taken for those of a server, if any are.
    fn in_server(&self) -> Option<u32> {
        None
    }
    /// The most messages that a rank sends in a stage.
    fn fan(&self) -> u32;
    /// The number of messages that all ranks send in a stage of a lane.
    fn messages(&self, stage: u32) -> u64;
    /// The number of messages that all ranks send in a lane.
    fn messages_in_all(&self) -> u64 {
        (0..self.stages()).map(|stage| self.messages(stage)).sum()
    }
    /// A stage of a rank. `stage` is at most [`stages`](Self::stages).
    fn stage(&self, lane: u32, stage: u32, rank: u32) -> Stage;
    /// Calls `see` with the hosts of every sender and receiver.
    fn each_pair(&self, parts: Parts, hosts: &[HostId], see: &mut dyn FnMut(HostId, HostId)) {
        // Lanes may differ, chunks of a lane do not.
        for lane in 0..parts.lanes {
            for stage in 0..self.stages() {
                for (rank, &from) in (0..).zip(hosts) {
                    for (to, _) in self.stage(lane, stage, rank).sends {
                        see(from, hosts[to as usize]);
                    }
                }
            }
        }
    }
    /// The pattern of a round, if rounds differ: in bytes only.
    fn of_round(&self, _round: u32) -> Option<Arc<dyn Pattern>> {
        None
    }
}

/// The bytes of parts `from` to `to` of `parts` parts, whose sizes differ by one byte at most.
pub(crate) fn share(bytes: u64, parts: u64, from: u64, to: u64) -> u64 {
    let before = |part: u64| (u128::from(bytes) * u128::from(part) / u128::from(parts)) as u64;
    before(to) - before(from)
}
