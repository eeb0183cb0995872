//! The wheel against a sorted set, its bound on the next event, its timers.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn event(time: u64, rank: u64) -> Event {
    Event { time, rank, tag: 7, item: rank as u32 }
}

#[test]
fn events_come_in_the_order_of_time_then_rank() {
    let mut wheel = Wheel::<3>::new();
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

/// Buckets of large networks take another path: events spread over their bucket, and most of them
/// at one instant.
#[test]
fn crowded_buckets_come_in_order_too() {
    for (count, instants) in [(25, 2048), (200, 2048), (5000, 2048), (300, 1), (300, 3)] {
        let mut wheel = <Wheel>::new();
        let mut set = BTreeSet::new();
        for rank in 0..count {
            let scattered = rank * 7919 % count;
            let event = event(10_000 + scattered * 104_729 % instants, scattered);
            set.insert((event.time, event.rank));
            wheel.post(event);
        }
        let times = std::iter::from_fn(|| wheel.pop_before(u64::MAX));
        let popped: Vec<_> = times.map(|event| (event.time, event.rank)).collect();
        assert!(popped.iter().eq(&set), "{count} events at {instants} instants");
    }
}

/// A run with events in the order of setting asks for the rank of the arrival that happens now.
#[test]
fn the_last_rank_is_that_of_the_last_event() {
    let mut wheel = Wheel::<3>::new();
    for (time, rank) in [(7, 9), (7, 4), (9000, 2)] {
        wheel.post(event(time, rank));
    }
    for rank in [4, 9, 2] {
        wheel.pop_before(u64::MAX);
        assert_eq!(wheel.last_rank(), rank);
    }
}

#[test]
fn the_bound_is_valid_and_leads_to_every_event() {
    let mut wheel = Wheel::<3>::new();
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
    let mut wheel = Wheel::<3>::new();
    let timer = wheel.add_timer(1, 7);
    for time in 0..1000 {
        wheel.arm(timer, 1000 + time);
        wheel.cancel(timer);
    }
    wheel.arm(timer, 5000);
    let near: usize = wheel.near.buckets.iter().map(Vec::len).sum();
    let far = wheel.far.iter().flat_map(|level| level.buckets.iter());
    assert_eq!(near + far.map(Vec::len).sum::<usize>(), 1);
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
        let mut wheel = Wheel::<3>::new();
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
