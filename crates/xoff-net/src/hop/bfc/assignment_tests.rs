//! Queue assignment: the queue of a flow, shared queues, and their counts.

use std::collections::BTreeMap;

use xoff_core::Rng;
use xoff_core::rng::Purpose;

use super::assignment::sticky_units;
use super::tests::{Bench, data};
use super::*;
use crate::packet::flag;

const PORT: BfcPort = BfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };

fn silent(config: &BfcConfig) -> Bench<Silent> {
    Bench::of(config, Bfc::silent(config, &[PORT; 4]))
}

fn labelled(flow: u32) -> Packet {
    let mut packet = data(flow, 1, 0);
    packet.flags |= flag::LABELLED;
    packet
}

/// "assigns all the incast flows at an egress port to the same queue. This frees up queues for
/// non-incast traffic" (App. A.7).
#[test]
fn labelled_flows_share_the_first_queue_and_the_others_have_the_rest() {
    let config = BfcConfig { incast_queue: true, ..BfcConfig::default() };
    let mut bench = silent(&config);
    let incast: Vec<u8> = (1000..1100).map(|flow| bench.send(0, labelled(flow)).0).collect();
    assert!(incast.iter().all(|&queue| queue == 0));
    let mut others: Vec<u8> = (0..30).map(|flow| bench.send(0, data(flow, 1, 0)).0).collect();
    others.sort_unstable();
    assert_eq!(others, (1..31).collect::<Vec<u8>>());
    assert_eq!(bench.bfc.stats().assignment.collisions, 0);
    // Without an empty queue a flow takes one of the other queues at random.
    assert!((30..200).all(|flow| bench.send(0, data(flow, 1, 0)).0 > 0));
    // All labelled flows share one entry.
    let entries = bench.bfc.active_flows(0).unwrap();
    assert!((195..=201).contains(&entries), "{entries}");
}

/// With a table of m entries, n flows use m (1 - (1 - 1/m)^n) indices on average: "These collisions
/// decrease with the size of the table" (§3.3.1). Tested from one entry per queue to a thousand
/// entries per queue.
#[test]
fn index_collisions_are_those_of_balls_in_bins() {
    const FLOWS: u32 = 32;
    const TRIALS: u32 = 300;
    for factor in [1, 3, 10, 100, 1000] {
        let config = BfcConfig { table_factor: factor, ..BfcConfig::default() };
        let mut rng = Rng::stream(u64::from(factor), Purpose::QueueAssignment, 1);
        let (mut entries, mut collided) = (0, 0);
        for _ in 0..TRIALS {
            let mut bench = silent(&config);
            for flow in 0..FLOWS {
                bench.send(0, Packet { flow, ..data(rng.u64() as u32, 1, 0) });
            }
            entries += bench.bfc.active_flows(0).unwrap();
            collided += bench.bfc.stats().assignment.table_collisions;
        }
        // A packet that found an entry in use was counted; every other flow has its own entry.
        assert_eq!(u64::from(FLOWS * TRIALS), u64::from(entries) + collided, "{factor}");
        let size = f64::from(32 * factor);
        let expected = size * (1.0 - (1.0 - 1.0 / size).powi(FLOWS as i32));
        let mean = f64::from(entries) / f64::from(TRIALS);
        assert!((mean - expected).abs() < 0.02 * expected, "{factor}: {mean} not {expected}");
    }
}

/// "All flows that map to the same index are assigned to the same queue" (§3.3.1). A packet counts
/// as a collision each time the packet before it was of another flow.
#[test]
fn flows_of_one_entry_take_turns_in_one_queue() {
    // Two queues with one entry each: three flows use at most two of them.
    let config = BfcConfig {
        queues: 2,
        table_factor: 1,
        reserve_control_queue: false,
        ..BfcConfig::default()
    };
    let mut bench = silent(&config);
    let mut queues = BTreeMap::new();
    for flow in 0..20 {
        let (queue, _) = bench.send(0, data(flow, 1, 0));
        queues.entry(queue).or_insert_with(Vec::new).push(flow);
    }
    let (first, second) = (&queues[&0], &queues[&1]);
    let before = bench.bfc.stats().assignment.table_collisions;
    assert_eq!(before, 18);
    bench.send(0, data(*first.last().unwrap(), 1, 0));
    assert_eq!(bench.bfc.stats().assignment.table_collisions, before);
    bench.send(0, data(first[0], 1, 0));
    bench.send(0, data(second[0], 1, 0));
    assert_eq!(bench.bfc.stats().assignment.table_collisions, before + 2);
}

/// A flow that returns after the sticky threshold gets a queue in the middle of the flow. A new
/// flow does not count as reassigned.
#[test]
fn a_reassignment_is_an_assignment_in_the_middle_of_a_flow() {
    let mut bench = silent(&BfcConfig::default());
    for (now, seq, assignments, reassignments) in [
        (0, 0, 1, 0),
        (1_000_000, 1000, 1, 0),
        (4_900_000, 2000, 1, 0),
        // More than 2 x 2 us after the last packet left.
        (9_100_000, 3000, 2, 1),
    ] {
        let mut packet = data(7, 1, 0);
        packet.seq = seq;
        bench.send(now, packet);
        bench.leave(now);
        let stats = bench.bfc.stats().assignment;
        assert_eq!((stats.assignments, stats.reassignments), (assignments, reassignments), "{now}");
    }
}

#[test]
fn sharing_flows_are_those_that_are_not_alone_in_their_queue() {
    let config = BfcConfig { table_factor: 100_000, ..BfcConfig::default() };
    let mut bench = silent(&config);
    let mut queues = BTreeMap::<u8, u32>::new();
    for flow in 0..60 {
        let (queue, _) = bench.send(0, data(flow, 1, 0));
        *queues.entry(queue).or_default() += 1;
        let sharing = queues.values().filter(|&&flows| flows > 1).sum();
        assert_eq!(bench.bfc.sharing_flows(0), Some(sharing), "{flow}");
        assert_eq!(sharing > 0, flow >= 31, "{flow}");
    }
    while bench.queues.is_ready() {
        bench.leave(0);
    }
    assert_eq!(bench.bfc.sharing_flows(0), Some(0));
}

#[test]
fn without_backpressure_nothing_is_said_and_queues_are_the_same() {
    let config = BfcConfig::default();
    let (mut quiet, mut loud) =
        (silent(&config), Bench::of(&config, Bfc::new(&config, &[PORT; 4])));
    for step in 0..2000u32 {
        let packet = data(step % 37, 1, 2);
        let (queue, signal) = quiet.send(u64::from(step) * 1000, packet);
        assert_eq!((queue, signal), (loud.send(u64::from(step) * 1000, packet).0, None));
    }
    assert!(loud.bfc.stats().frames.pauses > 0);
    assert_eq!(quiet.bfc.stats().frames, PauseFrames::default());
    assert_eq!(quiet.bfc.next_timer(0), None);
}

/// A million 1-hop RTTs of 10 us are more than stamps can tell apart.
#[test]
fn a_sticky_threshold_stays_within_the_range_of_stamps() {
    assert_eq!(sticky_units(2.0, 1024), 2);
    assert_eq!(sticky_units(1e6, 10_000_000), u32::MAX / 2);
}

#[test]
fn counts_of_switches_add_up() {
    let of = |unit: u64| BfcStats {
        assignment: AssignmentStats {
            assignments: unit,
            collisions: 2 * unit,
            reassignments: 3 * unit,
            table_collisions: 4 * unit,
        },
        frames: PauseFrames { pauses: 5 * unit, resumes: 6 * unit, refreshes: 7 * unit },
    };
    let mut all = BfcStats::default();
    [of(10), of(3)].iter().for_each(|other| all.add(other));
    assert_eq!(all, of(13));
    assert_eq!(PauseFrames { pauses: 2, resumes: 3, refreshes: 5 }.all(), 10);
}

/// Queues 0 and 1 are taken, and one of them empties. Queue 2 is the next in turn. The empty queue
/// has a lower number.
#[test]
fn the_lowest_empty_queue_may_be_one_that_has_just_emptied() {
    for empty_queue in [EmptyQueueOrder::Rotating, EmptyQueueOrder::Lowest] {
        let mut bench = silent(&BfcConfig { empty_queue, ..BfcConfig::default() });
        assert_eq!([0, 1].map(|flow| bench.send(0, data(flow, 1, 0)).0), [0, 1]);
        let emptied = bench.leave(0).0.queue;
        assert!(emptied < 2);
        let next = if empty_queue == EmptyQueueOrder::Lowest { emptied } else { 2 };
        assert_eq!(bench.send(0, data(2, 1, 0)).0, next, "{empty_queue:?}");
    }
}

/// "stochastic fair queueing" hashes flows: each of 31 queues gets 323 of 10,000 flows, give or
/// take six standard deviations of 17.7.
#[test]
fn a_hash_spreads_flows_over_all_queues() {
    let config = BfcConfig { assignment: Assignment::Stochastic, ..BfcConfig::default() };
    let mut rng = Rng::stream(1, Purpose::QueueAssignment, 2);
    let mut flows = [0; 31];
    let mut bench = silent(&config);
    for _ in 0..10_000 {
        let queue = bench.send(0, data(rng.u64() as u32, 1, 0)).0;
        flows[usize::from(queue)] += 1;
        bench.leave(0);
    }
    assert!(flows.iter().all(|flows| (217..429).contains(flows)), "{flows:?}");
}
