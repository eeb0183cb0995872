//! Which of a fixed number of places has the least key: a tournament tree (Knuth, The Art of Computer
//! Programming 3, §5.4.1), in which a changed key plays again against those on its way to the top.

/// Keys of a fixed number of places, and the least of them.
#[derive(Clone, Debug)]
pub struct Tournament<K> {
    /// The winner over all at 1, of the two halves at 2 and 3 and so on; then the places themselves.
    nodes: Box<[K]>,
    first_place: usize,
}

impl<K: Copy + Ord> Tournament<K> {
    /// Places whose keys all are `none`, which no other key is greater than.
    #[must_use]
    pub fn new(places: usize, none: K) -> Self {
        let first_place = places.next_power_of_two();
        Self { nodes: vec![none; 2 * first_place].into_boxed_slice(), first_place }
    }

    /// Gives a place another key.
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
        /// Whatever the number of places, the least key is that of a search through all.
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
