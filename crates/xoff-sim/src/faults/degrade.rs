//! A link that works at a lower rate.

use xoff_core::{BitRate, Ps};

use super::{Defect, Direction, FaultSettings, Part};

xoff_core::knobs! {
    /// A link works at a lower rate, such as one of 100 Gb/s that falls back to 25 Gb/s. Each end
    /// sends its next packet at the new rate. No packet is lost, and no route changes. Times are
    /// rounded up to `run.grid`.
    pub struct DegradeConfig in "degrade" {
        /// The two ends of the link, such as leaf:0,spine:1 or 3,leaf:0; all: all links.
        link: String = String::new(),
        /// The directions with the lower rate.
        direction: Direction = Direction::Both,
        /// The lower rate: at least 1 Mb/s, and less than the link's.
        rate: BitRate = BitRate(25_000_000_000),
        /// When the link falls back.
        at: Ps = Ps(0),
        /// When it has its own rate again; 0: never.
        until: Ps = Ps(0),
    }
}

impl FaultSettings for DegradeConfig {
    fn part(&self) -> Part<'_> {
        Part::Link(&self.link)
    }

    fn times(&self) -> (Ps, Ps) {
        (self.at, self.until)
    }

    fn defect(&self) -> Defect {
        Defect::Degraded(self.rate)
    }

    fn check(&self) -> Result<(), String> {
        if self.rate < BitRate(1_000_000) {
            return Err(format!("rate is {}: it must be at least 1Mbps", self.rate));
        }
        Ok(())
    }

    fn direction(&self) -> Direction {
        self.direction
    }
}
