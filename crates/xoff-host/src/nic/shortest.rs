//! The ready flows of a NIC where the one with the least left to send has the next turn: a heap for each
//! of its queues, and a tournament between the best flows of the queues that are not paused.
//!
//! A flow joins once a packet and leaves when it has its turn, so a turn costs the logarithm of the
//! flows of its queue and of the number of queues.

use xoff_core::tournament::Tournament;

use super::{Nic, NicQueues};
use crate::flow::Sender;

/// The key of a queue that is empty or paused.
const NOT_READY: u128 = u128::MAX;
/// More left to send than this is equal.
const LEFT_MAX: u64 = (1 << 56) - 1;

/// A flow that waits for its turn.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// From the highest bits on: its traffic class where classes have strict priority, what it has left
    /// to send, its place in the order in which flows became ready, its queue.
    key: u128,
    id: u32,
}

/// The ready flows of a NIC. While one waits, [`Sender::next`] is its place in its queue's heap.
#[derive(Debug)]
pub struct ShortestFirst {
    heaps: Vec<Vec<Waiting>>,
    /// The best of each queue that is not paused.
    best: Tournament<u128>,
    /// The paused queues that `best` goes by.
    paused: u128,
    /// What says which class a queue is of.
    queues: NicQueues,
    /// How many have become ready so far.
    joined: u64,
}

impl ShortestFirst {
    /// For a NIC with these queues.
    #[must_use]
    pub fn new(queues: NicQueues) -> Self {
        let count = queues.count();
        Self {
            heaps: vec![Vec::new(); count],
            best: Tournament::new(count, NOT_READY),
            paused: 0,
            queues,
            joined: 0,
        }
    }

    /// Lets a flow of `queue` wait for its turn.
    pub fn wait(&mut self, nic: &mut Nic, flows: &mut [Sender], id: u32, queue: u8) {
        let flow = &mut flows[id as usize];
        flow.ringing = true;
        let class = self.queues.class_of(queue);
        let order = u128::from(class) << 120 | u128::from(self.joined) << 8 | u128::from(queue);
        self.joined += 1;
        nic.ready |= 1 << queue;
        let heap = &mut self.heaps[queue as usize];
        heap.push(Waiting { key: with_left(order, flow), id });
        let last = heap.len() - 1;
        sift_up(heap, flows, last);
        self.play(queue);
    }

    /// A flow that waits may have more left to send than before, or less.
    pub fn reorder(&mut self, flows: &mut [Sender], id: u32, queue: u8) {
        let flow = &flows[id as usize];
        let (place, heap) = (flow.next as usize, &mut self.heaps[queue as usize]);
        let before = heap[place].key;
        let key = with_left(before, flow);
        heap[place].key = key;
        if key < before {
            sift_up(heap, flows, place);
        } else {
            sift_down(heap, flows, place);
        }
        self.play(queue);
    }

    /// The flow whose turn it is, which waits no longer: of the queues that are not paused the one with
    /// the least left to send, among equals the one that has been ready for longest.
    pub fn take(&mut self, nic: &mut Nic, flows: &mut [Sender]) -> Option<u32> {
        self.obey(nic.paused);
        let best = self.best.least();
        if best == NOT_READY {
            return None;
        }
        let queue = best as u8;
        let heap = &mut self.heaps[queue as usize];
        let id = heap.swap_remove(0).id;
        flows[id as usize].ringing = false;
        if heap.is_empty() {
            nic.ready &= !(1 << queue);
        } else {
            sift_down(heap, flows, 0);
        }
        self.play(queue);
        Some(id)
    }

    fn obey(&mut self, paused: u128) {
        let mut changed = self.paused ^ paused;
        self.paused = paused;
        while changed != 0 {
            let queue = changed.trailing_zeros() as u8;
            changed &= changed - 1;
            if usize::from(queue) < self.heaps.len() {
                self.play(queue);
            }
        }
    }

    /// The best flow of a queue may be another one.
    fn play(&mut self, queue: u8) {
        let best = self.heaps[queue as usize].first();
        let best = best.filter(|_| self.paused >> queue & 1 == 0);
        self.best.set(queue as usize, best.map_or(NOT_READY, |waiting| waiting.key));
    }
}

/// A key with what the flow has left to send now.
fn with_left(key: u128, flow: &Sender) -> u128 {
    let left = u128::from(flow.left_to_send().min(LEFT_MAX)) << 64;
    key & !(u128::from(LEFT_MAX) << 64) | left
}

fn sift_up(heap: &mut [Waiting], flows: &mut [Sender], mut place: usize) {
    while place > 0 {
        let parent = (place - 1) / 2;
        if heap[parent].key <= heap[place].key {
            break;
        }
        heap.swap(parent, place);
        flows[heap[place].id as usize].next = place as u32;
        place = parent;
    }
    flows[heap[place].id as usize].next = place as u32;
}

fn sift_down(heap: &mut [Waiting], flows: &mut [Sender], mut place: usize) {
    loop {
        let children = (2 * place + 1)..(2 * place + 3).min(heap.len());
        let Some(child) = children.min_by_key(|&child| heap[child].key) else { break };
        if heap[place].key <= heap[child].key {
            break;
        }
        heap.swap(place, child);
        flows[heap[place].id as usize].next = place as u32;
        place = child;
    }
    flows[heap[place].id as usize].next = place as u32;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{QUEUES, flow, nic};
    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// A flow of this queue with so many bytes becomes ready.
        Wait(u8, u64),
        /// One of those that wait has so many bytes left now.
        Change(prop::sample::Index, u64),
        Pause(u128),
        Take,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => (0..QUEUES, 1u64..30).prop_map(|(queue, left)| Step::Wait(queue, left)),
            1 => (any::<prop::sample::Index>(), 0u64..30).prop_map(|(one, left)| Step::Change(one, left)),
            1 => any::<u128>().prop_map(Step::Pause),
            3 => Just(Step::Take),
        ];
        prop::collection::vec(step, 1..300)
    }

    proptest! {
        /// Against the definition: over all queues that are not paused the flow with the least left has
        /// the turn, the first to be ready among equals; classes come before that.
        #[test]
        fn the_shortest_flow_of_all_queues_has_the_next_turn(classes in any::<bool>(), steps in steps()) {
            let queues = if classes { NicQueues::Classes(8) } else { NicQueues::Dynamic(QUEUES) };
            let (mut nic, mut shortest) = (nic(queues), ShortestFirst::new(queues));
            let mut flows: Vec<Sender> = Vec::new();
            let mut waiting: Vec<u32> = Vec::new();
            for step in steps {
                match step {
                    Step::Wait(queue, left) => {
                        let queue = if classes { queue % 8 } else { queue };
                        let id = flows.len() as u32;
                        flows.push(flow(u64::from(id), queue));
                        flows[id as usize].start.bytes = left;
                        shortest.wait(&mut nic, &mut flows, id, queue);
                        waiting.push(id);
                    }
                    Step::Change(which, left) => {
                        if waiting.is_empty() {
                            continue;
                        }
                        let id = *which.get(&waiting);
                        let flow = &mut flows[id as usize];
                        flow.start.bytes = left;
                        let queue = flow.queue.unwrap();
                        shortest.reorder(&mut flows, id, queue);
                    }
                    Step::Pause(mask) => nic.set_paused(0, mask),
                    Step::Take => {
                        let queue_of = |place: usize| flows[waiting[place] as usize].queue.unwrap();
                        let may = (0..waiting.len()).filter(|&place| !nic.is_paused(queue_of(place)));
                        let expected = may.min_by_key(|&place| {
                            let class = if classes { queue_of(place) } else { 0 };
                            (class, flows[waiting[place] as usize].left_to_send())
                        });
                        let expected = expected.map(|place| waiting.remove(place));
                        prop_assert_eq!(nic.is_ready(), expected.is_some());
                        prop_assert_eq!(shortest.take(&mut nic, &mut flows), expected);
                    }
                }
            }
        }
    }
}
