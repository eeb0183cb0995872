//! The order in which a stage computes the passes of micro-batches.

use xoff_core::choices;

choices! {
    /// The order of passes at a stage of a pipeline.
    pub enum PipelineSchedule {
        /// All micro-batches forward, then all backward, the last one first (Huang et al., "GPipe",
        /// NeurIPS 2019, §2.3).
        GPipe = "gpipe",
        /// One forward, one backward: after as many forward passes as there are stages after it, a
        /// stage computes one forward and one backward pass in turn, so it keeps the activations of
        /// no more micro-batches than there are stages (PipeDream-Flush in Narayanan et al.,
        /// "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC
        /// 2021, §2.2.1).
        OneForwardOneBackward = "1f1b",
    }
}

/// A pass through a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pass {
    Forward,
    Backward,
}

/// A pass of a micro-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Work {
    pub(super) pass: Pass,
    pub(super) micro_batch: u32,
}

impl PipelineSchedule {
    /// The work at this place in the order of a stage with `later` stages after it. Places are 0 to
    /// 2 `micro_batches` - 1.
    pub(super) fn work(self, place: u32, later: u32, micro_batches: u32) -> Work {
        let forward = |micro_batch| Work { pass: Pass::Forward, micro_batch };
        let backward = |micro_batch| Work { pass: Pass::Backward, micro_batch };
        match self {
            Self::GPipe if place < micro_batches => forward(place),
            Self::GPipe => backward(2 * micro_batches - 1 - place),
            Self::OneForwardOneBackward => {
                let first = later.min(micro_batches);
                // Pairs of forward and backward follow the first forward passes, as long as there
                // are forward passes.
                let in_pairs = place.saturating_sub(first);
                if place < first {
                    forward(place)
                } else if in_pairs / 2 >= micro_batches - first {
                    backward(place - micro_batches)
                } else if in_pairs.is_multiple_of(2) {
                    forward(first + in_pairs / 2)
                } else {
                    backward(in_pairs / 2)
                }
            }
        }
    }
}
