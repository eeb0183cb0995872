//! The values of a group of flows by batch of time.
//!
//! The measurement is divided into batches of equal length (`run.batches`). A value belongs to the
//! batch in which its flow, or its web request, began. Each batch has a histogram with buckets that
//! are at most 1/256 wide relative to their values, so that a run of any length needs bounded
//! memory, and batches of several runs can be pooled. A flow that did not end with the run is
//! censored: it enters with the least value that it can have.

use std::collections::BTreeMap;
use std::ops::Range;

/// Values in a bucket keep this many bits below the leading one.
const MANTISSA_BITS: u32 = 8;

/// The values of a batch in one bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bucket {
    /// Flows that finished with a value in the bucket.
    pub finished: u64,
    /// Sum of these values.
    pub sum: f64,
    /// Flows that did not finish, and whose least value is in the bucket.
    pub censored: u64,
    /// Sum of these least values.
    pub censored_sum: f64,
}

/// Histograms of the values of one group, by batch. Nothing is allocated before the first value.
#[derive(Clone, Debug, Default)]
pub struct Batches(Vec<BTreeMap<u16, Bucket>>);

impl Batches {
    /// Adds a value, and the same rounded to whole thousandths.
    pub fn finish(&mut self, batch: u16, value: f64, thousandths: u64) {
        let bucket = self.bucket(batch, thousandths);
        bucket.finished += 1;
        bucket.sum += value;
    }

    /// Adds a flow that did not finish, with its least value.
    pub fn censor(&mut self, batch: u16, bound: f64) {
        // Rounded down, so that it stays a lower bound.
        let bucket = self.bucket(batch, (bound * 1000.0) as u64);
        bucket.censored += 1;
        bucket.censored_sum += bound;
    }

    fn bucket(&mut self, batch: u16, thousandths: u64) -> &mut Bucket {
        let batch = usize::from(batch);
        if self.0.len() <= batch {
            self.0.resize_with(batch + 1, BTreeMap::new);
        }
        self.0[batch].entry(index(thousandths)).or_default()
    }

    /// The buckets that have values, with their batch and their range in thousandths, in the order
    /// (batch, range).
    pub fn buckets(&self) -> impl Iterator<Item = (u16, Range<u64>, &Bucket)> {
        let batches = (0..).zip(&self.0);
        batches.flat_map(|(batch, buckets)| {
            buckets.iter().map(move |(&index, bucket)| (batch, range(index), bucket))
        })
    }

    /// Numbers of finished and of censored flows.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        self.buckets().fold((0, 0), |(finished, censored), (_, _, bucket)| {
            (finished + bucket.finished, censored + bucket.censored)
        })
    }
}

/// The index of a value's bucket. Values below 512 have buckets of their own. Above, each power of
/// two has 256 buckets.
fn index(value: u64) -> u16 {
    let bits = u64::BITS - value.leading_zeros();
    let dropped = bits.saturating_sub(MANTISSA_BITS + 1);
    ((u64::from(dropped) << MANTISSA_BITS) + (value >> dropped)) as u16
}

/// The values of a bucket. The last bucket of all ends one value too early.
fn range(index: u16) -> Range<u64> {
    let dropped = (u32::from(index) >> MANTISSA_BITS).saturating_sub(1);
    let first = u64::from(index) - (u64::from(dropped) << MANTISSA_BITS);
    let low = first << dropped;
    low..low.saturating_add(1 << dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_have_buckets_of_their_own() {
        for value in 0..512 {
            assert_eq!((index(value), range(value as u16)), (value as u16, value..value + 1));
        }
        assert_eq!((index(512), index(513), index(514)), (512, 512, 513));
        assert_eq!(range(512), 512..514);
        assert_eq!(range(index(1_000_000)), 999_424..1_001_472);
        assert_eq!(range(index(u64::MAX)), 511 << 55..u64::MAX);
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap_and_are_narrow() {
        for number in 0..index(u64::MAX) {
            let (this, next) = (range(number), range(number + 1));
            assert_eq!(this.end, next.start);
            let width = this.end - this.start;
            assert!(width == 1 || width * 256 <= this.start, "{this:?}");
            assert_eq!((index(this.start), index(this.end - 1)), (number, number));
        }
    }

    #[test]
    fn values_are_counted_by_batch() {
        let mut batches = Batches::default();
        batches.finish(2, 1.5, 1500);
        batches.finish(2, 1.5004, 1500);
        batches.censor(2, 1.5009);
        batches.censor(0, 0.0);
        let found: Vec<_> = batches.buckets().collect();
        let never = Bucket { censored: 1, ..Default::default() };
        let bucket = Bucket { finished: 2, sum: 1.5 + 1.5004, censored: 1, censored_sum: 1.5009 };
        assert_eq!(found, [(0, 0..1, &never), (2, 1500..1504, &bucket)]);
        assert_eq!(batches.counts(), (2, 2));
    }
}
