//! A chain of switches with hosts on each: a dumbbell, a parking lot, or BFC's testbed.

use xoff_core::{BitRate, NodeId, Ps, knobs};

use super::{Census, Count, Link, Topology, TopologySettings};

knobs! {
    /// Two switches joined by one link, with hosts on both. With `side_hosts`, a third switch is
    /// joined to the right one. BFC's testbed (§6.1, Fig. 6) has three: sender groups 1 and 2 on
    /// the left switch, group 3 on the side switch, both receivers on the right switch.
    pub struct DumbbellConfig in "dumbbell" {
        /// Hosts on the left switch (numbered first).
        left_hosts: u32 = 2,
        /// Hosts on the right switch (numbered next).
        right_hosts: u32 = 2,
        /// Hosts on a third switch linked to the right one (numbered last); 0: no such switch.
        side_hosts: u32 = 0,
        /// Rate of a host's link.
        host_rate: BitRate = BitRate::from_gbps(100),
        /// Rate of the right hosts' links, if it differs; 0: the same.
        right_rate: BitRate = BitRate(0),
        /// Rate of a link between switches.
        trunk_rate: BitRate = BitRate::from_gbps(100),
        /// Propagation delay of a host's link.
        host_delay: Ps = Ps::from_us(1),
        /// Propagation delay of a link between switches.
        trunk_delay: Ps = Ps::from_us(1),
    }
}

impl TopologySettings for DumbbellConfig {
    fn counts(&self) -> Vec<Count> {
        vec![
            ("left_hosts", self.left_hosts),
            ("right_hosts", self.right_hosts),
            ("side_hosts", self.side_hosts),
        ]
    }

    fn census(&self) -> Census {
        let [left, right, side] =
            [self.left_hosts, self.right_hosts, self.side_hosts].map(u128::from);
        let hosts = left + right + side;
        let trunks = if side > 0 { 2 } else { 1 };
        let switches = trunks + 1;
        let most_links = (left + 1).max(right + trunks).max(side + 1);
        Census { hosts, switches, racks: switches, links: hosts + trunks, most_links }
    }

    fn build(&self) -> Result<Topology, String> {
        dumbbell(self)
    }
}

/// Builds it: the hosts in the order left, right, side, then the switches in that order.
///
/// # Errors
/// If the left or the right switch has no host.
pub fn dumbbell(config: &DumbbellConfig) -> Result<Topology, String> {
    let DumbbellConfig { left_hosts, right_hosts, side_hosts, .. } = *config;
    if left_hosts == 0 || right_hosts == 0 {
        return Err("a dumbbell needs at least one host on each side".into());
    }
    let hosts = left_hosts + right_hosts + side_hosts;
    let switches = if side_hosts > 0 { 3 } else { 2 };
    let home = |host: u32| {
        hosts + u32::from(host >= left_hosts) + u32::from(host >= left_hosts + right_hosts)
    };
    let is_right = |host: u32| (left_hosts..left_hosts + right_hosts).contains(&host);
    let rate = |host: u32| match config.right_rate {
        BitRate(0) => config.host_rate,
        rate if is_right(host) => rate,
        _ => config.host_rate,
    };
    let mut links: Vec<Link> = (0..hosts)
        .map(|host| Link {
            a: NodeId(host),
            b: NodeId(home(host)),
            rate: rate(host),
            delay: config.host_delay,
        })
        .collect();
    for other in (0..switches).filter(|&switch| switch != 1) {
        links.push(Link {
            a: NodeId(hosts + 1),
            b: NodeId(hosts + other),
            rate: config.trunk_rate,
            delay: config.trunk_delay,
        });
    }
    let mut tiers = vec![0; hosts as usize];
    tiers.extend(vec![1; switches as usize]);
    Topology::new(hosts, tiers, &links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_testbed_has_three_switches() {
        let config = DumbbellConfig { side_hosts: 3, ..DumbbellConfig::default() };
        let topology = dumbbell(&config).unwrap();
        assert_eq!((topology.hosts, topology.nodes()), (7, 10));
        assert_eq!(topology.ports_of(NodeId(8)).len(), 4);
    }
}
