//! Links that lose packets at random.

use xoff_core::Ps;
use xoff_net::fabric::{LossOf, RandomLoss};

use super::{Defect, Direction, FaultSettings, Part};

xoff_core::knobs! {
    /// Links lose packets at random. Times are rounded up to `run.grid`.
    pub struct LossConfig in "loss" {
        /// The two ends of the link, such as leaf:0,spine:1 or 3,leaf:0; all: all links.
        link: String = "all".to_owned(),
        /// The directions in which they are lost.
        direction: Direction = Direction::Both,
        /// The share of packets that are lost. With 1, the link drops everything, and no switch
        /// notices.
        share: f64 = 0.01,
        /// Whether frames that pause and resume (PFC, BFC, SFC) always arrive.
        keep_pauses: bool = false,
        /// When it begins.
        at: Ps = Ps(0),
        /// When it ends; 0: never.
        until: Ps = Ps(0),
    }
}

impl FaultSettings for LossConfig {
    fn part(&self) -> Part<'_> {
        Part::Link(&self.link)
    }

    fn times(&self) -> (Ps, Ps) {
        (self.at, self.until)
    }

    fn defect(&self) -> Defect {
        Defect::Loss(RandomLoss { of: LossOf::Packets(self.share), keeps_pauses: self.keep_pauses })
    }

    fn check(&self) -> Result<(), String> {
        check_share("share", self.share, "packets")
    }

    fn direction(&self) -> Direction {
        self.direction
    }
}

/// Checks a share.
pub(super) fn check_share(key: &str, share: f64, of: &str) -> Result<(), String> {
    if share > 1.0 {
        return Err(format!("{key} is {share}: it is a share of the {of}, 0 to 1"));
    }
    Ok(())
}
