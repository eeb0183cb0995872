//! The empty queues that an ingress pipeline knows (BFC §4): "The bitmap of empty queues is
//! periodically updated with this data, with a different rotating starting point per pipeline to
//! avoid new flows from being assigned to the same empty queue."
//!
//! Between two updates a pipeline knows the occupancy at the last update and the queues it has
//! assigned itself since. It does not know the assignments of other pipelines, nor the queues that
//! have emptied. The start of its search is up to
//! [`FlowQueues`](super::super::assignment::FlowQueues).
//!
//! An update is not an event. The queues of a port stay as the last arrival or departure left them,
//! so the next one records the state at the update.

use crate::sched::QueueMask;

#[derive(Clone, Copy, Debug, Default)]
struct Egress {
    /// Number of updates when the port was last used.
    updates: u64,
    /// Occupied queues at the last of these updates.
    at_update: QueueMask,
    /// Occupied queues since the last arrival or departure.
    since: QueueMask,
}

#[derive(Clone, Copy, Debug, Default)]
struct Given {
    updates: u64,
    queues: QueueMask,
}

/// The bitmaps of a switch.
#[derive(Debug)]
pub(super) struct EmptyQueues {
    /// ps; 0: bitmaps are always up to date.
    period: u64,
    egresses: Vec<Egress>,
    /// Queues that a pipeline has assigned at an egress port since the update, by flow table.
    given: Vec<Given>,
}

impl EmptyQueues {
    /// For a switch with `ports` ports and `tables` flow tables, with all queues empty.
    pub(super) fn new(period: u64, ports: usize, tables: usize) -> Self {
        let (egresses, given) = (vec![Egress::default(); ports], vec![Given::default(); tables]);
        Self { period, egresses, given }
    }

    /// A packet has joined or left a queue of a port. `occupied` marks the queues that hold packets
    /// now.
    #[inline]
    pub(super) fn on_change(&mut self, now: u64, egress: u16, occupied: QueueMask) {
        if self.period > 0 {
            self.update(now, egress).since = occupied;
        }
    }

    /// The queues that the pipeline of `table` takes for occupied, if `occupied` are.
    #[inline]
    pub(super) fn known(
        &mut self,
        now: u64,
        egress: u16,
        table: u16,
        occupied: QueueMask,
    ) -> QueueMask {
        if self.period == 0 {
            return occupied;
        }
        let Egress { updates, at_update, .. } = *self.update(now, egress);
        let given = self.given[table as usize];
        if given.updates == updates { at_update | given.queues } else { at_update }
    }

    /// That pipeline assigns a queue to a flow.
    pub(super) fn give(&mut self, now: u64, table: u16, queue: u8) {
        let Some(updates) = now.checked_div(self.period) else { return };
        let given = &mut self.given[table as usize];
        if given.updates != updates {
            *given = Given { updates, queues: 0 };
        }
        given.queues |= 1 << queue;
    }

    fn update(&mut self, now: u64, egress: u16) -> &mut Egress {
        let updates = now / self.period;
        let egress = &mut self.egresses[egress as usize];
        if egress.updates < updates {
            (egress.updates, egress.at_update) = (updates, egress.since);
        }
        egress
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pipeline_knows_the_last_update_and_what_it_gave_out_itself() {
        let mut queues = EmptyQueues::new(1000, 2, 4);
        queues.on_change(1500, 0, 0b01);
        // No pipeline knows before the next update, at 2000.
        assert_eq!(queues.known(1600, 0, 0, 0b01), 0);
        queues.give(1600, 0, 0);
        assert_eq!((queues.known(1999, 0, 0, 0b01), queues.known(1999, 0, 2, 0b01)), (0b01, 0));
        queues.give(1999, 2, 5);
        assert_eq!(queues.known(2000, 0, 0, 0b01), 0b01);
        assert_eq!(
            queues.known(2000, 0, 2, 0b01),
            0b01,
            "a queue that it assigned and that is empty is free again"
        );
        queues.on_change(2500, 0, 0);
        assert_eq!((queues.known(2999, 0, 0, 0), queues.known(3000, 0, 0, 0)), (0b01, 0));
        assert_eq!(queues.known(3000, 1, 1, 0), 0, "another port");
    }

    proptest! {
        /// Compares with a bitmap that is copied at every multiple of the period.
        #[test]
        fn is_what_was_copied_at_the_last_update(
            steps in prop::collection::vec((0u64..3000, any::<bool>(), any::<u8>()), 1..200),
        ) {
            const PERIOD: u64 = 1000;
            let mut queues = EmptyQueues::new(PERIOD, 1, 1);
            let (mut now, mut occupied, mut copied) = (0, 0, 0);
            for (wait, changes, mask) in steps {
                if (now + wait) / PERIOD > now / PERIOD {
                    copied = occupied;
                }
                now += wait;
                if changes {
                    occupied = u128::from(mask);
                    queues.on_change(now, 0, occupied);
                }
                prop_assert_eq!(queues.known(now, 0, 0, occupied), copied);
            }
        }
    }
}
