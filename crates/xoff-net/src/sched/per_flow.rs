//! Deficit round robin with one queue for every flow with packets here: the ideal to which BFC is
//! compared (BFC §6.2.1, Ideal-FQ).

use xoff_core::knobs;

use super::per_flow_queues::PerFlowQueues;
use super::{AnyScheduler, QueueMask, Scheduler, SchedulerSettings, SchedulerSite};
use crate::packet::{NONE, Pool};

knobs! {
    /// Deficit round robin with one queue per flow.
    pub struct PerFlowConfig;
}

impl SchedulerSettings for PerFlowConfig {
    fn takes_turns(&self) -> bool {
        true
    }

    fn has_queues(&self) -> bool {
        false
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::PerFlow(PerFlow::new(site.quantum))
    }
}

#[derive(Debug)]
struct Turn {
    deficit: u32,
    /// The flow with the next turn.
    next: u32,
}

/// One queue per flow, served by deficit round robin.
#[derive(Debug)]
pub struct PerFlow {
    flows: PerFlowQueues<Turn>,
    /// First and last of the flows waiting for their turn.
    first: u32,
    last: u32,
    quantum_bytes: u32,
    paused: bool,
}

impl PerFlow {
    /// Without queues. Each turn adds `quantum_bytes` of credit.
    #[must_use]
    pub fn new(quantum_bytes: u32) -> Self {
        Self {
            flows: PerFlowQueues::default(),
            first: NONE,
            last: NONE,
            quantum_bytes,
            paused: false,
        }
    }

    fn wait_for_turn(&mut self, id: u32) {
        self.flows.get(id).turn.next = NONE;
        if self.last == NONE {
            self.first = id;
        } else {
            self.flows.get(self.last).turn.next = id;
        }
        self.last = id;
    }

    fn end_turn(&mut self) -> u32 {
        let id = self.first;
        self.first = self.flows.get(id).turn.next;
        if self.first == NONE {
            self.last = NONE;
        }
        id
    }
}

impl Scheduler for PerFlow {
    #[inline]
    fn push(&mut self, pool: &mut Pool, id: u32) {
        let turn = Turn { deficit: self.quantum_bytes, next: NONE };
        if let Some(flow) = self.flows.push(pool, id, turn) {
            self.wait_for_turn(flow);
        }
    }

    #[inline]
    fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        if self.paused || self.first == NONE {
            return None;
        }
        loop {
            let flow = self.flows.get(self.first);
            let head = flow.queue.head()?;
            let bytes = u32::from(pool[head].wire_bytes);
            if flow.turn.deficit < bytes {
                flow.turn.deficit += self.quantum_bytes;
                let id = self.end_turn();
                self.wait_for_turn(id);
                continue;
            }
            flow.turn.deficit -= bytes;
            flow.queue.pop(pool);
            if flow.queue.is_empty() {
                let id = self.end_turn();
                self.flows.close(id);
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

    fn each_packet(&self, pool: &Pool, visit: &mut dyn FnMut(u32, Option<u8>)) {
        self.flows.each_packet(pool, visit);
    }

    fn active(&self) -> u32 {
        self.flows.count()
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
