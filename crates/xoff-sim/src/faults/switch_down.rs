//! A switch that goes down.

use xoff_core::Ps;

use super::{Defect, FaultSettings, Part};

xoff_core::knobs! {
    /// A switch goes down, with all of its links: what is on them is lost, and what is sent into
    /// them from either end. Hosts that have no link to another switch go down with it, as with
    /// `kind = "host-down"`. A switch without which other hosts cannot reach each other cannot go
    /// down. Times are rounded up to `run.grid`.
    pub struct SwitchDownConfig in "switch_down" {
        /// The switch, such as leaf:0 or spine:1.
        switch: String = String::new(),
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

impl FaultSettings for SwitchDownConfig {
    fn part(&self) -> Part<'_> {
        Part::Switch(&self.switch)
    }

    fn times(&self) -> (Ps, Ps) {
        (self.at, self.until)
    }

    fn defect(&self) -> Defect {
        Defect::Down { detection: self.detection, local_repair: self.local_repair }
    }
}
