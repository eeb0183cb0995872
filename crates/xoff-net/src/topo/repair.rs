//! Local repair: what switches at the ends of failed links do before routing has converged.

use std::collections::{BTreeMap, BTreeSet};

use xoff_core::PortId;

use super::{Route, Routes, Topology};

impl Routes {
    /// The same where switches send nothing into their own failed links, as far as they have other
    /// ports on shortest paths. No other switch changes, so a switch that has no other port goes on
    /// sending into the link.
    #[must_use]
    pub fn repaired_locally(&self, topology: &Topology, failed: &[PortId]) -> Self {
        let mut own: BTreeMap<usize, BTreeSet<u16>> = BTreeMap::new();
        for port in failed.iter().map(|&port| topology.port(port)) {
            if !topology.is_host(port.node) {
                own.entry(topology.switch_index(port.node)).or_default().insert(port.number);
            }
        }
        let mut repaired = self.clone();
        for (switch, failed) in own {
            repaired.repair(switch, &failed);
        }
        repaired
    }

    /// Leaves these ports of a switch out of its routes. Groups go on sharing their lists.
    fn repair(&mut self, switch: usize, failed: &BTreeSet<u16>) {
        let before = std::mem::take(&mut self.choices[switch]);
        let mut moved: BTreeMap<(u32, u32), Route> = BTreeMap::new();
        let choices = &mut self.choices[switch];
        for route in &mut self.by_switch[switch] {
            let Route { first, count } = *route;
            *route = *moved.entry((first, count)).or_insert_with(|| {
                let ports = &before[first as usize..][..count as usize];
                let start = choices.len();
                choices.extend(ports.iter().filter(|port| !failed.contains(port)));
                if choices.len() == start {
                    choices.extend(ports);
                }
                Route { first: start as u32, count: (choices.len() - start) as u32 }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::NodeId;

    use super::super::{LeafSpineConfig, leaf_spine};
    use super::*;

    /// Leaf 0 avoids its link to spine 1. Spine 1 has no other path to leaf 0, and other leaves
    /// have heard nothing.
    #[test]
    fn only_the_ends_of_a_failed_link_avoid_it() {
        let topology = leaf_spine(&LeafSpineConfig::default()).unwrap();
        let whole = Routes::new(&topology).unwrap();
        let down = topology.port_at(NodeId(128), 17);
        let failed = [down, topology.port(down).peer];
        let routes = whole.repaired_locally(&topology, &failed);
        assert_eq!(routes.ports(0, 5), [16, 18, 19, 20, 21, 22, 23]);
        assert_eq!(routes.by_switch[0][0].count, 0, "hosts on the switch itself");
        for switch in 1..16 {
            for group in 0..8 {
                assert_eq!(routes.ports(switch, group), whole.ports(switch, group), "{switch}");
            }
        }
        // Two failures at one switch, and one list for all other leaves.
        let other = topology.port_at(NodeId(128), 20);
        let both = [down, other].map(|port| [port, topology.port(port).peer]).concat();
        let routes = whole.repaired_locally(&topology, &both);
        assert_eq!(routes.ports(0, 7), [16, 18, 19, 21, 22, 23]);
        assert_eq!(routes.choices[0].len(), 6);
    }
}
