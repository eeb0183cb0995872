//! Minimum over a fixed number of keys: a tournament tree (Knuth, The Art of Computer Programming
//! 3, §5.4.1). A changed key is compared again with its competitors on the path to the root.

/// A fixed number of places, each with a key, and the least of the keys.
#[derive(Clone, Debug)]
pub struct Tournament<K> {
    /// Index 1 has the overall winner, 2 and 3 the winners of the two halves, and so on. The places
    /// themselves are the leaves.
    nodes: Box<[K]>,
    first_place: usize,
}

impl<K: Copy + Ord> Tournament<K> {
    /// Creates `places` places with the key `none`, which must be the greatest key.
    #[must_use]
    pub fn new(places: usize, none: K) -> Self {
        let first_place = places.next_power_of_two();
        Self { nodes: vec![none; 2 * first_place].into_boxed_slice(), first_place }
    }

    /// Changes the key of a place.
    #[inline]
    pub fn set(&mut self, place: usize, key: K) {
        let mut node = self.first_place + place;
        let mut winner = key;
        self.nodes[node] = key;
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1]);
            node >>= 1;
            self.nodes[node] = winner;
        }
    }

    /// The least key.
    #[inline]
    #[must_use]
    pub fn least(&self) -> K {
        self.nodes[1]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// For any number of places, the least key equals that of a linear search.
        #[test]
        fn the_least_key_wins(
            places in 1usize..130,
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0u32..50), 1..200),
        ) {
            let mut tournament = Tournament::new(places, u32::MAX);
            let mut keys = vec![u32::MAX; places];
            prop_assert_eq!(tournament.least(), u32::MAX);
            for (place, key) in changes {
                let place = place.index(places);
                let key = if key == 0 { u32::MAX } else { key };
                keys[place] = key;
                tournament.set(place, key);
                prop_assert_eq!(Some(tournament.least()), keys.iter().copied().min());
            }
        }
    }
}
