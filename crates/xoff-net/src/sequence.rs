//! Events of one instant in the order of setting, as in simulators with a plain event queue (ns-3).
//!
//! An event's rank is the instant at which it was set, with a count within that instant.

use crate::phase;

/// Bits of the count within an instant.
const COUNT_BITS: u32 = 13;
const PS_PER_NS: u64 = 1_000;

/// End of the order of setting (ps), after 4.5 minutes. Ranks would reach those of phases, which
/// some timers have: these come after all others.
pub const END_PS: u64 = (phase::ARRIVAL >> COUNT_BITS) * PS_PER_NS;

/// The ranks of events in the order of setting.
#[derive(Debug, Default)]
pub struct Sequence {
    last: u64,
}

impl Sequence {
    /// The rank of an event that was set at `ps`, before all events that [`Self::next`] counts
    /// there.
    #[must_use]
    pub fn rank_at(ps: u64) -> u64 {
        (ps / PS_PER_NS) << COUNT_BITS
    }

    /// The rank of an event that is set now. With more than 8,191 events in one nanosecond, the
    /// others count as set in the next ones. Their order stays that of setting.
    pub fn next(&mut self, now: u64) -> u64 {
        self.last = self.last.max(Self::rank_at(now)) + 1;
        self.last
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

    #[test]
    fn more_events_than_an_instant_counts_keep_their_order() {
        let mut sequence = Sequence::default();
        let mut last = 0;
        for now in [5_000, 6_000, 7_000, 8_000] {
            for _ in 0..20_000 {
                let rank = sequence.next(now);
                assert!(rank > last);
                last = rank;
            }
        }
        assert!(sequence.next(1_000_000) == Sequence::rank_at(1_000_000) + 1);
        assert_eq!(Sequence::rank_at(END_PS), phase::ARRIVAL);
    }
}
