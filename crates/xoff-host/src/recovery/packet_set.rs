//! A set of packet numbers that are close together: one bit per packet.

use std::collections::VecDeque;
use std::ops::Range;

const BITS: u64 = u64::BITS as u64;

/// Packet numbers of a flow. Memory is proportional to the distance between the first and the last.
#[derive(Debug, Default)]
pub(crate) struct PacketSet {
    /// Index of the first word: the packet number of its lowest bit, divided by the word size.
    first_word: u64,
    words: VecDeque<u64>,
    count: u64,
}

impl PacketSet {
    /// Adds a packet; returns true if it is new.
    pub(crate) fn insert(&mut self, packet: u64) -> bool {
        let word = packet / BITS;
        self.cover(word..word + 1);
        self.add(word, 1 << (packet % BITS))
    }

    /// Adds all packets of a range; returns true if any is new.
    pub(crate) fn insert_range(&mut self, range: Range<u64>) -> bool {
        let words = words_of(&range);
        self.cover(words.clone());
        let mut new = false;
        for word in words {
            new |= self.add(word, mask(word, &range));
        }
        new
    }

    /// Extends the storage to these words.
    fn cover(&mut self, words: Range<u64>) {
        if self.words.is_empty() {
            self.first_word = words.start;
        }
        while words.start < self.first_word {
            self.words.push_front(0);
            self.first_word -= 1;
        }
        let places = words.end.saturating_sub(self.first_word) as usize;
        if places > self.words.len() {
            self.words.resize(places, 0);
        }
    }

    /// Adds bits to an existing word; returns true if any is new.
    fn add(&mut self, word: u64, bits: u64) -> bool {
        let held = &mut self.words[(word - self.first_word) as usize];
        let new = bits & !*held;
        *held |= bits;
        self.count += u64::from(new.count_ones());
        new != 0
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

    /// True if the set contains a packet.
    pub(crate) fn contains(&self, packet: u64) -> bool {
        self.word(packet / BITS) >> (packet % BITS) & 1 == 1
    }

    /// The 64 packets from `first`: one bit each, that of `first` lowest.
    pub(crate) fn bits_from(&self, first: u64) -> u64 {
        let (word, shift) = (first / BITS, first % BITS);
        // Two shifts, since one by 64 is none.
        self.word(word) >> shift | self.word(word + 1) << 1 << (BITS - 1 - shift)
    }

    /// The first packet at or after `from` that is not in the set.
    pub(crate) fn first_missing(&self, from: u64) -> u64 {
        let mut word = from / BITS;
        let mut missing = !self.word(word) & (u64::MAX << (from % BITS));
        while missing == 0 {
            word += 1;
            missing = !self.word(word);
        }
        word * BITS + u64::from(missing.trailing_zeros())
    }

    /// Number of packets in the set.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The contiguous range of packets around this one, which must be in the set.
    pub(crate) fn block_of(&self, packet: u64) -> Range<u64> {
        let mut word = packet / BITS;
        let mut missing = !self.word(word) & !(u64::MAX << (packet % BITS));
        while missing == 0 && word > self.first_word {
            word -= 1;
            missing = !self.word(word);
        }
        let first = match missing.checked_ilog2() {
            Some(bit) => word * BITS + u64::from(bit) + 1,
            None => word * BITS,
        };
        first..self.first_missing(packet)
    }

    /// Number of contiguous ranges of packets in the set.
    pub(crate) fn blocks(&self) -> u64 {
        let mut before = 0;
        let mut blocks = 0;
        for &word in &self.words {
            blocks += u64::from((word & !(word << 1 | before)).count_ones());
            before = word >> (BITS - 1);
        }
        blocks
    }

    /// The packet with exactly `after` larger ones in the set.
    pub(crate) fn nth_last(&self, after: u64) -> Option<u64> {
        let mut left = after;
        for (place, &word) in self.words.iter().enumerate().rev() {
            let here = u64::from(word.count_ones());
            if left < here {
                let bits = (0..left).fold(word, |bits, _| bits & !(1 << bits.ilog2()));
                return Some((self.first_word + place as u64) * BITS + u64::from(bits.ilog2()));
            }
            left -= here;
        }
        None
    }

    /// Number of packets of a range that are not in the set.
    pub(crate) fn count_missing(&self, range: Range<u64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let there: u32 =
            words_of(&range).map(|word| (self.word(word) & mask(word, &range)).count_ones()).sum();
        range.end - range.start - u64::from(there)
    }

    fn word(&self, word: u64) -> u64 {
        let place = word.checked_sub(self.first_word);
        place.and_then(|place| self.words.get(place as usize)).copied().unwrap_or(0)
    }
}

/// The words of a range of packets.
fn words_of(range: &Range<u64>) -> Range<u64> {
    range.start / BITS..range.end.div_ceil(BITS)
}

/// The bits of a word that belong to the range.
fn mask(word: u64, range: &Range<u64>) -> u64 {
    let mut bits = u64::MAX;
    if word == range.start / BITS {
        bits &= u64::MAX << (range.start % BITS);
    }
    if word == (range.end - 1) / BITS {
        bits &= u64::MAX >> (BITS - 1 - (range.end - 1) % BITS);
    }
    bits
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares ranges with single packets.
        #[test]
        fn a_range_equals_its_packets(
            ranges in prop::collection::vec((0u64..300, 0u64..150), 1..20),
        ) {
            let (mut set, mut plain) = (PacketSet::default(), PacketSet::default());
            for (first, count) in ranges {
                let packets = first..first + count;
                let new = packets.clone().filter(|&packet| plain.insert(packet)).count();
                prop_assert_eq!(set.insert_range(packets), new > 0);
                prop_assert_eq!(set.count(), plain.count());
            }
            for packet in (0..450).filter(|&packet| plain.contains(packet)) {
                let block = set.block_of(packet);
                prop_assert!(block.contains(&packet));
                prop_assert!(block.clone().all(|other| plain.contains(other)));
                prop_assert!(!plain.contains(block.end));
                prop_assert!(block.start == 0 || !plain.contains(block.start - 1));
            }
        }

        /// Compares with a set of the standard library while the base moves forward.
        #[test]
        fn agrees_with_a_standard_set(
            steps in prop::collection::vec((0u64..300, 0u64..40), 1..100),
        ) {
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
                if let Some(&last) = plain.last() {
                    let first = (0..last).rev().find(|packet| !plain.contains(packet));
                    let start = first.map_or(0, |first| first + 1);
                    prop_assert_eq!(set.block_of(last), start..last + 1);
                }
                for after in [0, 2, 70] {
                    let nth = plain.iter().nth_back(after).copied();
                    prop_assert_eq!(set.nth_last(after as u64), nth);
                }
                let range = base + on..base + ahead;
                let absent = range.clone().filter(|packet| !plain.contains(packet)).count();
                prop_assert_eq!(set.count_missing(range), absent as u64);
            }
        }
    }
}
