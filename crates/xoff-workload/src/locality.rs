//! The choice of a flow's hosts in a fabric of racks.

use xoff_core::{BitRate, HostId, Rng};

use crate::Capacity;

xoff_core::choices! {
    /// The distance between the two hosts of a flow.
    pub enum Locality {
        /// The destination is drawn uniformly, regardless of the source's rack.
        Uniform = "uniform",
        /// A share of the flows stays in its rack, so that all links of the fabric carry the same
        /// load on average.
        Balanced = "balanced",
    }
}

/// The racks of a fabric of two layers: all are equal, and hosts are numbered rack by rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Racks {
    /// Hosts per rack.
    pub hosts: u32,
    /// Total rate from each rack to the others, one way.
    pub uplinks: BitRate,
}

/// Pairs of hosts that load all links equally. Each host sends a share p of its flows to other
/// racks. A rack of H hosts with links of rate h and uplinks of U in total loads its uplinks by H h
/// p / U of its hosts' load. Both are equal for p = U / (H h), the reciprocal of the
/// over-subscription. Downlinks follow by symmetry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Balanced {
    rack_hosts: u64,
    hosts: u64,
    leaving: f64,
}

impl Balanced {
    /// The pairs of a fabric.
    ///
    /// # Errors
    /// If no locality can balance its links.
    pub(crate) fn new(capacity: &Capacity) -> Result<Self, String> {
        let Some(Racks { hosts, uplinks }) = capacity.racks else {
            return Err("locality = \"balanced\" needs a fabric of equal racks with two layers: \
                        network.topology = \"leaf-spine\""
                .into());
        };
        let rack = capacity.hosts_in(&(0..hosts).map(HostId).collect::<Vec<_>>());
        if uplinks > rack {
            return Err(format!(
                "locality = \"balanced\": a rack has uplinks of {uplinks} and hosts of {rack}, \
                 which cannot load them as much as their own links"
            ));
        }
        let all = capacity.host_count();
        let (inside, leaving) = (hosts > 1, uplinks.0 as f64 / rack.0 as f64);
        if all == hosts || (!inside && leaving < 1.0) {
            let lacking = if inside { "one rack" } else { "one host in a rack" };
            return Err(format!(
                "locality = \"balanced\" has no pair of hosts to choose from: \
                {lacking}"
            ));
        }
        Ok(Self { rack_hosts: hosts.into(), hosts: all.into(), leaving })
    }

    /// The share of flows that leave their rack.
    pub(crate) fn leaving(&self) -> f64 {
        self.leaving
    }

    /// A source and a destination.
    pub(crate) fn draw(&self, rng: &mut Rng) -> (HostId, HostId) {
        let src = rng.below(self.hosts);
        let first = src / self.rack_hosts * self.rack_hosts;
        // Hosts of the other racks, or the other hosts of this one, numbered without a gap.
        let dst = if rng.unit() < self.leaving {
            let other = rng.below(self.hosts - self.rack_hosts);
            if other < first { other } else { other + self.rack_hosts }
        } else {
            let other = first + rng.below(self.rack_hosts - 1);
            other + u64::from(other >= src)
        };
        (HostId(src as u32), HostId(dst as u32))
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::rng::Purpose;

    use super::*;

    fn fabric(racks: u32, hosts: u32, uplinks_gbps: u64) -> Capacity {
        let core = BitRate::from_gbps(uplinks_gbps * u64::from(racks));
        let host_rates = vec![BitRate::from_gbps(100); (racks * hosts) as usize];
        let racks = Some(Racks { hosts, uplinks: BitRate::from_gbps(uplinks_gbps) });
        Capacity { racks, ..Capacity::new(core, host_rates) }
    }

    /// The load of each host's link and each rack's uplinks, up and down, as a share of capacity.
    fn loads(capacity: &Capacity, flows: u32) -> Vec<f64> {
        let Racks { hosts, uplinks } = capacity.racks.unwrap();
        let pairs = Balanced::new(capacity).unwrap();
        let mut rng = Rng::stream(1, Purpose::Traffic, 0);
        let all = capacity.host_count();
        let mut of_hosts = vec![[0u32; 2]; all as usize];
        let mut of_racks = vec![[0u32; 2]; (all / hosts) as usize];
        for _ in 0..flows {
            let (HostId(src), HostId(dst)) = pairs.draw(&mut rng);
            assert!(src != dst && src < all && dst < all);
            of_hosts[src as usize][0] += 1;
            of_hosts[dst as usize][1] += 1;
            if src / hosts != dst / hosts {
                of_racks[(src / hosts) as usize][0] += 1;
                of_racks[(dst / hosts) as usize][1] += 1;
            }
        }
        let of = |counts: Vec<[u32; 2]>, gbps: f64| {
            counts.into_iter().flatten().map(move |count| f64::from(count) / gbps)
        };
        of(of_hosts, 100.0).chain(of(of_racks, uplinks.0 as f64 / 1e9)).collect()
    }

    /// BFC's fabric, 3:1, and a fabric without over-subscription, where every flow leaves.
    #[test]
    fn all_links_carry_the_same() {
        for (racks, hosts, uplinks) in [(8, 16, 800), (3, 12, 400), (4, 8, 800), (5, 1, 100)] {
            let capacity = fabric(racks, hosts, uplinks);
            let found = loads(&capacity, 40_000 * racks * hosts);
            let expected = 40_000.0 / 100.0;
            for load in found {
                assert!((load / expected - 1.0).abs() < 0.025, "{racks} x {hosts}: {load}");
            }
        }
    }

    #[test]
    fn half_of_the_flows_leave_where_a_rack_has_half_of_its_hosts_capacity() {
        let leaving = |uplinks| Balanced::new(&fabric(8, 16, uplinks)).map(|pairs| pairs.leaving());
        assert_eq!(leaving(800), Ok(0.5));
        assert_eq!(leaving(1_600), Ok(1.0));
        let error = leaving(3_200).unwrap_err();
        assert!(error.contains("uplinks of 3200Gbps and hosts of 1600Gbps"), "{error}");
        let error = Balanced::new(&fabric(4, 1, 50)).unwrap_err();
        assert!(error.ends_with("one host in a rack"), "{error}");
        let error = Balanced::new(&fabric(1, 4, 100)).unwrap_err();
        assert!(error.ends_with("one rack"), "{error}");
        let no_racks = Capacity { racks: None, ..fabric(8, 16, 800) };
        let error = Balanced::new(&no_racks).unwrap_err();
        assert!(error.ends_with("network.topology = \"leaf-spine\""), "{error}");
    }
}
