//! Shortest remaining flow first over a fixed number of queues: "Flows insert their remaining size into
//! a header field in each packet transmitted, and the switch schedules queues in order of remaining
//! size of the packet at the head of the queue" (BFC App. A.2).
//!
//! What counts is the packet at the head and nothing behind it: a short flow that shares a queue with
//! a long one waits for it. Among equals the queue with the lowest number goes first. That is no
//! injustice that lasts: whoever goes first has less left then, and would stay ahead under any rule.
//! Sizes are compared as far as the header goes, so flows with more than 4 GB left are equal.

use xoff_core::tournament::Tournament;

use super::{QueueMask, Scheduler};
use crate::packet::{Packet, Pool, Queue};

/// The key of a queue that is empty or paused.
const NOT_READY: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct Line {
    queue: Queue,
    /// What the flow of the packet at its head has left, and in the last byte the queue's number.
    key: u64,
}

/// Up to 128 queues.
#[derive(Debug)]
pub struct Srf {
    lines: Vec<Line>,
    /// Keys of the queues that hold something and are not paused.
    ready: Tournament<u64>,
    occupied: QueueMask,
    paused: QueueMask,
}

impl Srf {
    /// `queues` empty queues.
    #[must_use]
    pub fn new(queues: u8) -> Self {
        let line = Line { queue: Queue::default(), key: NOT_READY };
        Self {
            lines: vec![line; queues as usize],
            ready: Tournament::new(queues as usize, NOT_READY),
            occupied: 0,
            paused: 0,
        }
    }

    /// Another packet stands at the head of a queue that may send.
    #[inline]
    fn head(&mut self, queue: u8, key: u64) {
        self.lines[queue as usize].key = key;
        self.ready.set(queue as usize, key);
    }
}

#[inline]
fn key(packet: &Packet, queue: u8) -> u64 {
    packet.left() << 8 | u64::from(queue)
}

impl Scheduler for Srf {
    #[inline]
    fn push(&mut self, pool: &mut Pool, id: u32) {
        let queue = pool[id].queue;
        let line = &mut self.lines[queue as usize];
        let was_empty = line.queue.is_empty();
        line.queue.push(pool, id);
        if was_empty {
            line.key = key(&pool[id], queue);
            self.occupied |= 1 << queue;
            if self.paused >> queue & 1 == 0 {
                self.ready.set(queue as usize, line.key);
            }
        }
    }

    #[inline]
    fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        let least = self.ready.least();
        if least == NOT_READY {
            return None;
        }
        let queue = least as u8;
        let line = &mut self.lines[queue as usize];
        let id = line.queue.pop(pool);
        if let Some(head) = line.queue.head() {
            self.head(queue, key(&pool[head], queue));
        } else {
            self.occupied &= !(1 << queue);
            self.head(queue, NOT_READY);
        }
        id
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.occupied & !self.paused != 0
    }

    #[inline]
    fn may_pass(&self, queue: u8) -> bool {
        !self.is_ready() && self.paused >> queue & 1 == 0
    }

    #[inline]
    fn queue_bytes(&self, queue: u8) -> u32 {
        self.lines[queue as usize].queue.bytes()
    }

    #[inline]
    fn occupied(&self) -> QueueMask {
        self.occupied
    }

    #[inline]
    fn paused(&self) -> QueueMask {
        self.paused
    }

    fn set_paused(&mut self, mask: QueueMask) {
        let mut changed = (mask ^ self.paused) & self.occupied;
        self.paused = mask;
        while changed != 0 {
            let queue = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            let paused = mask >> queue & 1 == 1;
            self.ready.set(queue, if paused { NOT_READY } else { self.lines[queue].key });
        }
    }

    fn active(&self) -> u32 {
        self.occupied.count_ones()
    }

    fn head(&self, queue: u8) -> Option<u32> {
        self.lines[queue as usize].queue.head()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::packet::Kind;

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
        /// Against the definition: of all queues that hold something and are not paused, the one whose
        /// head has the least left sends, and it sends its head.
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
