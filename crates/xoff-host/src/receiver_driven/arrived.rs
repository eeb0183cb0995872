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
                prop_assert!((0..300).all(|n| arrived.contains(n) == numbers.contains(&n)));
                arrived.restart();
            }
        }
    }
}
