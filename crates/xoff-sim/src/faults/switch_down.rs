//! A switch that goes down.

use xoff_core::Ps;

use super::{Defect, FaultSettings, Part};

xoff_core::knobs! {
    /// A switch goes down, with all of its links: what is on them is lost, and what is sent into
    /// them from either end. A switch without which some hosts reach no others cannot go down.
    /// Times are rounded up to `run.grid`.
    pub struct SwitchDownConfig in "switch_down" {
        /// The switch, such as spine:1.
        switch: String = String::new(),
        /// When it goes down.
        at: Ps = Ps(0),
        /// When it is back; 0: never.
        until: Ps = Ps(0),
        /// How long after it went down all switches route around it, and after it is back use it
        /// again.
        detection: Ps = Ps::from_us(1000),
    }
}

impl FaultSettings for SwitchDownConfig {
    fn part(&self) -> Part<'_> {
        Part::Switch(&self.switch)
    }

    fn times(&self) -> (Ps, Ps) {
        (self.at, self.until)
    }

    fn defect(&self) -> Defect {
        Defect::Down { detection: self.detection }
    }
}
