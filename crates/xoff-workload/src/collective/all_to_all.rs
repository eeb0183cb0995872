//! Exchanges between all pairs of ranks, and a barrier.

use std::sync::Arc;

use super::loads::Loads;
use super::pattern::{Pattern, Stage};

/// Each rank has a piece for every other one.
#[derive(Debug)]
pub(super) struct AllToAll {
    pub(super) ranks: u32,
    /// Whether a rank sends to one other at a time, instead of to all at once.
    pub(super) one_at_a_time: bool,
    /// Bytes of each lane.
    pub(super) lanes: Arc<[u64]>,
    /// How a rank shares them out.
    pub(super) loads: Loads,
}

impl AllToAll {
    /// The rank at a distance above, and the one below.
    fn at(&self, rank: u32, distance: u32) -> (u32, u32) {
        ((rank + distance) % self.ranks, (rank + self.ranks - distance) % self.ranks)
    }

    fn piece(&self, lane: u32, from: u32, to: u32) -> (u32, u64) {
        (to, self.loads.part(self.lanes[lane as usize], from, to))
    }
}

impl Pattern for AllToAll {
    fn stages(&self) -> u32 {
        if self.one_at_a_time { self.ranks - 1 } else { 1 }
    }

    fn fan(&self) -> u32 {
        if self.one_at_a_time { 1 } else { self.ranks - 1 }
    }

    fn messages(&self, _stage: u32) -> u64 {
        u64::from(self.ranks) * u64::from(self.fan())
    }

    fn stage(&self, lane: u32, stage: u32, rank: u32) -> Stage {
        let mut found = Stage::default();
        if self.one_at_a_time {
            // "The MPICH pairwise exchange": the next one when the last one has arrived.
            found
                .waits
                .extend(stage.checked_sub(1).map(|before| (before, self.at(rank, stage).1, 0)));
            if stage < self.stages() {
                found.sends.push(self.piece(lane, rank, self.at(rank, stage + 1).0));
            }
        } else if stage == 0 {
            let others = 1..self.ranks;
            let piece = |distance| self.piece(lane, rank, self.at(rank, distance).0);
            found.sends.extend(others.map(piece));
        } else {
            let others = 1..self.ranks;
            found.waits.extend(others.map(|distance| (0, self.at(rank, distance).1, distance - 1)));
        }
        found
    }

    fn of_round(&self, round: u32) -> Option<Arc<dyn Pattern>> {
        let loads = self.loads.of_round(round)?;
        let (ranks, one_at_a_time, lanes) = (self.ranks, self.one_at_a_time, self.lanes.clone());
        Some(Arc::new(Self { ranks, one_at_a_time, lanes, loads }))
    }
}

/// A barrier by dissemination (Hensgen, Finkel and Manber, "Two algorithms for barrier
/// synchronization", 1988): in stage s a rank tells the one 2^s above.
#[derive(Debug)]
pub(super) struct Dissemination {
    pub(super) ranks: u32,
}

impl Pattern for Dissemination {
    fn stages(&self) -> u32 {
        self.ranks.next_power_of_two().ilog2()
    }

    fn fan(&self) -> u32 {
        1
    }

    fn messages(&self, _stage: u32) -> u64 {
        u64::from(self.ranks)
    }

    fn stage(&self, _lane: u32, stage: u32, rank: u32) -> Stage {
        let at = |stage: u32| (1 << stage) % self.ranks;
        let from = |stage| (rank + self.ranks - at(stage)) % self.ranks;
        let mut found = Stage::default();
        found.waits.extend(stage.checked_sub(1).map(|before| (before, from(before), 0)));
        if stage < self.stages() {
            found.sends.push(((rank + at(stage)) % self.ranks, 1));
        }
        found
    }
}
