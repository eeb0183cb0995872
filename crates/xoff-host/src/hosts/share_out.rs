//! Links that go for good, as in the HPCC simulator: hosts share their flows out to their links
//! again, in the order of the map in which they keep them.

use std::sync::Arc;

use xoff_net::Fabric;
use xoff_net::balance::address;

use super::Hosts;
use super::map_order::MapOrder;
use crate::flow::FlowStart;

/// The flows of hosts, in the order in which hosts would share them out.
#[derive(Debug)]
pub(super) struct Orders {
    /// The numbers of nodes in addresses.
    numbers: Arc<[u32]>,
    /// By the first NIC of each host.
    of_host: Vec<MapOrder>,
}

impl Orders {
    /// The key of a flow at its sender: destination, source port and class.
    fn key(&self, start: &FlowStart) -> u64 {
        let to = u64::from(address(self.numbers[start.dst.index()]));
        let port = u64::from(start.label & 0xffff);
        to << 32 | port << 16 | u64::from(start.class)
    }
}

impl Hosts {
    /// Remembers flows in the order in which they would be shared out. Nodes have these numbers in
    /// addresses.
    pub fn keep_order(&mut self, numbers: Arc<[u32]>) {
        self.orders = Some(Box::new(Orders { numbers, of_host: Vec::new() }));
    }

    /// A flow begins at a NIC.
    pub(super) fn note_begin(&mut self, nic: u32, sender: u32) {
        let first = self.nics_of_host(nic).start;
        let Some(orders) = &mut self.orders else { return };
        let key = orders.key(&self.flows[sender as usize].start);
        orders.of_host.resize_with(self.nics.len(), MapOrder::default);
        orders.of_host[first].insert(key, sender);
    }

    /// A flow of a NIC ends.
    pub(super) fn note_end(&mut self, nic: u32, sender: u32) {
        let first = self.nics_of_host(nic).start;
        let Some(orders) = &mut self.orders else { return };
        let key = orders.key(&self.flows[sender as usize].start);
        orders.of_host[first].remove(key);
    }

    /// Takes all flows from the NICs of a host, and returns the unfinished ones, in order.
    /// `nic` is the first NIC of its host; another one has no flows here.
    pub fn take_back(&mut self, nic: u32) -> Vec<u32> {
        let nics = self.nics_of_host(nic);
        if nics.start != nic as usize {
            return Vec::new();
        }
        self.nics[nics].iter_mut().for_each(|nic| nic.order.clear());
        let orders = self.orders.as_ref().and_then(|orders| orders.of_host.get(nic as usize));
        orders.map_or_else(Vec::new, |order| order.values().collect())
    }

    /// Gives a flow to the NIC that it takes from now on. Its line rate stays what it was.
    pub fn give_out(&mut self, fabric: &mut Fabric, sender: u32) {
        let flow = &self.flows[sender as usize];
        let (before, place, start) = (flow.nic, flow.place as usize, flow.start);
        let nic = self.link_of_flow(before, &start);
        if nic != before {
            let flow = &mut self.flows[sender as usize];
            let old = &mut self.nics[before as usize];
            if let Some(queue) = flow.queue.take() {
                old.release_queue(queue);
            }
            old.flows.swap_remove(place);
            let moved = old.flows.get(place).copied();
            let new = &mut self.nics[nic as usize];
            (flow.nic, flow.place) = (nic, new.flows.len() as u32);
            new.flows.push(sender);
            if let Some(moved) = moved {
                self.flows[moved as usize].place = place as u32;
            }
        }
        let state = &mut self.nics[nic as usize];
        state.order.push((sender, start.id));
        fabric.kick(state.port);
    }

    /// The link of a NIC is gone: what waits for it, other than flows, is lost.
    pub fn on_link_gone(&mut self, fabric: &mut Fabric, nic: u32) {
        let state = &mut self.nics[nic as usize];
        while let Some(id) = state.pop_control(&mut fabric.packets, false) {
            fabric.lose(state.port, id);
        }
    }
}
