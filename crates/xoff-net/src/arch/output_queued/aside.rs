//! What few switches do when a port picks its next packet: headers and data take turns (trimming),
//! and packets stay in their queues until they have been sent.

use super::{OutputQueued, When};
use crate::fabric::Fabric;
use crate::packet::CONTROL_QUEUE;
use crate::sched::{Scheduler, each_scheduler};
use crate::trim::Trim;

/// The parts for it.
#[derive(Debug)]
pub(super) struct Aside {
    pub(super) trim: Option<Box<Trim>>,
    /// Packets leave their queues at the end of their transmission.
    keeps: bool,
}

impl Aside {
    /// `None` if there is nothing to do.
    pub(super) fn new(trim: Option<Box<Trim>>, keeps: bool) -> Option<Box<Self>> {
        (trim.is_some() || keeps).then(|| Box::new(Self { trim, keeps }))
    }
}

impl OutputQueued {
    /// Its trimming, if any.
    pub(super) fn trim(&self) -> Option<&Trim> {
        self.aside.as_ref()?.trim.as_deref()
    }

    /// Before port `number` picks. Returns true if its control queue waits for a data packet.
    #[inline(never)]
    pub(super) fn before_pick(&mut self, fabric: &mut Fabric, number: u16) -> bool {
        if self.aside.as_ref().is_some_and(|aside| aside.keeps) {
            self.finish_service(fabric, number);
        }
        let Self { aside, egress, .. } = self;
        let port = &egress[number as usize];
        aside.as_mut().and_then(|aside| aside.trim.as_mut()).is_some_and(|trim| {
            !port.common.control.is_empty()
                && each_scheduler!(&port.scheduler, queues => queues.is_ready())
                && trim.is_data_turn(number)
        })
    }

    /// The packet in service leaves its queue, whose length it still belongs to.
    fn finish_service(&mut self, fabric: &mut Fabric, number: u16) {
        let own = self.memory.first_port + u32::from(number);
        let Some(id) = fabric.in_service(own) else { return };
        let packet = &mut fabric.packets[id];
        if self.memory.mark_at == When::Sent && packet.queue != CONTROL_QUEUE {
            let scheduler = &self.egress[number as usize].scheduler;
            let behind = each_scheduler!(scheduler, queues => queues.queue_bytes(packet.queue));
            self.memory.mark(number, behind + u32::from(packet.wire_bytes), packet);
        }
        fabric.release(own);
    }

    /// True if a packet for port `egress` finds no room next to the packet in service, which still
    /// belongs to the queue of its class.
    #[inline(never)]
    pub(super) fn finds_service_full(&self, fabric: &Fabric, egress: u16, id: u32) -> bool {
        if self.aside.as_ref().is_none_or(|aside| !aside.keeps) {
            return false;
        }
        let served = fabric.in_service(self.memory.first_port + u32::from(egress));
        let served = served.map(|id| &fabric.packets[id]);
        let class = fabric.packets[id].class();
        let Some(served) = served.filter(|served| served.queue == class) else { return false };
        let scheduler = &self.egress[egress as usize].scheduler;
        let behind = each_scheduler!(scheduler, queues => queues.queue_bytes(class));
        let queued = behind + u32::from(served.wire_bytes);
        !self.memory.buffer.admits(queued, fabric.packets[id].wire_bytes)
    }
}
