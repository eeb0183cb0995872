//! Shortest remaining flow first over a fixed number of queues: "Flows insert their remaining size
//! into a header field in each packet transmitted, and the switch schedules queues in order of
//! remaining size of the packet at the head of the queue" (BFC App. A.2).
//!
//! Only the packet at the head counts: a short flow that shares a queue with a long one waits for
//! it. Among equals the queue with the lowest number goes first. That is no lasting unfairness: the
//! flow that goes first then has fewer bytes left, and would stay ahead under any rule. Sizes are
//! compared within the range of the header, so flows with more than 4 GB left are equal.

use xoff_core::knobs;
use xoff_core::tournament::Tournament;

use super::fixed_queues::{Discipline, FixedQueues, Line, Mask};
use super::{AnyScheduler, QueueMask, SchedulerSettings, SchedulerSite};
use crate::packet::Pool;
use crate::sched::{CLASS_QUEUES, HopQueues};

knobs! {
    /// Shortest remaining flow first over the queues of the hop control.
    pub struct SrfConfig;
}

impl SchedulerSettings for SrfConfig {
    fn serves(&self, queues: &HopQueues) -> Result<(), String> {
        match queues {
            HopQueues::Any | HopQueues::Classes => {
                Err("needs queues to which flows are assigned: set hop = \"bfc\", or scheduler = \
                     \"per-flow-srf\" for one queue per flow"
                    .into())
            }
            HopQueues::Assigned(queues) if queues.count == 1 => {
                Err("has nothing to choose from in one queue".into())
            }
            HopQueues::Assigned(queues) if queues.division.is_some() => {
                Err("does not support classes: queues of one class take turns (BFC App. A.3): set \
                     bfc.classes = 1"
                    .into())
            }
            HopQueues::Assigned(queues) if queues.pauses_flows => Err(
                "skips paused queues, not paused flows in them: set bfc.backpressure = \"queues\""
                    .into(),
            ),
            HopQueues::Assigned(queues) if queues.tofino.is_some() => {
                Err("is not known for Tofino2, which serves its queues in turns".into())
            }
            HopQueues::Assigned(_) => Ok(()),
        }
    }

    fn uses_flow_sizes(&self) -> bool {
        true
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        let count = match &site.queues {
            HopQueues::Assigned(queues) => queues.count,
            HopQueues::Any | HopQueues::Classes => CLASS_QUEUES,
        };
        AnyScheduler::Srf(Srf::new(count))
    }
}

/// The key of a queue that is empty or paused.
const NOT_READY: u64 = u64::MAX;

/// The queue with the fewest bytes left at its head. A key is the bytes left of the flow at the
/// head, with the queue's number in the last byte.
#[derive(Debug)]
pub struct ShortestRemaining {
    /// Keys of the non-empty, unpaused queues.
    ready: Tournament<u64>,
}

/// Up to 128 queues.
pub type Srf = FixedQueues<ShortestRemaining>;

impl Srf {
    /// `queues` empty queues.
    #[must_use]
    pub fn new(queues: u8) -> Self {
        let ready = Tournament::new(queues as usize, NOT_READY);
        let lines = vec![Line::default(); queues as usize].into_boxed_slice();
        Self::of(ShortestRemaining { ready }, lines)
    }
}

impl Discipline for ShortestRemaining {
    type Mask = QueueMask;
    /// The key while the queue holds packets.
    type State = u64;

    #[inline]
    fn pick(&mut self, _ready: QueueMask, _lines: &mut [Line<u64>], _pool: &Pool) -> Option<u8> {
        let least = self.ready.least();
        (least != NOT_READY).then_some(least as u8)
    }

    #[inline]
    fn on_head(&mut self, line: &mut Line<u64>, queue: u8, pool: &Pool, paused: bool) {
        let Some(head) = line.queue.head() else { return };
        line.state = pool[head].left() << 8 | u64::from(queue);
        if !paused {
            self.ready.set(queue as usize, line.state);
        }
    }

    #[inline]
    fn on_empty(&mut self, _key: &mut u64, queue: u8) {
        self.ready.set(queue as usize, NOT_READY);
    }

    fn on_pause(&mut self, lines: &mut [Line<u64>], mut changed: QueueMask, paused: QueueMask) {
        while changed != 0 {
            let queue = changed.first();
            changed &= changed - 1;
            let key = if paused.has(queue) { NOT_READY } else { lines[queue as usize].state };
            self.ready.set(queue as usize, key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::packet::{Kind, Packet};
    use crate::sched::Scheduler;

    fn push(pool: &mut Pool, srf: &mut Srf, queue: u8, remaining: u32) {
        let mut packet = Packet::new(Kind::Data, 1000);
        (packet.queue, packet.remaining) = (queue, remaining);
        let id = pool.insert(packet);
        srf.push(pool, id);
    }

    fn pop(pool: &mut Pool, srf: &mut Srf) -> Option<(u8, u32)> {
        srf.pop(pool).map(|id| (pool[id].queue, pool[id].remaining))
    }

    #[test]
    fn a_short_flow_behind_a_long_one_waits_for_it() {
        let (mut pool, mut srf) = (Pool::default(), Srf::new(31));
        for (queue, remaining) in [(4, 900_000), (4, 0), (9, 200_000), (9, 199_000), (30, 0)] {
            push(&mut pool, &mut srf, queue, remaining);
        }
        let order: Vec<_> = std::iter::from_fn(|| pop(&mut pool, &mut srf)).collect();
        assert_eq!(order, [(30, 0), (9, 200_000), (9, 199_000), (4, 900_000), (4, 0)]);
    }

    #[test]
    fn flows_with_more_left_than_the_header_says_are_equal_and_last() {
        let (mut pool, mut srf) = (Pool::default(), Srf::new(128));
        for (queue, remaining) in [(127, u32::MAX), (3, u32::MAX), (64, u32::MAX - 1)] {
            push(&mut pool, &mut srf, queue, remaining);
        }
        let order = [0; 3].map(|_| pop(&mut pool, &mut srf).map(|(queue, _)| queue));
        assert_eq!(order, [Some(64), Some(3), Some(127)]);
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push(u8, u32),
        Pause(QueueMask),
        Pop,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0u8..128, 0u32..2000).prop_map(|(queue, left)| Step::Push(queue, left)),
            1 => any::<QueueMask>().prop_map(Step::Pause),
            1 => (0u8..128).prop_map(|queue| Step::Pause(1 << queue)),
            4 => Just(Step::Pop),
        ];
        prop::collection::vec(step, 1..400)
    }

    proptest! {
        /// Compares with the definition: of all non-empty, unpaused queues, the one with the fewest
        /// bytes left at its head sends that packet.
        #[test]
        fn the_head_with_least_left_goes_next(queues in 1u8..=128, steps in steps()) {
            let (mut pool, mut srf) = (Pool::default(), Srf::new(queues));
            let mut model = vec![VecDeque::new(); queues as usize];
            let mut paused = 0;
            for step in steps {
                match step {
                    Step::Push(queue, left) => {
                        let queue = queue % queues;
                        push(&mut pool, &mut srf, queue, left);
                        model[queue as usize].push_back(left);
                    }
                    Step::Pause(mask) => {
                        paused = mask & QueueMask::MAX >> (128 - u32::from(queues));
                        srf.set_paused(paused);
                    }
                    Step::Pop => {
                        let may = (0..queues).filter(|&queue| paused >> queue & 1 == 0);
                        let heads = may.filter_map(|queue| {
                            model[queue as usize].front().map(|&left| (left, queue))
                        });
                        let next = heads.min();
                        prop_assert_eq!(srf.is_ready(), next.is_some());
                        let sent = pop(&mut pool, &mut srf);
                        prop_assert_eq!(sent, next.map(|(left, queue)| (queue, left)));
                        if let Some((queue, _)) = sent {
                            model[queue as usize].pop_front();
                        }
                    }
                }
                let holding = (0..queues).filter(|&queue| !model[queue as usize].is_empty());
                prop_assert_eq!(srf.occupied(), holding.fold(0, |mask, queue| mask | 1 << queue));
            }
        }
    }
}
