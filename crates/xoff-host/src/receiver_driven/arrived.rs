//! The packets of a flow that have arrived.

use crate::recovery::packet_set::PacketSet;

/// All packets before `next`, and some after it.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    next: u64,
    beyond: PacketSet,
}

impl Arrived {
    /// The first missing packet.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn contains(&self, packet: u64) -> bool {
        packet < self.next || self.beyond.contains(packet)
    }

    /// Adds a packet; returns true if it is new.
    pub(crate) fn insert(&mut self, packet: u64) -> bool {
        if packet != self.next {
            return packet > self.next && self.beyond.insert(packet);
        }
        self.next = self.beyond.first_missing(packet + 1);
        self.beyond.remove_before(self.next);
        true
    }

    /// True if no packet has arrived after a missing one.
    pub(crate) fn has_no_gap(&self) -> bool {
        self.beyond.count() == 0
    }

    /// The packets after a gap: one bit for each of the 64 from `first`, set if it has arrived.
    pub(crate) fn bits_from(&self, first: u64) -> u64 {
        self.beyond.bits_from(first)
    }

    /// Clears the set for another flow; keeps its memory.
    pub(crate) fn restart(&mut self) {
        self.next = 0;
        self.beyond.remove_before(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_a_set_of_numbers(packets in prop::collection::vec(0u64..200, 1..400)) {
            let mut arrived = Arrived::default();
            for _ in 0..2 {
                let mut numbers = BTreeSet::new();
                for &packet in &packets {
                    prop_assert_eq!(arrived.insert(packet), numbers.insert(packet));
                    let next = (0..).find(|number| !numbers.contains(number));
                    prop_assert_eq!(Some(arrived.next()), next);
                }
                let after = numbers.iter().filter(|&&number| number > arrived.next());
                prop_assert_eq!(arrived.has_no_gap(), after.clone().next().is_none());
                for first in [0, 1, 63, 64, 100] {
                    let places = after.clone().filter_map(|&number| number.checked_sub(first));
                    let bits = places.filter(|&place| place < 64).map(|place| 1_u64 << place);
                    prop_assert_eq!(arrived.bits_from(first), bits.sum::<u64>());
                }
                prop_assert!((0..300).all(|n| arrived.contains(n) == numbers.contains(&n)));
                arrived.restart();
            }
        }
    }
}
