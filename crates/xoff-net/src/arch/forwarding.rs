//! Where a packet may go from here: routes by destination, and the choice among equal-cost ports.

use xoff_core::prefetch::prefetch;

use crate::balance;
use crate::packet::Packet;
use crate::topo::Route;

/// Where a host hangs.
#[derive(Clone, Copy, Debug)]
pub struct Destination {
    /// Its group: the hosts of one switch.
    pub group: u32,
    /// Its port at that switch.
    pub access_port: u16,
}

/// A switch's routes.
#[derive(Clone, Debug)]
pub struct Forwarding {
    routes: Vec<Route>,
    choices: Vec<u16>,
    hash_seed: u32,
}

impl Forwarding {
    /// Routes by destination group, the ports they refer to, and the seed of the hash that chooses.
    #[must_use]
    pub fn new(routes: Vec<Route>, choices: Vec<u16>, hash_seed: u32) -> Self {
        Self { routes, choices, hash_seed }
    }

    /// Packets take other routes from now on.
    pub fn set_routes(&mut self, routes: &[Route], choices: &[u16]) {
        self.routes.clear();
        self.routes.extend_from_slice(routes);
        self.choices.clear();
        self.choices.extend_from_slice(choices);
    }

    /// The port that ECMP chooses.
    #[inline]
    #[must_use]
    pub fn ecmp(&self, packet: &Packet, destinations: &[Destination]) -> u16 {
        let destination = destinations[packet.dst as usize];
        let route = self.routes[destination.group as usize];
        if route.count == 0 {
            return destination.access_port;
        }
        let choice = balance::ecmp(packet, self.hash_seed, route.count);
        self.choices[(route.first + choice) as usize]
    }

    /// A packet will ask soon.
    #[inline(always)]
    pub fn prefetch(&self, packet: &Packet, destinations: &[Destination]) {
        let destination = destinations[packet.dst as usize];
        prefetch(&self.routes, destination.group as usize);
    }
}
