//! A grid of switches with rings in two or three dimensions (Dally and Towles, "Principles and
//! Practices of Interconnection Networks", ch. 5).
//!
//! Packets take shortest paths, and a switch chooses among the next links of these paths by hash.
//! There are no virtual channels, so pauses can close cycles: `xoff check` lists them, and
//! `switch.elide = "cycles"` breaks them.

use xoff_core::{BitRate, NodeId, Ps, knobs};

use super::census::product;
use super::{Census, Count, Link, Topology, TopologySettings};

/// The most switches in a ring. Tables of larger networks would not fit into memory.
const SIDE_MAX: u32 = 1024;

knobs! {
    /// A torus of two or three dimensions: a grid of switches, each with hosts and with links to
    /// its two neighbours in each dimension. The last switch of a row is linked to its first one;
    /// so are the last switch of a column and, with several planes, the last plane. In a ring of
    /// two switches, two parallel links join them.
    ///
    /// Uniform traffic among the hosts of the default torus can use all of their links' rate.
    pub struct TorusConfig in "torus" {
        /// Rows of switches, 2 to 1024.
        rows: u32 = 4,
        /// Columns of switches, 2 to 1024.
        columns: u32 = 4,
        /// Planes of rows and columns, 1 to 1024. With 1, the torus has two dimensions.
        planes: u32 = 1,
        /// Hosts on each switch.
        hosts_per_switch: u32 = 2,
        /// Rate of a host's link.
        host_rate: BitRate = BitRate::from_gbps(100),
        /// Rate of a link between switches.
        link_rate: BitRate = BitRate::from_gbps(100),
        /// Propagation delay of a host's link.
        host_delay: Ps = Ps::from_us(1),
        /// Propagation delay of a link between switches.
        link_delay: Ps = Ps::from_us(1),
    }
}

impl TorusConfig {
    fn switches(&self) -> u128 {
        product(&[self.rows, self.columns, self.planes])
    }

    /// The rate of uniform traffic that fills the busiest links. A packet takes a mean of
    /// `ring_distance` links in a dimension, and each dimension has two links per switch, one for
    /// each direction. For an even number of columns, and no more rows than columns, this is twice
    /// the bisection of 4 rows links, one way each (Dally and Towles, §3.3.1 and §5.2.1).
    fn uniform_capacity(&self) -> BitRate {
        let links = 2 * self.switches() * u128::from(self.link_rate.0);
        let (hops, pairs) = ring_distance(self.rows.max(self.columns).max(self.planes));
        BitRate(u64::try_from(links * pairs / hops).unwrap_or(u64::MAX))
    }
}

/// The mean distance between two switches of a ring of k, which may be the same, as a fraction: k/4
/// if k is even, k/4 - 1/(4k) if it is odd (Dally and Towles, §5.2.2).
fn ring_distance(k: u32) -> (u128, u128) {
    let k = u128::from(k);
    (k * k / 4, k)
}

impl TopologySettings for TorusConfig {
    fn counts(&self) -> Vec<Count> {
        vec![
            ("rows", self.rows),
            ("columns", self.columns),
            ("planes", self.planes),
            ("hosts_per_switch", self.hosts_per_switch),
        ]
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        let sides =
            [("rows", 2, self.rows), ("columns", 2, self.columns), ("planes", 1, self.planes)];
        for (key, least, side) in sides {
            if !(least..=SIDE_MAX).contains(&side) {
                let message = format!("{key} is {side}: it must be from {least} to {SIDE_MAX}");
                return Err((key, message));
            }
        }
        if self.hosts_per_switch == 0 {
            let message = "hosts_per_switch is 0: a switch needs at least one host";
            return Err(("hosts_per_switch", message.into()));
        }
        Ok(())
    }

    fn census(&self) -> Census {
        let switches = self.switches();
        let hosts = switches.saturating_mul(self.hosts_per_switch.into());
        let dimensions = if self.planes > 1 { 3 } else { 2 };
        Census {
            hosts,
            switches,
            racks: switches,
            links: hosts.saturating_add(switches.saturating_mul(dimensions)),
            most_links: u128::from(self.hosts_per_switch) + 2 * dimensions,
        }
    }

    fn build(&self) -> Result<Topology, String> {
        torus(self)
    }

    /// The two ends of a path choose among different links.
    fn has_symmetric_choices(&self) -> bool {
        false
    }
}

/// Builds it: hosts, then switches, both row by row and plane by plane.
///
/// # Errors
/// The problems that [`TopologySettings::check`] finds.
pub fn torus(config: &TorusConfig) -> Result<Topology, String> {
    config.check().map_err(|(_, message)| message)?;
    let TorusConfig { rows, columns, planes, hosts_per_switch, .. } = *config;
    let switches = rows * columns * planes;
    let hosts = switches * hosts_per_switch;
    let mut links = Vec::new();
    let mut join = |a, b, rate, delay| links.push(Link { a: NodeId(a), b: NodeId(b), rate, delay });
    for host in 0..hosts {
        join(host, hosts + host / hosts_per_switch, config.host_rate, config.host_delay);
    }
    for switch in 0..switches {
        // The distance of numbers between neighbours in each dimension, and its side.
        for (step, side) in [(1, columns), (columns, rows), (columns * rows, planes)] {
            let place = switch / step % side;
            let neighbour = switch - place * step + (place + 1) % side * step;
            if side > 1 {
                join(hosts + switch, hosts + neighbour, config.link_rate, config.link_delay);
            }
        }
    }
    let mut tiers = vec![0; hosts as usize];
    tiers.extend(vec![1; switches as usize]);
    let core_capacity = Some(config.uniform_capacity());
    let grid = Some([config.rows, config.columns, config.planes]);
    Ok(Topology { core_capacity, grid, ..Topology::new(hosts, tiers, &links)? })
}

#[cfg(test)]
mod tests {
    use super::super::uniform::uniform_capacity;
    use super::super::{Backpressure, Port, Routes, bounces};
    use super::*;

    fn of(rows: u32, columns: u32) -> TorusConfig {
        TorusConfig { rows, columns, hosts_per_switch: 1, ..Default::default() }
    }

    fn build(config: &TorusConfig) -> (Topology, Routes) {
        let topology = torus(config).unwrap();
        let routes = Routes::new(&topology).unwrap();
        (topology, routes)
    }

    /// Links around a ring of `side` switches by the shorter way.
    fn ring_links(from: u32, to: u32, side: u32) -> u32 {
        from.abs_diff(to).min(side - from.abs_diff(to))
    }

    /// A channel in each direction of each dimension (§5.1).
    #[test]
    fn it_has_two_links_a_switch() {
        for (rows, columns) in [(4, 4), (3, 5), (2, 6), (2, 2)] {
            let (topology, _) = build(&of(rows, columns));
            let is_trunk = |port: &&Port| {
                let peer = topology.neighbour(port);
                !topology.is_host(port.node) && !topology.is_host(peer)
            };
            let ends = topology.ports.iter().filter(is_trunk).count() as u32;
            assert_eq!(ends, 2 * 2 * rows * columns, "{rows} x {columns}");
            let ports = |node| topology.ports_of(node).len();
            assert!(topology.switch_ids().all(|switch| ports(switch) == 5));
        }
    }

    /// The cut between two halves of the columns cuts each row twice: 2 rows links, 4 rows
    /// channels.
    #[test]
    fn the_bisection_is_two_links_a_row() {
        let (topology, _) = build(&of(4, 6));
        let is_left = |node: NodeId| topology.switch_index(node) % 6 < 3;
        let is_cut = |port: &&Port| {
            let peer = topology.neighbour(port);
            !topology.is_host(port.node)
                && !topology.is_host(peer)
                && is_left(port.node) != is_left(peer)
        };
        assert_eq!(topology.ports.iter().filter(is_cut).count(), 4 * 4);
        assert_eq!(topology.capacities().0, BitRate::from_gbps(2 * 4 * 4 * 100));
    }

    #[test]
    fn paths_go_the_shorter_way_round() {
        let (rows, columns) = (4, 5);
        let (topology, routes) = build(&of(rows, columns));
        for (from, to) in topology.host_ids().flat_map(|a| topology.host_ids().map(move |b| (a, b)))
        {
            let down = ring_links(from.0 / columns, to.0 / columns, rows);
            let right = ring_links(from.0 % columns, to.0 % columns, columns);
            assert_eq!(routes.links_between(from, to), 2 + down + right, "{from} to {to}");
        }
        assert_eq!(routes.longest(), 2 + 2 + 2);
        // Host 12 is at row 2, column 2 of 5: two rows away either way, and two columns to the
        // right.
        let first = NodeId(topology.hosts);
        let ports = routes.ports(0, 12).iter();
        let next = ports.map(|&port| topology.far_end(topology.port_at(first, port)));
        let next: Vec<usize> = next.map(|node| topology.switch_index(node)).collect();
        assert_eq!(next, [1, 5, 15]);
    }

    /// Also in rings of an odd number of switches, and of two.
    #[test]
    fn uniform_traffic_of_the_core_capacity_fills_the_busiest_link() {
        for (rows, columns, planes) in
            [(4, 4, 1), (3, 5, 1), (2, 6, 1), (5, 4, 1), (2, 2, 1), (3, 3, 1), (3, 2, 4), (4, 4, 4)]
        {
            let (topology, routes) = build(&TorusConfig { planes, ..of(rows, columns) });
            let (closed, found) =
                (topology.capacities().0.0 as f64, uniform_capacity(&topology, &routes).0 as f64);
            assert!((closed / found - 1.0).abs() < 1e-9, "{rows} x {columns} x {planes}: {found}");
        }
    }

    /// Switch 0 of 3 x 4 x 2 has two links to the other plane.
    #[test]
    fn planes_are_rings_of_their_own() {
        let (topology, routes) = build(&TorusConfig { planes: 2, ..of(3, 4) });
        let ports = topology.ports_of(NodeId(topology.hosts)).iter();
        let next =
            ports.map(|port| topology.neighbour(port)).filter(|node| !topology.is_host(*node));
        let mut next: Vec<usize> = next.map(|node| topology.switch_index(node)).collect();
        next.sort_unstable();
        assert_eq!(next, [1, 3, 4, 8, 12, 12]);
        assert_eq!(routes.longest(), 2 + 1 + 2 + 1);
    }

    /// Without virtual channels, rings and turns in either order close cycles (§14.2). There are no
    /// layers for the rule of Clos networks.
    #[test]
    fn pauses_form_cycles_until_turns_are_left_out() {
        for (rows, columns) in [(2, 2), (3, 3), (4, 4), (2, 5)] {
            let (topology, routes) = build(&of(rows, columns));
            let graph = Backpressure::new(&topology, &[&routes]);
            assert!(!graph.knots().is_empty(), "{rows} x {columns}");
            let elided = graph.to_elide();
            assert!(elided.len() < graph.turns().len() / 2, "{rows} x {columns}");
            assert!(graph.without(&elided).knots().is_empty(), "{rows} x {columns}");
            assert!(bounces(&topology).unwrap_err().contains("which are of one layer"));
        }
    }

    #[test]
    fn wrong_settings_name_their_key() {
        for (config, key) in [(of(1, 4), "rows"), (of(4, 1025), "columns"), (of(0, 4), "rows")] {
            assert_eq!(config.check().unwrap_err().0, key);
            assert!(torus(&config).is_err());
        }
        let none = TorusConfig { hosts_per_switch: 0, ..of(4, 4) };
        assert_eq!(none.check().unwrap_err().0, "hosts_per_switch");
    }
}
