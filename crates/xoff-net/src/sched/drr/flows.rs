//! Deficit round robin over a fixed number of queues, for a neighbour that pauses single flows (BFC
//! §3.3.2: "the upstream switch ... can then pause/resume the queue associated with the flow").
//!
//! Packets of one queue leave in order, so a queue waits while the flow of the packet at its head
//! is paused. Packets of other flows behind it wait with it; those before it do not.

use rustc_hash::FxHashSet;

use super::Drr;
use crate::packet::{Packet, Pool};
use crate::sched::{QueueMask, Scheduler};

/// Up to 128 queues.
#[derive(Debug)]
pub struct DrrFlows {
    queues: Drr,
    paused_flows: FxHashSet<u32>,
    /// The flow at the head of each non-empty queue.
    heads: Vec<u32>,
    /// Queues that are paused as a whole.
    paused: QueueMask,
    /// Queues with a paused flow at their head.
    held: QueueMask,
}

impl DrrFlows {
    /// `queues` empty queues; each turn allows `quantum_bytes` more.
    #[must_use]
    pub fn new(queues: u8, quantum_bytes: u32) -> Self {
        Self {
            queues: Drr::new(queues, quantum_bytes),
            paused_flows: FxHashSet::default(),
            heads: vec![0; queues as usize],
            paused: 0,
            held: 0,
        }
    }

    /// A queue has a new packet at its head, or none.
    fn look_at_head(&mut self, pool: &Pool, queue: u8) {
        let head = self.queues.head(queue).map(|id| pool[id].flow);
        if let Some(flow) = head {
            self.heads[queue as usize] = flow;
        }
        let held = head.is_some_and(|flow| self.paused_flows.contains(&flow));
        self.held = self.held & !(1 << queue) | QueueMask::from(held) << queue;
        self.queues.set_paused(self.paused | self.held);
    }
}

impl Scheduler for DrrFlows {
    fn push(&mut self, pool: &mut Pool, id: u32) {
        let queue = pool[id].queue;
        self.queues.push(pool, id);
        if self.queues.head(queue) == Some(id) {
            self.look_at_head(pool, queue);
        }
    }

    fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        let id = self.queues.pop(pool)?;
        self.look_at_head(pool, pool[id].queue);
        Some(id)
    }

    fn is_ready(&self) -> bool {
        self.queues.is_ready()
    }

    /// The flow of the packet is not known here, so all packets join while any flow is paused.
    fn may_pass(&self, queue: u8) -> bool {
        self.paused_flows.is_empty() && self.queues.may_pass(queue)
    }

    fn pass(&mut self, packet: &Packet) {
        self.queues.pass(packet);
    }

    fn queue_bytes(&self, queue: u8) -> u32 {
        self.queues.queue_bytes(queue)
    }

    fn occupied(&self) -> QueueMask {
        self.queues.occupied()
    }

    fn paused(&self) -> QueueMask {
        self.queues.paused()
    }

    fn set_paused(&mut self, mask: QueueMask) {
        self.paused = mask;
        self.queues.set_paused(self.paused | self.held);
    }

    /// The queue of a packet that left may be paused already, because of the packet behind it.
    fn holds_back(&self, packet: &Packet) -> bool {
        self.paused >> packet.queue & 1 == 1 || self.paused_flows.contains(&packet.flow)
    }

    fn set_flow_paused(&mut self, flow: u32, paused: bool) -> usize {
        if paused {
            self.paused_flows.insert(flow);
        } else {
            self.paused_flows.remove(&flow);
        }
        let occupied = self.queues.occupied();
        for (queue, _) in self.heads.iter().enumerate().filter(|&(_, &head)| head == flow) {
            let held = paused && occupied >> queue & 1 == 1;
            self.held = self.held & !(1 << queue) | QueueMask::from(held) << queue;
        }
        self.queues.set_paused(self.paused | self.held);
        self.paused_flows.len()
    }

    fn active(&self) -> u32 {
        self.queues.active()
    }

    fn each_packet(&self, pool: &Pool, visit: &mut dyn FnMut(u32, Option<u8>)) {
        self.queues.each_packet(pool, visit);
    }

    fn head(&self, queue: u8) -> Option<u32> {
        self.queues.head(queue)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, VecDeque};

    use proptest::prelude::*;

    use super::*;
    use crate::packet::Kind;

    const QUEUES: u8 = 4;

    fn push(pool: &mut Pool, scheduler: &mut DrrFlows, queue: u8, flow: u32) -> u32 {
        let mut packet = Packet::new(Kind::Data, 1000);
        (packet.queue, packet.flow) = (queue, flow);
        let id = pool.insert(packet);
        scheduler.push(pool, id);
        id
    }

    #[test]
    fn a_paused_flow_holds_those_behind_it_but_not_those_before_it() {
        let mut pool = Pool::default();
        let mut scheduler = DrrFlows::new(QUEUES, 1000);
        let ids = [5, 6, 5].map(|flow| push(&mut pool, &mut scheduler, 2, flow));
        assert_eq!(scheduler.set_flow_paused(6, true), 1);
        assert_eq!(scheduler.pop(&mut pool), Some(ids[0]));
        assert!(!scheduler.is_ready());
        assert_eq!(scheduler.pop(&mut pool), None);
        let other = push(&mut pool, &mut scheduler, 3, 7);
        assert_eq!(scheduler.pop(&mut pool), Some(other));
        assert_eq!(scheduler.set_flow_paused(6, false), 0);
        assert_eq!([(); 2].map(|()| scheduler.pop(&mut pool)), [Some(ids[1]), Some(ids[2])]);
    }

    /// The test asks about a packet that has left, while another one is at the head.
    #[test]
    fn a_packet_that_left_was_not_held_by_the_one_behind_it() {
        let mut pool = Pool::default();
        let mut scheduler = DrrFlows::new(QUEUES, 1000);
        let ids = [5, 6].map(|flow| push(&mut pool, &mut scheduler, 2, flow));
        scheduler.set_flow_paused(6, true);
        assert_eq!(scheduler.pop(&mut pool), Some(ids[0]));
        assert_eq!(ids.map(|id| scheduler.holds_back(&pool[id])), [false, true]);
        scheduler.set_paused(1 << 2);
        assert!(scheduler.holds_back(&pool[ids[0]]));
    }

    proptest! {
        /// Compares with lists of flows: a pop returns a packet exactly if a queue begins with a
        /// flow that is not paused, and it returns the first packet of such a queue.
        #[test]
        fn what_leaves_is_at_the_head_and_not_paused(
            steps in prop::collection::vec((0u8..5, 0..QUEUES, 0u32..6), 1..300),
        ) {
            let mut pool = Pool::default();
            let mut scheduler = DrrFlows::new(QUEUES, 1000);
            let mut lists = vec![VecDeque::new(); QUEUES as usize];
            let mut paused = BTreeSet::new();
            for (what, queue, flow) in steps {
                match what {
                    0 | 1 => {
                        push(&mut pool, &mut scheduler, queue, flow);
                        lists[queue as usize].push_back(flow);
                    }
                    2 => {
                        paused.insert(flow);
                        prop_assert_eq!(scheduler.set_flow_paused(flow, true), paused.len());
                    }
                    3 => {
                        paused.remove(&flow);
                        prop_assert_eq!(scheduler.set_flow_paused(flow, false), paused.len());
                    }
                    _ => {
                        let may = |list: &VecDeque<u32>| {
                            list.front().is_some_and(|flow| !paused.contains(flow))
                        };
                        let ready = lists.iter().any(may);
                        prop_assert_eq!(scheduler.is_ready(), ready);
                        let popped = scheduler.pop(&mut pool);
                        prop_assert_eq!(popped.is_some(), ready);
                        if let Some(id) = popped {
                            let (queue, flow) = (pool[id].queue as usize, pool[id].flow);
                            prop_assert!(!paused.contains(&flow));
                            prop_assert!(!scheduler.holds_back(&pool[id]));
                            prop_assert_eq!(lists[queue].pop_front(), Some(flow));
                            pool.remove(id);
                        }
                    }
                }
                for (queue, list) in lists.iter().enumerate() {
                    let held = list.front().is_some_and(|flow| paused.contains(flow));
                    prop_assert_eq!(scheduler.paused() >> queue & 1 == 1, held);
                }
            }
        }
    }
}
