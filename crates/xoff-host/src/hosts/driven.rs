//! Hosts with a receiver-driven transport: passes events to it and executes its actions.

use xoff_net::{Fabric, Packet};

use super::Hosts;
use crate::driven::{AnyDriven, Desk, Driven, Wish};

impl Hosts {
    /// Passes an event to the transport and executes the resulting actions.
    fn consult(&mut self, fabric: &mut Fabric, fact: impl FnOnce(&mut AnyDriven, &mut Desk<'_>)) {
        let Some(driven) = &mut self.driven else { return };
        // A flow that ends may start another one, which calls the transport recursively.
        let mut wishes = std::mem::take(&mut self.wishes);
        let mut desk = Desk {
            fabric,
            nics: &mut self.nics,
            flows: &mut self.flows,
            stats: &mut self.stats,
            wishes: &mut wishes,
            timer_tag: self.tags.driven,
        };
        fact(driven, &mut desk);
        if wishes.len() > 1 {
            self.hold_ports(fabric, &wishes);
        }
        for wish in wishes.drain(..) {
            match wish {
                Wish::Send { nic, packet } => self.send_control(fabric, nic, packet),
                Wish::Resume(id) => self.resume(fabric, id),
                Wish::Finish { id, received_ps } => self.finish(fabric, id, received_ps),
                Wish::Arrived { nic, flow } => {
                    if self.chains.await_arrivals() {
                        self.on_arrived(fabric, nic, flow);
                    }
                }
            }
        }
        self.wishes = wishes;
    }

    /// Holds the ports of all actions, so that several actions at a host are one decision of its
    /// port.
    fn hold_ports(&self, fabric: &mut Fabric, wishes: &[Wish]) {
        for wish in wishes {
            let nic = match *wish {
                Wish::Send { nic, .. } | Wish::Arrived { nic, .. } => nic,
                Wish::Resume(id) | Wish::Finish { id, .. } => self.flows[id as usize].nic,
            };
            fabric.hold(self.nics[nic as usize].port);
        }
    }

    /// A flow begins in this slot.
    pub(super) fn start_driven(&mut self, fabric: &mut Fabric, id: u32) {
        self.consult(fabric, |driven, desk| driven.on_start(desk, id));
    }

    /// Adds the transport's fields to a data packet.
    #[inline(never)]
    pub(super) fn send_driven(&mut self, id: u32, packet: &mut Packet, payload: u64) {
        if let Some(driven) = &mut self.driven {
            driven.on_sent(id, &self.flows[id as usize], packet, payload);
        }
    }

    /// A packet has arrived.
    #[inline(never)]
    pub(super) fn on_driven_packet(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        self.consult(fabric, |driven, desk| driven.on_packet(desk, nic, id));
    }

    /// A timer of the transport is due.
    pub fn on_driven_timer(&mut self, fabric: &mut Fabric, number: u32) {
        self.consult(fabric, |driven, desk| driven.on_timer(desk, number));
    }

    /// A flow's timeout has expired.
    pub(super) fn on_driven_timeout(&mut self, fabric: &mut Fabric, id: u32) {
        self.consult(fabric, |driven, desk| driven.on_timeout(desk, id));
    }

    /// The receiver-driven transport, if any.
    #[must_use]
    pub fn driven(&self) -> Option<&AnyDriven> {
        self.driven.as_deref()
    }
}
