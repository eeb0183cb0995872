//! Egress queues: frames to neighbours first, then the scheduler's packets.

use super::Pipelined;
use crate::fabric::Fabric;
use crate::hop::HopControl;
use crate::sched::{Scheduler, each_scheduler};

impl Pipelined {
    /// Port `number` may send: a frame to its neighbour, or the scheduler's next packet.
    #[inline]
    pub(super) fn send_next(&mut self, fabric: &mut Fabric, number: u16) {
        let port = &mut self.io.egress[usize::from(number)];
        let common = &mut port.common;
        if let Some(id) = common.control.pop(&fabric.packets) {
            let more = !common.control.is_empty()
                || each_scheduler!(&port.scheduler, queues => queues.is_ready());
            self.depart(fabric, number, id, more);
            return;
        }
        let popped = each_scheduler!(&mut port.scheduler, queues => {
            queues.pop(&mut fabric.packets).map(|id| {
                let class = fabric.packets[id].queue;
                (id, queues.queue_bytes(class), queues.is_ready())
            })
        });
        let Some((id, queued, more)) = popped else { return };
        common.data_bytes -= u32::from(fabric.packets[id].wire_bytes);
        self.leave(fabric, number, id, queued, more);
    }

    /// A packet leaves its egress queue, which holds `queued` bytes without it. A stopped processor
    /// may continue.
    #[inline]
    fn leave(&mut self, fabric: &mut Fabric, number: u16, id: u32, queued: u32, more: bool) {
        let now = fabric.now;
        let packet = &mut fabric.packets[id];
        let (class, bytes) = (packet.queue, packet.wire_bytes);
        self.capfc.accounting_mut().leave_egress(number, class, bytes);
        self.io.leave(now, number, packet, queued);
        let signal = self.capfc.on_dequeue(now, number, packet);
        self.depart(fabric, number, id, more);
        if let Some(signal) = signal {
            self.signal_all(fabric, signal);
        }
        let (frames, mut way) = self.io.frames(fabric);
        frames.on_sent(&mut way, number, bytes, !more);
        if let Some(stop) = self.processor.stopped()
            && self.has_room(fabric, stop.egress)
        {
            fabric.wheel.arm(self.stage_timer, now);
        }
    }

    /// A packet's transmission starts.
    #[inline]
    fn depart(&mut self, fabric: &mut Fabric, number: u16, id: u32, more: bool) {
        self.io.depart(fabric.now, &mut fabric.packets[id]);
        fabric.transmit(self.io.first_port + u32::from(number), id, more);
    }
}
