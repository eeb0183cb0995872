//! What an output-queued switch does with a packet that finds its queue full: it drops it or, where
//! switches trim, one of the packets concerned goes on as a header.

use super::{Memory, OutputQueued};
use crate::fabric::Fabric;
use crate::packet::Kind;
use crate::sched::{AnyScheduler, Egress};

impl OutputQueued {
    /// A data packet finds no room at port `egress`. Returns the packet that is dropped, if one is.
    #[cold]
    #[inline(never)]
    pub(super) fn on_full(&mut self, fabric: &mut Fabric, egress: u16, id: u32) -> Option<u32> {
        let Self { memory, egress: ports, trim, .. } = self;
        let Some(trim) = trim else {
            memory.stats.drops += 1;
            ports[egress as usize].count_drop(fabric.packets[id].wire_bytes);
            return Some(memory.lose(fabric, id));
        };
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
        self.egress[egress as usize].count_drop(packet.wire_bytes);
        let stats = &mut self.memory.stats;
        match packet.kind {
            Kind::Trimmed | Kind::Returned => stats.drops += 1,
            _ => stats.control_drops += 1,
        }
        Some(self.memory.lose(fabric, id))
    }
}

/// Bytes of the packet that joined a queue last.
fn tail_bytes(port: &Egress, fabric: &Fabric, queue: u8) -> Option<u16> {
    let AnyScheduler::Fifo(queues) = &port.scheduler else { return None };
    queues.tail(queue).map(|tail| fabric.packets[tail].wire_bytes)
}

impl Memory {
    /// A packet is lost. Returns it.
    fn lose(&mut self, fabric: &Fabric, id: u32) -> u32 {
        self.digest.add(fabric.now ^ u64::from(fabric.packets[id].flow));
        id
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
