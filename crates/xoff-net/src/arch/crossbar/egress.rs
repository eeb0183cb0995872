//! Egress queues: strict priorities, pauses obeyed, frames to neighbours first.

use super::Crossbar;
use crate::fabric::Fabric;
use crate::mark::MarkAt;
use crate::packet::{Kind, Packet, flag};
use crate::sched::{AnyScheduler, Common, Egress, Fifo, Scheduler};

/// A port's queues.
#[inline(always)]
fn queues(egress: &mut Egress) -> (&mut Common, &mut Fifo) {
    match &mut egress.scheduler {
        AnyScheduler::Fifo(fifo) => (&mut egress.common, fifo),
        _ => unreachable!("an egress of a crossbar serves classes"),
    }
}

impl Crossbar {
    /// A packet joins its egress queue. Where it would be picked at the end of this very instant it does
    /// not wait for that: nothing else happens.
    #[inline]
    pub(super) fn join_egress(&mut self, fabric: &mut Fabric, output: u16, id: u32) {
        let own = self.first_port + u32::from(output);
        let (common, fifo) = queues(&mut self.egress[output as usize]);
        let packet = &fabric.packets[id];
        let (class, bytes) = (packet.queue, packet.wire_bytes);
        let queued = fifo.queue_bytes(class);
        let passes = common.control.is_empty() && fabric.is_free(own) && fifo.may_pass(class);
        if !passes {
            common.data_bytes += u32::from(bytes);
            fifo.push(&mut fabric.packets, id);
            fabric.kick(own);
        }
        if self.mark_at == MarkAt::Enqueue {
            self.mark(output, queued + u32::from(bytes), &mut fabric.packets[id]);
        }
        if passes {
            self.leave(fabric, output, id, queued, false);
        }
    }

    /// Port `number` may send: a frame to its neighbour, or the first packet of the most important class
    /// that is not paused.
    #[inline]
    pub(super) fn send_next(&mut self, fabric: &mut Fabric, number: u16) {
        let (common, fifo) = queues(&mut self.egress[number as usize]);
        if let Some(id) = common.control.pop(&fabric.packets) {
            let more = !common.control.is_empty() || fifo.is_ready();
            self.depart(fabric, number, id, more);
            return;
        }
        let Some(id) = fifo.pop(&mut fabric.packets) else { return };
        let packet = &fabric.packets[id];
        common.data_bytes -= u32::from(packet.wire_bytes);
        let (queued, more) = (fifo.queue_bytes(packet.queue), fifo.is_ready());
        self.leave(fabric, number, id, queued, more);
    }

    /// A data packet leaves its egress, whose queue holds `queued` bytes without it. That may make room
    /// for another one.
    #[inline]
    fn leave(&mut self, fabric: &mut Fabric, output: u16, id: u32, queued: u32, more: bool) {
        let now = fabric.now;
        let packet = &mut fabric.packets[id];
        let (class, bytes) = (packet.queue, packet.wire_bytes);
        self.buffer.release(now, bytes);
        if let Some(delays) = &mut self.egress[output as usize].common.delays {
            delays.record(packet.queue, now - packet.time);
        }
        if self.mark_at == MarkAt::Dequeue {
            self.mark(output, queued, packet);
        }
        self.held[output as usize] -= u32::from(bytes);
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.leave(output, class, bytes);
        }
        self.depart(fabric, output, id, more);
        let (frames, mut way) = self.frames(fabric);
        frames.on_sent(&mut way, output, bytes, !more);
        let wanted = self.free_outputs & self.queues.outputs();
        if self.set_open(output) && wanted >> output & 1 == 1 {
            // Others may pick at this instant, and make room too.
            fabric.kick(self.arbiter);
        }
    }

    /// A packet's transmission starts.
    #[inline]
    fn depart(&mut self, fabric: &mut Fabric, number: u16, id: u32, more: bool) {
        let own = self.first_port + u32::from(number);
        let now = fabric.now;
        let packet = &mut fabric.packets[id];
        packet.upstream = packet.queue;
        self.digest.add(now ^ packet.seq.rotate_left(20) ^ u64::from(packet.flow) << 32);
        if self.rest_ppm == 0 {
            fabric.transmit(own, id, more);
            return;
        }
        fabric.transmit(own, id, false);
        let rest = (fabric.busy_until(own) - now) * self.rest_ppm / 1_000_000;
        fabric.rest(own, rest);
        if more {
            fabric.kick(own);
        }
    }

    #[inline(always)]
    fn mark(&mut self, egress: u16, queue_bytes: u32, packet: &mut Packet) {
        if let Some(red) = self.ecn.get(egress as usize)
            && red.marks(queue_bytes, &mut self.marking)
            && packet.kind == Kind::Data
        {
            packet.flags |= flag::MARKED;
            self.stats.marks += 1;
        }
    }

    /// A packet finds its ingress full and is lost; the drop is counted at the port it came by.
    #[cold]
    pub(super) fn lose(&mut self, fabric: &mut Fabric, ingress: u16, id: u32) -> Option<u32> {
        self.stats.drops += 1;
        let packet = &mut fabric.packets[id];
        packet.next = crate::packet::NONE;
        self.egress[ingress as usize].count_drop(packet.wire_bytes);
        self.digest.add(!fabric.now ^ packet.seq);
        Some(id)
    }
}
