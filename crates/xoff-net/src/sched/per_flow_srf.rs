//! Shortest remaining flow first with a queue of its own for every flow that has packets here: the
//! ideal that BFC-SRF is compared with, "an idealized SRF scheme with unlimited queues" (BFC App. A.2,
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
    /// Shortest remaining flow first with a queue for every flow.
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

/// A flow that waits: what it has left by the packet at its head, its place in the order in which flows
/// came, and the number of its queue.
type Waiting = Reverse<(u64, u64, u32)>;

/// As many queues as there are flows.
#[derive(Debug, Default)]
pub struct PerFlowSrf {
    flows: PerFlowQueues<()>,
    order: BinaryHeap<Waiting>,
    /// Flows that have come so far.
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
        /// Against the definition: the flow whose first packet here has the least left sends that
        /// packet, the one that came first among equals. One step in three sends.
        #[test]
        fn the_flow_with_least_left_goes_next(
            steps in prop::collection::vec((0u32..12, 0u32..40, 0u8..3), 1..300),
        ) {
            let (mut pool, mut port) = (Pool::default(), PerFlowSrf::default());
            // In the order of arrival: flow, what it has left by this packet, the packet. A flow stays
            // where its first packet stood while it has any.
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
