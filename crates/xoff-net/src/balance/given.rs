//! Paths that a traffic source gives: a list of flows names the port of each flow and of its
//! acknowledgements, as another simulator has chosen them.
//!
//! The numbers are in the packet's label, which is its source and destination port. The label of an
//! answer has its halves exchanged, so each direction finds its own number in the lower half.

use xoff_core::knobs;
use xoff_core::seam::{Need, need};

use super::{BalanceSettings, PathPer};

knobs! {
    /// Paths that a list of flows gives.
    pub struct GivenConfig;
}

impl BalanceSettings for GivenConfig {
    fn needs(&self) -> Vec<Need> {
        vec![
            need(
                ("switch", "architecture"),
                &["output-queued"],
                "others have balance = \"adaptive\"",
            ),
            need(("transport", "allocator"), &["none"], "it computes the path of each flow"),
        ]
    }

    fn path_per(&self) -> PathPer {
        PathPer::Flow
    }

    fn takes_given_paths(&self) -> bool {
        true
    }
}

/// The label of a flow whose packets take one of these ports, and their answers the other one. The
/// rest of it tells flows apart, as `hash` does.
#[must_use]
pub fn label(hash: u32, (data, answers): (u8, u8)) -> u32 {
    hash & 0xff00_ff00 | u32::from(data) | u32::from(answers) << 16
}

/// The number of the port that a packet with this label takes.
#[must_use]
pub(super) fn path(label: u32) -> u8 {
    label as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_direction_finds_its_own_path() {
        for hash in [0, 0x1234_5678, u32::MAX] {
            let label = label(hash, (3, 250));
            assert_eq!((path(label), path(label.rotate_left(16))), (3, 250));
            assert_eq!(label & 0xff00_ff00, hash & 0xff00_ff00);
        }
    }
}
