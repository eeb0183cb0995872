//! A packet's stay in the memory of the switch: it passes its queue, or joins and leaves it.
//!
//! What a hop control says is rare is a method of its own, with all arguments again. One helper
//! that takes a closure out of line costs every hop 0.5 to 0.9 % more instructions.

use super::{Full, Leaving, MARKABLE, Memory, When};
use crate::fabric::Fabric;
use crate::hop::HopControl;
use crate::packet::{Packet, Queue, flag};
use crate::sched::{Common, Scheduler};

impl Memory {
    /// A packet gets the number of its queue, and passes the queue if it may. `free`: the port
    /// could send it now.
    #[inline(always)]
    pub(super) fn passes<H: HopControl, S: Scheduler>(
        &mut self,
        at: (u64, u16),
        packet: &mut Packet,
        hop: &mut H,
        queues: &mut S,
        free: bool,
    ) -> bool {
        if H::is_apart::<S>() {
            return self.passes_apart(at, packet, hop, queues, free);
        }
        self.passes_here(at, packet, hop, queues, free)
    }

    #[inline(never)]
    fn passes_apart<H: HopControl, S: Scheduler>(
        &mut self,
        at: (u64, u16),
        packet: &mut Packet,
        hop: &mut H,
        queues: &mut S,
        free: bool,
    ) -> bool {
        self.passes_here(at, packet, hop, queues, free)
    }

    #[inline(always)]
    fn passes_here<H: HopControl, S: Scheduler>(
        &mut self,
        (now, egress): (u64, u16),
        packet: &mut Packet,
        hop: &mut H,
        queues: &mut S,
        free: bool,
    ) -> bool {
        packet.queue = hop.queue_of(now, egress, packet, queues, &mut self.assignment);
        // The queue of a packet that may pass is empty.
        let passes = free
            && queues.may_pass(packet.queue)
            && self.buffer.admits(0, packet.wire_bytes)
            && hop.pass(now, egress, packet);
        if passes {
            queues.pass(packet);
        }
        passes
    }

    /// A packet joins a queue of port `egress`, unless there is no room for it.
    #[inline]
    pub(super) fn join<H: HopControl, S: Scheduler>(
        &mut self,
        fabric: &mut Fabric,
        egress: u16,
        id: u32,
        hop: &mut H,
        queues: &mut S,
        common: &mut Common,
    ) -> Result<(), Full> {
        let now = fabric.now;
        let packet = &mut fabric.packets[id];
        let bytes = packet.wire_bytes;
        let memory_bytes = queues.memory_bytes(bytes);
        let queued = queues.queue_bytes(packet.queue);
        if !self.buffer.admits(queued, memory_bytes) || !hop.admits(egress, packet) {
            return Err(Full);
        }
        // The counters of queues have 32 bits.
        let Some(data_bytes) = common.data_bytes.checked_add(u32::from(bytes)) else {
            return Err(Full);
        };
        if self.mark_at == When::Enqueue {
            self.mark(egress, queued + u32::from(bytes), packet);
        }
        packet.time = now;
        self.buffer.take(now, memory_bytes);
        common.data_bytes = data_bytes;
        queues.push(&mut fabric.packets, id);
        if let Some(signal) = hop.on_enqueue(now, egress, &mut fabric.packets[id], queues) {
            self.signal = Some(signal);
        }
        Ok(())
    }

    /// The next data packet leaves port `number`, if one may.
    #[inline(always)]
    pub(super) fn leave<H: HopControl, S: Scheduler>(
        &mut self,
        fabric: &mut Fabric,
        number: u16,
        hop: &mut H,
        queues: &mut S,
        common: &mut Common,
    ) -> Option<Leaving> {
        if H::is_apart::<S>() {
            return self.leave_apart(fabric, number, hop, queues, common);
        }
        self.leave_here(fabric, number, hop, queues, common)
    }

    #[inline(never)]
    fn leave_apart<H: HopControl, S: Scheduler>(
        &mut self,
        fabric: &mut Fabric,
        number: u16,
        hop: &mut H,
        queues: &mut S,
        common: &mut Common,
    ) -> Option<Leaving> {
        self.leave_here(fabric, number, hop, queues, common)
    }

    #[inline]
    fn leave_here<H: HopControl, S: Scheduler>(
        &mut self,
        fabric: &mut Fabric,
        number: u16,
        hop: &mut H,
        queues: &mut S,
        common: &mut Common,
    ) -> Option<Leaving> {
        let now = fabric.now;
        let mut shed = Queue::default();
        queues.shed(&mut fabric.packets, now, &mut shed);
        if !shed.is_empty() {
            self.drop_waiting(fabric, common, &mut shed);
        }
        let id = queues.pop(&mut fabric.packets)?;
        let packet = &mut fabric.packets[id];
        debug_assert!(!queues.holds_back(packet), "a paused queue sends nothing");
        common.data_bytes -= u32::from(packet.wire_bytes);
        self.buffer.release(now, queues.memory_bytes(packet.wire_bytes));
        if self.mark_at == When::Dequeue {
            self.mark(number, queues.queue_bytes(packet.queue), packet);
        }
        if let Some(delays) = &mut common.delays {
            delays.record(packet.queue, now - packet.time);
        }
        if let Some(signal) = hop.on_dequeue(now, number, packet) {
            self.signal = Some(signal);
        }
        if let Some(copy) = hop.mirror_departure(now, number, packet, queues) {
            self.mirror.push(&mut fabric.wheel, copy, now + hop.mirror_delay(now));
        }
        Some(Leaving { packet: id, more: queues.is_ready() })
    }

    #[inline(always)]
    pub(super) fn mark(&mut self, egress: u16, queue_bytes: u32, packet: &mut Packet) {
        if let Some(red) = self.ecn.get(egress as usize)
            && red.marks(packet, queue_bytes, &mut self.marking)
            && MARKABLE & packet.kind.bit() != 0
        {
            packet.flags |= flag::MARKED;
            self.stats.marks += 1;
        }
    }
}
