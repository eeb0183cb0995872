//! The work of an output-queued switch for the watchdog of its priority flow control.

use super::OutputQueued;
use crate::fabric::Fabric;
use crate::hop::{AnyHop, HopControl, obey};
use crate::packet::Queue;
use crate::sched::{Egress, QueueMask, Scheduler, each_scheduler};

impl OutputQueued {
    /// A neighbour's frame to a port with a watchdog has arrived. Returns false if there is none.
    #[inline]
    pub(super) fn obey_watched(&mut self, fabric: &mut Fabric, number: u16, id: u32) -> bool {
        let AnyHop::WatchedPfc(pfc) = &self.hop else { return false };
        let asked = obey(&fabric.packets[id], pfc.asked(number));
        self.pause_watched(fabric, number, asked)
    }

    /// The link of a port has gone down: no queue is paused any more.
    pub(super) fn end_pauses(&mut self, fabric: &mut Fabric, number: u16) {
        if !self.pause_watched(fabric, number, 0) {
            self.egress[number as usize].set_paused(fabric.now, 0);
        }
    }

    /// The neighbour of a port with a watchdog asks for the pauses of exactly these queues. Returns
    /// false if there is none.
    fn pause_watched(&mut self, fabric: &mut Fabric, number: u16, asked: QueueMask) -> bool {
        let AnyHop::WatchedPfc(pfc) = &mut self.hop else { return false };
        pfc.on_asked(fabric.now, number, asked);
        self.egress[number as usize].set_paused(fabric.now, pfc.obeyed(number));
        fabric.wheel.arm(self.first_timer + u32::from(number), pfc.next_look(number));
        true
    }

    /// The watchdog looks at a port, if there is one. Returns a dropped packet, if any;
    /// [`Packet::next`](crate::Packet::next) links to the others.
    pub(super) fn watch_pauses(&mut self, fabric: &mut Fabric, number: u16) -> Option<u32> {
        let AnyHop::WatchedPfc(pfc) = &mut self.hop else { return None };
        let port = &mut self.egress[number as usize];
        let occupied = each_scheduler!(&port.scheduler, queues => queues.occupied());
        let lost = pfc.look(fabric.now, number, occupied);
        let obeyed = pfc.obeyed(number);
        fabric.wheel.arm(self.first_timer + u32::from(number), pfc.next_look(number));
        let dropped = self.drop_queues(fabric, number, lost);
        self.egress[number as usize].set_paused(fabric.now, obeyed);
        self.link.wake(fabric, &self.egress, number);
        dropped
    }

    /// Drops all packets of these queues of a port, and resumes their neighbours.
    fn drop_queues(&mut self, fabric: &mut Fabric, number: u16, lost: QueueMask) -> Option<u32> {
        if lost == 0 {
            return None;
        }
        let (mut signals, now) = (Vec::new(), fabric.now);
        let Self { memory, hop: AnyHop::WatchedPfc(pfc), egress, .. } = self else { return None };
        let Egress { common, scheduler, .. } = &mut egress[number as usize];
        each_scheduler!(scheduler, queues => {
            queues.set_paused(!lost);
            while let Some(id) = queues.pop(&mut fabric.packets) {
                pfc.count_drop(number, &fabric.packets[id]);
                signals.extend(pfc.on_dequeue(now, number, &mut fabric.packets[id]));
                let mut dropped = Queue::default();
                dropped.push(&mut fabric.packets, id);
                memory.drop_waiting(fabric, common, &mut dropped);
            }
        });
        signals.into_iter().for_each(|signal| self.signal(fabric, signal));
        self.take_shed(fabric, number)
    }
}
