//! One queue for every flow with packets at a port, for schedulers without a limit of queues.

use rustc_hash::FxHashMap;

use crate::packet::{Pool, Queue};

/// The queue of a flow, and its scheduler's state for it.
#[derive(Debug)]
pub(super) struct FlowQueue<T> {
    pub(super) queue: Queue,
    flow: u32,
    pub(super) turn: T,
}

/// One queue per flow. A queue has a number while it holds packets.
#[derive(Debug)]
pub(super) struct PerFlowQueues<T> {
    queues: Vec<FlowQueue<T>>,
    free: Vec<u32>,
    by_flow: FxHashMap<u32, u32>,
}

impl<T> Default for PerFlowQueues<T> {
    fn default() -> Self {
        Self { queues: Vec::new(), free: Vec::new(), by_flow: FxHashMap::default() }
    }
}

impl<T> PerFlowQueues<T> {
    /// Appends a packet to its flow's queue. Returns the number of that queue if it is new. `turn`
    /// is the scheduler's state for a new queue.
    #[inline]
    pub(super) fn push(&mut self, pool: &mut Pool, id: u32, turn: T) -> Option<u32> {
        let flow = pool[id].flow;
        if let Some(&number) = self.by_flow.get(&flow) {
            self.queues[number as usize].queue.push(pool, id);
            return None;
        }
        let mut new = FlowQueue { queue: Queue::default(), flow, turn };
        new.queue.push(pool, id);
        let number = if let Some(number) = self.free.pop() {
            self.queues[number as usize] = new;
            number
        } else {
            self.queues.push(new);
            (self.queues.len() - 1) as u32
        };
        self.by_flow.insert(flow, number);
        Some(number)
    }

    /// The queue with this number.
    #[inline]
    pub(super) fn get(&mut self, number: u32) -> &mut FlowQueue<T> {
        &mut self.queues[number as usize]
    }

    /// Removes a queue that is empty.
    #[inline]
    pub(super) fn close(&mut self, number: u32) {
        self.by_flow.remove(&self.queues[number as usize].flow);
        self.free.push(number);
    }

    /// Calls `visit` with each packet here. No queue of the port counts it.
    pub(super) fn each_packet(&self, pool: &Pool, visit: &mut dyn FnMut(u32, Option<u8>)) {
        for flow in &self.queues {
            flow.queue.packets(pool).for_each(|id| visit(id, None));
        }
    }

    /// The number of flows with packets here.
    pub(super) fn count(&self) -> u32 {
        self.by_flow.len() as u32
    }
}
