//! What the ingress of a switch knows of a queue: one bit, a little late.

use std::collections::VecDeque;

/// Whether a queue is deeper than a threshold, as the ingress sees it: "only stores a binary signal
/// in a P4 register table at ingress" (SFC §3.2), and "the propagation delay from the queue manager
/// to the ingress table is less than the switch pipeline latency" (footnote 1).
#[derive(Clone, Debug, Default)]
pub(super) struct CongestionBit {
    /// What the queue manager says now.
    actual: bool,
    /// What the ingress has read.
    seen: bool,
    /// When the bit changed, as far as the ingress has not read it (ps): each one turns it over.
    changes: VecDeque<u64>,
}

impl CongestionBit {
    /// The queue's depth has changed; the ingress learns of it `delay` ps later.
    #[inline]
    pub(super) fn update(&mut self, now: u64, over: bool, delay: u64) {
        if over != self.actual {
            // What is known by now is not kept, even if nobody reads it.
            self.read(now, delay);
            self.actual = over;
            self.changes.push_back(now);
        }
    }

    /// What the ingress sees `delay` ps later than it was so.
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
        /// Beside a list of all that ever was: the bit is what it was `delay` before.
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
