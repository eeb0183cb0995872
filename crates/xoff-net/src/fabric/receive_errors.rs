//! Packets that are lost at random when they arrive, as the HPCC simulator loses them
//! (`QbbNetDevice::Receive` and ns-3's `RateErrorModel`): the links of a group draw from one
//! sequence, for each packet of any kind at either end, in the order of arrivals.
//!
//! Only for events in the order of setting. The arrivals at such a port have a tag of their own, so
//! that other ports need no check.

use xoff_core::Mrg32k3a;

use super::Fabric;
use crate::packet::NONE;

/// Links that lose a share of their packets.
#[derive(Clone, Debug)]
struct Group {
    share: f64,
    draws: Mrg32k3a,
}

/// All groups.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceiveErrors {
    groups: Vec<Group>,
    /// The other end of each port with such a link, and the link's group.
    of_port: Vec<Option<(u32, u32)>>,
}

impl ReceiveErrors {
    /// The other end of a port with such a link.
    pub(super) fn peer(&self, port: u32) -> u32 {
        self.of_port[port as usize].map_or(NONE, |(peer, _)| peer)
    }
}

impl Fabric {
    /// The links of these ports lose a share of their packets on arrival. Both ends are named.
    pub fn lose_on_arrival(&mut self, ports: &[u32], share: f64, draws: Mrg32k3a) {
        let errors = self.receive_errors.get_or_insert_default();
        let group = errors.groups.len() as u32;
        errors.groups.push(Group { share, draws });
        errors.of_port.resize(self.ports.len(), None);
        for &port in ports {
            let state = &mut self.ports[port as usize];
            errors.of_port[port as usize] = Some((state.arrival_tag - self.tags.arrival, group));
            state.arrival_tag = self.tags.checked;
        }
    }

    /// A packet arrives on such a link. Returns its port, unless the packet is lost.
    #[cold]
    #[inline(never)]
    pub fn check_arrival(&mut self, id: u32) -> Option<u32> {
        let port = self.packets[id].next;
        let errors = self.receive_errors.as_mut()?;
        let (sender, group) = errors.of_port[port as usize]?;
        // Without its link, a port draws nothing.
        let is_lost = self.impaired.is_down(port) || {
            let Group { share, draws } = &mut errors.groups[group as usize];
            draws.unit() < *share
        };
        if is_lost {
            self.lose(sender, id);
            return None;
        }
        Some(port)
    }
}
