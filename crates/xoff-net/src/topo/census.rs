//! The parts of a network, counted from its settings before any is built.
//!
//! Sums and products are of u128, which no settings overflow.

use core::mem::size_of;

use super::{Link, Port, Route};

/// The lower bits of an event's tag hold port numbers, where every switch may need one more.
const PORTS_MAX: u128 = 1 << 27;

/// Bytes per port of the search for routes, in addition to the tables.
const SEARCH_BYTES: u128 = 160;

/// The numbers of a network's parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Hosts.
    pub hosts: u128,
    /// Switches.
    pub switches: u128,
    /// Switches with hosts.
    pub racks: u128,
    /// Links.
    pub links: u128,
    /// Links of the switch with the most links.
    pub most_links: u128,
}

impl Census {
    /// Checks that all parts can be numbered.
    ///
    /// # Errors
    /// The part with too high a number, and the highest number allowed.
    pub fn check(&self) -> Result<(), String> {
        let nodes = self.hosts.saturating_add(self.switches);
        for (count, most, what) in [
            (self.most_links, u128::from(u16::MAX), "links of one switch"),
            (nodes, PORTS_MAX, "hosts and switches"),
            (self.links.saturating_mul(2), PORTS_MAX, "ends of links"),
        ] {
            if count > most {
                return Err(format!("{count} {what} are too many: there may be {most}"));
            }
        }
        Ok(())
    }

    /// The parts of a network of `nodes` nodes and these links, by their ends. The first nodes are
    /// hosts; each switch gets `added` more. A host with several links is a rack of its own.
    #[must_use]
    pub fn of_links(
        (hosts, nodes): (usize, usize),
        links: impl ExactSizeIterator<Item = [usize; 2]> + Clone,
        added: u32,
    ) -> Self {
        let mut degrees = vec![0u32; nodes];
        links.clone().flatten().for_each(|end| degrees[end] += 1);
        let mut has_hosts = vec![added > 0; nodes];
        for [a, b] in links.clone() {
            for (own, other) in [(a, b), (b, a)] {
                has_hosts[other] |= own < hosts && degrees[own] == 1;
            }
        }
        let several = degrees[..hosts].iter().filter(|&&degree| degree > 1).count() as u128;
        let switches = (nodes - hosts) as u128;
        let most = degrees[hosts..].iter().copied().max().unwrap_or(0);
        Self {
            hosts: hosts as u128 + switches * u128::from(added),
            switches,
            racks: has_hosts[hosts..].iter().filter(|&&has| has).count() as u128 + several,
            links: links.len() as u128 + switches * u128::from(added),
            most_links: u128::from(most) + u128::from(added),
        }
    }

    /// Approximate bytes of nodes, links and routes while they are built.
    #[must_use]
    pub fn bytes(&self) -> u128 {
        let bytes = |type_bytes: usize| type_bytes as u128;
        let per_link = bytes(size_of::<Link>()) + 2 * (bytes(size_of::<Port>()) + SEARCH_BYTES);
        let nodes = self.hosts.saturating_add(self.switches);
        let routes = self.switches.saturating_mul(self.racks);
        let distances = self.racks.saturating_mul(self.racks);
        [(self.links, per_link), (nodes, 32), (routes, bytes(size_of::<Route>())), (distances, 2)]
            .into_iter()
            .fold(0, |sum: u128, (count, each)| sum.saturating_add(count.saturating_mul(each)))
    }
}

/// A product that saturates at the largest number.
pub(super) fn product(factors: &[u32]) -> u128 {
    factors.iter().fold(1, |product: u128, &factor| product.saturating_mul(factor.into()))
}

#[cfg(test)]
mod tests {
    use xoff_core::knobs::Knob;
    use xoff_core::seam::Seam;

    use super::super::{
        ClosConfig, DumbbellConfig, FatTreeConfig, LeafSpineConfig, Routes, StarConfig, Topology,
        TopologyConfig, TopologyKind, TopologySettings, TorusConfig, TwoDcConfig,
    };
    use super::*;

    /// The parts of a network that was built.
    fn counted(topology: &Topology) -> Census {
        let routes = Routes::new(topology).unwrap();
        let switches = topology.switch_ids();
        let most = switches.clone().map(|node| topology.ports_of(node).len()).max().unwrap();
        Census {
            hosts: topology.hosts.into(),
            switches: switches.len() as u128,
            racks: routes.groups().iter().max().map_or(0, |&last| u128::from(last) + 1),
            links: topology.ports.len() as u128 / 2,
            most_links: most as u128,
        }
    }

    fn assert_foretold(settings: &dyn TopologySettings) {
        let built = settings.build().unwrap();
        assert_eq!(settings.census(), counted(&built), "{:?}", settings.counts());
    }

    #[test]
    fn topologies_are_what_their_settings_say() {
        // The default graph has no file; graphs have tests of their own.
        let kinds = TopologyConfig::kinds().into_iter();
        for kind in kinds.filter(|&kind| kind != TopologyKind::Graph) {
            let settings = TopologyConfig::with_defaults(kind);
            assert_eq!(settings.check(), Ok(()), "{kind:?}");
            assert_foretold(&*settings);
            let topology = settings.build().unwrap();
            let mut nodes = topology.switch_ids();
            let is_any_gateway = nodes.any(|node| topology.is_gateway(node));
            assert_eq!(settings.has_gateways(), is_any_gateway, "{kind:?}");
            let [section] = &TopologyConfig::sections(kind)[..] else { panic!("{kind:?}") };
            for (key, count) in settings.counts() {
                let declared = section.fields.iter().find(|field| field.name == key);
                assert_eq!(declared.map(|field| &field.default), Some(&count.show()), "{kind:?}");
            }
        }
    }

    #[test]
    fn a_census_foretells_what_is_built() {
        assert_foretold(&StarConfig { hosts: 7, ..Default::default() });
        for side_hosts in [0, 3] {
            let right_hosts = 9;
            assert_foretold(&DumbbellConfig { right_hosts, side_hosts, ..Default::default() });
        }
        let (leaves, spines, hosts_per_leaf, links) = (3, 5, 7, 2);
        let config =
            LeafSpineConfig { leaves, spines, hosts_per_leaf, links, ..Default::default() };
        assert_foretold(&config);
        assert_foretold(&LeafSpineConfig { leaves: 40, ..config });
        for (k, hosts_per_edge) in [(2, 0), (4, 0), (6, 9)] {
            assert_foretold(&FatTreeConfig { k, hosts_per_edge, ..Default::default() });
        }
        for (pods, cores_per_spine, core_links) in [(1, 0, 1), (3, 4, 2), (9, 1, 2)] {
            let spine_links = 3;
            let config = ClosConfig { pods, cores_per_spine, core_links, ..Default::default() };
            assert_foretold(&config);
            assert_foretold(&ClosConfig { spine_links, hosts_per_leaf: 7, ..config });
        }
        for (leaves, spines, hosts_per_leaf) in [(4, 8, 16), (9, 2, 1), (1, 3, 2)] {
            assert_foretold(&TwoDcConfig { leaves, spines, hosts_per_leaf, ..Default::default() });
        }
        for (rows, columns, hosts_per_switch) in [(4, 4, 2), (2, 5, 1), (3, 2, 7)] {
            assert_foretold(&TorusConfig { rows, columns, hosts_per_switch, ..Default::default() });
        }
    }

    #[test]
    fn what_cannot_be_numbered_is_refused_and_nothing_overflows() {
        let all = u32::MAX;
        let leaf_spine = LeafSpineConfig {
            leaves: all,
            spines: all,
            hosts_per_leaf: all,
            links: all,
            ..Default::default()
        };
        let two_dc =
            TwoDcConfig { leaves: all, spines: all, hosts_per_leaf: all, ..Default::default() };
        let dumbbell = DumbbellConfig {
            left_hosts: all,
            right_hosts: all,
            side_hosts: all,
            ..Default::default()
        };
        let fat_tree = FatTreeConfig { k: all, hosts_per_edge: all, ..Default::default() };
        let star = StarConfig { hosts: all, ..Default::default() };
        let torus =
            TorusConfig { rows: all, columns: all, hosts_per_switch: all, ..Default::default() };
        let clos = ClosConfig {
            pods: all,
            leaves_per_pod: all,
            hosts_per_leaf: all,
            spines_per_pod: all,
            cores_per_spine: all,
            spine_links: all,
            core_links: all,
            ..Default::default()
        };
        for census in [
            leaf_spine.census(),
            two_dc.census(),
            dumbbell.census(),
            fat_tree.census(),
            star.census(),
            torus.census(),
            clos.census(),
        ] {
            let error = census.check().unwrap_err();
            assert!(error.contains("links of one switch are too many"), "{error}");
            assert!(census.bytes() > 1 << 38, "{census:?}");
        }
        let wide = LeafSpineConfig { leaves: 60_000, spines: 60_000, ..Default::default() };
        assert!(wide.census().check().unwrap_err().contains("ends of links are too many"));
    }
}
