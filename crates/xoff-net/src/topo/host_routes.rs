//! Routes of hosts with several links. A host forwards nothing, so it needs no more than its own
//! ports towards each group.

use xoff_core::{HostId, PortId};

use super::search::Search;
use super::{NextHops, Port, Topology};

/// No place.
const NONE: u32 = u32::MAX;

/// A host with several links.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// The switch at the other end of each link that is up, and the link's port number here.
    links: Vec<(usize, u16)>,
    /// The ports of its routes, group by group.
    choices: Vec<u16>,
    /// Where the ports of each group end.
    ends: Vec<u32>,
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
            let link = |port: &Port| topology.switch_index(topology.neighbour(port));
            let links = up.map(|(_, port)| (link(port), port.number)).collect();
            routes.entries.push(Entry { links, ..Entry::default() });
        }
        routes
    }

    /// Whether every host has one link.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds every host's route to the next group.
    pub(super) fn add_group(&mut self, order: NextHops, search: &Search) {
        for Entry { links, choices, ends } in &mut self.entries {
            let nearest = links.iter().map(|link| search.costs[link.0]).min();
            let nearer = links.iter().filter(|link| Some(search.costs[link.0]) == nearest);
            let mut nearer: Vec<_> = nearer.collect();
            if order != NextHops::ByPort {
                nearer.sort_by_key(|link| search.places[link.0]);
            }
            choices.extend(nearer.into_iter().map(|link| link.1));
            ends.push(choices.len() as u32);
        }
    }

    /// The ports of a host towards a group; none if it has one link.
    #[inline]
    pub(super) fn ports(&self, host: HostId, group: u32) -> &[u16] {
        let place = self.places.get(host.index()).copied().unwrap_or(NONE);
        self.entries.get(place as usize).map_or(&[], |entry| {
            let end = |group: u32| entry.ends[group as usize] as usize;
            &entry.choices[group.checked_sub(1).map_or(0, end)..end(group)]
        })
    }
}
