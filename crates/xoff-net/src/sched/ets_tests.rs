//! Strict classes, shares of weighted ones, and settings that are refused.

use proptest::prelude::*;

use super::*;
use crate::packet::{Kind, Packet};
use crate::sched::Scheduler;

/// Strict classes and weights, as written in a scenario.
pub(in crate::sched) fn ets(strict: &str, weights: &str) -> Ets {
    let config = EtsConfig { strict: strict.into(), weights: weights.into() };
    Ets::new(config.plan().unwrap(), 1530)
}

fn push(pool: &mut Pool, ets: &mut Ets, class: u8, bytes: u16) {
    let mut packet = Packet::new(Kind::Data, bytes);
    packet.queue = class;
    let id = pool.insert(packet);
    ets.push(pool, id);
}

fn classes(pool: &mut Pool, ets: &mut Ets) -> Vec<u8> {
    std::iter::from_fn(|| ets.pop(pool).map(|id| pool[id].queue)).collect()
}

#[test]
fn strict_classes_go_first_in_their_order() {
    let (mut pool, mut ets) = (Pool::default(), ets("5,1", "1,1,1,1,1,1,1,1"));
    for class in [0, 1, 5, 7, 1, 5] {
        push(&mut pool, &mut ets, class, 1000);
    }
    assert_eq!(&classes(&mut pool, &mut ets)[..4], [5, 5, 1, 1]);
    push(&mut pool, &mut ets, 5, 1000);
    push(&mut pool, &mut ets, 2, 1000);
    ets.set_paused(1 << 5);
    assert_eq!(classes(&mut pool, &mut ets), [2]);
}

/// A class that is paused again and again in its turn does not save up credit.
#[test]
fn pauses_do_not_make_a_turn_longer() {
    let (mut pool, mut ets) = (Pool::default(), ets("", "4,1,1,1,1,1,1,1"));
    for _ in 0..60 {
        push(&mut pool, &mut ets, 0, 1530);
        push(&mut pool, &mut ets, 1, 1530);
    }
    for _ in 0..10 {
        ets.set_paused(0);
        while ets.pop(&mut pool).map(|id| pool[id].queue) != Some(0) {}
        ets.set_paused(1);
        assert_eq!(ets.pop(&mut pool).map(|id| pool[id].queue), Some(1));
    }
    ets.set_paused(0);
    let left = classes(&mut pool, &mut ets);
    let turns: Vec<usize> = left.chunk_by(|one, other| one == other).map(<[u8]>::len).collect();
    assert_eq!(turns[..4], [4, 1, 4, 1], "{left:?}");
}

#[test]
fn settings_that_name_no_classes_are_refused() {
    for (strict, weights, key) in [
        ("8", "1,1,1,1,1,1,1,1", "strict"),
        ("0,0", "1,1,1,1,1,1,1,1", "strict"),
        ("high", "1,1,1,1,1,1,1,1", "strict"),
        ("0", "1,1,1", "weights"),
        ("0", "1,1,1,1,1,1,1,0", "weights"),
        ("0", "1,1,1,1,1,1,1,1001", "weights"),
        ("0", "1,1,1,1,1,1,1,x", "weights"),
    ] {
        let config = EtsConfig { strict: strict.into(), weights: weights.into() };
        assert_eq!(config.plan().unwrap_err().0, key, "{strict} {weights}");
    }
    let all = EtsConfig { strict: "7,6,5,4,3,2,1,0".into(), ..EtsConfig::default() };
    assert_eq!(all.plan().unwrap().strict_mask(), u8::MAX);
}

proptest! {
    /// Backlogged weighted classes share in proportion to their weights, to within a turn and a
    /// packet each, for any packet sizes (Shreedhar and Varghese, Lemma 2).
    #[test]
    fn backlogged_classes_share_by_weight(
        weights in prop::collection::vec(1u32..6, 7),
        sizes in prop::collection::vec(64u16..1530, 7),
        rounds in 100usize..600,
    ) {
        let list: Vec<String> = weights.iter().map(u32::to_string).collect();
        let (mut pool, mut ets) = (Pool::default(), ets("7", &format!("{},1", list.join(","))));
        for (class, &bytes) in sizes.iter().enumerate() {
            push(&mut pool, &mut ets, class as u8, bytes);
            push(&mut pool, &mut ets, class as u8, bytes);
        }
        let mut sent = [0u64; 7];
        for _ in 0..rounds {
            let id = ets.pop(&mut pool).unwrap();
            let packet = pool[id];
            pool.remove(id);
            sent[packet.queue as usize] += u64::from(packet.wire_bytes);
            push(&mut pool, &mut ets, packet.queue, packet.wire_bytes);
        }
        let turns: Vec<f64> = sent
            .iter()
            .zip(&weights)
            .map(|(&sent, &weight)| sent as f64 / f64::from(weight) / 1530.0)
            .collect();
        let least = turns.iter().copied().fold(f64::MAX, f64::min);
        let most = turns.iter().copied().fold(0.0, f64::max);
        prop_assert!(most - least <= 2.0, "{turns:?}");
    }
}
