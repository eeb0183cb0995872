//! Suppression of signals: a Bloom filter that is reset every period.

use rustc_hash::FxHashSet;
use xoff_core::rng::mix64;

/// The key of a signalled flow: its addresses, and its ports or its class.
pub(super) type Key = (u32, u32, u32);

/// A Bloom filter with an array of cells for each hash, cleared at multiples of a period: "to
/// prevent a burst of BTSs to be sent back to each of the incast sources. The filter is reset
/// periodically" (SFC §3.2).
#[derive(Debug)]
pub(super) struct Suppression {
    hashes: u32,
    cells: u64,
    period_ps: u64,
    /// Whether the period's number goes into the hashes: "impacted flows may experience false
    /// suppression over multiple reset cycles. To prevent this, we add a version number (a simple
    /// counter) to the hash input that changes every reset cycle" (§4).
    versioned: bool,
    /// The period that the cells belong to.
    period: u64,
    bits: Vec<u64>,
    /// Words of `bits` that are not zero.
    touched: Vec<u32>,
    /// The flows in the filter, to count false positives.
    members: FxHashSet<Key>,
    /// Most flows it ever held in one period.
    pub(super) peak: usize,
    /// Flows that it suppressed although it did not hold them.
    pub(super) false_positives: u64,
}

impl Suppression {
    /// An empty filter.
    #[must_use]
    pub(super) fn new(hashes: u32, cells: u64, period_ps: u64, versioned: bool) -> Self {
        let words = (u64::from(hashes) * cells).div_ceil(64) as usize;
        Self {
            hashes,
            cells,
            period_ps,
            versioned,
            period: 0,
            bits: vec![0; words],
            touched: Vec::new(),
            members: FxHashSet::default(),
            peak: 0,
            false_positives: 0,
        }
    }

    /// Whether the filter takes a flow for signalled in this period. If not, the flow counts as
    /// signalled from now on.
    pub(super) fn suppresses(&mut self, now: u64, key: Key) -> bool {
        self.turn_over(now);
        let mut known = true;
        for hash in 0..self.hashes {
            let cell = self.cell(hash, key);
            let (word, bit) = ((cell / 64) as usize, 1 << (cell % 64));
            if self.bits[word] & bit == 0 {
                known = false;
                if self.bits[word] == 0 {
                    self.touched.push(word as u32);
                }
                self.bits[word] |= bit;
            }
        }
        if !known {
            self.members.insert(key);
            self.peak = self.peak.max(self.members.len());
        } else if !self.members.contains(&key) {
            self.false_positives += 1;
        }
        known
    }

    /// Clears the filter if a new period has begun.
    fn turn_over(&mut self, now: u64) {
        let period = now / self.period_ps;
        if period != self.period {
            self.period = period;
            for word in self.touched.drain(..) {
                self.bits[word as usize] = 0;
            }
            self.members.clear();
        }
    }

    fn cell(&self, hash: u32, (src, dst, rest): Key) -> u64 {
        let version = if self.versioned { self.period } else { 0 };
        let mut mixed = mix64(u64::from(src) << 32 | u64::from(dst));
        mixed = mix64(mixed ^ u64::from(rest) << 8 ^ u64::from(hash));
        mixed = mix64(mixed ^ version);
        u64::from(hash) * self.cells + ((u128::from(mixed) * u128::from(self.cells)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_signalled_once_a_period() {
        let mut filter = Suppression::new(3, 65_536, 5_000, true);
        let mut suppresses = |now, flow| filter.suppresses(now, (flow, 1, 2));
        assert_eq!(
            [0, 1, 4_999, 5_000, 5_001].map(|now| suppresses(now, 7)),
            [false, true, true, false, true]
        );
        assert!(!suppresses(5_002, 8));
        assert_eq!((filter.peak, filter.false_positives), (2, 0));
    }

    /// Flows share a filter of eight cells over many periods. Returns the longest run of false
    /// suppressions of one flow.
    fn longest_false_suppression(versioned: bool) -> usize {
        const PERIODS: u64 = 64;
        let mut filter = Suppression::new(1, 8, 1_000, versioned);
        let mut runs = [0; 6];
        let mut longest = 0;
        for period in 0..PERIODS {
            for (flow, run) in runs.iter_mut().enumerate() {
                let suppressed = filter.suppresses(period * 1_000, (flow as u32, 1, 2));
                *run = if suppressed { *run + 1 } else { 0 };
                longest = longest.max(*run);
            }
        }
        assert!(filter.false_positives > 0);
        longest
    }

    /// "When false positives occur, impacted flows may experience false suppression over multiple
    /// reset cycles" (§4), unless the hashes change with the period.
    #[test]
    fn a_version_ends_false_suppression() {
        assert_eq!(longest_false_suppression(false), 64);
        assert!(longest_false_suppression(true) < 16);
    }
}
