//! Binary trees.

use super::pattern::{Pattern, Stage};

/// Rank 0 is the root, and rank r has the children 2r + 1 and 2r + 2. In a mirrored lane ranks are
/// counted from the last one, so that leaves of one tree are inner ranks of the other (Sanders,
/// Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009).
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) ranks: u32,
    /// Whether bytes first go up to the root: an all-reduce.
    pub(super) reduces: bool,
    /// Whether every other lane is mirrored.
    pub(super) mirrors: bool,
    /// Bytes of each lane.
    pub(super) lanes: Vec<u64>,
}

impl Tree {
    /// The rank in a lane that is not mirrored, and back.
    fn mirrored(&self, lane: u32, rank: u32) -> u32 {
        if self.mirrors && lane % 2 == 1 { self.ranks - 1 - rank } else { rank }
    }

    fn children(&self, rank: u32) -> impl Iterator<Item = u32> + use<> {
        let ranks = self.ranks;
        [2 * rank + 1, 2 * rank + 2].into_iter().filter(move |&child| child < ranks)
    }
}

impl Pattern for Tree {
    fn stages(&self) -> u32 {
        1 + u32::from(self.reduces)
    }

    fn fan(&self) -> u32 {
        2
    }

    fn messages(&self, _stage: u32) -> u64 {
        u64::from(self.ranks - 1)
    }

    fn stage(&self, lane: u32, stage: u32, rank: u32) -> Stage {
        let mut found = Stage::default();
        let (own, bytes) = (self.mirrored(lane, rank), self.lanes[lane as usize]);
        let real = |rank| self.mirrored(lane, rank);
        let parent = own.checked_sub(1).map(|below| (below / 2, below % 2));
        if self.reduces && stage == 0 {
            found.waits.extend(self.children(own).map(|child| (0, real(child), 0)));
            found.sends.extend(parent.map(|(parent, _)| (real(parent), bytes)));
        } else if stage < self.stages() {
            found.waits.extend(parent.map(|(parent, index)| (stage, real(parent), index)));
            found.sends.extend(self.children(own).map(|child| (real(child), bytes)));
        }
        found
    }
}
