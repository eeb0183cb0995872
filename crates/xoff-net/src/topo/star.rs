//! Hosts around one switch.

use xoff_core::{BitRate, NodeId, Ps, knobs};

use super::{Census, Count, Link, Topology, TopologySettings};

knobs! {
    /// A single switch with hosts on it.
    pub struct StarConfig in "star" {
        /// Hosts.
        hosts: u32 = 16,
        /// Rate of each link.
        rate: BitRate = BitRate::from_gbps(100),
        /// Rate of host 0's link, if it differs: a receiver behind a slower link. 0: the same.
        first_rate: BitRate = BitRate(0),
        /// Propagation delay of each link.
        delay: Ps = Ps::from_us(1),
    }
}

impl TopologySettings for StarConfig {
    fn counts(&self) -> Vec<Count> {
        vec![("hosts", self.hosts)]
    }

    fn census(&self) -> Census {
        let hosts = self.hosts.into();
        Census { hosts, switches: 1, racks: 1, links: hosts, most_links: hosts }
    }

    fn build(&self) -> Result<Topology, String> {
        star(self)
    }
}

/// Builds it: hosts, then the switch.
///
/// # Errors
/// If there are fewer than two hosts.
pub fn star(config: &StarConfig) -> Result<Topology, String> {
    if config.hosts < 2 {
        return Err("a star needs at least two hosts".into());
    }
    let switch = NodeId(config.hosts);
    let first_rate = if config.first_rate > BitRate(0) { config.first_rate } else { config.rate };
    let rate = |host| if host == 0 { first_rate } else { config.rate };
    let link = |host| Link { a: NodeId(host), b: switch, rate: rate(host), delay: config.delay };
    let links: Vec<Link> = (0..config.hosts).map(link).collect();
    let mut tiers = vec![0; config.hosts as usize];
    tiers.push(1);
    Topology::new(config.hosts, tiers, &links)
}
