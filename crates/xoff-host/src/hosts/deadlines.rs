//! When a NIC looks for timeouts, and at which of its flows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// A NIC's times of looking for timeouts.
///
/// The NIC looks at all its flows once per shortest timeout, and at a single flow when that flow's
/// deadline lies before the next look at all. Progress after a look at all moves a deadline to the
/// next one or later. A flow costs one step per timeout, however many flows the NIC has and
/// however much progress they make; a flow that ends sooner mostly costs nothing.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    /// Time of the next look at all flows (ps), while there are flows.
    next: Option<u64>,
    /// Flows that may be due before that, by deadline (ps). One that has ended may remain.
    near: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Deadlines {
    /// Sets the time of the next look at all flows.
    pub(super) fn look_at_all(&mut self, time: Option<u64>) {
        self.next = time;
    }

    /// Enters a flow whose deadline is before the next look at all flows.
    pub(super) fn add(&mut self, deadline: u64, sender: u32) {
        self.near.push(Reverse((deadline, sender)));
    }

    /// Time of the next look, if any.
    pub(super) fn next(&self) -> Option<u64> {
        let near = self.near.peek().map(|&Reverse((deadline, _))| deadline);
        self.next.into_iter().chain(near).min()
    }

    /// Takes a flow whose entered deadline has come.
    pub(super) fn take(&mut self, now: u64) -> Option<u32> {
        let first = self.near.peek_mut()?;
        let Reverse((deadline, sender)) = *first;
        (deadline <= now).then(|| {
            PeekMut::pop(first);
            sender
        })
    }

    /// True if it is time to look at all flows.
    pub(super) fn all_are_due(&self, now: u64) -> bool {
        self.next.is_some_and(|next| next <= now)
    }

    /// True if no look at all flows is planned.
    pub(super) fn is_idle(&self) -> bool {
        self.next.is_none()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TIMEOUT: u64 = 100;

    /// Flows that timed out, with the time of each.
    type TimedOut = Vec<(u64, usize)>;

    /// Runs flows that make progress at the given times, and returns when each timed out: first as
    /// a NIC looks for it, then by checking every flow all the time; and the number of looks.
    fn timeouts(progress: &[Vec<u64>]) -> (TimedOut, TimedOut, usize) {
        let end = 1_000;
        let mut deadlines = Deadlines::default();
        deadlines.look_at_all(Some(TIMEOUT));
        let (mut looked, mut checked, mut steps) = (TimedOut::new(), TimedOut::new(), 0);
        let mut last = vec![0; progress.len()];
        for now in 0..=end {
            for (flow, times) in progress.iter().enumerate() {
                if times.contains(&now) {
                    last[flow] = now;
                }
            }
            let due = |last: &[u64], flow: usize| last[flow] + TIMEOUT <= now;
            checked.extend((0..last.len()).filter(|&flow| due(&last, flow)).map(|one| (now, one)));
            let mut look = |last: &mut [u64], flow: usize| {
                steps += 1;
                if due(last, flow) {
                    looked.push((now, flow));
                    last[flow] = now;
                }
                last[flow] + TIMEOUT
            };
            while let Some(flow) = deadlines.take(now) {
                look(&mut last, flow as usize);
            }
            if deadlines.all_are_due(now) {
                for flow in 0..last.len() {
                    let deadline = look(&mut last, flow);
                    if deadline < now + TIMEOUT {
                        deadlines.add(deadline, flow as u32);
                    }
                }
                deadlines.look_at_all(Some(now + TIMEOUT));
            }
            assert!(deadlines.next().is_some_and(|next| next > now));
        }
        looked.sort_unstable();
        (looked, checked, steps)
    }

    proptest! {
        #[test]
        fn every_flow_times_out_at_its_deadline(
            progress in prop::collection::vec(prop::collection::vec(0..1_000_u64, 0..30), 0..20)
        ) {
            let (looked, checked, steps) = timeouts(&progress);
            prop_assert_eq!(looked, checked);
            // Twice per timeout: once with all flows, and once at its deadline.
            prop_assert!(steps <= 2 * progress.len() * 10);
        }
    }

    #[test]
    fn without_flows_there_is_nothing_to_look_for() {
        let mut deadlines = Deadlines::default();
        assert!(deadlines.is_idle());
        assert_eq!((deadlines.next(), deadlines.take(u64::MAX)), (None, None));
    }
}
