//! Where one flowlet ends and the next one begins.

use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::NEVER;

/// The flowlets of a sender's queues: "a flow ends when there is a threshold amount of time during
/// which a sender's queue is empty" (Perry, Balakrishnan and Shah, NSDI 2017, §2).
///
/// Data that waits at a queue `Q` belongs to the queue's flowlet `F`, which the caller names. Each
/// operation takes constant time, averaged over many. The unit of times is the caller's.
#[derive(Clone, Debug)]
pub struct Detector<Q, F> {
    open: FxHashMap<Q, Open<F>>,
    /// Empty queues in the order of the ends of their flowlets, with the times. The first one is
    /// still empty.
    empty: VecDeque<(u64, Q, F)>,
}

/// The flowlet of a queue.
#[derive(Clone, Copy, Debug)]
struct Open<F> {
    flowlet: F,
    /// When it ends unless there is data before; [`NEVER`] while there is data.
    ends_at: u64,
}

impl<Q, F> Default for Detector<Q, F> {
    fn default() -> Self {
        Self { open: FxHashMap::default(), empty: VecDeque::new() }
    }
}

impl<Q: Copy + Eq + Hash, F: Copy + Eq> Detector<Q, F> {
    /// The flowlet of a queue, if there is one.
    #[must_use]
    pub fn flowlet(&self, queue: Q) -> Option<F> {
        self.open.get(&queue).map(|open| open.flowlet)
    }

    /// A queue has data. Returns its flowlet, which is `new` if there was none.
    pub fn on_data(&mut self, queue: Q, new: F) -> F {
        let open = self.open.entry(queue).or_insert(Open { flowlet: new, ends_at: NEVER });
        open.ends_at = NEVER;
        let flowlet = open.flowlet;
        self.prune();
        flowlet
    }

    /// A queue is empty. Its flowlet ends at this time unless there is data before. The times of
    /// successive calls must not decrease; if they do, a flowlet may end later than it should.
    pub fn on_empty(&mut self, queue: Q, ends_at: u64) {
        if let Some(open) = self.open.get_mut(&queue) {
            open.ends_at = ends_at;
            self.empty.push_back((ends_at, queue, open.flowlet));
            self.prune();
        }
    }

    /// A queue has no further data, or its flowlet is regarded as over: it ends at once.
    pub fn close(&mut self, queue: Q) -> Option<F> {
        let closed = self.open.remove(&queue);
        self.prune();
        Some(closed?.flowlet)
    }

    /// The next flowlet whose time is over, which has now ended.
    pub fn next_end(&mut self, now: u64) -> Option<F> {
        let &(ends_at, queue, _) = self.empty.front()?;
        if ends_at > now { None } else { self.close(queue) }
    }

    /// When the next flowlet ends unless there is data before.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        self.empty.front().map(|&(ends_at, ..)| ends_at)
    }

    /// True if no queue has a flowlet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Forgets queues that have had data since they were empty.
    fn prune(&mut self) {
        while let Some(&(ends_at, queue, flowlet)) = self.empty.front() {
            let open = self.open.get(&queue);
            if open.is_some_and(|open| open.flowlet == flowlet && open.ends_at == ends_at) {
                return;
            }
            self.empty.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_pause_is_no_end() {
        let mut detector = Detector::default();
        assert_eq!(detector.on_data('a', 1), 1);
        detector.on_empty('a', 120);
        assert_eq!(detector.deadline(), Some(120));
        assert_eq!(detector.on_data('a', 2), 1);
        assert_eq!((detector.next_end(1000), detector.deadline()), (None, None));
        detector.on_empty('a', 2100);
        assert_eq!((detector.next_end(2099), detector.next_end(2100)), (None, Some(1)));
        assert_eq!(detector.on_data('a', 3), 3);
    }

    #[test]
    fn a_closed_queue_ends_once() {
        let mut detector = Detector::default();
        detector.on_data('a', 1);
        detector.on_empty('a', 120);
        assert_eq!((detector.close('a'), detector.close('a')), (Some(1), None));
        assert_eq!((detector.next_end(u64::MAX), detector.deadline()), (None, None));
        assert!(detector.is_empty());
    }

    proptest! {
        /// The same as a search through all queues at each step.
        #[test]
        fn ends_are_those_of_a_plain_search(
            steps in prop::collection::vec((0u64..40, 0u8..4, 0u8..4), 1..200),
        ) {
            const THRESHOLD: u64 = 50;
            let mut detector = Detector::default();
            let mut plain: BTreeMap<u8, (u64, Option<u64>)> = BTreeMap::new();
            let mut now = 0;
            for (number, (time, what, queue)) in steps.into_iter().enumerate() {
                now += time;
                match what {
                    0 => {
                        let entry = plain.entry(queue).or_insert((number as u64, None));
                        entry.1 = None;
                        prop_assert_eq!(detector.on_data(queue, number as u64), entry.0);
                    }
                    1 => {
                        if let Some(entry) = plain.get_mut(&queue) {
                            entry.1 = Some(now + THRESHOLD);
                        }
                        detector.on_empty(queue, now + THRESHOLD);
                    }
                    2 => {
                        let closed = plain.remove(&queue).map(|entry| entry.0);
                        prop_assert_eq!(detector.close(queue), closed);
                    }
                    _ => {
                        let is_over = |ends_at: Option<u64>| ends_at.is_some_and(|at| at <= now);
                        let over = plain.values().filter(|entry| is_over(entry.1));
                        let mut expected: Vec<u64> = over.map(|entry| entry.0).collect();
                        plain.retain(|_, entry| !is_over(entry.1));
                        let next = || detector.next_end(now);
                        let mut ended: Vec<u64> = std::iter::from_fn(next).collect();
                        expected.sort_unstable();
                        ended.sort_unstable();
                        prop_assert_eq!(ended, expected);
                    }
                }
                let first = plain.values().filter_map(|entry| entry.1).min();
                prop_assert_eq!(detector.deadline(), first);
            }
        }
    }
}
