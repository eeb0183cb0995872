//! The event queue: a hierarchical wheel of time buckets.
//!
//! An event is a value of 24 bytes. Level 0 has the finest buckets. Coarser levels hold events
//! further ahead and are redistributed when the wheel reaches them. A bucket is an unordered list
//! until its time comes. It is then sorted by (time, rank), and events posted into it meanwhile are
//! inserted in order. Bitmaps only find the next non-empty bucket; they never decide an order.
//!
//! An event that may be moved or cancelled is a *timer*: a slot armed for at most one time. The
//! timer's entries in the wheel are checked when they come up. Arming for a later time and
//! cancelling therefore cost nothing in the wheel and leave no stale entry. Moving to an earlier
//! time or changing the rank leaves a stale entry, which is dropped when its time comes.

/// An event at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time of the event (ps).
    pub time: u64,
    /// Orders events of equal time. Events of equal time and rank come in any order.
    pub rank: u64,
    /// The owner's code for the kind of event, below [`TIMER`].
    pub tag: u32,
    /// The object of the event.
    pub item: u32,
}

impl Event {
    /// The full order of events as one number.
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.time) << 64 | u128::from(self.rank)
    }
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
/// Lists up to this length are sorted by insertion.
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
struct Level {
    buckets: Box<[Vec<Event>; BUCKETS]>,
    words: [u64; WORDS],
}

impl Level {
    fn new() -> Self {
        let buckets = vec![Vec::new(); BUCKETS].into_boxed_slice();
        let buckets = buckets.try_into().expect("there are as many lists as buckets");
        Self { buckets, words: [0; WORDS] }
    }

    #[inline(always)]
    fn push(&mut self, bucket: usize, event: Event) {
        let list = &mut self.buckets[bucket];
        if list.len() == list.capacity() {
            grow(list);
        }
        list.push(event);
        self.words[bucket >> 6] |= 1 << (bucket & 63);
    }

    /// Swaps a bucket's list for an empty one.
    #[inline]
    fn take(&mut self, bucket: usize, empty: &mut Vec<Event>) {
        debug_assert!(empty.is_empty());
        std::mem::swap(&mut self.buckets[bucket], empty);
        self.words[bucket >> 6] &= !(1 << (bucket & 63));
    }

    /// Number of buckets from `from` to the next one with events (0 for `from` itself, cyclic).
    #[inline]
    fn distance(&self, from: usize) -> Option<u64> {
        let (word, bit) = (from >> 6, from & 63);
        let here = self.words[word] >> bit;
        if here != 0 {
            return Some(u64::from(here.trailing_zeros()));
        }
        self.distance_beyond(word, from)
    }

    #[inline(never)]
    fn distance_beyond(&self, word: usize, from: usize) -> Option<u64> {
        // The words after this one, then (cyclically) those from the first to this one.
        let found = (1..=WORDS).map(|step| (word + step) % WORDS).find(|&w| self.words[w] != 0)?;
        let bucket = (found << 6) + self.words[found].trailing_zeros() as usize;
        Some((bucket.wrapping_sub(from) as u64) & MASK)
    }
}

/// Separate, to keep reallocation off the fast path.
#[cold]
#[inline(never)]
fn grow(list: &mut Vec<Event>) {
    list.reserve(list.len().max(4));
}

/// The time wheel. Times are in picoseconds; events come in the order (time, rank).
#[derive(Clone, Debug)]
pub struct Wheel {
    /// The events of the bucket at the cursor, in reverse order.
    due: Vec<Event>,
    levels: [Level; LEVELS],
    /// log2 of a level-0 bucket's width in picoseconds.
    shift: u32,
    /// The level-0 bucket (time >> shift) being drained. No event is earlier.
    cursor: u64,
    timers: Vec<Timer>,
}

impl Wheel {
    /// Creates an empty wheel whose finest buckets are `2^shift` ps wide.
    #[must_use]
    pub fn new(shift: u32) -> Self {
        Self {
            due: Vec::new(),
            levels: core::array::from_fn(|_| Level::new()),
            shift,
            cursor: 0,
            timers: Vec::new(),
        }
    }

    /// Adds an event.
    ///
    /// # Panics
    /// In debug builds, if its time has passed.
    #[inline(always)]
    pub fn post(&mut self, event: Event) {
        let bucket = event.time >> self.shift;
        let ahead = bucket.wrapping_sub(self.cursor);
        if ahead.wrapping_sub(1) < MASK {
            self.levels[0].push((bucket & MASK) as usize, event);
        } else {
            self.post_elsewhere(event.time, event.rank, event.tag, event.item);
        }
    }

    /// Posts into the bucket being drained, or beyond level 0.
    #[cold]
    #[inline(never)]
    fn post_elsewhere(&mut self, time: u64, rank: u64, tag: u32, item: u32) {
        let event = Event { time, rank, tag, item };
        let bucket = time >> self.shift;
        debug_assert!(bucket >= self.cursor, "an event in the past");
        if bucket <= self.cursor {
            let place = self.due.iter().rposition(|other| other.key() > event.key());
            self.due.insert(place.map_or(0, |place| place + 1), event);
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
        self.levels[level].push((place & MASK) as usize, event);
    }

    /// Takes the first event before `limit`. If there is none, the cursor may have moved as far as
    /// `limit`: no event may then be posted for an earlier time.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: u64) -> Option<Event> {
        loop {
            let Some(&Event { time, rank, tag, item }) = self.due.last() else {
                if self.advance(limit) {
                    continue;
                }
                return None;
            };
            if time >= limit {
                return None;
            }
            self.due.pop();
            if tag & TIMER == 0 {
                return Some(Event { time, rank, tag, item });
            }
            if let Some(tag) = self.fire(item, time, rank) {
                return Some(Event { time, rank, tag, item });
            }
        }
    }

    /// The event `after` places behind the next one, if already known.
    #[inline(always)]
    #[must_use]
    pub fn upcoming(&self, after: usize) -> Option<&Event> {
        self.due.get(self.due.len().wrapping_sub(after + 1))
    }

    /// Lower bound on the time of the next event (ps); `u64::MAX` if there is none. Far ahead it is
    /// the start of the event's bucket. It tightens once the wheel reaches that bucket.
    #[must_use]
    pub fn not_before(&self) -> u64 {
        if let Some(event) = self.due.last() {
            return event.time;
        }
        let buckets = self.levels.iter().enumerate().filter_map(|(level, lists)| {
            let shift = BITS * level as u32;
            let from = (self.cursor >> shift) + 1;
            let distance = lists.distance((from & MASK) as usize)?;
            Some((from + distance) << shift)
        });
        buckets.min().map_or(NEVER, |bucket| bucket << self.shift)
    }

    /// True if anything may still happen at `now`, the time of the last popped event. Stale timer
    /// entries count too.
    #[inline(always)]
    #[must_use]
    pub fn may_be_due(&self, now: u64) -> bool {
        self.due.last().is_some_and(|event| event.time <= now)
    }

    /// Moves the cursor to the next bucket with events and sorts them. Returns false if that bucket
    /// begins at or after `limit`.
    #[inline(never)]
    fn advance(&mut self, limit: u64) -> bool {
        let last = limit.saturating_sub(1) >> self.shift;
        loop {
            if last <= self.cursor {
                return false;
            }
            let boundary = (self.cursor | MASK) + 1;
            if let Some(distance) = self.levels[0].distance((self.cursor & MASK) as usize) {
                let bucket = self.cursor + distance;
                if bucket < boundary {
                    if bucket > last {
                        return false;
                    }
                    self.cursor = bucket;
                    self.levels[0].take((bucket & MASK) as usize, &mut self.due);
                    sort(&mut self.due);
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

    /// Moves the cursor to the next level-1 bucket that may hold events and redistributes the
    /// coarser levels. Returns false if there are no events up to bucket `last`.
    #[cold]
    fn turn(&mut self, boundary: u64, last: u64) -> bool {
        // The earliest bucket start over all levels, at or after the boundary.
        let mut target = None;
        for (level, lists) in self.levels.iter().enumerate() {
            let shift = BITS * level as u32;
            let from = if level == 0 { boundary } else { (self.cursor >> shift) + 1 };
            if let Some(distance) = lists.distance((from & MASK) as usize) {
                let start = (from + distance) << shift;
                target = Some(target.map_or(start, |target: u64| target.min(start)));
            }
        }
        let Some(target) = target.map(|target| target & !MASK).filter(|&target| target <= last)
        else {
            return false;
        };
        let old = self.cursor;
        self.cursor = target;
        // The target bucket's list becomes `due`, along with its events from the coarser levels.
        self.levels[0].take((target & MASK) as usize, &mut self.due);
        for level in (1..LEVELS).rev() {
            let shift = BITS * level as u32;
            if old >> shift != target >> shift {
                let mut list = Vec::new();
                let bucket = ((target >> shift) & MASK) as usize;
                self.levels[level].take(bucket, &mut list);
                for event in list.drain(..) {
                    if event.time >> self.shift == target {
                        self.due.push(event);
                    } else {
                        self.post(event);
                    }
                }
                // The list keeps its capacity for the next turn.
                self.levels[level].buckets[bucket] = list;
            }
        }
        sort(&mut self.due);
        true
    }

    /// Removes and returns all events with this tag, in the order (time, rank). Timers stay. The
    /// cost is linear in the number of waiting events.
    pub fn take_all(&mut self, tag: u32) -> Vec<Event> {
        let mut taken = Vec::new();
        let mut keep = |event: &Event| {
            let keep = event.tag != tag;
            taken.extend((!keep).then_some(*event));
            keep
        };
        self.due.retain(&mut keep);
        for level in &mut self.levels {
            for (bucket, list) in level.buckets.iter_mut().enumerate() {
                list.retain(&mut keep);
                if list.is_empty() {
                    level.words[bucket >> 6] &= !(1 << (bucket & 63));
                }
            }
        }
        taken.sort_unstable_by_key(Event::key);
        taken
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

/// Sorts in reverse order: the first event comes last.
#[inline]
fn sort(events: &mut [Event]) {
    if events.len() > SHORT {
        events.sort_unstable_by_key(|event| std::cmp::Reverse(event.key()));
        return;
    }
    for end in 1..events.len() {
        let event = events[end];
        let key = event.key();
        let mut place = end;
        while place > 0 && events[place - 1].key() < key {
            events[place] = events[place - 1];
            place -= 1;
        }
        events[place] = event;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn event(time: u64, rank: u64) -> Event {
        Event { time, rank, tag: 7, item: rank as u32 }
    }

    #[test]
    fn events_come_in_the_order_of_time_then_rank() {
        let mut wheel = Wheel::new(3);
        for (time, rank) in [(100, 2), (1 << 60, 5), (7, 9), (100, 1)] {
            wheel.post(event(time, rank));
        }
        assert_eq!(wheel.pop_before(u64::MAX), Some(event(7, 9)));
        assert_eq!(wheel.pop_before(100), None);
        assert_eq!(wheel.pop_before(101), Some(event(100, 1)));
        wheel.post(event(100, 0));
        wheel.post(event(100, 3));
        for rank in [0, 2, 3] {
            assert_eq!(wheel.pop_before(101), Some(event(100, rank)));
        }
        assert_eq!(wheel.pop_before(1 << 60), None);
        assert_eq!(wheel.pop_before(u64::MAX), Some(event(1 << 60, 5)));
        assert_eq!(wheel.pop_before(u64::MAX), None);
    }

    #[test]
    fn the_bound_is_valid_and_leads_to_every_event() {
        let mut wheel = Wheel::new(3);
        assert_eq!(wheel.not_before(), u64::MAX);
        let times = [5, 5, 9000, 70_000_000, 70_000_001, 1 << 50];
        times.iter().for_each(|&time| wheel.post(event(time, 1)));
        for time in times {
            let mut steps = 0;
            let found = loop {
                let bound = wheel.not_before();
                assert!(bound <= time, "{bound} is after {time}");
                if let Some(found) = wheel.pop_before(bound + 1) {
                    break found;
                }
                steps += 1;
            };
            assert_eq!(found.time, time);
            assert!(steps <= 2 * LEVELS + 8, "{steps} steps to {time}");
        }
        assert_eq!(wheel.not_before(), u64::MAX);
    }

    #[test]
    fn a_timer_armed_and_cancelled_repeatedly_leaves_one_entry() {
        let mut wheel = Wheel::new(3);
        let timer = wheel.add_timer(1, 7);
        for time in 0..1000 {
            wheel.arm(timer, 1000 + time);
            wheel.cancel(timer);
        }
        wheel.arm(timer, 5000);
        let entries: usize = wheel.levels.iter().flat_map(|l| l.buckets.iter()).map(Vec::len).sum();
        assert_eq!(entries, 1);
        assert_eq!(wheel.armed(timer), Some(5000));
        assert_eq!(wheel.pop_before(5000), None);
        let fired = Event { time: 5000, rank: 1, tag: 7, item: timer };
        assert_eq!(wheel.pop_before(5001), Some(fired));
        assert_eq!((wheel.armed(timer), wheel.pop_before(u64::MAX)), (None, None));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Post(u64),
        TakeAll(u32),
        Arm(u32, u64),
        Rank(u32, u64),
        Cancel(u32),
        Pop(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        // Delays of every magnitude that the levels see, with many ties.
        let delay = (0u32..56, 0u64..64).prop_map(|(shift, low)| low << shift >> 3);
        prop_oneof![
            delay.clone().prop_map(Step::Post),
            (0..TAGS).prop_map(Step::TakeAll),
            (0..TIMERS, delay.clone()).prop_map(|(timer, delay)| Step::Arm(timer, delay)),
            (0..TIMERS, 0..4u64).prop_map(|(timer, turn)| Step::Rank(timer, turn)),
            (0..TIMERS).prop_map(Step::Cancel),
            delay.prop_map(Step::Pop),
        ]
    }

    const TIMERS: u32 = 20;
    /// Tags of posted events start at 2.
    const TAGS: u32 = 8;

    /// Ranks of timers are below those of posted events; `turn` selects one of several.
    fn rank(timer: u32, turn: u64) -> u64 {
        u64::from(timer) + u64::from(TIMERS) * turn
    }

    proptest! {
        /// Compares with a sorted set any mixture of posting, arming, moving, cancelling and
        /// popping.
        #[test]
        fn agrees_with_a_sorted_set(steps in prop::collection::vec(step(), 1..400)) {
            let mut wheel = Wheel::new(3);
            (0..TIMERS).for_each(|timer| assert_eq!(wheel.add_timer(rank(timer, 0), 1), timer));
            let mut ranks: Vec<u64> = (0..TIMERS).map(|timer| rank(timer, 0)).collect();
            let mut model: BTreeSet<(u64, u64, u32)> = BTreeSet::new();
            let mut now = 0;
            for (count, step) in (1000..).zip(steps) {
                match step {
                    Step::Post(delay) => {
                        model.insert((now + delay, u64::from(count), count));
                        let (time, rank) = (now + delay, u64::from(count));
                        wheel.post(Event { time, rank, tag: 2 + count % TAGS, item: count });
                    }
                    Step::TakeAll(tag) => {
                        let has_tag = |entry: &(u64, u64, u32)| {
                            entry.2 >= 1000 && entry.2 % TAGS == tag
                        };
                        let taken = wheel.take_all(2 + tag).into_iter();
                        let taken: Vec<_> = taken.map(|e| (e.time, e.rank, e.item)).collect();
                        let expected: Vec<_> = model.iter().copied().filter(has_tag).collect();
                        prop_assert_eq!(taken, expected);
                        model.retain(|entry| !has_tag(entry));
                    }
                    Step::Arm(timer, delay) => {
                        model.retain(|entry| entry.2 != timer);
                        model.insert((now + delay, ranks[timer as usize], timer));
                        wheel.arm(timer, now + delay);
                    }
                    Step::Rank(timer, turn) => {
                        model.retain(|entry| entry.2 != timer);
                        wheel.cancel(timer);
                        wheel.set_rank(timer, rank(timer, turn));
                        ranks[timer as usize] = rank(timer, turn);
                    }
                    Step::Cancel(timer) => {
                        model.retain(|entry| entry.2 != timer);
                        wheel.cancel(timer);
                    }
                    Step::Pop(delay) => {
                        let limit = now + delay;
                        let first = model.first().copied().filter(|first| first.0 < limit);
                        let popped = wheel.pop_before(limit);
                        let popped = popped.map(|event| (event.time, event.rank, event.item));
                        prop_assert_eq!(popped, first);
                        now = first.map_or(limit, |first| first.0);
                        model.retain(|entry| Some(*entry) != first);
                    }
                }
                for timer in 0..TIMERS {
                    let armed = model.iter().find(|entry| entry.2 == timer).map(|entry| entry.0);
                    prop_assert_eq!(wheel.armed(timer), armed);
                }
            }
            while let Some(first) = model.pop_first() {
                let popped = wheel.pop_before(u64::MAX);
                let popped = popped.map(|event| (event.time, event.rank, event.item));
                prop_assert_eq!(popped, Some(first));
            }
            prop_assert_eq!(wheel.pop_before(u64::MAX), None);
        }
    }
}
