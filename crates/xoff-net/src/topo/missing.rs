//! Parts of a network that are down.

use xoff_core::{NodeId, PortId};

use super::Topology;
use super::search::{Ends, SwitchLinks};

/// Parts of a network that routes avoid.
#[derive(Clone, Debug, Default)]
pub struct Missing {
    /// The ports at both ends of links that are down.
    pub ports: Vec<PortId>,
    /// Switches that are down with all hosts on them. No route leads around them to these hosts, so
    /// packets to such a host go on towards its switch, and are lost on the last link.
    pub dead: Vec<NodeId>,
}

impl Missing {
    /// Without these links. Both ends of each are named.
    #[must_use]
    pub fn links(ports: impl Into<Vec<PortId>>) -> Self {
        Self { ports: ports.into(), dead: Vec::new() }
    }

    /// The links on the way to hosts on dead switches, if there are any: those of the dead
    /// switches, and all links that are not down.
    pub(super) fn with_dead_switches(&self, topology: &Topology) -> Option<SwitchLinks> {
        let ends_at_dead = |port: &PortId| {
            let port = topology.port(*port);
            [port.node, topology.neighbour(port)].iter().any(|node| self.dead.contains(node))
        };
        let down = || self.ports.iter().copied().filter(|port| !ends_at_dead(port));
        (!self.dead.is_empty()).then(|| SwitchLinks::new(topology, &down().collect::<Vec<_>>()))
    }

    /// The dead switches, by their numbers among switches.
    pub(super) fn dead_switches(&self, topology: &Topology) -> Vec<usize> {
        self.dead.iter().map(|&node| topology.switch_index(node)).collect()
    }

    /// Whether each group of hosts is on dead switches only.
    pub(super) fn dead_groups(&self, topology: &Topology, ends: &[Ends]) -> Vec<bool> {
        let dead = self.dead_switches(topology);
        let is_dead =
            |ends: &Ends| !dead.is_empty() && ends.iter().all(|end| dead.contains(&end.0));
        ends.iter().map(is_dead).collect()
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::HostId;

    use super::super::{LeafSpineConfig, Routes, TorusConfig, leaf_spine, torus};
    use super::*;

    /// All links of a switch.
    fn of(topology: &Topology, switch: NodeId) -> Vec<PortId> {
        topology.port_ids_of(switch).flat_map(|id| [id, topology.port(id).peer]).collect()
    }

    /// Only the routes to the hosts of a dead leaf lead to it, and those as before.
    #[test]
    fn packets_to_a_dead_leaf_go_towards_it() {
        let topology = leaf_spine(&LeafSpineConfig::default()).unwrap();
        let whole = Routes::new(&topology).unwrap();
        let leaf = NodeId(128 + 2);
        let missing = Missing { ports: of(&topology, leaf), dead: vec![leaf] };
        let routes = Routes::without(&topology, &missing).unwrap();
        let dead = whole.group_of(HostId(2 * 16)) as usize;
        // The dead leaf keeps its own routes, for the time when it is back and not all know.
        for switch in 0..16 {
            for group in 0..8 {
                assert_eq!(routes.ports(switch, group), whole.ports(switch, group), "{switch}");
            }
        }
        assert_eq!(routes.ports(8, dead), [2]);
        let error = Routes::without(&topology, &Missing::links(of(&topology, leaf))).unwrap_err();
        assert!(error.contains("cannot reach"), "{error}");
    }

    /// A switch of a torus also carries packets of others: these go around it.
    #[test]
    fn other_packets_go_around_a_dead_switch() {
        // Two hosts on each of 4 x 4 switches.
        let topology = torus(&TorusConfig::default()).unwrap();
        let whole = Routes::new(&topology).unwrap();
        let (first, last) = (HostId(0), HostId(4));
        let between = topology.far_end(whole.first_path(&topology, first, last).nth(1).unwrap());
        let missing = Missing { ports: of(&topology, between), dead: vec![between] };
        let routes = Routes::without(&topology, &missing).unwrap();
        let crosses = |routes: &Routes| {
            let mut path = routes.first_path(&topology, first, last);
            path.any(|port| topology.far_end(port) == between)
        };
        assert!(crosses(&whole) && !crosses(&routes));
        let lost = HostId(2 * (between.0 - topology.hosts));
        let mut to_it = routes.first_path(&topology, first, lost);
        assert!(to_it.any(|port| topology.far_end(port) == between));
    }
}
