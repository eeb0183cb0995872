//! Checks of invariants, if they are on.

use xoff_core::invariant::{Part, Recent, Violation};

use super::Simulation;
use crate::invariants::{Invariants, State, recent_events};

impl Simulation {
    /// Whether all flows so far are of one traffic class.
    fn has_one_class(&self) -> bool {
        let jobs = self.jobs.hosted.iter().map(|hosted| 1 << hosted.job.priority());
        jobs.fold(self.used_classes, |used, class: u8| used | class).count_ones() <= 1
    }

    /// Turns checks on.
    pub(super) fn watch_invariants(&mut self) {
        self.invariants = Some(Box::new(Invariants::new(&mut self.partitions)));
    }

    /// Checks invariants, if that is on.
    pub(super) fn check_invariants(&mut self, is_last: bool) -> Result<(), String> {
        let one_class = self.has_one_class();
        let Some(invariants) = &mut self.invariants else { return Ok(()) };
        invariants.hear(&mut self.partitions);
        let state = State {
            setup: &self.setup,
            now: self.now,
            partitions: &self.partitions,
            place: &self.place,
            one_class,
        };
        invariants.check(&state, is_last).map_err(|violation| {
            let text = violation.to_string();
            self.violation = Some(violation);
            text
        })
    }

    /// The last events of a part of the network, while invariants are checked: what a violation
    /// there would report now.
    #[must_use]
    pub fn recent_events(&self, part: Part) -> Recent {
        let one_class = self.has_one_class();
        let state = State {
            setup: &self.setup,
            now: self.now,
            partitions: &self.partitions,
            place: &self.place,
            one_class,
        };
        recent_events(&state, part, self.now.0)
    }

    /// The violation that ended the run, if one did.
    #[must_use]
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_deref()
    }
}
