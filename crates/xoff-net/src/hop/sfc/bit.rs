//! The state of a queue as the ingress of a switch sees it: one bit, with a small delay.

use std::collections::VecDeque;

/// Whether a queue is deeper than a threshold, as the ingress sees it: "only stores a binary signal
/// in a P4 register table at ingress" (SFC §3.2), and "the propagation delay from the queue manager
/// to the ingress table is less than the switch pipeline latency" (footnote 1).
#[derive(Clone, Debug, Default)]
pub(super) struct CongestionBit {
    /// The current bit at the queue manager.
    actual: bool,
    /// The bit that the ingress has read.
    seen: bool,
    /// Times of changes that the ingress has not read (ps). Each change inverts the bit.
    changes: VecDeque<u64>,
}

impl CongestionBit {
    /// The queue's depth has changed. The ingress sees the change `delay` ps later.
    #[inline]
    pub(super) fn update(&mut self, now: u64, over: bool, delay: u64) {
        if over != self.actual {
            // Known changes are dropped, even without a reader.
            self.read(now, delay);
            self.actual = over;
            self.changes.push_back(now);
        }
    }

    /// The bit at the ingress, which sees changes `delay` ps late.
    #[inline]
    pub(super) fn read(&mut self, now: u64, delay: u64) -> bool {
        while self.changes.front().is_some_and(|&change| change + delay <= now) {
            self.changes.pop_front();
            self.seen = !self.seen;
        }
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bit_that_nobody_reads_does_not_grow() {
        let mut bit = CongestionBit::default();
        for turn in 0..1_000 {
            bit.update(turn * 10, turn % 2 == 0, 50);
            assert!(bit.changes.len() <= 6);
        }
    }

    proptest! {
        /// Compares with a list of all changes: the bit equals its value `delay` earlier.
        #[test]
        fn the_ingress_sees_what_was_so_a_delay_ago(
            delay in 0u64..50,
            steps in prop::collection::vec((0u64..20, any::<bool>()), 1..100),
        ) {
            let mut bit = CongestionBit::default();
            let mut history = vec![(0, false)];
            let mut now = 0;
            for (step, over) in steps {
                now += step;
                bit.update(now, over, delay);
                history.push((now, over));
                let then = history.iter().rev().find(|entry| entry.0 + delay <= now);
                prop_assert_eq!(bit.read(now, delay), then.is_some_and(|entry| entry.1));
            }
        }
    }
}
