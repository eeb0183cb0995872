//! The sizes of all flows of a workload together, as far as they are known before the run.

use std::collections::BTreeMap;

use xoff_core::{Bytes, Ps};

use crate::sizes::{Reading, SizeTable};

/// The frequency of flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Frequency {
    /// Flows per second.
    PerSecond(f64),
    /// Flows in total.
    InAll(f64),
}

/// Flows of one source.
#[derive(Clone, Debug)]
struct Part {
    frequency: Frequency,
    sizes: SizeTable,
    reading: Reading,
}

/// The flows of all sources, except those without an end, which have no size.
#[derive(Clone, Debug, Default)]
pub struct Mix {
    parts: Vec<Part>,
}

impl Mix {
    /// Some flows of one size; empty if they do not end (0 bytes).
    #[must_use]
    pub fn of(flows: f64, bytes: Bytes) -> Self {
        let mut mix = Self::default();
        if bytes.0 > 0 {
            mix.add_flows(Frequency::InAll(flows), vec![bytes.0]);
        }
        mix
    }

    /// Adds the flows of another mix.
    pub fn extend(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }

    /// Adds flows with sizes from a table.
    pub fn add(&mut self, frequency: Frequency, sizes: SizeTable, reading: Reading) {
        self.parts.push(Part { frequency, sizes, reading });
    }

    /// Adds flows of these sizes.
    pub fn add_flows(&mut self, frequency: Frequency, sizes: Vec<u64>) {
        if !sizes.is_empty() {
            self.add(frequency, SizeTable::of_flows(sizes), Reading::Step);
        }
    }

    /// Adds flows of these sizes, with the number of each.
    pub fn add_counted(&mut self, frequency: Frequency, sizes: &BTreeMap<u64, u64>) {
        if !sizes.is_empty() {
            self.add(frequency, SizeTable::of_counts(sizes), Reading::Step);
        }
    }

    /// The share of all bytes that are among the first `cap` of their flow, in a run of this
    /// length; zero without flows.
    #[must_use]
    pub fn share_of_first(&self, cap: u64, run: Ps) -> f64 {
        let all = self.bytes(u64::MAX, u64::MAX, run);
        if all > 0.0 { self.bytes(cap, u64::MAX, run) / all } else { 0.0 }
    }

    /// Divides flows by size into `groups` groups with equal shares of the first `cap` bytes of
    /// flows. Returns the longest flow of each group but the last. Groups stay empty if flows of
    /// one size have more than such a share.
    #[must_use]
    pub fn even_cutoffs(&self, groups: u8, cap: u64, run: Ps) -> Vec<u64> {
        let all = self.bytes(cap, u64::MAX, run);
        let longest = self.parts.iter().map(|part| part.sizes.longest()).max().unwrap_or(0);
        let cutoff = |group: u8| {
            let share = all * f64::from(group) / f64::from(groups);
            let (mut low, mut high) = (0, longest);
            while low < high {
                let middle = low + (high - low) / 2;
                if self.bytes(cap, middle, run) >= share {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            low
        };
        (1..groups).map(cutoff).collect()
    }

    /// Bytes per second among the first `cap` of flows of up to `longest` bytes.
    fn bytes(&self, cap: u64, longest: u64, run: Ps) -> f64 {
        let part = |part: &Part| {
            let flows = match part.frequency {
                Frequency::PerSecond(flows) => flows,
                Frequency::InAll(flows) => flows / run.seconds(),
            };
            flows * part.sizes.mean_of_first(cap, longest, part.reading)
        };
        self.parts.iter().map(part).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tables;

    const RUN: Ps = Ps::from_us(1_000);

    fn of(table: &str, reading: Reading) -> Mix {
        let mut mix = Mix::default();
        let sizes = tables::find(table, &std::path::Path::new("")).unwrap();
        mix.add(Frequency::PerSecond(1e6), sizes, reading);
        mix
    }

    /// Sizes spread evenly from 0 to 100 kB. Flows up to x bytes have x^2 / 2 of their first 50 kB
    /// for x up to 50 kB, and 50 kB x - 50^2 / 2 above, of 3750 in all.
    #[test]
    fn cutoffs_of_even_sizes_are_those_of_the_closed_form() {
        let mut mix = Mix::default();
        let even = SizeTable::from_csv("size_bytes,cdf\n0,0\n100000,1\n", "even").unwrap();
        mix.add(Frequency::InAll(7.0), even, Reading::Linear);
        assert!((mix.share_of_first(50_000, RUN) - 0.75).abs() < 1e-12);
        let quarter = (2.0f64 * 937.5).sqrt() * 1000.0;
        let expected = [quarter, (1875.0 + 1250.0) * 20.0, (2812.5 + 1250.0) * 20.0];
        let found = mix.even_cutoffs(4, 50_000, RUN);
        assert!(found.iter().zip(expected).all(|(a, b)| (*a as f64 - b).abs() <= 1.0), "{found:?}");
    }

    #[test]
    fn groups_of_a_workloads_flows_have_even_bytes() {
        for (table, reading) in [
            ("google", Reading::Linear),
            ("hadoop", Reading::Linear),
            ("websearch", Reading::Linear),
        ] {
            let mix = of(table, reading);
            let cap = 104_000;
            let all = mix.bytes(cap, u64::MAX, RUN);
            for groups in [1, 2, 7, 31] {
                let cutoffs = mix.even_cutoffs(groups, cap, RUN);
                assert_eq!(cutoffs.len(), usize::from(groups) - 1);
                assert!(cutoffs.is_sorted(), "{cutoffs:?}");
                for (group, &cutoff) in cutoffs.iter().enumerate() {
                    let share = all * (group + 1) as f64 / f64::from(groups);
                    let bytes = |longest| mix.bytes(cap, longest, RUN);
                    assert!(bytes(cutoff) >= share && bytes(cutoff - 1) < share, "{table} {group}");
                }
            }
        }
    }

    /// An incast's flows have one size. They are all in one group, and the groups up to the next
    /// size are empty.
    #[test]
    fn flows_of_one_size_stay_together() {
        let mut mix = Mix::default();
        mix.add_flows(Frequency::PerSecond(100.0), vec![200_000]);
        mix.add_flows(Frequency::PerSecond(3000.0), vec![1_000, 3_000]);
        assert_eq!(mix.even_cutoffs(4, 100_000, RUN), [3_000, 200_000, 200_000]);
        let first = (100.0 * 100_000.0 + 3000.0 * 2_000.0) / (100.0 * 200_000.0 + 3000.0 * 2_000.0);
        assert!((mix.share_of_first(100_000, RUN) - first).abs() < 1e-12);
        assert_eq!(
            (Mix::default().share_of_first(9, RUN), Mix::default().even_cutoffs(2, 9, RUN)),
            (0.0, vec![0])
        );
    }

    proptest! {
        /// The means equal those of flows drawn one by one.
        #[test]
        fn first_bytes_are_those_of_each_flow(
            sizes in prop::collection::vec(1u64..10_000, 1..50),
            cap in 1u64..12_000,
            longest in 0u64..12_000,
        ) {
            let count = sizes.len() as f64;
            let kept = sizes.iter().filter(|&&size| size <= longest);
            let expected = kept.map(|&size| size.min(cap) as f64).sum::<f64>() / count;
            let table = SizeTable::of_flows(sizes);
            let found = table.mean_of_first(cap, longest, Reading::Step);
            prop_assert!((found - expected).abs() < 1e-6 * (1.0 + expected), "{found} {expected}");
        }
    }
}
