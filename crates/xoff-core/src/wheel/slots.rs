//! Sorting of a bucket with many events: large networks have tens to thousands within 2 ns.

use super::{Entry, SHORT, sort_few};

/// Most slots: more would not stay in the first-level cache.
const SLOTS_MAX: usize = 1 << 9;

/// Sorts entries by distributing them to as many slots of their key as there are entries. Times
/// within a bucket are spread evenly, so a slot gets one or two. What is left is to sort each slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// For each slot, where its next entry goes.
    ends: Vec<u32>,
    spare: Vec<Entry>,
}

impl Slots {
    /// Sorts the entries of a bucket.
    #[cold]
    #[inline(never)]
    pub(super) fn sort(&mut self, entries: &mut [Entry]) {
        let count = entries.len().next_power_of_two().min(SLOTS_MAX);
        let slot = |entry: &Entry| (entry.key >> (u64::BITS - count.ilog2())) as usize;
        self.ends.clear();
        self.ends.resize(count, 0);
        for entry in entries.iter() {
            self.ends[slot(entry)] += 1;
        }
        let mut begin = 0;
        for end in &mut self.ends {
            begin += std::mem::replace(end, begin);
        }
        self.spare.clear();
        self.spare.extend_from_slice(entries);
        for entry in &self.spare {
            let end = &mut self.ends[slot(entry)];
            entries[*end as usize] = *entry;
            *end += 1;
        }
        let mut begin = 0;
        for &end in &self.ends {
            sort_slot(&mut entries[begin as usize..end as usize]);
            begin = end;
        }
    }
}

/// Events of one instant all get into one slot, however many they are.
#[inline(always)]
fn sort_slot(entries: &mut [Entry]) {
    if entries.len() > SHORT {
        entries.sort_unstable_by_key(|entry| entry.key);
    } else {
        sort_few(entries);
    }
}
