//! What is known of measured flows that have not ended.

use xoff_host::flow::Sender;

use super::Simulation;
use crate::watchdog;

impl Simulation {
    /// The first measured flows of a class that have begun and not ended, and their state: at most
    /// `most` texts, in the order of the flows' numbers.
    #[must_use]
    pub fn unfinished_flows(&self, class: u16, most: usize) -> Vec<String> {
        let is_unfinished = |flow: &Sender| {
            let start = &flow.start;
            let stops = self.stopping.contains(&start.id);
            !flow.open
                && self.class_of[start.source as usize] == class
                && self.counts(start, stops)
                && !self.dead.have_cut_off(start.id)
        };
        watchdog::describe_flows(self.now, &self.partitions, most, is_unfinished)
    }

    /// The packets that links have lost, and the faults that lose packets; `None` if there are
    /// none.
    #[must_use]
    pub fn lost_on_links(&self) -> Option<String> {
        watchdog::lost_on_links(&self.setup, &self.partitions)
    }
}
