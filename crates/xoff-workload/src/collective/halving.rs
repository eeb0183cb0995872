//! Recursive halving and doubling (Thakur, Rabenseifner and Gropp, "Optimization of Collective
//! Communication Operations in MPICH", 2005), for powers of two.

use super::pattern::{Pattern, Stage, share};

/// Ranks exchange halves of what they have with a partner, then quarters with another one; an
/// all-gather runs the other way.
#[derive(Debug)]
pub(super) struct Halving {
    /// A power of two.
    pub(super) ranks: u32,
    /// Whether pieces get smaller: a reduce-scatter.
    pub(super) scatters: bool,
    /// Whether pieces get larger then: an all-gather.
    pub(super) gathers: bool,
    /// Bytes of each lane.
    pub(super) lanes: Vec<u64>,
}

impl Halving {
    /// Steps of a reduce-scatter or an all-gather.
    fn steps(&self) -> u32 {
        self.ranks.ilog2()
    }

    /// The distance to the partner in a stage. Half of the ranks is the first, or the last.
    fn distance(&self, stage: u32) -> u32 {
        let steps = self.steps();
        if self.scatters && stage < steps {
            self.ranks >> (stage + 1)
        } else {
            1 << (stage - if self.scatters { steps } else { 0 })
        }
    }
}

impl Pattern for Halving {
    fn stages(&self) -> u32 {
        (u32::from(self.scatters) + u32::from(self.gathers)) * self.steps()
    }

    fn fan(&self) -> u32 {
        1
    }

    fn messages(&self, _stage: u32) -> u64 {
        u64::from(self.ranks)
    }

    fn stage(&self, lane: u32, stage: u32, rank: u32) -> Stage {
        let mut found = Stage::default();
        if let Some(before) = stage.checked_sub(1) {
            found.waits.push((before, rank ^ self.distance(before), 0));
        }
        if stage < self.stages() {
            let distance = self.distance(stage);
            let (parts, pieces) = (u64::from(self.ranks), u64::from(distance));
            let scattering = self.scatters && stage < self.steps();
            // The half that the partner keeps, or the half of this rank.
            let owner = if scattering { rank ^ distance } else { rank };
            let first = u64::from(owner) / pieces * pieces;
            let bytes = share(self.lanes[lane as usize], parts, first, first + pieces);
            found.sends.push((rank ^ distance, bytes));
        }
        found
    }
}
