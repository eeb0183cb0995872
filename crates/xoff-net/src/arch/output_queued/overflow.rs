//! Packets that find their queue full in an output-queued switch, and packets that a scheduler
//! drops later. The switch drops the arriving packet, or packets that give way to it. With
//! trimming, one of the packets concerned continues as a header.
//!
//! A hop control does not learn of a packet that is dropped after it joined. A control that counts
//! packets cannot be combined with a scheduler that drops them.

use super::{Memory, OutputQueued};
use crate::fabric::Fabric;
use crate::hop::{HopControl, each_hop};
use crate::packet::{Kind, NONE, Queue};
use crate::sched::{AnyScheduler, Common, Egress, Scheduler, each_scheduler};

impl OutputQueued {
    /// A data packet finds no room at port `egress`. Returns a dropped packet, if there is one;
    /// [`Packet::next`](crate::Packet::next) links to the others.
    #[cold]
    #[inline(never)]
    pub(super) fn on_full(&mut self, fabric: &mut Fabric, egress: u16, id: u32) -> Option<u32> {
        let Self { memory, egress: ports, aside, .. } = self;
        let trim = aside.as_mut().and_then(|aside| aside.trim.as_mut());
        let Some(trim) = trim else { return Some(self.make_room(fabric, egress, id)) };
        let port = &mut ports[egress as usize];
        let bytes = fabric.packets[id].wire_bytes;
        let tail = tail_bytes(port, fabric, fabric.packets[id].queue);
        if tail.is_some_and(|tail| trim.replaces(tail, bytes)) {
            memory.replace_tail(port, fabric, id);
        }
        trim.cut(&mut fabric.packets[id]);
        memory.stats.trimmed += 1;
        self.enqueue_control(fabric, egress, id)
    }

    /// One packet of port `egress` gives way to `id`, which then tries again, or `id` is dropped.
    /// Returns the first of the dropped packets.
    fn make_room(&mut self, fabric: &mut Fabric, egress: u16, id: u32) -> u32 {
        let Self { memory, hop, egress: ports, .. } = self;
        let port = &mut ports[egress as usize];
        let scheduler = &mut port.scheduler;
        let evicted = each_scheduler!(scheduler, queues => queues.evict(&mut fabric.packets, id));
        memory.stats.drops += 1;
        port.count_drop(fabric.packets[evicted.unwrap_or(id)].wire_bytes);
        let Some(evicted) = evicted else {
            each_hop!(hop, hop => hop.on_refused(egress, &fabric.packets[id]));
            memory.lose(fabric, id);
            return id;
        };
        memory.release(fabric, &mut port.common, evicted);
        memory.lose(fabric, evicted);
        let others = self.join(fabric, egress, id);
        fabric.packets[evicted].next = others.unwrap_or(NONE);
        evicted
    }

    /// A packet finds the control queue of port `egress` full. A header returns through the port at
    /// which it entered, towards its sender. Returns the packet if it is dropped.
    #[cold]
    #[inline(never)]
    pub(super) fn on_full_control(
        &mut self,
        fabric: &mut Fabric,
        egress: u16,
        id: u32,
    ) -> Option<u32> {
        let packet = &mut fabric.packets[id];
        if self.trim().is_some_and(|trim| trim.turn_back(packet)) {
            self.memory.stats.returned += 1;
            let back = packet.ingress;
            return self.enqueue_control(fabric, back, id);
        }
        let bytes = packet.wire_bytes;
        let memory = &mut self.memory;
        match packet.kind {
            Kind::Trimmed | Kind::Returned => memory.stats.drops += 1,
            _ => memory.stats.control_drops += 1,
        }
        memory.lose(fabric, id);
        self.egress[egress as usize].count_drop(bytes);
        Some(id)
    }

    /// The first packet that the scheduler of port `number` has dropped since the last call.
    #[inline]
    pub(super) fn take_shed(&mut self, fabric: &Fabric, number: u16) -> Option<u32> {
        if self.memory.shed == NONE {
            return None;
        }
        Some(self.count_shed(fabric, number))
    }

    #[cold]
    fn count_shed(&mut self, fabric: &Fabric, number: u16) -> u32 {
        let first = std::mem::replace(&mut self.memory.shed, NONE);
        let mut id = first;
        while id != NONE {
            let packet = &fabric.packets[id];
            self.egress[number as usize].count_drop(packet.wire_bytes);
            id = packet.next;
        }
        first
    }
}

/// Bytes of the packet that joined a queue last.
fn tail_bytes(port: &Egress, fabric: &Fabric, queue: u8) -> Option<u16> {
    let AnyScheduler::Fifo(queues) = &port.scheduler else { return None };
    queues.tail(queue).map(|tail| fabric.packets[tail].wire_bytes)
}

impl Memory {
    /// A packet is lost.
    pub(super) fn lose(&mut self, fabric: &mut Fabric, id: u32) {
        let packet = &mut fabric.packets[id];
        packet.next = NONE;
        self.digest.add(fabric.now ^ u64::from(packet.flow));
    }

    /// A packet that waited releases its memory.
    fn release(&mut self, fabric: &Fabric, common: &mut Common, id: u32) {
        let bytes = fabric.packets[id].wire_bytes;
        self.buffer.release(fabric.now, bytes);
        common.data_bytes -= u32::from(bytes);
    }

    /// Packets that waited are dropped at the time of their transmission.
    #[cold]
    pub(super) fn drop_waiting(
        &mut self,
        fabric: &mut Fabric,
        common: &mut Common,
        shed: &mut Queue,
    ) {
        while let Some(id) = shed.pop(&fabric.packets) {
            self.stats.drops += 1;
            self.release(fabric, common, id);
            self.lose(fabric, id);
            fabric.packets[id].next = std::mem::replace(&mut self.shed, id);
        }
    }

    /// The packet `id` replaces the packet at the tail of its queue. Afterwards `id` is the
    /// replaced packet.
    fn replace_tail(&mut self, port: &mut Egress, fabric: &mut Fabric, id: u32) {
        let AnyScheduler::Fifo(queues) = &mut port.scheduler else { return };
        let packet = &mut fabric.packets[id];
        packet.time = fabric.now;
        let (queue, arriving) = (packet.queue, packet.wire_bytes);
        queues.replace_tail(&mut fabric.packets, queue, id);
        let left = fabric.packets[id].wire_bytes;
        self.buffer.release(fabric.now, left);
        self.buffer.take(fabric.now, arriving);
        port.common.data_bytes = port.common.data_bytes - u32::from(left) + u32::from(arriving);
    }
}

#[cfg(test)]
mod tests;
