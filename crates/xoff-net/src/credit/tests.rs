use proptest::prelude::*;

use super::*;
use crate::packet::{Kind, Packet};

const SHAPE: CreditShape = CreditShape { credit_bytes: 84, data_bytes: 1538, queue: 16, burst: 2 };

/// Time of a byte on the link (ps): 100 Gb/s.
const BYTE: u64 = 80;

fn queue() -> CreditQueue {
    CreditQueue::new(&SHAPE, SHAPE.bytes_per_credit() * BYTE)
}

/// Credits of these sizes arrive after these gaps, and each leaves as soon as it may. Returns the
/// departures with their bytes, and the number of drops.
fn shape(arrivals: &[(u64, u16)]) -> (Vec<(u64, u16)>, u64) {
    let (mut pool, mut credits, mut left) = (Pool::default(), queue(), Vec::new());
    let mut now = 0;
    let mut release = |credits: &mut CreditQueue, pool: &mut Pool, until: u64, now: u64| {
        while let Some(ready) = credits.ready_at(pool).filter(|&ready| ready <= until) {
            let time = ready.max(now);
            let id = credits.pop(pool, time).unwrap();
            left.push((time, pool[id].wire_bytes));
            pool.remove(id);
        }
    };
    let mut passed = Vec::new();
    for &(gap, bytes) in arrivals {
        release(&mut credits, &mut pool, now + gap, now);
        now += gap;
        if credits.pass(now, bytes) {
            passed.push((now, bytes));
            continue;
        }
        let id = pool.insert(Packet::new(Kind::Credit, bytes));
        if !credits.push(&mut pool, id) {
            pool.remove(id);
        }
    }
    release(&mut credits, &mut pool, u64::MAX, now);
    left.extend(passed);
    left.sort_unstable();
    (left, credits.dropped)
}

#[test]
fn the_papers_frames_give_the_papers_share() {
    let share = SHAPE.credit_bytes as f64 / SHAPE.bytes_per_credit() as f64;
    assert!((share - 0.0518).abs() < 5e-5, "{share}");
}

#[test]
fn after_a_rest_a_burst_goes_at_once_and_then_one_a_period() {
    let (left, dropped) = shape(&[(0, 84); 20]);
    let period = SHAPE.bytes_per_credit() * BYTE;
    let expected: Vec<(u64, u16)> =
        (0..18u64).map(|nth| (nth.saturating_sub(1) * period, 84)).collect();
    assert_eq!((left, dropped), (expected, 2));
}

/// On a link that falls back to half its rate, credits leave at half theirs from then on. A bucket
/// that was half empty stays half empty.
#[test]
fn credits_follow_the_rate_of_their_link() {
    let (mut pool, mut credits) = (Pool::default(), queue());
    let period = SHAPE.bytes_per_credit() * BYTE;
    assert!(credits.pass(0, 84));
    credits.set_period(0, 2 * period);
    assert!(credits.pass(0, 84), "the other half of the burst");
    let mut left = Vec::new();
    for _ in 0..3 {
        let id = pool.insert(Packet::new(Kind::Credit, 84));
        assert!(credits.push(&mut pool, id));
    }
    while let Some(ready) = credits.ready_at(&pool) {
        left.push(ready);
        let id = credits.pop(&pool, ready).unwrap();
        pool.remove(id);
    }
    assert_eq!(left, [2 * period, 4 * period, 6 * period]);
}

proptest! {
    /// For any arrivals: in any interval, the bytes of credits that leave are at most the burst
    /// plus the credits' share of the link's rate. A credit leaves or finds the queue full. No
    /// credit waits while the bucket has its tokens.
    #[test]
    fn no_interval_has_more_credits_than_the_bucket_allows(
        arrivals in prop::collection::vec((0u64..300_000, 76u16..=92), 1..200),
    ) {
        let (left, dropped) = shape(&arrivals);
        prop_assert_eq!(left.len() as u64 + dropped, arrivals.len() as u64);
        let period = u128::from(SHAPE.bytes_per_credit() * BYTE);
        let depth = u128::from(SHAPE.credit_bytes * u64::from(SHAPE.burst)) * period;
        for first in 0..left.len() {
            let mut bytes = 0;
            for &(time, size) in &left[first..] {
                bytes += u128::from(size);
                let interval = u128::from(time - left[first].0);
                // In bytes x period, so that all terms are whole numbers.
                let allowed = depth + interval * u128::from(SHAPE.credit_bytes);
                prop_assert!(bytes * period <= allowed, "{} bytes in {} ps", bytes, interval);
            }
        }
    }
}
