//! The order in which a receiver grants its messages: "the message with the fewest remaining bytes"
//! first (Homa 3.5).
//!
//! Only the first messages can be granted, so only their ranks matter. The others are in a tree: a
//! host may have tens of thousands of them, and each packet changes the order.

use std::collections::BTreeSet;

/// A message with bytes not yet granted; the one with the least left comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ranked {
    /// Bytes that have not arrived.
    pub(super) left: u64,
    pub(super) flow: u32,
    pub(super) half: u32,
}

/// The messages to one host that are not fully granted.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    /// The first messages in order, up to the overcommitment.
    first: Vec<Ranked>,
    /// All others. They come after the first ones.
    rest: BTreeSet<Ranked>,
}

impl Ranking {
    /// The messages that may be granted, in order.
    pub(super) fn first(&self) -> &[Ranked] {
        &self.first
    }

    /// Adds a message. `overcommitment` messages may be granted at once.
    pub(super) fn insert(&mut self, message: Ranked, overcommitment: usize) {
        self.place(message, overcommitment);
    }

    /// Updates the bytes left of a message, which only fall. Returns its new rank if it may be
    /// granted.
    ///
    /// # Panics
    /// If it does not have the message, which is a bug.
    pub(super) fn bring_forward(
        &mut self,
        message: Ranked,
        left: u64,
        overcommitment: usize,
    ) -> Option<usize> {
        let now = Ranked { left, ..message };
        let Ok(old) = self.first.binary_search(&message) else {
            let found = self.rest.remove(&message);
            assert!(found, "a message that is not fully granted is ranked");
            return self.place(now, overcommitment);
        };
        let rank = self.first[..old].partition_point(|other| *other < now);
        self.first[rank..=old].rotate_right(1);
        self.first[rank] = now;
        Some(rank)
    }

    /// Removes the message with this rank. Returns true if another one may be granted in its place.
    pub(super) fn remove(&mut self, rank: usize) -> bool {
        self.first.remove(rank);
        let next = self.rest.pop_first();
        self.first.extend(next);
        next.is_some()
    }

    /// Puts a message in its place. Returns its rank if it may be granted.
    fn place(&mut self, message: Ranked, overcommitment: usize) -> Option<usize> {
        let rank = self.first.partition_point(|other| *other < message);
        if rank == overcommitment {
            self.rest.insert(message);
            return None;
        }
        if self.first.len() == overcommitment {
            self.rest.extend(self.first.pop());
        }
        self.first.insert(rank, message);
        Some(rank)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with a list that is sorted after each change.
        #[test]
        fn ranks_are_those_of_a_sorted_list(
            overcommitment in 1usize..5,
            steps in prop::collection::vec((0u8..4, 0usize..20, 0u64..6), 1..200),
        ) {
            let (mut ranking, mut list) = (Ranking::default(), Vec::<Ranked>::new());
            for (number, (what, which, bytes)) in steps.into_iter().enumerate() {
                let at_once = overcommitment.min(list.len());
                match what {
                    0 | 1 => {
                        let flow = (which * 1000 + number) as u32;
                        let message = Ranked { left: 20 + bytes, flow, half: number as u32 };
                        ranking.insert(message, overcommitment);
                        list.push(message);
                    }
                    2 if !list.is_empty() => {
                        let index = which % list.len();
                        let left = list[index].left.saturating_sub(bytes);
                        let rank = ranking.bring_forward(list[index], left, overcommitment);
                        list[index].left = left;
                        let message = list[index];
                        list.sort_unstable();
                        let expected = list.iter().position(|other| *other == message);
                        prop_assert_eq!(rank, expected.filter(|&rank| rank < overcommitment));
                    }
                    _ if at_once > 0 => {
                        let another = ranking.remove(which % at_once);
                        list.remove(which % at_once);
                        prop_assert_eq!(another, list.len() >= overcommitment);
                    }
                    _ => {}
                }
                list.sort_unstable();
                let at_once = overcommitment.min(list.len());
                prop_assert_eq!(ranking.first(), &list[..at_once]);
            }
        }
    }
}
