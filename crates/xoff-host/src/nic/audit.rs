//! Checks of a NIC's queues, counted again from its flows.

use xoff_core::invariant::{Checker, Violation, equal, holds};
use xoff_net::Pool;
use xoff_net::packet::NONE;
use xoff_net::recount::Checked;

use super::{Nic, Posted};
use crate::flow::Sender;
use crate::nic::posted::Turn;

impl Nic {
    /// Calls `visit` with each packet that waits here.
    pub fn each_packet(&self, pool: &Pool, visit: &mut dyn FnMut(u32)) {
        for queue in [&self.frames, &self.acks].into_iter().chain(&self.held) {
            queue.packets(pool).for_each(&mut *visit);
        }
    }

    /// Whether a pause frame has arrived that is not in effect yet, or a pause ends by itself.
    #[must_use]
    pub fn awaits_pauses(&self) -> bool {
        !self.pending_frames.is_empty() || !self.pause_ends.is_empty() || self.held_flows > 0
    }

    /// Checks the rings of ready flows. Marks in `ringed` the flows that are in one.
    ///
    /// # Errors
    /// A ring that is not what its queue or its flows say.
    pub(crate) fn audit_rings(&self, flows: &[Sender], ringed: &mut [bool]) -> Checked {
        let mut assigned = vec![0; self.rings.len()];
        for &sender in &self.flows {
            if let Some(queue) = flows[sender as usize].queue {
                assigned[usize::from(queue)] += 1;
            }
        }
        for (queue, (ring, &assigned)) in self.rings.iter().zip(&assigned).enumerate() {
            let place = || format!("flows assigned to NIC queue {queue}");
            equal(Checker::Slots, assigned, ring.flows, place)?;
            let ready = self.ready >> queue & 1 == 1;
            let place = || format!("whether NIC queue {queue} has a ready flow");
            equal(Checker::Slots, ring.head != NONE, ready, place)?;
            let mut next = ring.head;
            while next != NONE {
                let flow = &flows[next as usize];
                let twice = std::mem::replace(&mut ringed[next as usize], true);
                holds(flow.ringing && !twice, || {
                    let place = format!("NIC queue {queue}, {}", flow.label());
                    let found = if twice { "two places" } else { "no turn expected" };
                    let expected = "one place in the ring";
                    Violation::new(Checker::Slots, place, expected, found).of(flow.part())
                })?;
                next = flow.next;
            }
        }
        Ok(())
    }
}

impl Posted {
    /// Calls `visit` with each acknowledgement that waits here.
    pub(crate) fn each_packet(&self, pool: &Pool, visit: &mut dyn FnMut(u32)) {
        for turn in self.turns.values() {
            if let Turn::Acks(queue) = turn {
                queue.packets(pool).for_each(&mut *visit);
            }
        }
    }
}
