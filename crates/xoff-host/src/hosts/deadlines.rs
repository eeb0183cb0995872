//! When a NIC looks for timeouts, and at which of its flows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use xoff_core::FlowId;

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
    /// Flows that may be due before that, by deadline (ps) and number, with their slots. One that
    /// has ended may remain. Slots depend on the partitioning, so they decide nothing.
    near: BinaryHeap<Reverse<(u64, FlowId, u32)>>,
}

impl Deadlines {
    /// Sets the time of the next look at all flows.
    pub(super) fn look_at_all(&mut self, time: Option<u64>) {
        self.next = time;
    }

    /// Enters a flow that the NIC has looked at, if its deadline is before the next look at all.
    pub(super) fn add(&mut self, deadline: u64, flow: FlowId, sender: u32) {
        if self.next.is_some_and(|next| deadline < next) {
            self.near.push(Reverse((deadline, flow, sender)));
        }
    }

    /// Time of the next look, if any.
    pub(super) fn next(&self) -> Option<u64> {
        let near = self.near.peek().map(|&Reverse((deadline, ..))| deadline);
        self.next.into_iter().chain(near).min()
    }

    /// Takes a flow whose entered deadline has come, and its slot.
    pub(super) fn take(&mut self, now: u64) -> Option<(FlowId, u32)> {
        let first = self.near.peek_mut()?;
        let Reverse((deadline, flow, sender)) = *first;
        (deadline <= now).then(|| {
            PeekMut::pop(first);
            (flow, sender)
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
    /// The timeout of a flow that has sent more since its last progress.
    const LONG: u64 = 150;

    /// Flows that timed out, with the time of each.
    type TimedOut = Vec<(u64, usize)>;

    /// Runs flows that make progress or send more at the given times, and returns when each timed
    /// out: first as a NIC looks for it, then by checking every flow all the time; and the number
    /// of looks.
    fn timeouts(flows: &[Vec<(u64, bool)>]) -> (TimedOut, TimedOut, usize) {
        let end = 1_000;
        let mut deadlines = Deadlines::default();
        deadlines.look_at_all(Some(TIMEOUT));
        let (mut looked, mut checked, mut steps) = (TimedOut::new(), TimedOut::new(), 0);
        // The time of its last progress, and its timeout.
        let mut state = vec![(0, TIMEOUT); flows.len()];
        for now in 0..=end {
            for (own, events) in state.iter_mut().zip(flows) {
                for &(_, sends) in events.iter().filter(|event| event.0 == now) {
                    *own = if sends { (own.0, LONG) } else { (now, TIMEOUT) };
                }
            }
            let due = |(last, timeout): (u64, u64)| last + timeout <= now;
            let of_all = state.iter().enumerate().filter(|&(_, &own)| due(own));
            checked.extend(of_all.map(|(flow, _)| (now, flow)));
            let mut look = |own: &mut (u64, u64), flow: usize| {
                steps += 1;
                if due(*own) {
                    looked.push((now, flow));
                    *own = (now, TIMEOUT);
                }
                own.0 + own.1
            };
            while let Some((id, flow)) = deadlines.take(now) {
                let deadline = look(&mut state[flow as usize], flow as usize);
                deadlines.add(deadline, id, flow);
            }
            if deadlines.all_are_due(now) {
                deadlines.look_at_all(Some(now + TIMEOUT));
                for (flow, own) in state.iter_mut().enumerate() {
                    let deadline = look(own, flow);
                    deadlines.add(deadline, FlowId(flow as u64), flow as u32);
                }
            }
            assert!(deadlines.next().is_some_and(|next| next > now));
        }
        looked.sort_unstable();
        (looked, checked, steps)
    }

    proptest! {
        #[test]
        fn every_flow_times_out_at_its_deadline(
            flows in prop::collection::vec(
                prop::collection::vec((0..1_000_u64, any::<bool>()), 0..30),
                0..20,
            ),
        ) {
            let (looked, checked, steps) = timeouts(&flows);
            prop_assert_eq!(looked, checked);
            // Once with all flows, once at its deadline, and once if that has become longer.
            prop_assert!(steps <= 3 * flows.len() * 10);
        }
    }

    #[test]
    fn without_flows_there_is_nothing_to_look_for() {
        let mut deadlines = Deadlines::default();
        assert!(deadlines.is_idle());
        assert_eq!((deadlines.next(), deadlines.take(u64::MAX)), (None, None));
    }
}
