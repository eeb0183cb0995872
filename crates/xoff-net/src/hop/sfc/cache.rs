//! The pause cache: congested remote receivers, and the end of their congestion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use xoff_core::rng::mix64;

/// A cached pause end.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// When the pause ends by this switch's clock (ps); 0: never used.
    end_ps: u64,
    receiver: u32,
    class: u8,
}

/// A hash-addressed table with receiver and class as its key ("a key (dstIP, dscp) and stores a
/// value (pause-end time)", SFC §4). An entry is free once its pause has ended.
#[derive(Debug)]
pub(super) struct PauseCache {
    entries: Vec<Entry>,
    /// End of the last pause in the table. After that, no lookup is needed.
    latest_ps: u64,
    /// Entries with a pause that had not ended when the last one was added, by an end that may have
    /// been put off since.
    live: BinaryHeap<Reverse<(u64, u32)>>,
    /// Most live entries at any time.
    pub(super) peak: usize,
    /// Signals that found their entry taken by another receiver.
    pub(super) collisions: u64,
}

impl PauseCache {
    /// An empty cache.
    #[must_use]
    pub(super) fn new(entries: usize) -> Self {
        Self {
            entries: vec![Entry::default(); entries],
            latest_ps: 0,
            live: BinaryHeap::new(),
            peak: 0,
            collisions: 0,
        }
    }

    /// Stores the pause that a signal requests of senders to a receiver: `cache[key] =
    /// max(cache[key], now + pause_time)` (Algorithm 1, line 6). "If the table is full, or a hash
    /// collision happens, we just don't apply the optimization" (App. B.2).
    pub(super) fn store(&mut self, now: u64, receiver: u32, class: u8, pause_ps: u64) {
        let place = self.place(receiver, class);
        let entry = &mut self.entries[place];
        if entry.end_ps > now {
            if (entry.receiver, entry.class) != (receiver, class) {
                self.collisions += 1;
                return;
            }
            entry.end_ps = entry.end_ps.max(now + pause_ps);
        } else if pause_ps > 0 {
            *entry = Entry { end_ps: now + pause_ps, receiver, class };
            self.add_live(now, place);
        }
        self.latest_ps = self.latest_ps.max(self.entries[place].end_ps);
    }

    /// Counts an entry whose pause begins. An entry is looked at when its pause was to end, so a
    /// signal costs the same however many pauses last.
    fn add_live(&mut self, now: u64, place: usize) {
        // This entry's last pause has ended, so its old end goes, too.
        while let Some(mut first) = self.live.peek_mut()
            && first.0.0 <= now
        {
            let end_ps = self.entries[first.0.1 as usize].end_ps;
            if end_ps <= now || first.0.1 as usize == place {
                PeekMut::pop(first);
            } else {
                first.0.0 = end_ps;
            }
        }
        self.live.push(Reverse((self.entries[place].end_ps, place as u32)));
        self.peak = self.peak.max(self.live.len());
    }

    /// The rest of the pause of senders to a receiver (ps).
    #[inline]
    #[must_use]
    pub(super) fn remaining(&self, now: u64, receiver: u32, class: u8) -> u64 {
        if now >= self.latest_ps {
            return 0;
        }
        let entry = &self.entries[self.place(receiver, class)];
        if (entry.receiver, entry.class) == (receiver, class) {
            entry.end_ps.saturating_sub(now)
        } else {
            0
        }
    }

    #[inline]
    fn place(&self, receiver: u32, class: u8) -> usize {
        let mixed = mix64(u64::from(receiver) << 8 | u64::from(class));
        ((u128::from(mixed) * self.entries.len() as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_later_end_stays_until_it_has_passed() {
        let mut cache = PauseCache::new(32_768);
        cache.store(100, 5, 0, 50);
        cache.store(110, 5, 0, 10);
        assert_eq!(cache.remaining(120, 5, 0), 30);
        cache.store(120, 5, 0, 80);
        assert_eq!((cache.remaining(120, 5, 0), cache.remaining(199, 5, 0)), (80, 1));
        assert_eq!((cache.remaining(120, 5, 1), cache.remaining(120, 6, 0)), (0, 0));
        assert_eq!(cache.remaining(200, 5, 0), 0);
        assert_eq!(cache.peak, 1);
    }

    #[test]
    fn a_collision_keeps_what_was_there_until_it_has_expired() {
        let mut cache = PauseCache::new(1);
        cache.store(0, 5, 0, 50);
        cache.store(10, 6, 0, 100);
        assert_eq!((cache.remaining(20, 5, 0), cache.remaining(20, 6, 0)), (30, 0));
        assert_eq!(cache.collisions, 1);
        cache.store(50, 6, 0, 100);
        assert_eq!((cache.remaining(60, 5, 0), cache.remaining(60, 6, 0)), (0, 90));
    }

    proptest! {
        /// With any number of entries, a lookup never finds more than a table without collisions. A
        /// collision costs signals but never causes a pause without need.
        #[test]
        fn collisions_only_lose(
            entries in 1usize..8,
            steps in prop::collection::vec((0u64..30, 0u32..12, 0u8..2, 0u64..100), 1..200),
        ) {
            let mut cache = PauseCache::new(entries);
            let mut exact = BTreeMap::<(u32, u8), u64>::new();
            let (mut now, mut most) = (0, 0);
            for (step, receiver, class, pause) in steps {
                now += step;
                let found = cache.remaining(now, receiver, class);
                let end = exact.entry((receiver, class)).or_insert(0);
                prop_assert!(found <= end.saturating_sub(now));
                // Nothing is lost as long as nothing collides.
                prop_assert!(cache.collisions > 0 || found == end.saturating_sub(now));
                cache.store(now, receiver, class, pause);
                *end = (*end).max(now + pause);
                let last = cache.entries.iter().filter(|entry| entry.end_ps > now).count();
                most = most.max(last);
                prop_assert_eq!(cache.peak, most);
            }
        }
    }

    /// A pause that ends now holds no entry any more.
    #[test]
    fn the_peak_counts_pauses_that_last() {
        let mut cache = PauseCache::new(32_768);
        cache.store(0, 5, 0, 50);
        cache.store(50, 6, 0, 50);
        assert_eq!(cache.peak, 1);
        cache.store(60, 7, 0, 100);
        assert_eq!((cache.peak, cache.collisions), (2, 0));
    }
}
