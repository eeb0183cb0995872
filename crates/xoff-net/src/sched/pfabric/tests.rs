use proptest::prelude::*;

use super::*;
use crate::packet::{Kind, Packet};

fn insert(pool: &mut Pool, (flow, remaining): (u32, u32)) -> u32 {
    let mut packet = Packet::new(Kind::Data, 1000);
    (packet.flow, packet.remaining) = (flow, remaining);
    pool.insert(packet)
}

fn filled(packets: &[(u32, u32)]) -> (Pool, PFabric) {
    let (mut pool, mut port) = (Pool::default(), PFabric::default());
    for &packet in packets {
        let id = insert(&mut pool, packet);
        port.push(&mut pool, id);
    }
    (pool, port)
}

#[test]
fn the_flow_with_least_left_sends_its_earliest_packet() {
    let (mut pool, mut port) = filled(&[(1, 9000), (2, 5000), (2, 4000), (3, 4000), (2, 3000)]);
    assert_eq!(port.active(), 3);
    let next = || port.pop(&mut pool).map(|id| (pool[id].flow, pool[id].remaining));
    let order: Vec<_> = std::iter::from_fn(next).collect();
    assert_eq!(order, [(2, 5000), (2, 4000), (2, 3000), (3, 4000), (1, 9000)]);
    assert_eq!((port.queue_bytes(0), port.active()), (0, 0));
}

#[test]
fn only_a_worse_packet_gives_way() {
    let (mut pool, mut port) = filled(&[(1, 9000), (2, 500), (3, 9000)]);
    let equal = insert(&mut pool, (4, 9000));
    assert_eq!(port.evict(&mut pool, equal), None);
    let better = insert(&mut pool, (5, 8999));
    let dropped = port.evict(&mut pool, better).unwrap();
    assert_eq!((pool[dropped].flow, port.queue_bytes(0)), (3, 2000));
}

#[test]
fn a_packet_counts_by_its_own_bytes_too() {
    let (mut pool, mut port) = filled(&[(1, 0)]);
    let mut short = Packet::new(Kind::Data, 100);
    short.flow = 2;
    let short = pool.insert(short);
    port.push(&mut pool, short);
    assert_eq!(port.pop(&mut pool), Some(short));
}

#[derive(Clone, Debug)]
enum Step {
    Arrive(u32, u32),
    Send,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0u32..6, 0u32..40).prop_map(|(flow, left)| Step::Arrive(flow, left)),
        1 => Just(Step::Send),
    ];
    prop::collection::vec(step, 1..300)
}

proptest! {
    /// Compares a port of 24 packets with its definition: no dropped packet is better than one
    /// that stays, and the packet sent is the earliest of a flow with the best priority.
    #[test]
    fn the_best_are_sent_and_the_worst_are_dropped(steps in steps()) {
        const ROOM: usize = 24;
        let (mut pool, mut port) = filled(&[]);
        // In the order of arrival: flow, its bytes left, number.
        let mut model: Vec<(u32, u32, u32)> = Vec::new();
        for step in steps {
            let Step::Arrive(flow, left) = step else {
                let best = model.iter().map(|packet| packet.1).min();
                let sent = port.pop(&mut pool);
                prop_assert_eq!(sent.is_some(), best.is_some());
                let (Some(sent), Some(best)) = (sent, best) else { continue };
                let flow = pool[sent].flow;
                prop_assert!(model.iter().any(|packet| packet.0 == flow && packet.1 == best));
                let earliest = model.iter().position(|packet| packet.0 == flow).unwrap();
                prop_assert_eq!(model.remove(earliest).2, sent);
                pool.remove(sent);
                continue;
            };
            let id = insert(&mut pool, (flow, left));
            let mut dropped = None;
            if model.len() == ROOM {
                dropped = Some(port.evict(&mut pool, id).unwrap_or(id));
            }
            model.push((flow, left, id));
            if dropped != Some(id) {
                port.push(&mut pool, id);
            }
            if let Some(dropped) = dropped {
                model.retain(|packet| packet.2 != dropped);
                let worst = model.iter().map(|packet| packet.1).max().unwrap();
                prop_assert!(pool[dropped].remaining >= worst);
                pool.remove(dropped);
            }
            prop_assert_eq!(port.queue_bytes(0), 1000 * model.len() as u32);
        }
    }
}

/// The orders keep few packets that have left: those at their ends leave at once, the others when
/// they are the larger part.
#[test]
fn packets_that_have_left_are_forgotten() {
    let (mut pool, mut port) = filled(&[(1, 9000)]);
    for _ in 0..10_000 {
        let short = insert(&mut pool, (2, 10));
        port.push(&mut pool, short);
        assert_eq!(port.pop(&mut pool), Some(short));
        pool.remove(short);
        assert!(port.worst.len() <= 34, "{}", port.worst.len());
    }
    let (mut pool, mut port) = filled(&[(1, 10)]);
    let arriving = insert(&mut pool, (3, 5000));
    for _ in 0..10_000 {
        let long = insert(&mut pool, (2, 9000));
        port.push(&mut pool, long);
        assert_eq!(port.evict(&mut pool, arriving), Some(long));
        pool.remove(long);
        assert!(port.best.len() <= 34, "{}", port.best.len());
    }
}
