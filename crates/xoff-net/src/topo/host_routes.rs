//! Routes of hosts with several links. A host forwards nothing, so it needs no more than its own
//! ports towards each group.

use xoff_core::{HostId, PortId};

use super::routes::Route;
use super::{NextHops, Topology};

/// No place.
const NONE: u32 = u32::MAX;

/// A host with several links.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// The switch at the other end of each link that is up, and the link's port number here.
    links: Vec<(usize, u16)>,
    /// The route to each group.
    routes: Vec<Route>,
    /// The ports of its routes.
    choices: Vec<u16>,
}

/// The routes of all hosts with several links.
#[derive(Clone, Debug, Default)]
pub(super) struct HostRoutes {
    /// The place of each host's entry, or NONE; empty if every host has one link.
    places: Vec<u32>,
    entries: Vec<Entry>,
}

impl HostRoutes {
    /// Without routes yet, and without the links of these ports.
    pub(super) fn new(topology: &Topology, down: &[PortId]) -> Self {
        let mut routes = Self::default();
        for host in topology.host_ids() {
            let ports = topology.ports_of(host.node());
            if ports.len() == 1 {
                continue;
            }
            routes.places.resize(topology.hosts as usize, NONE);
            routes.places[host.index()] = routes.entries.len() as u32;
            let up = topology.port_ids_of(host.node()).zip(ports);
            let up = up.filter(|(id, _)| !down.contains(id));
            let link = |port: &super::Port| topology.switch_index(topology.neighbour(port));
            let links = up.map(|(_, port)| (link(port), port.number)).collect();
            routes.entries.push(Entry { links, ..Entry::default() });
        }
        routes
    }

    /// Whether every host has one link.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds every host's route to the next group, from which each switch is so many links away and
    /// is found in this order.
    pub(super) fn add_group(&mut self, order: NextHops, hops: &[u16], found: &[u32]) {
        for Entry { links, routes, choices } in &mut self.entries {
            let nearest = links.iter().map(|link| hops[link.0]).min();
            let nearer = links.iter().filter(|link| Some(hops[link.0]) == nearest);
            let mut nearer: Vec<_> = nearer.collect();
            if order != NextHops::ByPort {
                nearer.sort_by_key(|link| found[link.0]);
            }
            let route = Route { first: choices.len() as u32, count: nearer.len() as u32 };
            choices.extend(nearer.into_iter().map(|link| link.1));
            routes.push(route);
        }
    }

    /// The ports of a host towards a group; none if it has one link.
    #[inline]
    pub(super) fn ports(&self, host: HostId, group: u32) -> &[u16] {
        let place = self.places.get(host.index()).copied().unwrap_or(NONE);
        self.entries.get(place as usize).map_or(&[], |entry| {
            let Route { first, count } = entry.routes[group as usize];
            &entry.choices[first as usize..][..count as usize]
        })
    }
}
