//! Rings (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
//! workstations", 2009).

use super::pattern::{Pattern, Stage, share};

/// Each rank sends to its right what has arrived from its left. In each of `passes` passes every
/// piece visits all other ranks: a reduce-scatter or an all-gather has one, an all-reduce two.
#[derive(Debug)]
pub(super) struct Ring {
    pub(super) ranks: u32,
    pub(super) passes: u32,
    /// Bytes of each lane.
    pub(super) lanes: Vec<u64>,
    /// Every other lane runs against the order of ranks.
    pub(super) both_ways: bool,
}

impl Ring {
    /// The next rank in the direction of a lane, the one before, and the piece that the rank sends
    /// in a stage.
    fn place(&self, lane: u32, stage: u32, rank: u32) -> (u32, u32, u64) {
        let (up, down) = ((rank + 1) % self.ranks, (rank + self.ranks - 1) % self.ranks);
        let ranks = u64::from(self.ranks);
        let (stage, rank) = (u64::from(stage) % ranks, u64::from(rank));
        if self.both_ways && lane % 2 == 1 {
            (down, up, (rank + stage) % ranks)
        } else {
            (up, down, (rank + ranks - stage) % ranks)
        }
    }
}

impl Ring {
    /// The receiver of what a rank sends in a stage, the rank from which it gets a message in this
    /// stage, and the bytes that it sends.
    pub(super) fn exchange(&self, lane: u32, stage: u32, rank: u32) -> (u32, u32, u64) {
        let (right, left, piece) = self.place(lane, stage, rank);
        let bytes = share(self.lanes[lane as usize], u64::from(self.ranks), piece, piece + 1);
        (right, left, bytes)
    }
}

impl Pattern for Ring {
    fn stages(&self) -> u32 {
        self.passes * (self.ranks - 1)
    }

    fn fan(&self) -> u32 {
        1
    }

    fn messages(&self, _stage: u32) -> u64 {
        u64::from(self.ranks)
    }

    fn stage(&self, lane: u32, stage: u32, rank: u32) -> Stage {
        let (right, left, bytes) = self.exchange(lane, stage, rank);
        let waits = stage.checked_sub(1).map(|before| (before, left, 0));
        let sends = (stage < self.stages()).then_some((right, bytes));
        Stage { waits: waits.into_iter().collect(), sends: sends.into_iter().collect() }
    }
}

/// Each rank but the last sends the whole lane to the next one, once it has it.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) ranks: u32,
    /// Bytes of each lane.
    pub(super) lanes: Vec<u64>,
}

impl Pattern for Chain {
    fn stages(&self) -> u32 {
        1
    }

    fn fan(&self) -> u32 {
        1
    }

    fn messages(&self, _stage: u32) -> u64 {
        u64::from(self.ranks - 1)
    }

    fn stage(&self, lane: u32, stage: u32, rank: u32) -> Stage {
        let mut found = Stage::default();
        if stage == 0 {
            found.waits.extend(rank.checked_sub(1).map(|left| (0, left, 0)));
            let next = (rank + 1 < self.ranks).then_some(rank + 1);
            found.sends.extend(next.map(|right| (right, self.lanes[lane as usize])));
        }
        found
    }
}
