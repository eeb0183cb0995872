//! A set of packet numbers that lie close together: one bit a packet.

use std::collections::VecDeque;
use std::ops::Range;

const BITS: u64 = u64::BITS as u64;

/// Packets by their number in the flow. Memory follows the distance between the first and the last.
#[derive(Debug, Default)]
pub(crate) struct PacketSet {
    /// What the first word's lowest bit stands for, in words.
    first_word: u64,
    words: VecDeque<u64>,
    count: u64,
}

impl PacketSet {
    /// Adds a packet; whether it was not there yet.
    pub(crate) fn insert(&mut self, packet: u64) -> bool {
        let word = packet / BITS;
        if self.words.is_empty() {
            self.first_word = word;
        }
        while word < self.first_word {
            self.words.push_front(0);
            self.first_word -= 1;
        }
        let place = (word - self.first_word) as usize;
        if place >= self.words.len() {
            self.words.resize(place + 1, 0);
        }
        let bit = 1 << (packet % BITS);
        let new = self.words[place] & bit == 0;
        self.words[place] |= bit;
        self.count += u64::from(new);
        new
    }

    /// Removes all packets before this one.
    pub(crate) fn remove_before(&mut self, packet: u64) {
        while self.first_word < packet / BITS
            && let Some(word) = self.words.pop_front()
        {
            self.first_word += 1;
            self.count -= u64::from(word.count_ones());
        }
        if self.first_word == packet / BITS
            && let Some(word) = self.words.front_mut()
        {
            let gone = *word & ((1 << (packet % BITS)) - 1);
            *word ^= gone;
            self.count -= u64::from(gone.count_ones());
        }
        if self.count == 0 {
            self.words.clear();
        }
    }

    /// Whether a packet is in it.
    pub(crate) fn contains(&self, packet: u64) -> bool {
        self.word(packet / BITS) >> (packet % BITS) & 1 == 1
    }

    /// The first packet from this one on that is not in it.
    pub(crate) fn first_missing(&self, from: u64) -> u64 {
        let mut word = from / BITS;
        let mut missing = !self.word(word) & (u64::MAX << (from % BITS));
        while missing == 0 {
            word += 1;
            missing = !self.word(word);
        }
        word * BITS + u64::from(missing.trailing_zeros())
    }

    /// How many are in it.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// How many packets of a range are not in it.
    pub(crate) fn count_missing(&self, range: Range<u64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let (first, last) = (range.start / BITS, (range.end - 1) / BITS);
        let there: u32 = (first..=last)
            .map(|word| {
                let mut bits = self.word(word);
                if word == first {
                    bits &= u64::MAX << (range.start % BITS);
                }
                if word == last {
                    bits &= u64::MAX >> (BITS - 1 - (range.end - 1) % BITS);
                }
                bits.count_ones()
            })
            .sum();
        range.end - range.start - u64::from(there)
    }

    fn word(&self, word: u64) -> u64 {
        let place = word.checked_sub(self.first_word);
        place.and_then(|place| self.words.get(place as usize)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a set of the standard library, while the packets of interest move on.
        #[test]
        fn it_is_a_set(steps in prop::collection::vec((0u64..300, 0u64..40), 1..100)) {
            let mut set = PacketSet::default();
            let mut plain = BTreeSet::new();
            let mut base = 0;
            for (ahead, on) in steps {
                prop_assert_eq!(set.insert(base + ahead), plain.insert(base + ahead));
                prop_assert!(set.contains(base + ahead));
                base += on;
                set.remove_before(base);
                plain.retain(|&packet| packet >= base);
                prop_assert_eq!(set.count(), plain.len() as u64);
                let missing = (base..).find(|packet| !plain.contains(packet)).unwrap();
                prop_assert_eq!(set.first_missing(base), missing);
                let range = base + on..base + ahead;
                let absent = range.clone().filter(|packet| !plain.contains(packet)).count();
                prop_assert_eq!(set.count_missing(range), absent as u64);
            }
        }
    }
}
