//! The order in which a hash map of GNU's C++ library holds its keys.

/// Numbers of buckets of a map that grows by single insertions, from an empty one on.
const BUCKETS: [u64; 17] = [
    13, 29, 59, 127, 257, 541, 1_109, 2_357, 5_087, 10_273, 20_753, 42_043, 85_229, 172_933,
    351_061, 712_697, 1_447_153,
];

/// The keys of a `std::unordered_map` from 64-bit integers, with a value each, in the order of
/// iteration. An integer is its own hash. Keys of one bucket stand together. A new key comes before
/// the others of its bucket, or before all keys if it has none.
#[derive(Debug, Default)]
pub(super) struct MapOrder {
    entries: Vec<(u64, u32)>,
    /// How often the map has grown.
    grown: usize,
}

impl MapOrder {
    /// Adds a key.
    pub(super) fn insert(&mut self, key: u64, value: u32) {
        if self.entries.len() as u64 == self.buckets() || self.grown == 0 {
            self.grown += 1;
            // The map takes its keys over in their order.
            let before = std::mem::take(&mut self.entries);
            before.into_iter().for_each(|entry| self.place(entry));
        }
        self.place((key, value));
    }

    /// Removes a key.
    pub(super) fn remove(&mut self, key: u64) {
        self.entries.retain(|entry| entry.0 != key);
    }

    /// The values in the order of their keys.
    pub(super) fn values(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().map(|entry| entry.1)
    }

    fn buckets(&self) -> u64 {
        BUCKETS[self.grown.clamp(1, BUCKETS.len()) - 1]
    }

    fn place(&mut self, entry: (u64, u32)) {
        let buckets = self.buckets();
        let bucket = |key: u64| key % buckets;
        let found = self.entries.iter().position(|other| bucket(other.0) == bucket(entry.0));
        self.entries.insert(found.unwrap_or(0), entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a program with GCC 12 printed for the same keys.
    #[test]
    fn keys_come_in_the_order_of_the_library() {
        let mut map = MapOrder::default();
        let mut keys = Vec::new();
        let mut state = 1u64;
        for value in 0..60 {
            let next = state.wrapping_mul(6_364_136_223_846_793_005);
            state = next.wrapping_add(1_442_695_040_888_963_407);
            keys.push(state >> 40);
            map.insert(state >> 40, value);
            if value % 3 == 2 {
                map.remove(keys[value as usize / 2]);
            }
        }
        let expected = [
            59, 58, 57, 56, 54, 49, 53, 47, 51, 46, 48, 44, 55, 43, 15, 18, 40, 52, 9, 31, 0, 50,
            34, 6, 39, 27, 30, 37, 24, 21, 32, 3, 36, 41, 33, 35, 38, 45, 12, 42,
        ];
        assert_eq!(map.values().collect::<Vec<_>>(), expected);
    }
}
