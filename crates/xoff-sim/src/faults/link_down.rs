//! A link that goes down.

use xoff_core::Ps;

use super::{Defect, FaultSettings, Part};

xoff_core::knobs! {
    /// A link goes down: what is on it is lost, and what is sent into it. Times are rounded up to
    /// `run.grid`.
    pub struct LinkDownConfig in "link_down" {
        /// The two ends, such as leaf:0,spine:1; all parallel links between them go down.
        link: String = String::new(),
        /// When it goes down.
        at: Ps = Ps(0),
        /// When it is back; 0: never.
        until: Ps = Ps(0),
        /// How long after it went down all switches route around it, and after it is back use it
        /// again.
        detection: Ps = Ps::from_us(1000),
        /// Whether the switches at the ends of a failed link stop using it at once, where they have
        /// other ports on shortest paths. All others hear of it after `detection`.
        local_repair: bool = false,
    }
}

impl FaultSettings for LinkDownConfig {
    fn part(&self) -> Part<'_> {
        Part::Link(&self.link)
    }

    fn times(&self) -> (Ps, Ps) {
        (self.at, self.until)
    }

    fn defect(&self) -> Defect {
        Defect::Down { detection: self.detection, local_repair: self.local_repair }
    }
}
