//! The messages from which nothing has arrived for long.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// An incomplete message as it was entered or last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Silent {
    /// Time of the last arrival of one of its packets (ps).
    pub(super) since_ps: u64,
    /// Its number, counted from 1 in the order of first arrivals.
    pub(super) number: u64,
    pub(super) half: u32,
}

/// The incomplete messages to one host, by the time of their last arrival.
///
/// An arrival does not touch this order. A message is looked at when it would be the first to time
/// out, so it costs one step per timeout, however many messages a host has.
#[derive(Debug, Default)]
pub(super) struct Silences(BinaryHeap<Reverse<Silent>>);

impl Silences {
    /// Enters a message that begins.
    pub(super) fn add(&mut self, message: Silent) {
        self.0.push(Reverse(message));
    }

    /// The message that has been silent for longest. `last_arrival` returns the time of a message's
    /// last arrival, or `None` if it has ended.
    pub(super) fn longest(
        &mut self,
        last_arrival: impl Fn(&Silent) -> Option<u64>,
    ) -> Option<Silent> {
        loop {
            let mut first = self.0.peek_mut()?;
            match last_arrival(&first.0) {
                None => {
                    PeekMut::pop(first);
                }
                Some(since_ps) if since_ps == first.0.since_ps => return Some(first.0),
                Some(since_ps) => first.0.since_ps = since_ps,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with a search of all messages.
        #[test]
        fn the_longest_silence_is_that_of_a_search(
            steps in prop::collection::vec((0u8..4, 0usize..20, 0u64..10), 1..200),
        ) {
            let mut silences = Silences::default();
            // The last arrival of each message; `None` once it has ended.
            let mut messages = Vec::<Option<u64>>::new();
            let mut now = 0;
            for (what, which, time) in steps {
                now += time;
                let count = messages.len().max(1);
                match what {
                    0 => {
                        let number = messages.len() as u64;
                        silences.add(Silent { since_ps: now, number, half: 0 });
                        messages.push(Some(now));
                    }
                    1 => {
                        if let Some(Some(last)) = messages.get_mut(which % count) {
                            *last = now;
                        }
                    }
                    2 => {
                        if let Some(message) = messages.get_mut(which % count) {
                            *message = None;
                        }
                    }
                    _ => {
                        let found = silences.longest(|silent| messages[silent.number as usize]);
                        let all = messages.iter().zip(0u64..);
                        let expected = all.filter_map(|(last, number)| Some(((*last)?, number)));
                        let found = found.map(|silent| (silent.since_ps, silent.number));
                        prop_assert_eq!(found, expected.min());
                    }
                }
            }
        }
    }
}
