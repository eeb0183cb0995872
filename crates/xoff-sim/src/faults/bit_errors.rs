//! Links whose bits are wrong at random: a receiver drops a frame with a wrong checksum.

use xoff_core::Ps;
use xoff_net::fabric::{LossOf, RandomLoss};

use super::loss::check_share;
use super::{Defect, Direction, FaultSettings, Part};

xoff_core::knobs! {
    /// Links corrupt bits at random, and packets with a wrong bit are lost: longer ones more often.
    /// Times are rounded up to `run.grid`.
    pub struct BitErrorsConfig in "bit_errors" {
        /// The two ends of the link, such as leaf:0,spine:1 or 3,leaf:0; all: all links.
        link: String = "all".to_owned(),
        /// The directions in which they are wrong.
        direction: Direction = Direction::Both,
        /// The share of wrong bits. IEEE 802.3 allows 1e-12 on a link of 100 Gb/s after its error
        /// correction (§91.6); optical links before they fail have much more.
        ratio: f64 = 1e-9,
        /// Whether frames that pause and resume (PFC, BFC, SFC) always arrive.
        keep_pauses: bool = false,
        /// When it begins.
        at: Ps = Ps(0),
        /// When it ends; 0: never.
        until: Ps = Ps(0),
    }
}

impl FaultSettings for BitErrorsConfig {
    fn part(&self) -> Part<'_> {
        Part::Link(&self.link)
    }

    fn times(&self) -> (Ps, Ps) {
        (self.at, self.until)
    }

    fn defect(&self) -> Defect {
        Defect::Loss(RandomLoss { of: LossOf::Bits(self.ratio), keeps_pauses: self.keep_pauses })
    }

    fn check(&self) -> Result<(), String> {
        check_share("ratio", self.ratio, "bits")
    }

    fn direction(&self) -> Direction {
        self.direction
    }
}
