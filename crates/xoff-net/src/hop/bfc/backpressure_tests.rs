//! Pauses by queue length and by flow, each compared with a model that recomputes the pauses from
//! scratch.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::tests::{Bench, data};
use super::*;
use crate::hop::Ask;

const PORT: BfcPort = BfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };

/// 1-hop BDP: 2 us x 100 Gb/s.
const BDP: u32 = 25_000;

fn strawman() -> BfcConfig {
    BfcConfig {
        queues: 4,
        assignment: Assignment::Stochastic,
        backpressure: BackpressureKind::Occupancy,
        threshold: ThresholdRule::Fixed,
        ..BfcConfig::default()
    }
}

/// All signals of one step.
fn all<B: Backpressure>(bench: &mut Bench<B>, first: Option<Signal>) -> Vec<Signal> {
    let mut signals: Vec<Signal> = first.into_iter().collect();
    while let Some(signal) = bench.bfc.next_signal() {
        signals.push(signal);
    }
    signals
}

/// "pause a queue whenever its buffer exceeds the 1-hop bandwidth-delay product" (§3.2).
#[test]
fn all_who_feed_a_long_queue_pause_and_go_on_together() {
    let config = BfcConfig { assignment: Assignment::Single, ..strawman() };
    let mut bench = Bench::of(&config, Bfc::by_occupancy(&config, &[PORT; 4]));
    for _ in 0..23 {
        assert_eq!(bench.send(0, data(1, 1, 0)).1, None);
    }
    // 24 x 1048 B are more than 25 000 B.
    assert_eq!(bench.send(0, data(1, 1, 0)).1, Some(Signal::new(1, Ask::Pause, 1)));
    assert_eq!(bench.send(0, data(2, 3, 0)).1, Some(Signal::new(3, Ask::Pause, 1)));
    assert_eq!(bench.send(0, data(1, 1, 0)).1, None);
    assert_eq!([1, 2, 3].map(|ingress| bench.bfc.holds_paused(ingress)), [1, 0, 1]);
    // 26 packets wait; the third departure leaves 23 in the queue.
    assert_eq!([(); 2].map(|()| bench.leave(0).1), [None; 2]);
    let first = bench.leave(0).1;
    let resumed: BTreeSet<u16> = all(&mut bench, first).iter().map(|signal| signal.port).collect();
    assert_eq!(resumed, BTreeSet::from([1, 3]));
    let frames = bench.bfc.stats().frames;
    assert_eq!((frames.pauses, frames.resumes), (2, 2));
}

/// At half the rate the 1-hop BDP is 12 500 B, which the 12th packet of 1048 B exceeds.
#[test]
fn a_queue_of_a_slower_port_pauses_earlier() {
    let config = BfcConfig { assignment: Assignment::Single, ..strawman() };
    let mut bench = Bench::of(&config, Bfc::by_occupancy(&config, &[PORT; 4]));
    bench.bfc.on_rate(0, PORT.rate / 2);
    for _ in 0..11 {
        assert_eq!(bench.send(0, data(1, 1, 0)).1, None);
    }
    assert_eq!(bench.send(0, data(1, 1, 0)).1, Some(Signal::new(1, Ask::Pause, 1)));
}

#[test]
fn a_fixed_threshold_does_not_know_how_many_queues_are_active() {
    let config = strawman();
    let thresholds = threshold::Thresholds::new(&config, &[PORT; 2], hrtt(&config, &[PORT; 2]));
    assert!((0..=3).all(|active| thresholds.at(1, active) == BDP));
}

/// One step: a packet of a flow arrives from an ingress and an upstream queue, or a packet leaves.
fn steps() -> impl Strategy<Value = Vec<Option<(u32, u16, u8)>>> {
    let arrival = (0u32..12, 1u16..4, 0u8..3);
    let step = prop_oneof![3 => arrival.prop_map(Some), 2 => Just(None)];
    prop::collection::vec(step, 1..600)
}

proptest! {
    /// An upstream queue is paused while it feeds a long queue: one above the threshold that has
    /// received a packet of it since the threshold was crossed. A neighbour that receives all
    /// frames has the same state.
    #[test]
    fn upstream_queues_pause_while_a_queue_they_feed_is_long(steps in steps()) {
        let config = BfcConfig { threshold_factor: 0.3, ..strawman() };
        let most = (0.3 * f64::from(BDP)) as u32;
        let mut bench = Bench::of(&config, Bfc::by_occupancy(&config, &[PORT; 4]));
        let mut feeders = vec![BTreeSet::<(u16, u8)>::new(); 3];
        let mut heard = [0; 4];
        for step in steps {
            let signal = match step {
                Some((flow, ingress, upstream)) => {
                    let (queue, signal) = bench.send(0, data(flow, ingress, upstream));
                    if bench.queues.queue_bytes(queue) > most {
                        feeders[queue as usize].insert((ingress, upstream));
                    }
                    signal
                }
                None if !bench.queues.is_ready() => None,
                None => {
                    let (packet, signal) = bench.leave(0);
                    if bench.queues.queue_bytes(packet.queue) <= most {
                        feeders[packet.queue as usize].clear();
                    }
                    signal
                }
            };
            for signal in all(&mut bench, signal) {
                let paused = &mut heard[signal.port as usize];
                *paused = crate::hop::obey(&signal.frame(64), *paused);
            }
            for ingress in 0..4u16 {
                let of_ingress = feeders.iter().flatten().filter(|feeder| feeder.0 == ingress);
                let held = of_ingress.fold(0, |mask, feeder| mask | 1 << feeder.1);
                prop_assert_eq!(bench.bfc.holds_paused(ingress), held);
                prop_assert_eq!(heard[ingress as usize], held);
            }
            let forgets_all = bench.bfc.backpressure.recount(&[]).is_ok();
            prop_assert_eq!(forgets_all, bench.queues.occupied() == 0);
        }
    }

    /// A flow is paused while packets that exceeded the threshold on arrival wait here.
    #[test]
    fn a_flow_pauses_while_packets_of_it_that_were_too_many_are_here(steps in steps()) {
        let config = BfcConfig {
            queues: 4,
            backpressure: BackpressureKind::Flows,
            threshold_factor: 0.3,
            ..BfcConfig::default()
        };
        let thresholds = threshold::Thresholds::new(&config, &[PORT; 4], hrtt(&config, &[PORT; 4]));
        let mut bench = Bench::of(&config, Bfc::by_flow(&config, &[PORT; 4]));
        // Waiting packets that exceeded the threshold, by number, and their count for each flow.
        let mut too_many = BTreeSet::new();
        let mut excess = BTreeMap::<(u16, u32), u32>::new();
        let mut heard = BTreeSet::new();
        let mut frames = [0, 0];
        for (number, step) in steps.into_iter().enumerate() {
            let signal = match step {
                Some((flow, ingress, upstream)) => {
                    let mut packet = data(flow, ingress, upstream);
                    packet.seq = number as u64;
                    let (queue, signal) = bench.send(0, packet);
                    let threshold = thresholds.at(0, bench.queues.occupied().count_ones());
                    if bench.queues.queue_bytes(queue) > threshold {
                        too_many.insert(number as u64);
                        *excess.entry((ingress, flow)).or_default() += 1;
                    }
                    signal
                }
                None if !bench.queues.is_ready() => None,
                None => {
                    let (packet, signal) = bench.leave(0);
                    if too_many.remove(&packet.seq) {
                        *excess.get_mut(&(packet.ingress, packet.flow)).unwrap() -= 1;
                    }
                    signal
                }
            };
            for signal in all(&mut bench, signal) {
                let (number, sender) = signal.flow().expect("every frame names a flow");
                let flow = (signal.port, number);
                prop_assert_eq!(sender, number + 100, "the frame carries the sender's number");
                frames[usize::from(signal.ask == Ask::ResumeFlow)] += 1;
                match signal.ask {
                    Ask::PauseFlow => prop_assert!(heard.insert(flow)),
                    Ask::ResumeFlow => prop_assert!(heard.remove(&flow)),
                    other => prop_assert!(false, "{:?}", other),
                }
            }
            excess.retain(|_, count| *count > 0);
            prop_assert_eq!(bench.bfc.paused_flows(), heard.len());
            let held: BTreeSet<(u16, u32)> = excess.keys().copied().collect();
            prop_assert_eq!(&held, &heard);
            let counted = bench.bfc.stats().frames;
            prop_assert_eq!([counted.pauses, counted.resumes], frames);
        }
        while bench.queues.is_ready() {
            bench.leave(0);
        }
        prop_assert_eq!(bench.bfc.paused_flows(), 0);
    }
}

/// "without sticky queue assignments" (§3.3.2): a flow without packets here counts as new.
#[test]
fn flows_that_are_paused_themselves_stick_to_no_queue() {
    let config = BfcConfig { backpressure: BackpressureKind::Flows, ..BfcConfig::default() };
    let mut bench = Bench::of(&config, Bfc::by_flow(&config, &[PORT; 4]));
    let (first, _) = bench.send(0, data(9, 1, 0));
    assert_eq!(bench.send(10_000, data(9, 1, 0)).0, first);
    bench.leave(20_000);
    bench.leave(20_000);
    assert_ne!(bench.send(30_000, data(9, 1, 0)).0, first);
}
