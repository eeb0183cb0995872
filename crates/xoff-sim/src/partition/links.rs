//! What faults change in a partition: the links of its ports, and routes.

use std::sync::Arc;

use xoff_core::PortId;
use xoff_net::arch::Switch;
use xoff_net::topo::Routes;

use super::{Owner, Partition};

impl Partition {
    /// Sets new routes of its switches. If it is known everywhere that they avoid the links of the
    /// ports that are `down`, its allocators are informed.
    pub(crate) fn set_routes(&mut self, routes: &Arc<Routes>, down: Option<&[PortId]>) {
        if let (Some(allocators), Some(down)) = (&mut self.allocators, down) {
            allocators.on_routes(self.fabric.now, routes, down);
        }
        for (node, switch) in &mut self.switches {
            let number = self.topology.switch_index(*node);
            switch.set_routes(&routes.by_switch[number], &routes.choices[number]);
        }
        self.hosts.set_routes(routes);
        self.routes = Arc::clone(routes);
    }

    /// Informs the owner of a port that its link has gone down.
    pub(crate) fn on_link_down(&mut self, port: u32) {
        match self.owners[port as usize] {
            Owner::Host(nic) => self.hosts.on_link_down(&mut self.fabric, nic),
            Owner::Switch(switch, number) => {
                self.switches[switch as usize].1.on_link_down(&mut self.fabric, number);
            }
        }
    }

    /// Informs a switch that a port sends at `rate` (bit/s) from now on.
    pub(crate) fn on_rate(&mut self, port: u32, rate: u64) {
        if let Owner::Switch(switch, number) = self.owners[port as usize] {
            self.switches[switch as usize].1.on_rate(number, rate);
        }
    }

    /// Informs the owner of a port that its neighbour sends at `rate` (bit/s) from now on.
    pub(crate) fn on_peer_rate(&mut self, port: u32, rate: u64) {
        match self.owners[port as usize] {
            Owner::Host(nic) => self.hosts.on_peer_rate(&mut self.fabric, nic, rate),
            Owner::Switch(switch, number) => {
                let switch = &mut self.switches[switch as usize].1;
                switch.on_peer_rate(&mut self.fabric, number, rate);
            }
        }
    }

    /// Informs its allocators of the rate of a port of the topology (bit/s).
    pub(crate) fn tell_allocators(&mut self, port: PortId, rate: u64) {
        if let Some(allocators) = &mut self.allocators {
            allocators.on_rate(port, rate);
        }
    }

    /// Informs the owner of a port that its link is gone for good.
    pub(crate) fn on_link_gone(&mut self, port: u32) {
        match self.owners[port as usize] {
            Owner::Host(nic) => self.hosts.on_link_gone(&mut self.fabric, nic),
            Owner::Switch(switch, number) => {
                let egress = self.switches[switch as usize].1.egress_mut();
                egress[number as usize].lose_all(&mut self.fabric, port);
            }
        }
    }

    /// Its hosts share their flows out to their links again, in the order of hosts. A NIC picks
    /// after each flow that it gets.
    pub(crate) fn share_out(&mut self) {
        for nic in 0..self.hosts.nics().len() as u32 {
            for sender in self.hosts.take_back(nic) {
                self.hosts.give_out(&mut self.fabric, sender);
                self.pick();
            }
        }
    }
}
