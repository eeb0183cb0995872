//! Links that lose packets at random.

use xoff_core::Ps;

use super::{Defect, FaultSettings};

xoff_core::knobs! {
    /// Links lose packets at random, of every kind and in both directions. Times are rounded up to
    /// `run.grid`.
    pub struct LossConfig in "loss" {
        /// The two ends of the link, such as leaf:0,spine:1 or 3,leaf:0; all: all links.
        link: String = "all".to_owned(),
        /// The share of packets that are lost.
        share: f64 = 0.01,
        /// When it begins.
        at: Ps = Ps(0),
        /// When it ends; 0: never.
        until: Ps = Ps(0),
    }
}

impl FaultSettings for LossConfig {
    fn link(&self) -> &str {
        &self.link
    }

    fn at(&self) -> Ps {
        self.at
    }

    fn until(&self) -> Ps {
        self.until
    }

    fn defect(&self) -> Defect {
        Defect::Loss { share: self.share }
    }

    fn check(&self) -> Result<(), String> {
        let share = self.share;
        if share > 1.0 {
            return Err(format!("share is {share}: it is a share of the packets, 0 to 1"));
        }
        Ok(())
    }

    fn may_name_all_links(&self) -> bool {
        true
    }
}
