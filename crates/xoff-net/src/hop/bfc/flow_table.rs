//! BFC's flow table (§3.3.1): "an array indexed by the egress port of a flow and the hash of the
//! FID". Only the entries in use are stored.
//!
//! A switch has the whole array, with thousands of entries per port. Only entries of flows with
//! packets at the switch, now or a moment ago, have an effect: an entry without packets that is
//! older than the sticky threshold equals a blank one. A port stores the entries in use in a small
//! open-addressed table, so that a network of thousands of ports fits into memory and caches.

/// No queue assigned yet.
pub(super) const UNASSIGNED: u8 = u8::MAX;
/// Not the index of an entry.
const NOBODY: u32 = u32::MAX;
const FIRST_SLOTS: usize = 8;

/// The queue of the flows that hash to one index, their packets in it, and the time of the last
/// arrival or departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    index: u32,
    /// Time of the last arrival or departure, in the table's unit of time. It wraps around.
    pub(super) stamp: u32,
    /// Packets.
    pub(super) size: u32,
    /// The flow of the last packet that arrived: the lower half of its number, so that an entry has
    /// 16 bytes.
    pub(super) flow: u16,
    /// Queue, or UNASSIGNED.
    pub(super) queue: u8,
}

impl Entry {
    const fn blank(index: u32) -> Self {
        Self { index, stamp: 0, size: 0, flow: 0, queue: UNASSIGNED }
    }

    /// "A new queue assignment only happens if the size value in the flow table is 0, and the
    /// timestamp is older than a sticky threshold" (§3.3.2).
    #[inline]
    pub(super) fn keeps_queue(&self, now: u32, sticky: u32) -> bool {
        self.size > 0 || self.queue != UNASSIGNED && now.wrapping_sub(self.stamp) <= sticky
    }
}

/// The entries of one egress port.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowTable {
    /// The number of slots is a power of two, or 0 before the port is first used.
    slots: Vec<Entry>,
    /// Slots that are not blank.
    taken: usize,
    /// The slot looked up last: a packet looks up the same slot when it joins and when it leaves.
    last: usize,
}

impl FlowTable {
    /// The entry at an index, or a blank entry if none is in use.
    #[inline]
    pub(super) fn entry(&mut self, index: u32, now: u32, sticky: u32) -> &mut Entry {
        let last = self.last;
        // Two branches, so that the usual one checks bounds once.
        if self.slots.get(last).is_some_and(|slot| slot.index == index) {
            return &mut self.slots[last];
        }
        self.last = self.find(index, now, sticky);
        &mut self.slots[self.last]
    }

    /// The queue of each entry with packets.
    pub(super) fn queues_in_use(&self) -> impl Iterator<Item = u8> {
        self.slots.iter().filter(|entry| entry.size > 0).map(|entry| entry.queue)
    }

    /// The index and the packets of each entry with packets.
    pub(super) fn sizes(&self) -> impl Iterator<Item = (u32, u32)> {
        self.slots.iter().filter(|entry| entry.size > 0).map(|entry| (entry.index, entry.size))
    }

    #[inline(never)]
    fn find(&mut self, index: u32, now: u32, sticky: u32) -> usize {
        let mask = self.slots.len().wrapping_sub(1);
        let mut place = index as usize & mask;
        // There is always a blank slot, unless the table has no slots.
        while let Some(slot) = self.slots.get(place) {
            if slot.index == index {
                return place;
            }
            if slot.index == NOBODY {
                break;
            }
            place = (place + 1) & mask;
        }
        self.insert(index, now, sticky)
    }

    /// Inserts a blank entry into the first slot on its index's path that is not in use.
    #[inline(never)]
    fn insert(&mut self, index: u32, now: u32, sticky: u32) -> usize {
        if (self.taken + 1) * 4 > self.slots.len() * 3 {
            self.rebuild(now, sticky);
        }
        let mask = self.slots.len() - 1;
        let mut place = index as usize & mask;
        while self.slots[place].index != NOBODY {
            if !self.slots[place].keeps_queue(now, sticky) {
                self.taken -= 1;
                break;
            }
            place = (place + 1) & mask;
        }
        self.taken += 1;
        self.slots[place] = Entry::blank(index);
        place
    }

    /// Removes entries that are not in use. The table grows if there were few of them.
    fn rebuild(&mut self, now: u32, sticky: u32) {
        let kept: Vec<Entry> =
            self.slots.iter().copied().filter(|entry| entry.keeps_queue(now, sticky)).collect();
        let slots = FIRST_SLOTS.max((kept.len() * 2 + 1).next_power_of_two());
        self.slots.clear();
        self.slots.resize(slots, Entry::blank(NOBODY));
        self.taken = kept.len();
        for entry in kept {
            let mut place = entry.index as usize & (slots - 1);
            while self.slots[place].index != NOBODY {
                place = (place + 1) & (slots - 1);
            }
            self.slots[place] = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STICKY: u32 = 40;

    proptest! {
        /// Compares the table with the whole array: flows come and go at random, some one after the
        /// other, and each finds the queue that the array holds.
        #[test]
        fn is_as_good_as_the_whole_array(
            steps in prop::collection::vec((0u32..60, 0u32..30, any::<bool>()), 1..600),
            start in prop_oneof![Just(0u32), Just(u32::MAX - 500)],
        ) {
            let mut table = FlowTable::default();
            let mut array: Vec<Entry> = (0..60).map(Entry::blank).collect();
            let mut now = start;
            for (count, (index, wait, comes)) in steps.into_iter().enumerate() {
                now = now.wrapping_add(wait);
                let whole = &mut array[index as usize];
                let entry = table.entry(index, now, STICKY);
                prop_assert_eq!(entry.size, whole.size);
                let keeps = whole.keeps_queue(now, STICKY);
                prop_assert_eq!(entry.keeps_queue(now, STICKY), keeps);
                if keeps {
                    prop_assert_eq!(entry.queue, whole.queue);
                } else {
                    (entry.queue, whole.queue) = (count as u8 % 31, count as u8 % 31);
                }
                for entry in [entry, whole] {
                    entry.size = if comes { entry.size + 1 } else { entry.size.saturating_sub(1) };
                    entry.stamp = now;
                }
                prop_assert!(table.slots.len() <= 128, "{}", table.slots.len());
            }
        }
    }

    #[test]
    fn flows_that_have_gone_leave_no_trace() {
        let mut table = FlowTable::default();
        for flow in 0..10_000u32 {
            let entry = table.entry(flow.wrapping_mul(2_654_435_761) >> 20, flow * 10, STICKY);
            (entry.queue, entry.stamp) = (1, flow * 10);
        }
        assert!(table.slots.len() <= 16, "{}", table.slots.len());
    }
}
