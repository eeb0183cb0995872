//! The packets on links and in service, for checks of a simulation's state.

use xoff_core::{Event, PortId};

use super::{Fabric, Port};
use crate::packet::NONE;

/// Where a packet of the fabric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLink {
    /// On a link: it arrives at a port at a time (ps).
    Arriving {
        /// The port at which it arrives.
        port: u32,
        /// The time of its arrival (ps).
        time: u64,
    },
    /// On a link whose arrivals are set one by one, or in service.
    Kept,
}

/// Whether a port sends, and whether it will be asked when it has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortState {
    /// When it can start its next packet (ps).
    pub busy_until: u64,
    /// Whether it is asked at the end of its transmission.
    pub waking: bool,
    /// Whether it is asked at the end of this instant.
    pub picking: bool,
}

impl Fabric {
    /// Calls `visit` with each packet on a link or in service, and `other` with each event that is
    /// not an arrival.
    pub fn each_on_link(&self, mut visit: impl FnMut(u32, OnLink), mut other: impl FnMut(Event)) {
        let arrivals = self.tags.arrival..self.tags.arrival + self.ports.len() as u32;
        self.wheel.each_event(|event| {
            let port = if arrivals.contains(&event.tag) {
                event.tag - self.tags.arrival
            } else if event.tag == self.tags.checked {
                self.packets[event.item].next
            } else {
                return other(event);
            };
            visit(event.item, OnLink::Arriving { port, time: event.time });
        });
        for service in self.services.0.iter().flatten() {
            if service.packet != NONE {
                visit(service.packet, OnLink::Kept);
            }
            // The first one has its event.
            service.link.iter().skip(1).for_each(|&(_, id)| visit(id, OnLink::Kept));
        }
    }

    /// A port's number in the whole topology.
    #[must_use]
    pub fn port_id(&self, port: u32) -> PortId {
        PortId(self.ports[port as usize].id)
    }

    /// The state of a port.
    #[must_use]
    pub fn port_state(&self, port: u32) -> PortState {
        let &Port { busy_until, waking, picking, .. } = &self.ports[port as usize];
        PortState { busy_until, waking, picking }
    }
}
