//! Shortest-first scheduling of a NIC's ready flows: a heap per queue, and a tournament between the
//! best flows of the unpaused queues.
//!
//! A flow joins once per packet and leaves when it is served. A turn therefore costs the logarithm
//! of the number of flows in its queue plus that of the number of queues.

use xoff_core::tournament::Tournament;

use super::{Nic, NicQueues};
use crate::flow::Sender;

/// The key of an empty or paused queue.
const NOT_READY: u128 = u128::MAX;
/// Flows with more bytes left than this compare as equal.
const LEFT_MAX: u64 = (1 << 56) - 1;

/// A flow that waits for its turn.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// From the highest bits: its traffic class if classes have strict priority, the bytes left to
    /// send, its place in the order in which flows became ready, its queue.
    key: u128,
    /// Index of the flow's sender.
    sender: u32,
}

/// The ready flows of a NIC. While a flow waits, [`Sender::next`] is its index in its queue's heap.
#[derive(Debug)]
pub struct ShortestFirst {
    heaps: Vec<Vec<Waiting>>,
    /// The best flow of each unpaused queue.
    best: Tournament<u128>,
    /// The paused queues reflected in `best`.
    paused: u128,
    /// Maps queues to classes.
    queues: NicQueues,
    /// Number of times that a flow became ready.
    joined: u64,
}

impl ShortestFirst {
    /// Creates it for a NIC with these queues.
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

    /// Adds a flow of `queue`, to wait for its turn.
    pub fn wait(&mut self, nic: &mut Nic, flows: &mut [Sender], sender: u32, queue: u8) {
        let flow = &mut flows[sender as usize];
        flow.ringing = true;
        let class = self.queues.class_of(queue);
        let order = u128::from(class) << 120 | u128::from(self.joined) << 8 | u128::from(queue);
        self.joined += 1;
        nic.ready |= 1 << queue;
        let heap = &mut self.heaps[queue as usize];
        heap.push(Waiting { key: with_left(order, flow), sender });
        let last = heap.len() - 1;
        sift_up(heap, flows, last);
        self.play(queue);
    }

    /// Updates the key of a waiting flow after its bytes left to send changed.
    pub fn reorder(&mut self, flows: &mut [Sender], sender: u32, queue: u8) {
        let flow = &flows[sender as usize];
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

    /// Takes the flow to serve next: over all unpaused queues the one with the fewest bytes left to
    /// send, and among equals the one that has been ready longest.
    pub fn take(&mut self, nic: &mut Nic, flows: &mut [Sender]) -> Option<u32> {
        self.set_paused(nic.paused);
        let best = self.best.least();
        if best == NOT_READY {
            return None;
        }
        let queue = best as u8;
        let heap = &mut self.heaps[queue as usize];
        let sender = heap.swap_remove(0).sender;
        flows[sender as usize].ringing = false;
        if heap.is_empty() {
            nic.ready &= !(1 << queue);
        } else {
            sift_down(heap, flows, 0);
        }
        self.play(queue);
        Some(sender)
    }

    fn set_paused(&mut self, paused: u128) {
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

    /// Updates a queue's entry in the tournament.
    fn play(&mut self, queue: u8) {
        let best = self.heaps[queue as usize].first();
        let best = best.filter(|_| self.paused >> queue & 1 == 0);
        self.best.set(queue as usize, best.map_or(NOT_READY, |waiting| waiting.key));
    }
}

/// A key with the flow's current bytes left to send.
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
        flows[heap[place].sender as usize].next = place as u32;
        place = parent;
    }
    flows[heap[place].sender as usize].next = place as u32;
}

fn sift_down(heap: &mut [Waiting], flows: &mut [Sender], mut place: usize) {
    loop {
        let children = (2 * place + 1)..(2 * place + 3).min(heap.len());
        let Some(child) = children.min_by_key(|&child| heap[child].key) else { break };
        if heap[place].key <= heap[child].key {
            break;
        }
        heap.swap(place, child);
        flows[heap[place].sender as usize].next = place as u32;
        place = child;
    }
    flows[heap[place].sender as usize].next = place as u32;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{QUEUES, flow, nic};
    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// A flow of this queue with this many bytes becomes ready.
        Wait(u8, u64),
        /// The number of bytes left of a waiting flow changes.
        Change(prop::sample::Index, u64),
        Pause(u128),
        Take,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => (0..QUEUES, 1u64..30).prop_map(|(queue, left)| Step::Wait(queue, left)),
            1 => (any::<prop::sample::Index>(), 0u64..30)
                .prop_map(|(id, left)| Step::Change(id, left)),
            1 => any::<u128>().prop_map(Step::Pause),
            3 => Just(Step::Take),
        ];
        prop::collection::vec(step, 1..300)
    }

    proptest! {
        /// Compares with the definition: over all unpaused queues the flow with the fewest bytes
        /// left is served, and the first to be ready among equals; classes take precedence.
        #[test]
        fn the_shortest_flow_of_all_queues_is_served_next(
            classes in any::<bool>(),
            steps in steps(),
        ) {
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
                        let may = |&place: &usize| !nic.is_paused(queue_of(place));
                        let may = (0..waiting.len()).filter(may);
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
