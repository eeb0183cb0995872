//! Egress queues that drop packets: what an overflow costs, and whom (DeTail §8.1, switches without
//! flow control).

use super::egress::queues;
use super::{Crossbar, EgressOverflow};
use crate::fabric::Fabric;
use crate::packet::NONE;
use crate::sched::Scheduler;

impl Crossbar {
    /// A packet has crossed to an egress that may be full. It joins the egress, or it or others are
    /// dropped. Returns one of those, linked to the others.
    #[inline(never)]
    pub(super) fn make_room(&mut self, fabric: &mut Fabric, output: u16, id: u32) -> Option<u32> {
        if self.fits(fabric, output, id) {
            self.enqueue(fabric, output, id);
            return None;
        }
        if self.overflow != EgressOverflow::PushOut || !self.yields(fabric, output, id) {
            return self.drop_at(fabric, output, id, NONE);
        }
        let class = fabric.packets[id].queue;
        let mut dropped = NONE;
        while !self.fits(fabric, output, id) {
            let (common, fifo) = queues(&mut self.io.egress[usize::from(output)]);
            let last = fifo.give_way(&mut fabric.packets, class);
            let last = last.expect("less important classes hold enough bytes");
            common.data_bytes -= u32::from(fabric.packets[last].wire_bytes);
            dropped = self.drop_at(fabric, output, last, dropped).unwrap_or(NONE);
        }
        self.enqueue(fabric, output, id);
        Some(dropped)
    }

    /// Whether there is room for a packet at an egress.
    fn fits(&mut self, fabric: &Fabric, output: u16, id: u32) -> bool {
        let (size, classes) = (self.egress_size, u32::from(self.last_class) + 1);
        let (common, fifo) = queues(&mut self.io.egress[usize::from(output)]);
        let packet = &fabric.packets[id];
        let (held, room) = match self.overflow {
            EgressOverflow::Partition => (fifo.queue_bytes(packet.queue), size / classes),
            _ => (common.data_bytes, size),
        };
        held + u32::from(packet.wire_bytes) <= room
    }

    /// Whether a packet fits once packets of less important classes are dropped.
    fn yields(&mut self, fabric: &Fabric, output: u16, id: u32) -> bool {
        let (common, fifo) = queues(&mut self.io.egress[usize::from(output)]);
        let packet = &fabric.packets[id];
        let less_important = packet.queue + 1..=self.last_class;
        let below: u32 = less_important.map(|class| fifo.queue_bytes(class)).sum();
        common.data_bytes - below + u32::from(packet.wire_bytes) <= self.egress_size
    }

    /// Drops a packet that has crossed and is in no queue. `others` are dropped already.
    #[cold]
    fn drop_at(&mut self, fabric: &mut Fabric, output: u16, id: u32, others: u32) -> Option<u32> {
        let packet = &fabric.packets[id];
        let (class, bytes) = (packet.queue, packet.wire_bytes);
        self.io.buffer.release(fabric.now, bytes);
        self.held[usize::from(output)] -= u32::from(bytes);
        if let Some(adaptive) = &mut self.io.adaptive {
            adaptive.leave(output, class, bytes);
        }
        let dropped = self.io.lose(fabric, output, id);
        fabric.packets[id].next = others;
        dropped
    }
}
