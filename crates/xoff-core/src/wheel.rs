//! The event queue: a hierarchical time wheel of event *slots*.
//!
//! A slot is created once for each thing that can happen next (the head of a link, a port's wake-up,
//! a timer) and holds at most one pending event, so the queue's size is the topology's, not the
//! traffic's, and arming, moving and cancelling are O(1) without any garbage.
//!
//! Level 0 has fine buckets, each a list kept in the full order (time, rank); the coarser levels
//! hold unordered lists that are dealt out again when the wheel reaches them. Bitmaps only find the
//! next bucket that is not empty: they never decide an order.

/// The number of a slot.
pub type SlotId = u32;

const NONE: u32 = u32::MAX;
const LEVELS: usize = 4;
/// Buckets per level, as a power of two: 4096, the reach of a 64 x 64 bitmap.
const BITS: u32 = 12;
const BUCKETS: usize = 1 << BITS;
const MASK: u64 = (BUCKETS - 1) as u64;

#[derive(Clone, Debug)]
struct Slot {
    time: u64,
    rank: u64,
    next: u32,
    prev: u32,
    /// Level x BUCKETS + bucket while armed, NONE otherwise.
    home: u32,
    tag: u32,
}

/// 4096 lists and a two-level bitmap of those that are not empty.
#[derive(Clone, Debug)]
struct Level {
    heads: Box<[u32; BUCKETS]>,
    words: [u64; 64],
    summary: u64,
}

impl Level {
    fn new() -> Self {
        Self { heads: Box::new([NONE; BUCKETS]), words: [0; 64], summary: 0 }
    }

    #[inline]
    fn set(&mut self, bucket: usize) {
        self.words[bucket >> 6] |= 1 << (bucket & 63);
        self.summary |= 1 << (bucket >> 6);
    }

    #[inline]
    fn clear(&mut self, bucket: usize) {
        let word = &mut self.words[bucket >> 6];
        *word &= !(1 << (bucket & 63));
        if *word == 0 {
            self.summary &= !(1 << (bucket >> 6));
        }
    }

    /// How many buckets after `from` (0 for `from` itself, cyclic) the next one with events is.
    #[inline]
    fn distance(&self, from: usize) -> Option<u64> {
        let (word, bit) = (from >> 6, from & 63);
        let here = self.words[word] >> bit;
        if here != 0 {
            return Some(u64::from(here.trailing_zeros()));
        }
        // Words after this one, then (cyclically) the words before, then this word's low part.
        let rotated = self.summary.rotate_right(word as u32 + 1);
        if rotated == 0 {
            return None;
        }
        let found = (word + 1 + rotated.trailing_zeros() as usize) & 63;
        let bucket = (found << 6) + self.words[found].trailing_zeros() as usize;
        Some((bucket.wrapping_sub(from) as u64) & MASK)
    }
}

/// The time wheel. Times are picoseconds; events pop in the order (time, rank).
#[derive(Clone, Debug)]
pub struct Wheel {
    slots: Vec<Slot>,
    levels: [Level; LEVELS],
    /// log2 of a level-0 bucket's width in picoseconds.
    shift: u32,
    /// The level-0 bucket (time >> shift) that is being drained. Nothing is earlier.
    cursor: u64,
    armed: usize,
}

impl Wheel {
    /// An empty wheel whose finest buckets are `2^shift` ps wide.
    #[must_use]
    pub fn new(shift: u32) -> Self {
        Self {
            slots: Vec::new(),
            levels: core::array::from_fn(|_| Level::new()),
            shift,
            cursor: 0,
            armed: 0,
        }
    }

    /// Adds a slot. `rank` orders events of one time and must be unique among the slots that can be
    /// armed for one time; `tag` is the owner's own name for the slot.
    pub fn add_slot(&mut self, rank: u64, tag: u32) -> SlotId {
        let id = self.slots.len() as SlotId;
        self.slots.push(Slot { time: 0, rank, next: NONE, prev: NONE, home: NONE, tag });
        id
    }

    /// Gives an idle slot another rank (a timer whose owner changes).
    ///
    /// # Panics
    /// If the slot is armed.
    pub fn set_rank(&mut self, id: SlotId, rank: u64) {
        let slot = &mut self.slots[id as usize];
        assert!(slot.home == NONE, "the rank of an armed slot cannot change");
        slot.rank = rank;
    }

    /// The slot's tag.
    #[inline]
    #[must_use]
    pub fn tag(&self, id: SlotId) -> u32 {
        self.slots[id as usize].tag
    }

    /// The time the slot is armed for.
    #[inline]
    #[must_use]
    pub fn armed(&self, id: SlotId) -> Option<u64> {
        let slot = &self.slots[id as usize];
        (slot.home != NONE).then_some(slot.time)
    }

    /// How many slots there are: the number that the next one gets.
    #[must_use]
    pub fn len_slots(&self) -> SlotId {
        self.slots.len() as SlotId
    }

    /// How many slots are armed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.armed
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.armed == 0
    }

    /// Arms the slot for `time`, moving it if it was armed.
    ///
    /// # Panics
    /// In debug builds, if `time` lies before the event popped last.
    #[inline]
    pub fn arm(&mut self, id: SlotId, time: u64) {
        if self.slots[id as usize].home != NONE {
            self.unlink(id);
        } else {
            self.armed += 1;
        }
        self.slots[id as usize].time = time;
        self.link(id);
    }

    /// Arms the slot for `time` with another rank.
    pub fn arm_ranked(&mut self, id: SlotId, time: u64, rank: u64) {
        self.cancel(id);
        self.set_rank(id, rank);
        self.arm(id, time);
    }

    /// Disarms the slot.
    #[inline]
    pub fn cancel(&mut self, id: SlotId) {
        if self.slots[id as usize].home != NONE {
            self.unlink(id);
            self.armed -= 1;
        }
    }

    /// Takes the first event before `limit`: its time and slot. Afterwards the wheel stands at that
    /// time, or at `limit` if there was none: nothing may be armed for a time before.
    #[inline]
    pub fn pop_before(&mut self, limit: u64) -> Option<(u64, SlotId)> {
        let id = self.first_before(limit)?;
        self.armed -= 1;
        // The first event is the head of the bucket at the cursor.
        let slot = &mut self.slots[id as usize];
        slot.home = NONE;
        let (time, next) = (slot.time, slot.next);
        let bucket = (self.cursor & MASK) as usize;
        self.levels[0].heads[bucket] = next;
        if next == NONE {
            self.levels[0].clear(bucket);
        } else {
            self.slots[next as usize].prev = NONE;
        }
        Some((time, id))
    }

    /// The time of the first event before `limit`, which stays. The wheel then stands at that time,
    /// or at `limit` if there was none.
    #[inline]
    pub fn peek_before(&mut self, limit: u64) -> Option<u64> {
        self.first_before(limit).map(|id| self.slots[id as usize].time)
    }

    /// Whether anything is armed for `now`, at or before which the wheel stands, or earlier.
    #[inline]
    pub fn is_due(&mut self, now: u64) -> bool {
        if now >> self.shift != self.cursor {
            return self.peek_before(now + 1).is_some();
        }
        let head = self.levels[0].heads[(self.cursor & MASK) as usize];
        head != NONE && self.slots[head as usize].time <= now
    }

    #[inline]
    fn first_before(&mut self, limit: u64) -> Option<SlotId> {
        let head = self.levels[0].heads[(self.cursor & MASK) as usize];
        if head != NONE {
            return (self.slots[head as usize].time < limit).then_some(head);
        }
        loop {
            let boundary = (self.cursor | MASK) + 1;
            if let Some(distance) = self.levels[0].distance((self.cursor & MASK) as usize) {
                let bucket = self.cursor + distance;
                if bucket < boundary {
                    let head = self.levels[0].heads[(bucket & MASK) as usize];
                    if self.slots[head as usize].time >= limit {
                        return None;
                    }
                    self.cursor = bucket;
                    return Some(head);
                }
            }
            if !self.turn(boundary, limit) {
                return None;
            }
        }
    }

    /// Moves the cursor to the next level-1 bucket that may hold events and deals the coarser levels
    /// out. Returns false if nothing is pending before `limit`.
    #[cold]
    fn turn(&mut self, boundary: u64, limit: u64) -> bool {
        if self.armed == 0 {
            return false;
        }
        // The earliest bucket start over all levels, at or after the boundary.
        let mut target = u64::MAX;
        for (level, lists) in self.levels.iter().enumerate() {
            let from = if level == 0 { boundary } else { self.cursor >> (BITS * level as u32) };
            let from = if level == 0 { from } else { from + 1 };
            if let Some(distance) = lists.distance((from & MASK) as usize) {
                target = target.min((from + distance) << (BITS * level as u32));
            }
        }
        debug_assert!(target != u64::MAX, "armed slots but no bucket");
        let target = target & !MASK;
        if u128::from(target) << self.shift >= u128::from(limit) {
            return false;
        }
        let old = self.cursor;
        self.cursor = target;
        for level in (1..LEVELS).rev() {
            let shift = BITS * level as u32;
            if old >> shift != target >> shift {
                self.deal(level, ((target >> shift) & MASK) as usize);
            }
        }
        true
    }

    /// Puts the events of one coarse bucket where they now belong.
    fn deal(&mut self, level: usize, bucket: usize) {
        let mut id = std::mem::replace(&mut self.levels[level].heads[bucket], NONE);
        self.levels[level].clear(bucket);
        while id != NONE {
            let next = self.slots[id as usize].next;
            self.link(id);
            id = next;
        }
    }

    #[inline]
    fn link(&mut self, id: SlotId) {
        let (time, rank) = {
            let slot = &self.slots[id as usize];
            (slot.time, slot.rank)
        };
        let bucket = time >> self.shift;
        debug_assert!(bucket >= self.cursor, "an event in the past");
        if bucket - self.cursor < BUCKETS as u64 {
            self.link_in_order(id, (bucket & MASK) as usize, time, rank);
        } else {
            self.link_far(id, bucket);
        }
    }

    #[inline]
    fn link_in_order(&mut self, id: SlotId, bucket: usize, time: u64, rank: u64) {
        let mut prev = NONE;
        let mut next = self.levels[0].heads[bucket];
        while next != NONE {
            let other = &self.slots[next as usize];
            if (other.time, other.rank) > (time, rank) {
                break;
            }
            prev = next;
            next = other.next;
        }
        let slot = &mut self.slots[id as usize];
        slot.prev = prev;
        slot.next = next;
        slot.home = bucket as u32;
        if next != NONE {
            self.slots[next as usize].prev = id;
        }
        if prev == NONE {
            self.levels[0].heads[bucket] = id;
            self.levels[0].set(bucket);
        } else {
            self.slots[prev as usize].next = id;
        }
    }

    fn link_far(&mut self, id: SlotId, bucket: u64) {
        let level = (1..LEVELS - 1)
            .find(|&level| {
                let shift = BITS * level as u32;
                (bucket >> shift) - (self.cursor >> shift) < BUCKETS as u64
            })
            .unwrap_or(LEVELS - 1);
        let shift = BITS * level as u32;
        // Beyond the last level's reach events wait in its furthest bucket and are dealt out again.
        let place = (bucket >> shift).min((self.cursor >> shift) + MASK);
        let place = (place & MASK) as usize;
        let head = self.levels[level].heads[place];
        let slot = &mut self.slots[id as usize];
        slot.prev = NONE;
        slot.next = head;
        slot.home = (level * BUCKETS + place) as u32;
        if head != NONE {
            self.slots[head as usize].prev = id;
        }
        self.levels[level].heads[place] = id;
        self.levels[level].set(place);
    }

    #[inline]
    fn unlink(&mut self, id: SlotId) {
        let slot = &mut self.slots[id as usize];
        let (prev, next, home) = (slot.prev, slot.next, slot.home as usize);
        slot.home = NONE;
        if next != NONE {
            self.slots[next as usize].prev = prev;
        }
        if prev != NONE {
            self.slots[prev as usize].next = next;
            return;
        }
        let level = &mut self.levels[home >> BITS];
        let bucket = home & (BUCKETS - 1);
        level.heads[bucket] = next;
        if next == NONE {
            level.clear(bucket);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn wheel(slots: u32) -> Wheel {
        let mut wheel = Wheel::new(3);
        for id in 0..slots {
            wheel.add_slot(u64::from(slots - id), id);
        }
        wheel
    }

    #[test]
    fn pops_in_order_of_time_then_rank() {
        let mut wheel = wheel(4);
        for (id, time) in [(0, 100), (1, 100), (2, 7), (3, 1 << 60)] {
            wheel.arm(id, time);
        }
        wheel.arm(2, 9);
        wheel.cancel(0);
        assert_eq!(wheel.pop_before(u64::MAX), Some((9, 2)));
        wheel.arm(0, 100);
        assert_eq!(wheel.pop_before(100), None);
        assert_eq!(wheel.pop_before(101), Some((100, 1)));
        assert_eq!(wheel.pop_before(101), Some((100, 0)));
        wheel.arm(0, 1 << 60);
        wheel.arm_ranked(0, 1 << 60, 0);
        assert_eq!(wheel.pop_before(u64::MAX), Some((1 << 60, 0)));
        assert_eq!(wheel.pop_before(u64::MAX), Some((1 << 60, 3)));
        assert!(wheel.is_empty());
    }

    #[derive(Clone, Debug)]
    enum Step {
        Arm(u32, u64),
        Cancel(u32),
        Pop(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        // Delays of every magnitude the levels see, with many ties.
        let delay = (0u32..56, 0u64..64).prop_map(|(shift, low)| low << shift >> 3);
        prop_oneof![
            (0..40u32, delay.clone()).prop_map(|(slot, delay)| Step::Arm(slot, delay)),
            (0..40u32).prop_map(Step::Cancel),
            delay.prop_map(Step::Pop),
        ]
    }

    proptest! {
        /// Against a sorted set: every mixture of arming, moving, cancelling and popping.
        #[test]
        fn agrees_with_a_sorted_set(steps in prop::collection::vec(step(), 1..400)) {
            let mut wheel = wheel(40);
            let mut model: BTreeSet<(u64, u64, u32)> = BTreeSet::new();
            let mut now = 0;
            for step in steps {
                match step {
                    Step::Arm(slot, delay) => {
                        model.retain(|entry| entry.2 != slot);
                        model.insert((now + delay, u64::from(40 - slot), slot));
                        wheel.arm(slot, now + delay);
                    }
                    Step::Cancel(slot) => {
                        model.retain(|entry| entry.2 != slot);
                        wheel.cancel(slot);
                    }
                    Step::Pop(window) => {
                        let due = model.first().is_some_and(|entry| entry.0 <= now);
                        prop_assert_eq!(wheel.is_due(now), due);
                        let limit = now + window;
                        let expected = model.first().filter(|entry| entry.0 < limit).copied();
                        if let Some(entry) = expected {
                            model.remove(&entry);
                        }
                        now = expected.map_or(limit, |entry| entry.0);
                        let popped = wheel.pop_before(limit);
                        prop_assert_eq!(popped, expected.map(|entry| (entry.0, entry.2)));
                    }
                }
                prop_assert_eq!(wheel.len(), model.len());
            }
        }
    }
}
