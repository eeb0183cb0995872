use xoff_core::Bytes;

use super::super::{Ask, Assignment, Bfc, BfcConfig, BfcPort, Pfc, PfcConfig, PfcPort};
use super::*;
use crate::buffer::BufferConfig;
use crate::packet::Pool;
use crate::sched::{Drr, Fifo};
use xoff_core::rng::Purpose;

const PORTS: usize = 4;

fn pfc() -> Pfc {
    let port = PfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
    let buffer = BufferConfig { size: Bytes(1_000_000), ..BufferConfig::default() };
    Pfc::new(&PfcConfig::default(), &buffer, &[port; PORTS], port.rate).unwrap()
}

fn packet(ingress: u16) -> Packet {
    let mut packet = Packet::new(Kind::Data, 1048);
    packet.ingress = ingress;
    packet
}

/// Packets join until one is not admitted. Returns their number, and the signals they caused.
fn fill(pfc: &mut impl HopControl, ingress: u16, egress: u16) -> (u32, Vec<Signal>) {
    let (mut joined, mut signals) = (0, Vec::new());
    while pfc.admits(egress, &packet(ingress)) {
        signals.extend(pfc.on_enqueue(0, egress, &mut packet(ingress), &Fifo::default()));
        joined += 1;
    }
    (joined, signals)
}

/// A pair of the table fills its share of the pool and causes no pause. Other pairs of the same
/// ports work as before, with all their headroom.
#[test]
fn a_pair_of_the_table_pauses_nobody_and_takes_nobodys_headroom() {
    let mut eliding = Eliding::new(pfc(), PORTS, [(1, 2)]);
    let (elided, signals) = fill(&mut eliding, 1, 2);
    assert!(elided > 50 && signals.is_empty(), "{elided} {signals:?}");
    assert_eq!(eliding.holds_paused(1), 0);
    for (ingress, egress) in [(1, 3), (2, 1)] {
        let (joined, signals) = fill(&mut eliding, ingress, egress);
        assert_eq!(signals, [Signal::new(ingress, Ask::Pause, 1)]);
        assert_eq!(eliding.holds_paused(ingress), 1);
        // At least twice the propagation delay of its link after the pause.
        assert!(joined > 2 * 12_500 / 1048, "{joined}");
    }
    for _ in 0..elided {
        assert_eq!(eliding.on_dequeue(0, 2, &mut packet(1)), None);
    }
    assert_eq!(eliding.table.held, [0; PORTS]);
    assert_eq!(fill(&mut eliding, 1, 2).1, []);
}

/// A recount misses each packet, whether it has backpressure or not.
#[test]
fn counts_are_those_of_the_waiting_packets() {
    let port = BfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
    let bfc = Bfc::new(&BfcConfig::default(), &[port; PORTS]);
    recounts(Eliding::new(bfc, PORTS, [(1, 2)]));
    recounts(Eliding::new(pfc(), PORTS, [(1, 2)]));
}

fn recounts(mut eliding: impl HopControl) {
    let mut packets: Vec<_> = [1, 2, 1, 3].map(packet).into();
    let egresses = [2, 1, 3, 2];
    for (packet, &egress) in packets.iter_mut().zip(&egresses) {
        eliding.on_enqueue(0, egress, packet, &Fifo::default());
    }
    let waits = |(packet, &egress)| WaitingPacket { egress, packet };
    let all: Vec<_> = packets.iter().zip(&egresses).map(waits).collect();
    assert_eq!(eliding.recount(&all, &[]), Ok(()));
    for missing in 0..all.len() {
        let mut others = all.clone();
        others.remove(missing);
        assert!(eliding.recount(&others, &[]).is_err(), "{missing}");
    }
}

/// Data of pairs of the table counts, by packets and bytes. Other packets and pairs do not.
#[test]
fn data_without_backpressure_counts() {
    let mut eliding = Eliding::new(pfc(), PORTS, [(1, 2)]);
    let mut rng = Rng::stream(1, Purpose::QueueAssignment, 0);
    let mut arrive = |kind, ingress, egress, wire_bytes| {
        let one = Packet { kind, wire_bytes, ..packet(ingress) };
        eliding.queue_of(0, egress, &one, &Fifo::default(), &mut rng);
    };
    for wire_bytes in [100, 200, 300] {
        arrive(Kind::Data, 1, 2, wire_bytes);
    }
    arrive(Kind::Ack, 1, 2, 60);
    arrive(Kind::Data, 2, 1, 60);
    let stats = eliding.stats();
    assert_eq!((stats.packets, stats.bytes), (3, 600));
}

/// A packet that passes leaves no trace in the table or the inner control.
#[test]
fn passing_is_joining_and_leaving() {
    for pair in [(1, 2), (1, 3)] {
        let mut eliding = Eliding::new(pfc(), PORTS, [(1, 2)]);
        let mut passes = 0;
        for _ in 0..200 {
            if eliding.pass(0, pair.1, &packet(pair.0)) {
                passes += 1;
                let before = format!("{eliding:?}");
                let mut one = packet(pair.0);
                let signals = [
                    eliding.on_enqueue(0, pair.1, &mut one, &Fifo::default()),
                    eliding.on_dequeue(0, pair.1, &mut one),
                ];
                assert_eq!(signals, [None, None]);
                assert_eq!(format!("{eliding:?}"), before);
            }
            if eliding.admits(pair.1, &packet(pair.0)) {
                eliding.on_enqueue(0, pair.1, &mut packet(pair.0), &Fifo::default());
            }
        }
        assert!(passes >= 3, "{pair:?}");
    }
}

fn bfc(config: &BfcConfig) -> Eliding<Bfc<crate::hop::PauseCounters>> {
    let port = BfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
    Eliding::new(Bfc::new(config, &[port; PORTS]), PORTS, [(1, 2)])
}

/// Flows of packets without backpressure count like others: two of them share the only queue.
#[test]
fn flows_without_backpressure_count_and_may_share_a_queue() {
    let mut bfc = bfc(&BfcConfig { assignment: Assignment::Single, ..BfcConfig::default() });
    let mut rng = Rng::stream(1, Purpose::QueueAssignment, 0);
    let mut flows = [1, 2].map(|flow| Packet { flow, label: flow << 28, ..packet(1) });
    for flow in &mut flows {
        flow.queue = bfc.queue_of(0, 2, flow, &Fifo::default(), &mut rng);
        bfc.on_enqueue(0, 2, flow, &Fifo::default());
    }
    let counts = |bfc: &Eliding<_>| (bfc.active_flows(2), bfc.sharing_flows(2));
    assert_eq!(counts(&bfc), (Some(2), Some(2)));
    for flow in &mut flows {
        bfc.on_dequeue(0, 2, flow);
    }
    assert_eq!(counts(&bfc), (Some(0), Some(0)));
}

/// Th = 2 us x 50 Gb/s = 12 500 B: the 12th packet of 1048 B is the first above it. At 100 Gb/s it
/// would be the 24th.
#[test]
fn the_threshold_of_other_pairs_follows_the_rate_of_the_port() {
    for (rate, first) in [(50_000_000_000, 12), (100_000_000_000, 24)] {
        let mut bfc = bfc(&BfcConfig::default());
        bfc.on_rate(3, rate);
        let (mut pool, mut queues) = (Pool::default(), Drr::new(1, 1048));
        let pauses = (1..50).find(|_| {
            let id = pool.insert(Packet { upstream: 0, ..packet(1) });
            queues.push(&mut pool, id);
            bfc.on_enqueue(0, 3, &mut pool[id], &queues).is_some()
        });
        assert_eq!(pauses, Some(first));
    }
}
