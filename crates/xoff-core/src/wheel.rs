//! The event queue: a hierarchical wheel of time buckets.
//!
//! Level 0 has the finest buckets. Coarser levels hold events further ahead and are redistributed
//! when the wheel reaches them. A bucket is an unordered list until its time comes. It is then
//! sorted by (time, rank), and events posted into it meanwhile are inserted in order. Bitmaps only
//! find the next non-empty bucket; they never decide an order.
//!
//! An entry of level 0 has 16 bytes: its time within the bucket and its rank are one integer, by
//! which entries are sorted. Entries of coarser levels have the whole time.
//!
//! An event that may be moved or cancelled is a *timer*: a slot armed for at most one time. The
//! timer's entries in the wheel are checked when they come up. Arming for a later time and
//! cancelling therefore cost nothing in the wheel and leave no stale entry. Moving to an earlier
//! time or changing the rank leaves a stale entry, which is dropped when its time comes.

mod slots;

use self::slots::Slots;

/// An event at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time of the event (ps).
    pub time: u64,
    /// Orders events of equal time, at most [`MAX_RANK`]. Events of equal time and rank come in any
    /// order.
    pub rank: u64,
    /// The owner's code for the kind of event, below [`TIMER`].
    pub tag: u32,
    /// The object of the event.
    pub item: u32,
}

/// log2 of the width (ps) of the finest buckets, unless a wheel's type says otherwise: 2 ns. The
/// arrivals of links of 1 us then all lie within level 0, and a bucket of a hundred hosts holds two
/// or three events.
const BUCKET_SHIFT: u32 = 11;
/// The largest rank: the bits of an entry's key that its time within a bucket leaves.
pub const MAX_RANK: u64 = u64::MAX >> BUCKET_SHIFT;

/// An event in its bucket of level 0.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The time within the bucket in the upper bits, the rank in the lower ones.
    key: u64,
    tag: u32,
    item: u32,
}

/// Index of a timer.
pub type TimerId = u32;

/// Flag in an entry's tag: the entry belongs to a timer and may be stale.
pub const TIMER: u32 = 1 << 31;

const NEVER: u64 = u64::MAX;
const LEVELS: usize = 5;
/// log2 of the number of buckets per level.
const BITS: u32 = 10;
const BUCKETS: usize = 1 << BITS;
const MASK: u64 = (BUCKETS - 1) as u64;
const WORDS: usize = BUCKETS / 64;
const _: () = assert!(WORDS == 16, "a bitmap of the words has 16 bits");
/// Lists up to this length are sorted by insertion, longer ones by [`Slots`].
const SHORT: usize = 24;

#[derive(Clone, Copy, Debug)]
struct Timer {
    /// Expiry time; `NEVER` if the timer is not armed.
    time: u64,
    rank: u64,
    /// Time of the timer's live entry in the wheel; `NEVER` if there is none.
    entry: u64,
    tag: u32,
}

/// Lists of events and a bitmap of the non-empty ones.
#[derive(Clone, Debug)]
struct Level<T> {
    buckets: Box<[Vec<T>; BUCKETS]>,
    words: [u64; WORDS],
}

impl<T: Clone + std::fmt::Debug> Level<T> {
    fn new() -> Self {
        let buckets = vec![Vec::new(); BUCKETS].into_boxed_slice();
        let buckets = buckets.try_into().expect("there are as many lists as buckets");
        Self { buckets, words: [0; WORDS] }
    }

    #[inline(always)]
    fn push(&mut self, bucket: usize, event: T) {
        let list = &mut self.buckets[bucket];
        if list.len() == list.capacity() {
            grow(list);
        }
        list.push(event);
        self.words[bucket >> 6] |= 1 << (bucket & 63);
    }

    /// Swaps a bucket's list for an empty one.
    #[inline]
    fn take(&mut self, bucket: usize, empty: &mut Vec<T>) {
        debug_assert!(empty.is_empty());
        std::mem::swap(&mut self.buckets[bucket], empty);
        self.words[bucket >> 6] &= !(1 << (bucket & 63));
    }

    /// Number of buckets from `from` to the next one with events (0 for `from` itself, cyclic).
    #[inline]
    fn distance(&self, from: usize) -> Option<u64> {
        self.distance_in_word(from).or_else(|| self.distance_beyond(from >> 6, from))
    }

    /// The same if that bucket is in the word of `from`.
    #[inline(always)]
    fn distance_in_word(&self, from: usize) -> Option<u64> {
        let here = self.words[from >> 6] >> (from & 63);
        (here != 0).then(|| u64::from(here.trailing_zeros()))
    }

    #[inline(never)]
    fn distance_beyond(&self, word: usize, from: usize) -> Option<u64> {
        // The words after this one, then (cyclically) those from the first to this one. Looking at
        // them one by one would be slower: the number of empty ones cannot be predicted.
        let set_bit = |(w, bits): (usize, &u64)| u16::from(*bits != 0) << w;
        let occupied = self.words.iter().enumerate().map(set_bit).fold(0, |all, bit| all | bit);
        let ahead = occupied.rotate_right(word as u32 + 1);
        let found = (word + 1 + ahead.trailing_zeros() as usize) % WORDS;
        if ahead == 0 {
            return None;
        }
        let bucket = (found << 6) + self.words[found].trailing_zeros() as usize;
        Some((bucket.wrapping_sub(from) as u64) & MASK)
    }

    /// Calls `visit` with each bucket's number and each of its events.
    fn each(&self, mut visit: impl FnMut(usize, &T)) {
        for (word, &bits) in self.words.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let bucket = word << 6 | left.trailing_zeros() as usize;
                left &= left - 1;
                self.buckets[bucket].iter().for_each(|event| visit(bucket, event));
            }
        }
    }

    /// Removes the events that `keep` refuses.
    fn retain(&mut self, mut keep: impl FnMut(usize, &T) -> bool) {
        for (bucket, list) in self.buckets.iter_mut().enumerate() {
            list.retain(|event| keep(bucket, event));
            if list.is_empty() {
                self.words[bucket >> 6] &= !(1 << (bucket & 63));
            }
        }
    }
}

/// Separate, to keep reallocation off the fast path.
#[cold]
#[inline(never)]
fn grow<T>(list: &mut Vec<T>) {
    list.reserve(list.len().max(4));
}

/// The time wheel. Times are in picoseconds; events come in the order (time, rank). Its finest
/// buckets are `2^SHIFT` ps wide.
#[derive(Clone, Debug)]
pub struct Wheel<const SHIFT: u32 = BUCKET_SHIFT> {
    /// The events of the bucket at the cursor, in order: those before `taken` have happened.
    due: Vec<Entry>,
    taken: usize,
    slots: Slots,
    /// Level 0.
    near: Level<Entry>,
    /// The coarser levels, from level 1.
    far: [Level<Event>; LEVELS - 1],
    /// The level-0 bucket (time >> SHIFT) being drained. No event is earlier.
    cursor: u64,
    timers: Vec<Timer>,
}

impl<const SHIFT: u32> Default for Wheel<SHIFT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const SHIFT: u32> Wheel<SHIFT> {
    /// Bits of a key that hold the rank.
    const RANK_BITS: u32 = u64::BITS - SHIFT;

    /// Creates an empty wheel.
    #[must_use]
    pub fn new() -> Self {
        const { assert!(0 < SHIFT && SHIFT <= BUCKET_SHIFT, "ranks need their bits") };
        Self {
            due: Vec::new(),
            taken: 0,
            slots: Slots::default(),
            near: Level::new(),
            far: core::array::from_fn(|_| Level::new()),
            cursor: 0,
            timers: Vec::new(),
        }
    }

    /// The upper bits of the time are those of the bucket, and fall out of the key.
    #[inline(always)]
    fn entry(event: Event) -> Entry {
        debug_assert!(
            event.rank >> Self::RANK_BITS == 0,
            "the rank {:#x} is too large",
            event.rank
        );
        let key = event.time << Self::RANK_BITS | event.rank;
        Entry { key, tag: event.tag, item: event.item }
    }

    /// The time of an entry of this bucket.
    #[inline(always)]
    fn time(bucket: u64, entry: &Entry) -> u64 {
        bucket << SHIFT | entry.key >> Self::RANK_BITS
    }

    #[inline(always)]
    fn event(bucket: u64, entry: Entry) -> Event {
        let rank = entry.key & (u64::MAX >> SHIFT);
        Event { time: Self::time(bucket, &entry), rank, tag: entry.tag, item: entry.item }
    }

    /// Adds an event.
    ///
    /// # Panics
    /// In debug builds, if its time has passed.
    #[inline(always)]
    pub fn post(&mut self, event: Event) {
        let bucket = event.time >> SHIFT;
        let ahead = bucket.wrapping_sub(self.cursor);
        if ahead.wrapping_sub(1) < MASK {
            self.near.push((bucket & MASK) as usize, Self::entry(event));
        } else {
            self.post_elsewhere(event.time, event.rank, event.tag, event.item);
        }
    }

    /// Posts into the bucket being drained, or beyond level 0.
    #[cold]
    #[inline(never)]
    fn post_elsewhere(&mut self, time: u64, rank: u64, tag: u32, item: u32) {
        let event = Event { time, rank, tag, item };
        let bucket = time >> SHIFT;
        debug_assert!(bucket >= self.cursor, "an event in the past");
        if bucket <= self.cursor {
            let entry = Self::entry(event);
            let waiting = &self.due[self.taken..];
            let place = waiting.iter().rposition(|other| other.key <= entry.key);
            self.due.insert(self.taken + place.map_or(0, |place| place + 1), entry);
            return;
        }
        let level = (1..LEVELS - 1)
            .find(|&level| {
                let shift = BITS * level as u32;
                (bucket >> shift) - (self.cursor >> shift) <= MASK
            })
            .unwrap_or(LEVELS - 1);
        let shift = BITS * level as u32;
        // Events beyond the last level's reach wait in its furthest bucket for redistribution.
        let place = (bucket >> shift).min((self.cursor >> shift) + MASK);
        self.far[level - 1].push((place & MASK) as usize, event);
    }

    /// Takes the first event before `limit`. If there is none, the cursor may have moved as far as
    /// `limit`: no event may then be posted for an earlier time.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: u64) -> Option<Event> {
        loop {
            let Some(&entry) = self.due.get(self.taken) else {
                if self.advance(limit) {
                    continue;
                }
                return None;
            };
            let Event { time, rank, tag, item } = Self::event(self.cursor, entry);
            if time >= limit {
                return None;
            }
            self.taken += 1;
            if tag & TIMER == 0 {
                return Some(Event { time, rank, tag, item });
            }
            if let Some(tag) = self.fire(item, time, rank) {
                return Some(Event { time, rank, tag, item });
            }
        }
    }

    /// Tag and object of the event `after` places behind the next one, if already known.
    #[inline(always)]
    #[must_use]
    pub fn upcoming(&self, after: usize) -> Option<(u32, u32)> {
        let entry = self.due.get(self.taken + after)?;
        Some((entry.tag, entry.item))
    }

    /// The rank of the event that [`pop_before`](Self::pop_before) returned last.
    #[must_use]
    pub fn last_rank(&self) -> u64 {
        let last = self.taken.checked_sub(1).and_then(|last| self.due.get(last));
        last.map_or(0, |&entry| Self::event(self.cursor, entry).rank)
    }

    /// Lower bound on the time of the next event (ps); `u64::MAX` if there is none. Far ahead it is
    /// the start of the event's bucket. It tightens once the wheel reaches that bucket.
    #[must_use]
    pub fn not_before(&self) -> u64 {
        if let Some(entry) = self.due.get(self.taken) {
            return Self::time(self.cursor, entry);
        }
        self.next_bucket(self.cursor + 1).map_or(NEVER, |bucket| bucket << SHIFT)
    }

    /// The first level-0 bucket that may have events, from `from` on in level 0, and after the
    /// cursor's bucket in the others.
    fn next_bucket(&self, from: u64) -> Option<u64> {
        let near = self.near.distance((from & MASK) as usize).map(|distance| from + distance);
        let far = (1..).zip(&self.far).filter_map(|(level, lists)| {
            let shift = BITS * level;
            let from = (self.cursor >> shift) + 1;
            let distance = lists.distance((from & MASK) as usize)?;
            Some((from + distance) << shift)
        });
        far.chain(near).min()
    }

    /// True if anything may still happen at `now`, the time of the last popped event. Stale timer
    /// entries count too.
    #[inline(always)]
    #[must_use]
    pub fn may_be_due(&self, now: u64) -> bool {
        self.due.get(self.taken).is_some_and(|entry| Self::time(self.cursor, entry) <= now)
    }

    /// Moves the cursor to the next bucket with events and sorts them. Returns false if that bucket
    /// begins at or after `limit`.
    ///
    /// Mostly that bucket is in the same word of the bitmap. That path calls no function, so that
    /// it saves no registers.
    #[inline(never)]
    fn advance(&mut self, limit: u64) -> bool {
        let last = limit.saturating_sub(1) >> SHIFT;
        let Some(distance) = self.near.distance_in_word((self.cursor & MASK) as usize) else {
            return self.advance_far(last);
        };
        // A word ends no later than the turn of the level.
        let bucket = self.cursor + distance;
        if bucket > last {
            return false;
        }
        self.open(bucket);
        self.sort();
        true
    }

    /// The same where no bucket with events is left in the word. `last` is the last bucket before
    /// the limit.
    #[cold]
    #[inline(never)]
    fn advance_far(&mut self, last: u64) -> bool {
        loop {
            if last <= self.cursor {
                return false;
            }
            let boundary = (self.cursor | MASK) + 1;
            if let Some(distance) = self.near.distance((self.cursor & MASK) as usize) {
                let bucket = self.cursor + distance;
                if bucket < boundary {
                    if bucket > last {
                        return false;
                    }
                    self.open(bucket);
                    self.sort();
                    return true;
                }
            }
            if !self.turn(boundary, last) {
                return false;
            }
            if !self.due.is_empty() {
                return true;
            }
        }
    }

    /// Moves the cursor to a bucket, whose list of level 0 becomes `due`.
    #[inline(always)]
    fn open(&mut self, bucket: u64) {
        self.cursor = bucket;
        self.due.clear();
        self.taken = 0;
        self.near.take((bucket & MASK) as usize, &mut self.due);
    }

    /// Sorts the bucket at the cursor.
    #[inline(always)]
    fn sort(&mut self) {
        if self.due.len() > SHORT {
            self.slots.sort(&mut self.due);
        } else {
            sort_few(&mut self.due);
        }
    }

    /// Moves the cursor to the next level-1 bucket that may hold events and redistributes the
    /// coarser levels. Returns false if there are no events up to bucket `last`.
    #[cold]
    fn turn(&mut self, boundary: u64, last: u64) -> bool {
        let first = self.next_bucket(boundary).map(|bucket| bucket & !MASK);
        let Some(target) = first.filter(|&target| target <= last) else { return false };
        let old = self.cursor;
        self.open(target);
        // Events of the target bucket from the coarser levels join `due`.
        for level in (1..LEVELS).rev() {
            let shift = BITS * level as u32;
            if old >> shift != target >> shift {
                let mut list = Vec::new();
                let bucket = ((target >> shift) & MASK) as usize;
                self.far[level - 1].take(bucket, &mut list);
                for event in list.drain(..) {
                    if event.time >> SHIFT == target {
                        self.due.push(Self::entry(event));
                    } else {
                        self.post(event);
                    }
                }
                // The list keeps its capacity for the next turn.
                self.far[level - 1].buckets[bucket] = list;
            }
        }
        self.sort();
        true
    }

    /// Removes and returns all events with this tag, in the order (time, rank). Timers stay. The
    /// cost is linear in the number of waiting events.
    pub fn take_all(&mut self, tag: u32) -> Vec<Event> {
        let mut taken = Vec::new();
        let cursor = self.cursor;
        let mut keep = |bucket: u64, entry: &Entry| {
            let keep = entry.tag != tag;
            taken.extend((!keep).then(|| Self::event(bucket, *entry)));
            keep
        };
        self.due.drain(..std::mem::take(&mut self.taken));
        self.due.retain(|entry| keep(cursor, entry));
        self.near.retain(|place, entry| {
            let ahead = (place as u64).wrapping_sub(cursor) & MASK;
            keep(cursor + ahead, entry)
        });
        for level in &mut self.far {
            level.retain(|_, event| {
                let keep = event.tag != tag;
                taken.extend((!keep).then_some(*event));
                keep
            });
        }
        taken.sort_unstable_by_key(|event| (event.time, event.rank));
        taken
    }

    /// Calls `visit` with each waiting event, in any order. Timers are left out.
    pub fn each_event(&self, mut visit: impl FnMut(Event)) {
        let mut pass = |event: Event| {
            if event.tag & TIMER == 0 {
                visit(event);
            }
        };
        let waiting = self.due[self.taken..].iter();
        waiting.for_each(|&entry| pass(Self::event(self.cursor, entry)));
        self.near.each(|place, &entry| {
            let ahead = (place as u64).wrapping_sub(self.cursor) & MASK;
            pass(Self::event(self.cursor + ahead, entry));
        });
        for level in &self.far {
            level.each(|_, &event| pass(event));
        }
    }

    /// Adds an unarmed timer. `rank` orders it among events of one time; `tag` is the owner's code.
    pub fn add_timer(&mut self, rank: u64, tag: u32) -> TimerId {
        let id = self.timers.len() as TimerId;
        self.timers.push(Timer { time: NEVER, rank, entry: NEVER, tag });
        id
    }

    /// Number of timers, which is also the id of the next one.
    #[must_use]
    pub fn timers(&self) -> TimerId {
        self.timers.len() as TimerId
    }

    /// Changes the rank of an unarmed timer, when its owner changes.
    ///
    /// # Panics
    /// If it is armed.
    pub fn set_rank(&mut self, id: TimerId, rank: u64) {
        let timer = &mut self.timers[id as usize];
        assert!(timer.time == NEVER, "the rank of an armed timer cannot change");
        timer.rank = rank;
        // A remaining entry has the old rank and is now stale.
        timer.entry = NEVER;
    }

    /// Time for which the timer is armed.
    #[inline]
    #[must_use]
    pub fn armed(&self, id: TimerId) -> Option<u64> {
        let time = self.timers[id as usize].time;
        (time != NEVER).then_some(time)
    }

    /// Arms the timer for `time` or moves it there. The end of time (`u64::MAX`) disarms it.
    ///
    /// # Panics
    /// In debug builds, if the time has passed.
    #[inline]
    pub fn arm(&mut self, id: TimerId, time: u64) {
        let timer = &mut self.timers[id as usize];
        timer.time = time;
        if time < timer.entry {
            timer.entry = time;
            let event = Event { time, rank: timer.rank, tag: timer.tag | TIMER, item: id };
            self.post(event);
        }
    }

    /// Arms the timer for `time` with another rank.
    pub fn arm_ranked(&mut self, id: TimerId, time: u64, rank: u64) {
        self.cancel(id);
        self.set_rank(id, rank);
        self.arm(id, time);
    }

    /// Disarms the timer.
    #[inline]
    pub fn cancel(&mut self, id: TimerId) {
        self.timers[id as usize].time = NEVER;
    }

    /// Handles a timer's entry that has come up. Returns the timer's tag if the timer is armed for
    /// now. If the timer has moved to a later time, posts a new entry there.
    #[inline(never)]
    fn fire(&mut self, id: TimerId, time: u64, rank: u64) -> Option<u32> {
        let timer = &mut self.timers[id as usize];
        if timer.time == time && timer.rank == rank {
            timer.time = NEVER;
            timer.entry = NEVER;
            return Some(timer.tag);
        }
        if timer.entry == time && timer.rank == rank {
            timer.entry = NEVER;
            let moved_to = timer.time;
            if moved_to != NEVER {
                self.arm(id, moved_to);
            }
        }
        None
    }
}

/// Sorts a few entries, or many that are nearly in order. Events are: those of one length on one
/// kind of link arrive in the order in which they were sent.
#[inline(always)]
fn sort_few(entries: &mut [Entry]) {
    for end in 1..entries.len() {
        let (sorted, rest) = entries.split_at_mut(end);
        let (Some(last), Some(next)) = (sorted.last(), rest.first()) else { return };
        if last.key > next.key {
            insert(&mut entries[..=end]);
        }
    }
}

/// Moves the last entry to its place among the others, which are sorted.
#[inline(always)]
fn insert(entries: &mut [Entry]) {
    let mut place = entries.len() - 1;
    let entry = entries[place];
    while place > 0 && entries[place - 1].key > entry.key {
        entries[place] = entries[place - 1];
        place -= 1;
    }
    entries[place] = entry;
}

#[cfg(test)]
mod tests;
