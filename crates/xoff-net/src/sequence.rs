//! Events of one instant in the order of setting, as in simulators with a plain event queue (ns-3).
//!
//! An event's rank is the instant at which it was set, with a count within that instant.

/// Bits of the count within an instant. The bits above hold whole nanoseconds of 4.8 hours.
const COUNT_BITS: u32 = 20;
const PS_PER_NS: u64 = 1_000;

/// The ranks of events in the order of setting.
#[derive(Debug, Default)]
pub struct Sequence {
    instant: u64,
    count: u64,
}

impl Sequence {
    /// The rank of an event that was set at `ps`, before all events that [`Self::next`] counts
    /// there.
    #[must_use]
    pub fn rank_at(ps: u64) -> u64 {
        (ps / PS_PER_NS) << COUNT_BITS
    }

    /// The rank of an event that is set now.
    pub fn next(&mut self, now: u64) -> u64 {
        if now != self.instant {
            self.instant = now;
            self.count = 0;
        }
        self.count += 1;
        Self::rank_at(now) + self.count
    }

    /// When the event with this rank was set (ps).
    #[must_use]
    pub fn set_at(rank: u64) -> u64 {
        (rank >> COUNT_BITS) * PS_PER_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_follow_the_order_of_setting() {
        let mut sequence = Sequence::default();
        let ranks = [5_000, 5_000, 6_000, 6_000].map(|now| sequence.next(now));
        assert!(ranks.is_sorted_by(|a, b| a < b));
        assert!(Sequence::rank_at(5_000) < ranks[0] && ranks[1] < Sequence::rank_at(6_000));
        assert_eq!(Sequence::set_at(ranks[1]), 5_000);
    }
}
