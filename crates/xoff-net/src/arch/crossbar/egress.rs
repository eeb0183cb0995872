//! Egress queues: frames to neighbours first, then unpaused classes by strict priority.

use super::{Crossbar, EgressOverflow};
use crate::fabric::Fabric;
use crate::mark::MarkAt;
use crate::sched::{AnyScheduler, Common, Egress, Fifo, Scheduler};

/// A port's queues.
#[inline(always)]
pub(super) fn queues(egress: &mut Egress) -> (&mut Common, &mut Fifo) {
    match &mut egress.scheduler {
        AnyScheduler::Fifo(fifo) => (&mut egress.common, fifo),
        _ => unreachable!("an egress of a crossbar serves classes"),
    }
}

impl Crossbar {
    /// A packet joins its egress queue. If it would be picked at the end of this instant and
    /// nothing else happens, it is sent at once. Returns the packets that are dropped.
    #[inline]
    pub(super) fn join_egress(&mut self, fabric: &mut Fabric, output: u16, id: u32) -> Option<u32> {
        if self.overflow == EgressOverflow::Hold {
            self.enqueue(fabric, output, id);
            return None;
        }
        self.make_room(fabric, output, id)
    }

    /// A packet for which there is room joins its egress queue, or is sent.
    #[inline]
    pub(super) fn enqueue(&mut self, fabric: &mut Fabric, output: u16, id: u32) {
        let own = self.io.first_port + u32::from(output);
        let (common, fifo) = queues(&mut self.io.egress[output as usize]);
        let packet = &fabric.packets[id];
        let (class, bytes) = (packet.queue, packet.wire_bytes);
        let queued = fifo.queue_bytes(class);
        let passes = common.control.is_empty() && fabric.is_free(own) && fifo.may_pass(class);
        if !passes {
            common.data_bytes += u32::from(bytes);
            fifo.push(&mut fabric.packets, id);
            fabric.kick(own);
        }
        if self.io.mark_at == MarkAt::Enqueue {
            self.io.mark(output, queued + u32::from(bytes), &mut fabric.packets[id]);
        }
        if passes {
            self.leave(fabric, output, id, queued, false);
        }
    }

    /// Port `number` may send: a frame to its neighbour, or the first packet of the most important
    /// class that is not paused.
    #[inline]
    pub(super) fn send_next(&mut self, fabric: &mut Fabric, number: u16) {
        let (common, fifo) = queues(&mut self.io.egress[number as usize]);
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

    /// A data packet leaves its egress queue, which holds `queued` bytes without it. There may now
    /// be room for another packet.
    #[inline]
    fn leave(&mut self, fabric: &mut Fabric, output: u16, id: u32, queued: u32, more: bool) {
        let now = fabric.now;
        let packet = &mut fabric.packets[id];
        let bytes = packet.wire_bytes;
        self.io.leave(now, output, packet, queued);
        self.held[output as usize] -= u32::from(bytes);
        self.depart(fabric, output, id, more);
        let (frames, mut way) = self.io.frames(fabric);
        frames.on_sent(&mut way, output, bytes, !more);
        let wanted = self.free_outputs & self.queues.outputs();
        if self.set_open(output) && wanted >> output & 1 == 1 {
            // Other ports may pick at this instant and free room, too.
            fabric.kick(self.arbiter);
        }
    }

    /// A packet's transmission starts.
    #[inline]
    fn depart(&mut self, fabric: &mut Fabric, number: u16, id: u32, more: bool) {
        let own = self.io.first_port + u32::from(number);
        let now = fabric.now;
        self.io.depart(now, &mut fabric.packets[id]);
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
}
