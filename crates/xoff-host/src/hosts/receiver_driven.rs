//! Hosts with a receiver-driven transport: passes events to it and executes its actions.

use xoff_net::{Fabric, Packet};

use super::Hosts;
use crate::receiver_driven::{Action, AnyDriven, Driven, TransportContext};

impl Hosts {
    /// Passes an event to the transport and executes the resulting actions.
    fn call_transport(
        &mut self,
        fabric: &mut Fabric,
        event: impl FnOnce(&mut AnyDriven, &mut TransportContext<'_>),
    ) {
        let Some(transport) = &mut self.receiver_driven else { return };
        // A flow that ends may start another one, which calls the transport recursively.
        let mut actions = std::mem::take(&mut self.actions);
        let mut context = TransportContext {
            fabric,
            nics: &mut self.nics,
            flows: &mut self.flows,
            stats: &mut self.stats,
            actions: &mut actions,
            timer_tag: self.tags.receiver_driven,
        };
        event(transport, &mut context);
        if actions.len() > 1 {
            self.hold_ports(fabric, &actions);
        }
        for action in actions.drain(..) {
            match action {
                Action::Send { nic, packet } => self.send_control(fabric, nic, packet),
                Action::Resume(sender) => self.resume(fabric, sender),
                Action::Finish { sender, received_ps } => self.finish(fabric, sender, received_ps),
                Action::Arrived { nic, flow } => {
                    if self.await_arrivals() {
                        self.on_arrived(fabric, nic, flow);
                    }
                }
            }
        }
        self.actions = actions;
    }

    /// Holds the ports of all actions, so that several actions at a host are one decision of its
    /// port.
    fn hold_ports(&self, fabric: &mut Fabric, actions: &[Action]) {
        for action in actions {
            let nic = match *action {
                Action::Send { nic, .. } | Action::Arrived { nic, .. } => nic,
                Action::Resume(sender) | Action::Finish { sender, .. } => {
                    self.flows[sender as usize].nic
                }
            };
            fabric.hold(self.nics[nic as usize].port);
        }
    }

    /// A flow begins in this slot.
    pub(super) fn start_driven(&mut self, fabric: &mut Fabric, sender: u32) {
        self.call_transport(fabric, |transport, context| transport.on_start(context, sender));
    }

    /// Adds the transport's fields to a data packet.
    #[inline(never)]
    pub(super) fn send_driven(&mut self, sender: u32, packet: &mut Packet, payload: u64) {
        if let Some(transport) = &mut self.receiver_driven {
            transport.on_sent(sender, &mut self.flows[sender as usize], packet, payload);
        }
    }

    /// A packet has arrived.
    #[inline(never)]
    pub(super) fn on_driven_packet(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        self.call_transport(fabric, |transport, context| transport.on_packet(context, nic, id));
    }

    /// A timer of the transport is due.
    pub fn on_driven_timer(&mut self, fabric: &mut Fabric, number: u32) {
        self.call_transport(fabric, |transport, context| transport.on_timer(context, number));
    }

    /// The neighbour of a NIC sends at `rate` (bit/s) from now on.
    pub fn on_peer_rate(&mut self, fabric: &mut Fabric, nic: u32, rate: u64) {
        self.call_transport(fabric, |transport, context| {
            transport.on_peer_rate(context, nic, rate);
        });
    }

    /// A flow's timeout has expired.
    pub(super) fn on_driven_timeout(&mut self, fabric: &mut Fabric, sender: u32) {
        self.call_transport(fabric, |transport, context| transport.on_timeout(context, sender));
    }

    /// The receiver-driven transport, if any.
    #[must_use]
    pub fn receiver_driven(&self) -> Option<&AnyDriven> {
        self.receiver_driven.as_deref()
    }
}
