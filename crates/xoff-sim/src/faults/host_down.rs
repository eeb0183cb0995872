//! A host that goes down.

use xoff_core::Ps;

use super::{Defect, FaultSettings, Part};

xoff_core::knobs! {
    /// A host goes down, with all of its links: what is on them is lost, and what is sent into
    /// them from either end. If it comes back, its flows go on. If it does not, its flows cannot
    /// end, and the run does not wait for them. Times are rounded up to `run.grid`.
    pub struct HostDownConfig in "host_down" {
        /// The host, such as 3.
        host: String = String::new(),
        /// When it goes down.
        at: Ps = Ps(0),
        /// When it is back; 0: never.
        until: Ps = Ps(0),
    }
}

impl FaultSettings for HostDownConfig {
    fn part(&self) -> Part<'_> {
        Part::Host(&self.host)
    }

    fn times(&self) -> (Ps, Ps) {
        (self.at, self.until)
    }

    fn defect(&self) -> Defect {
        Defect::HostDown
    }
}
