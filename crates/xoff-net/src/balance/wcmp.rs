//! Weighted cost multi-path (Zhou et al., "WCMP: Weighted Cost Multipathing for Improved Fairness
//! in Data Centers", EuroSys 2014): ports get flows in proportion to the capacity that they lead
//! to.
//!
//! As in hardware, a route lists a port several times, and the hash of a flow picks an entry. A
//! port's capacity is the rate of its link, but no more than its share of the capacity of the
//! switch behind it towards the destination. That is the sum over the ports of that switch. All
//! links that lead over it share it. Weights come from the links that are up, so they follow faults
//! when routes do.

use xoff_core::knobs;
use xoff_core::knobs::Checked;
use xoff_core::seam::{Need, need};

use super::{BalanceSettings, PathPer};

knobs! {
    /// Weighted multi-path, where `switch.balance` is "wcmp".
    pub struct WcmpConfig in "wcmp" {
        /// The most table entries of a route. Weights that need more are rounded, to one entry or
        /// more for each port. The paper takes the size of the switch's table.
        entries: u32 = 128,
    }
}

impl BalanceSettings for WcmpConfig {
    fn check(&self) -> Checked {
        if !(2..=4096).contains(&self.entries) {
            let message = format!("entries = {} must be from 2 to 4096", self.entries);
            return Err(("entries", message));
        }
        Ok(())
    }

    fn needs(&self) -> Vec<Need> {
        vec![need(
            ("switch", "symmetric_ecmp"),
            &["false"],
            "both directions have their own weights",
        )]
    }

    fn path_per(&self) -> PathPer {
        PathPer::Flow
    }

    fn hashes(&self) -> bool {
        true
    }

    fn weighted(&self) -> Option<u32> {
        Some(self.entries)
    }
}

/// The entries of each port, by the capacities of the ports: the smallest whole numbers in their
/// ratio. If that takes more than `most` entries, the group is reduced.
pub(crate) fn entries(capacities: &[u64], most: u32) -> Vec<u32> {
    let divisor = capacities.iter().copied().fold(0, gcd).max(1);
    let weights: Vec<u64> = capacities.iter().map(|&capacity| capacity / divisor).collect();
    let sum: u128 = weights.iter().copied().map(u128::from).sum();
    if sum <= u128::from(most) {
        return weights.into_iter().map(|weight| weight as u32).collect();
    }
    reduced(&weights, most)
}

/// A smaller group. It starts with equal weights. One at a time, entries go to the port that is the
/// least oversubscribed with one more (WCMP Algorithm 1), until the table is full. Of all groups on
/// the way, this returns the one whose most oversubscribed port is the least oversubscribed. No
/// other group that fits is better.
fn reduced(weights: &[u64], most: u32) -> Vec<u32> {
    // The oversubscription of a port is its share of the entries over its share of the weights
    // (WCMP Eq. 2), here without the sums that all ports have in common.
    let load = |entries: u32, weight: u64| f64::from(entries) / weight as f64;
    let mut entries = vec![1u32; weights.len()];
    let mut best = (f64::INFINITY, entries.clone());
    for sum in weights.len() as u32..=most {
        let loads = entries.iter().zip(weights).map(|(&own, &weight)| load(own, weight));
        let worst = loads.fold(0.0, f64::max) / f64::from(sum);
        // A larger group must be better by more than errors of rounding.
        if worst < best.0 * (1.0 - 1e-9) {
            best = (worst, entries.clone());
        }
        let with_more = |&index: &usize| load(entries[index] + 1, weights[index]);
        let next = (0..weights.len()).min_by(|a, b| with_more(a).total_cmp(&with_more(b)));
        next.into_iter().for_each(|index| entries[index] += 1);
    }
    best.1
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GBPS: u64 = 1_000_000_000;

    #[test]
    fn ratios_are_exact_where_they_fit() {
        assert_eq!(entries(&[400 * GBPS, 100 * GBPS, 100 * GBPS], 128), [4, 1, 1]);
        assert_eq!(entries(&[25 * GBPS; 5], 128), [1; 5]);
        assert_eq!(entries(&[40 * GBPS, 100 * GBPS], 7), [2, 5]);
    }

    #[test]
    fn larger_ratios_are_rounded() {
        assert_eq!(entries(&[999, 1], 4), [3, 1]);
        assert_eq!(entries(&[40 * GBPS, 100 * GBPS], 6), [1, 3], "oversubscribed by 5 %");
        assert_eq!(entries(&[u64::MAX, u64::MAX - 1, 1], 3), [1; 3]);
        assert_eq!(entries(&[3, 2, 1], 2), [1; 3], "a port has an entry in any case");
    }

    /// How many times a port's share of the capacity its share of the flows is at most.
    fn oversubscription(capacities: &[u64], entries: &[u32]) -> f64 {
        let (sum, all) = (entries.iter().sum::<u32>(), capacities.iter().sum::<u64>());
        let of = |(&own, &capacity): (&u32, &u64)| {
            f64::from(own) / f64::from(sum) * all as f64 / capacity as f64
        };
        entries.iter().zip(capacities).map(of).fold(0.0, f64::max)
    }

    /// The least oversubscription of any group of three ports.
    fn least(capacities: &[u64; 3], most: u32) -> f64 {
        let pairs = (1..most - 1).flat_map(|a| (1..most - a).map(move |b| (a, b)));
        let groups = pairs.flat_map(|(a, b)| (1..=most - a - b).map(move |c| [a, b, c]));
        groups.map(|group| oversubscription(capacities, &group)).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        /// A table is never too large, and is no worse than equal weights. A larger table is no
        /// worse than a smaller one.
        #[test]
        fn reduced_groups_are_near_their_capacities(
            capacities in prop::collection::vec(1u64..1_000_000, 1..12),
            most in 12u32..256,
        ) {
            let found = entries(&capacities, most);
            prop_assert!(found.iter().sum::<u32>() <= most && found.iter().all(|&own| own > 0));
            let worst = oversubscription(&capacities, &found);
            let even = vec![1; capacities.len()];
            prop_assert!(worst <= oversubscription(&capacities, &even) + 1e-9);
            let larger = entries(&capacities, 2 * most);
            prop_assert!(oversubscription(&capacities, &larger) <= worst + 1e-9);
        }

        /// No group that fits is less oversubscribed.
        #[test]
        fn a_reduced_group_is_the_best(
            capacities in prop::array::uniform3(1u64..2_000),
            most in 3u32..24,
        ) {
            let found = oversubscription(&capacities, &entries(&capacities, most));
            prop_assert!(found <= least(&capacities, most) + 1e-9);
        }
    }
}
