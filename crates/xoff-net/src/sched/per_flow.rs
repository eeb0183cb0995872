//! Deficit round robin with a queue of its own for every flow that has packets here: the ideal that
//! BFC is compared with (BFC §6.2.1, Ideal-FQ).

use rustc_hash::FxHashMap;

use super::{QueueMask, Scheduler};
use crate::packet::{NONE, Pool, Queue};

#[derive(Debug)]
struct FlowQueue {
    queue: Queue,
    flow: u32,
    deficit: u32,
    /// The flow whose turn comes after this one's.
    next: u32,
}

/// As many queues as there are flows.
#[derive(Debug)]
pub struct PerFlow {
    flows: Vec<FlowQueue>,
    free: Vec<u32>,
    by_flow: FxHashMap<u32, u32>,
    /// First and last of the flows waiting for their turn.
    first: u32,
    last: u32,
    quantum_bytes: u32,
    paused: bool,
}

impl PerFlow {
    /// No queues yet; each turn allows `quantum_bytes` more.
    #[must_use]
    pub fn new(quantum_bytes: u32) -> Self {
        Self {
            flows: Vec::new(),
            free: Vec::new(),
            by_flow: FxHashMap::default(),
            first: NONE,
            last: NONE,
            quantum_bytes,
            paused: false,
        }
    }

    fn new_queue(&mut self, flow: u32) -> u32 {
        let blank =
            FlowQueue { queue: Queue::default(), flow, deficit: self.quantum_bytes, next: NONE };
        let id = if let Some(id) = self.free.pop() {
            self.flows[id as usize] = blank;
            id
        } else {
            self.flows.push(blank);
            (self.flows.len() - 1) as u32
        };
        self.by_flow.insert(flow, id);
        self.wait_for_turn(id);
        id
    }

    fn wait_for_turn(&mut self, id: u32) {
        self.flows[id as usize].next = NONE;
        if self.last == NONE {
            self.first = id;
        } else {
            self.flows[self.last as usize].next = id;
        }
        self.last = id;
    }

    fn end_turn(&mut self) -> u32 {
        let id = self.first;
        self.first = self.flows[id as usize].next;
        if self.first == NONE {
            self.last = NONE;
        }
        id
    }
}

impl Scheduler for PerFlow {
    #[inline]
    fn push(&mut self, pool: &mut Pool, id: u32) {
        let flow = pool[id].flow;
        let queue = match self.by_flow.get(&flow) {
            Some(&queue) => queue,
            None => self.new_queue(flow),
        };
        self.flows[queue as usize].queue.push(pool, id);
    }

    #[inline]
    fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        if self.paused || self.first == NONE {
            return None;
        }
        loop {
            let flow = &mut self.flows[self.first as usize];
            let head = flow.queue.head()?;
            let bytes = u32::from(pool[head].wire_bytes);
            if flow.deficit < bytes {
                flow.deficit += self.quantum_bytes;
                let id = self.end_turn();
                self.wait_for_turn(id);
                continue;
            }
            flow.deficit -= bytes;
            flow.queue.pop(pool);
            if flow.queue.is_empty() {
                let number = flow.flow;
                let id = self.end_turn();
                self.by_flow.remove(&number);
                self.free.push(id);
            }
            return Some(head);
        }
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.first != NONE && !self.paused
    }

    #[inline]
    fn may_pass(&self, _queue: u8) -> bool {
        self.first == NONE && !self.paused
    }

    fn queue_bytes(&self, _queue: u8) -> u32 {
        0
    }

    fn occupied(&self) -> QueueMask {
        QueueMask::from(self.first != NONE)
    }

    fn paused(&self) -> QueueMask {
        QueueMask::from(self.paused)
    }

    fn set_paused(&mut self, mask: QueueMask) {
        self.paused = mask != 0;
    }

    fn active(&self) -> u32 {
        self.by_flow.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind, Packet};

    #[test]
    fn a_short_flow_passes_a_long_one() {
        let mut pool = Pool::default();
        let mut scheduler = PerFlow::new(1000);
        for flow in [1, 1, 1, 1, 2] {
            let mut packet = Packet::new(Kind::Data, 1000);
            packet.flow = flow;
            let id = pool.insert(packet);
            scheduler.push(&mut pool, id);
        }
        assert_eq!(scheduler.active(), 2);
        let order: Vec<u32> =
            std::iter::from_fn(|| scheduler.pop(&mut pool).map(|id| pool[id].flow)).collect();
        assert_eq!(order, [1, 2, 1, 1, 1]);
        assert_eq!(scheduler.active(), 0);
    }
}
