//! The egress ports of a packet: routes by destination, and the choice among equal-cost ports.

use xoff_core::prefetch::prefetch;

use crate::balance::{AnyBalancer, Arrival, Balancer, Ecmp, Hashed, each_balancer};
use crate::destination::Destination;
use crate::fabric::Fabric;
use crate::packet::Packet;
use crate::ports::PortMask;
use crate::topo::Route;

/// A switch's routes.
#[derive(Clone, Debug)]
pub struct Forwarding {
    routes: Vec<Route>,
    choices: Vec<u16>,
    ecmp: Ecmp,
    /// The ports of each route as a set, indexed by the start of its choices; empty if no scheme
    /// uses sets.
    sets: Vec<PortMask>,
}

impl Forwarding {
    /// Routes by destination group, the ports they refer to, and the hash that chooses.
    #[must_use]
    pub fn new(routes: Vec<Route>, choices: Vec<u16>, ecmp: Ecmp) -> Self {
        Self { routes, choices, ecmp, sets: Vec::new() }
    }

    /// The same, with each route's ports also as a set. The switch must not have more ports than a
    /// set can hold.
    #[must_use]
    pub fn with_sets(mut self) -> Self {
        self.sets = vec![0; self.choices.len()];
        self.set_sets();
        self
    }

    fn set_sets(&mut self) {
        for route in self.routes.iter().filter(|route| route.count > 0) {
            let ports = &self.choices[route.first as usize..][..route.count as usize];
            self.sets[route.first as usize] = ports.iter().fold(0, |set, port| set | 1 << port);
        }
    }

    /// Replaces the routes of packets from now on.
    pub fn set_routes(&mut self, routes: &[Route], choices: &[u16]) {
        self.routes.clear();
        self.routes.extend_from_slice(routes);
        self.choices.clear();
        self.choices.extend_from_slice(choices);
        if !self.sets.is_empty() {
            self.sets.resize(choices.len(), 0);
            self.set_sets();
        }
    }

    /// Whether [`ecmp`](Self::ecmp) chooses the ports of paths.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        matches!(self.ecmp.hashed, Hashed::OneWay)
    }

    /// The port of a packet's path, by the configured hash.
    #[must_use]
    pub fn path(&self, packet: &Packet, destinations: &[Destination]) -> u16 {
        if self.is_plain() {
            return self.ecmp(packet, destinations);
        }
        let destination = destinations[packet.dst as usize];
        let route = self.routes[destination.group as usize];
        if route.count == 0 {
            return destination.access_port;
        }
        let choice = self.ecmp.choose(packet, route.count);
        self.choices[(route.first + choice) as usize]
    }

    /// The port that ECMP chooses with a hash of one direction.
    #[inline(always)]
    #[must_use]
    pub fn ecmp(&self, packet: &Packet, destinations: &[Destination]) -> u16 {
        let destination = destinations[packet.dst as usize];
        let route = self.routes[destination.group as usize];
        if route.count == 0 {
            return destination.access_port;
        }
        let choice = self.ecmp.choose_for_one(packet, route.count);
        self.choices[(route.first + choice) as usize]
    }

    /// The port that a load balancer chooses for a packet that has arrived at `ingress`.
    #[inline]
    #[must_use]
    pub fn balance(
        &self,
        fabric: &Fabric,
        hosts: &[Destination],
        (ingress, id): (u16, u32),
        balancer: &mut AnyBalancer,
    ) -> u16 {
        let packet = &fabric.packets[id];
        let Destination { group: to, access_port } = hosts[packet.dst as usize];
        let Route { first, count } = self.routes[to as usize];
        let ports = &self.choices[first as usize..][..count as usize];
        let arrival = Arrival { now: fabric.now, id, packet, ingress, to, ports, hosts };
        let choice = each_balancer!(balancer, balancer => balancer.choose(&arrival));
        if count == 0 {
            return access_port;
        }
        ports[choice.unwrap_or_else(|| self.ecmp.choose(packet, count)) as usize]
    }

    /// The ports that a packet may take, if routes are stored as sets.
    #[inline]
    #[must_use]
    pub fn acceptable(&self, packet: &Packet, destinations: &[Destination]) -> PortMask {
        let destination = destinations[packet.dst as usize];
        let route = self.routes[destination.group as usize];
        if route.count == 0 {
            return 1 << destination.access_port;
        }
        self.sets[route.first as usize]
    }

    /// A packet will soon need its route.
    #[inline(always)]
    pub fn prefetch(&self, packet: &Packet, destinations: &[Destination]) {
        let destination = destinations[packet.dst as usize];
        prefetch(&self.routes, destination.group as usize);
    }
}
