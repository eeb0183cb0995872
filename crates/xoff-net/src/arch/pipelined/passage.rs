//! The path from a packet's arrival to its egress queue.

use super::Pipelined;
use crate::arch::Destination;
use crate::arch::cioq::IngressQueued;
use crate::fabric::Fabric;
use crate::hop::{HopControl, IngressControl, Signal};
use crate::mark::MarkAt;
use crate::sched::{Scheduler, each_scheduler};

impl Pipelined {
    /// A packet has arrived: it waits at its ingress, or is dropped.
    #[inline]
    pub(super) fn join_ingress(&mut self, fabric: &mut Fabric, port: u16, id: u32) -> Option<u32> {
        let now = fabric.now;
        let packet = &fabric.packets[id];
        let (class, bytes) = (packet.class(), packet.wire_bytes);
        if !self.capfc.accounting().admits_ingress(port, class, bytes) {
            self.own_stats.ingress_drops += 1;
            return self.io.lose(fabric, port, id);
        }
        self.io.buffer.take(now, bytes);
        let signal = self.capfc.on_arrival(port, class, bytes);
        self.waiting.add(now, class);
        self.ingress.push(&mut fabric.packets, port, id);
        if let Some(signal) = signal {
            self.signal(fabric, signal);
        }
        self.await_processor(fabric);
        None
    }

    /// A packet leaves the memory of its ingress.
    #[inline]
    fn leave_ingress(&mut self, fabric: &mut Fabric, port: u16, class: u8, bytes: u16) {
        let signal = self.capfc.on_departure(port, class, bytes);
        self.waiting.remove(class);
        if let Some(signal) = signal {
            self.signal(fabric, signal);
        }
    }

    /// Sends all requests of CaPFC to neighbours, starting with `first`.
    #[cold]
    pub(super) fn signal_all(&mut self, fabric: &mut Fabric, first: Signal) {
        let mut next = Some(first);
        while let Some(signal) = next {
            self.signal(fabric, signal);
            next = self.capfc.next_signal();
        }
    }

    /// Packets may leave the processor and be admitted to it. Returns a dropped packet, if there is
    /// one: at most one packet leaves at a time.
    pub(super) fn process(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
    ) -> Option<u32> {
        let now = fabric.now;
        let dropped = self.let_out(fabric, destinations);
        if self.processor.may_admit(now)
            && let Some(id) = self.ingress.pop(&fabric.packets)
        {
            self.processor.admit(&mut fabric.packets, now, id);
        }
        self.await_processor(fabric);
        dropped
    }

    /// The packet that is due leaves the processor. It joins its egress queue, is dropped, or stops
    /// the processor.
    fn let_out(&mut self, fabric: &mut Fabric, destinations: &[Destination]) -> Option<u32> {
        let now = fabric.now;
        if let Some(stop) = self.processor.stopped() {
            if self.has_room(fabric, stop.egress) {
                self.own_stats.blocked_ps += self.processor.go_on(now);
                self.waiting.go_on(now);
                self.deliver(fabric, stop.egress);
            }
            return None;
        }
        let id = self.processor.due(&fabric.packets, now)?;
        let packet = &fabric.packets[id];
        let (from, class, bytes) = (packet.ingress, packet.class(), packet.wire_bytes);
        let egress = self.io.route(packet, class, destinations);
        if self.capfc.accounting().admits_egress(from, egress, class, bytes) {
            self.deliver(fabric, egress);
        } else if self.stops_when_full {
            self.own_stats.stops += 1;
            self.processor.stop(now, egress);
            self.waiting.stop(now, class);
        } else {
            self.processor.take(&fabric.packets);
            self.own_stats.processed += 1;
            self.own_stats.egress_drops += 1;
            self.io.buffer.release(now, bytes);
            self.leave_ingress(fabric, from, class, bytes);
            return self.io.lose(fabric, egress, id);
        }
        None
    }

    /// Whether an egress queue has room for the next packet to leave the processor.
    #[inline]
    pub(super) fn has_room(&self, fabric: &Fabric, egress: u16) -> bool {
        self.processor.next(&fabric.packets).is_some_and(|packet| {
            self.capfc.accounting().admits_egress(
                packet.ingress,
                egress,
                packet.class(),
                packet.wire_bytes,
            )
        })
    }

    /// The next packet leaves the processor and joins its egress queue.
    #[inline]
    fn deliver(&mut self, fabric: &mut Fabric, egress: u16) {
        let Some(id) = self.processor.take(&fabric.packets) else { return };
        let now = fabric.now;
        let packet = &mut fabric.packets[id];
        let (from, class, bytes) = (packet.ingress, packet.class(), packet.wire_bytes);
        packet.queue = class;
        packet.time = now;
        self.own_stats.processed += 1;
        self.leave_ingress(fabric, from, class, bytes);
        self.capfc.accounting_mut().join_egress(egress, class, bytes);
        if let Some(adaptive) = &mut self.io.adaptive {
            adaptive.join(egress, class, bytes);
        }
        let port = &mut self.io.egress[usize::from(egress)];
        port.common.data_bytes += u32::from(bytes);
        let (queued, signal) = each_scheduler!(&mut port.scheduler, queues => {
            queues.push(&mut fabric.packets, id);
            let signal = self.capfc.on_enqueue(now, egress, &mut fabric.packets[id], queues);
            (queues.queue_bytes(class), signal)
        });
        if self.io.mark_at == MarkAt::Enqueue {
            self.io.mark(egress, queued, &mut fabric.packets[id]);
        }
        fabric.kick(self.io.first_port + u32::from(egress));
        if let Some(signal) = signal {
            self.signal_all(fabric, signal);
        }
    }

    /// Sets the timer of the processor's stage to its next step.
    #[inline]
    fn await_processor(&self, fabric: &mut Fabric) {
        let waiting = !self.ingress.is_empty();
        if let Some(next) = self.processor.next_time(&fabric.packets, waiting) {
            fabric.wheel.arm(self.stage_timer, next.max(fabric.now));
        }
    }
}
