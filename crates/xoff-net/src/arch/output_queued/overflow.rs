//! What an output-queued switch does with a packet that finds its queue full: it drops it, or one that
//! gives way to it, or, where switches trim, one of the packets concerned goes on as a header. And what
//! it does with packets that a scheduler drops later.
//!
//! A hop control is not told of a packet that is dropped after it joined: one that counts packets
//! cannot stand beside a scheduler that does so.

use super::{Memory, OutputQueued};
use crate::fabric::Fabric;
use crate::packet::{Kind, NONE, Queue};
use crate::sched::{AnyScheduler, Common, Egress, Scheduler, each_scheduler};

impl OutputQueued {
    /// A data packet finds no room at port `egress`. Returns the packet that is dropped, if one is, from
    /// which [`Packet::next`](crate::Packet::next) leads to others.
    #[cold]
    #[inline(never)]
    pub(super) fn on_full(&mut self, fabric: &mut Fabric, egress: u16, id: u32) -> Option<u32> {
        let Self { memory, egress: ports, trim, .. } = self;
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
    /// Returns the first of those that are.
    fn make_room(&mut self, fabric: &mut Fabric, egress: u16, id: u32) -> u32 {
        let Self { memory, egress: ports, .. } = self;
        let port = &mut ports[egress as usize];
        let scheduler = &mut port.scheduler;
        let evicted = each_scheduler!(scheduler, queues => queues.evict(&mut fabric.packets, id));
        memory.stats.drops += 1;
        port.count_drop(fabric.packets[evicted.unwrap_or(id)].wire_bytes);
        let Some(evicted) = evicted else {
            memory.lose(fabric, id);
            return id;
        };
        memory.release(fabric, &mut port.common, evicted);
        memory.lose(fabric, evicted);
        let others = self.join(fabric, egress, id);
        fabric.packets[evicted].next = others.unwrap_or(NONE);
        evicted
    }

    /// A packet finds the control queue of port `egress` full: a header goes back by the port it came
    /// in by, where its sender's way back begins. Returns the packet if it is dropped.
    #[cold]
    #[inline(never)]
    pub(super) fn on_full_control(
        &mut self,
        fabric: &mut Fabric,
        egress: u16,
        id: u32,
    ) -> Option<u32> {
        let packet = &mut fabric.packets[id];
        if self.trim.as_ref().is_some_and(|trim| trim.turn_back(packet)) {
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

    /// The first of the packets that the scheduler of port `number` dropped since the last call.
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

    /// A packet that waited takes no room any more.
    fn release(&mut self, fabric: &Fabric, common: &mut Common, id: u32) {
        let bytes = fabric.packets[id].wire_bytes;
        self.buffer.release(fabric.now, bytes);
        common.data_bytes -= u32::from(bytes);
    }

    /// Packets that waited are dropped when they might have been sent.
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

    /// The packet `id` takes the place of the one at the tail of its queue, which is `id` afterwards.
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
