//! Hosts with several links: each link has a NIC, and a hash of a flow chooses one of them.

use std::ops::Range;
use std::sync::Arc;

use xoff_core::HostId;
use xoff_net::balance::Ecmp;
use xoff_net::topo::Routes;
use xoff_net::{Fabric, Kind, Packet};

use super::Hosts;
use crate::flow::FlowStart;

/// The choice among the links of a host.
#[derive(Debug)]
pub(super) struct Links {
    routes: Arc<Routes>,
    hash: Ecmp,
    /// The host of each NIC, and its first NIC.
    owners: Vec<(HostId, u32)>,
}

impl Links {
    /// Adds the next NIC. Those of a host follow each other.
    pub(super) fn add_nic(&mut self, nic: u32, host: HostId) {
        let first = self.owners.last().filter(|last| last.0 == host).map_or(nic, |last| last.1);
        self.owners.push((host, first));
    }

    /// The NIC by which a packet leaves the host of `nic`.
    #[inline]
    fn choose(&self, nic: u32, packet: &Packet) -> u32 {
        let (host, first) = self.owners[nic as usize];
        let ports = self.routes.ports_of_host(host, HostId(packet.dst));
        if ports.is_empty() {
            return nic;
        }
        let choice = self.hash.choose(packet, ports.len() as u32);
        first + u32::from(ports[choice as usize])
    }
}

impl Hosts {
    /// Lets hosts with several links choose among them: those on shortest paths to a destination,
    /// by this hash of a flow. Before any NIC is added.
    pub fn choose_links(&mut self, routes: &Arc<Routes>, hash: Ecmp) {
        self.links = Some(Box::new(Links { routes: routes.clone(), hash, owners: Vec::new() }));
        self.apart = true;
        self.answers_plainly = false;
    }

    /// Uses these routes from now on.
    pub fn set_routes(&mut self, routes: &Arc<Routes>) {
        if let Some(links) = &mut self.links {
            links.routes = Arc::clone(routes);
        }
    }

    /// The NICs of the host of `nic`.
    pub(super) fn nics_of_host(&self, nic: u32) -> Range<usize> {
        let Some(links) = &self.links else { return nic as usize..nic as usize + 1 };
        let (host, first) = links.owners[nic as usize];
        let others = links.owners[first as usize..].iter();
        let count = others.take_while(|owner| owner.0 == host).count();
        first as usize..first as usize + count
    }

    /// The NIC that a flow of the host of `nic` takes.
    #[inline]
    pub(super) fn link_of_flow(&self, nic: u32, start: &FlowStart) -> u32 {
        let Some(links) = &self.links else { return nic };
        let mut packet = Packet::new(Kind::Data, 0);
        (packet.src, packet.dst, packet.label) = (start.src.0, start.dst.0, start.label);
        links.choose(nic, &packet)
    }

    /// The NIC by which the host of `nic` sends a packet that has its addresses.
    #[inline]
    pub(super) fn link_of_packet(&self, nic: u32, packet: &Packet) -> u32 {
        self.links.as_ref().map_or(nic, |links| links.choose(nic, packet))
    }

    /// Handles a packet that arrives at a receiver-driven transport or at a host with several
    /// links.
    #[inline(never)]
    pub(super) fn on_apart(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        if self.receiver_driven.is_some() {
            self.on_driven_packet(fabric, nic, id);
        } else {
            self.on_own_packet(fabric, nic, id);
        }
    }
}
