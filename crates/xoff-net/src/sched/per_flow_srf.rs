//! Shortest remaining flow first with one queue for every flow with packets here: the ideal to
//! which BFC-SRF is compared, "an idealized SRF scheme with unlimited queues" (BFC App. A.2,
//! IdealSRF+ECMP).
//!
//! Among equals the flow that has had packets here for longest goes first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use xoff_core::knobs;

use super::per_flow_queues::PerFlowQueues;
use super::{AnyScheduler, QueueMask, Scheduler, SchedulerSettings, SchedulerSite};
use crate::packet::Pool;

knobs! {
    /// Shortest remaining flow first with one queue per flow.
    pub struct PerFlowSrfConfig;
}

impl SchedulerSettings for PerFlowSrfConfig {
    fn has_queues(&self) -> bool {
        false
    }

    fn uses_flow_sizes(&self) -> bool {
        true
    }

    fn build(&self, _site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::PerFlowSrf(PerFlowSrf::default())
    }
}

/// A flow that waits: its bytes left according to the packet at its head, its place in the order of
/// arrival, and the number of its queue.
type Waiting = Reverse<(u64, u64, u32)>;

/// One queue per flow, served by the bytes left of flows.
#[derive(Debug, Default)]
pub struct PerFlowSrf {
    flows: PerFlowQueues<()>,
    order: BinaryHeap<Waiting>,
    /// Flows that have arrived so far.
    came: u64,
    paused: bool,
}

impl Scheduler for PerFlowSrf {
    #[inline]
    fn push(&mut self, pool: &mut Pool, id: u32) {
        if let Some(number) = self.flows.push(pool, id, ()) {
            self.order.push(Reverse((pool[id].left(), self.came, number)));
            self.came += 1;
        }
    }

    #[inline]
    fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        if self.paused {
            return None;
        }
        let mut first = self.order.peek_mut()?;
        let Reverse((_, came, number)) = *first;
        let queue = &mut self.flows.get(number).queue;
        let id = queue.pop(pool);
        if let Some(head) = queue.head() {
            *first = Reverse((pool[head].left(), came, number));
        } else {
            PeekMut::pop(first);
            self.flows.close(number);
        }
        id
    }

    #[inline]
    fn is_ready(&self) -> bool {
        !self.order.is_empty() && !self.paused
    }

    #[inline]
    fn may_pass(&self, _queue: u8) -> bool {
        self.order.is_empty() && !self.paused
    }

    fn queue_bytes(&self, _queue: u8) -> u32 {
        0
    }

    fn occupied(&self) -> QueueMask {
        QueueMask::from(!self.order.is_empty())
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
    use proptest::prelude::*;

    use super::*;
    use crate::packet::{Kind, Packet};

    proptest! {
        /// Compares with the definition. The flow with the fewest bytes left in its first packet
        /// here sends that packet; among equals the flow that arrived first. One step in three
        /// sends.
        #[test]
        fn the_flow_with_least_left_goes_next(
            steps in prop::collection::vec((0u32..12, 0u32..40, 0u8..3), 1..300),
        ) {
            let (mut pool, mut port) = (Pool::default(), PerFlowSrf::default());
            // In the order of arrival: flow, its bytes left, the packet. A flow keeps the place of
            // its first packet while it has packets.
            let mut model: Vec<(u32, Vec<(u32, u32)>)> = Vec::new();
            for (flow, remaining, action) in steps {
                if action > 0 {
                    let mut packet = Packet::new(Kind::Data, 1000);
                    (packet.flow, packet.remaining) = (flow, remaining);
                    let id = pool.insert(packet);
                    port.push(&mut pool, id);
                    match model.iter_mut().find(|(known, _)| *known == flow) {
                        Some((_, packets)) => packets.push((remaining, id)),
                        None => model.push((flow, vec![(remaining, id)])),
                    }
                } else {
                    let least = (0..model.len()).min_by_key(|&place| model[place].1[0].0);
                    let expected = least.map(|place| model[place].1.remove(0).1);
                    model.retain(|(_, packets)| !packets.is_empty());
                    let sent = port.pop(&mut pool);
                    prop_assert_eq!(sent, expected);
                    if let Some(id) = sent {
                        pool.remove(id);
                    }
                }
                prop_assert_eq!(port.active() as usize, model.len());
                prop_assert_eq!(port.is_ready(), !model.is_empty());
            }
        }
    }
}
