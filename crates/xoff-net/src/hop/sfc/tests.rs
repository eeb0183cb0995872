use super::*;
use crate::sched::Fifo;

const RATE: u64 = 100_000_000_000;
/// Ports of a switch: to a host, to another host, and to other switches.
const PORTS: [SfcPort; 3] = [
    SfcPort { rate: RATE, host: true },
    SfcPort { rate: RATE, host: true },
    SfcPort { rate: 4 * RATE, host: false },
];

fn sfc(change: impl FnOnce(&mut SfcConfig)) -> Sfc {
    let mut config = SfcConfig::default();
    change(&mut config);
    let config = config.derived(125_000, Ps::from_us(10));
    config.check(Ps::from_us(10)).unwrap();
    Sfc::new(&config, &PORTS, 8)
}

fn data(src: u32, dst: u32, ingress: u16) -> Packet {
    let mut packet = Packet::new(Kind::Data, 1000);
    (packet.src, packet.dst, packet.ingress, packet.label) = (src, dst, ingress, 7);
    packet.flags = 3 << flag::CLASS_SHIFT;
    packet.queue = 3;
    packet
}

/// `packets` packets join the queue of port 0 at `now`.
fn fill(sfc: &mut Sfc, now: u64, packets: u64) {
    for _ in 0..packets {
        sfc.on_enqueue(now, 0, &mut data(5, 0, 2), &Fifo::default());
    }
}

fn drain(sfc: &mut Sfc, now: u64, packets: u64) {
    for _ in 0..packets {
        sfc.on_dequeue(now, 0, &mut data(5, 0, 2));
    }
}

#[test]
fn a_deep_queue_calls_for_a_signal_when_the_ingress_knows() {
    let mut sfc = sfc(|_| {});
    fill(&mut sfc, 1_000, 250);
    assert!(sfc.mirror_arrival(900_000, 0, &data(5, 0, 2)).is_none(), "exactly at the threshold");
    fill(&mut sfc, 2_000, 1);
    assert!(sfc.mirror_arrival(601_999, 0, &data(5, 0, 2)).is_none(), "before the ingress knows");
    assert!(sfc.mirror_arrival(602_000, 0, &data(5, 0, 2)).is_some());
    assert!(sfc.mirror_arrival(602_001, 0, &data(5, 0, 2)).is_none(), "signalled a moment ago");
    assert!(sfc.mirror_arrival(602_001, 0, &data(6, 0, 2)).is_some(), "another sender");
    let mut elsewhere = data(5, 0, 2);
    elsewhere.flags = 2 << flag::CLASS_SHIFT;
    assert!(sfc.mirror_arrival(602_002, 0, &elsewhere).is_none(), "another class's queue");
    let stats = SfcStats { triggered: 3, suppressed: 1, ..SfcStats::default() };
    assert_eq!(sfc.stats, stats);
    assert_eq!((sfc.filter_peak(), sfc.false_positives()), (2, 0));
}

/// The pause is computed when the copy leaves, from the depth that the last dequeued data packet
/// recorded.
#[test]
fn the_builder_asks_for_the_time_to_drain_to_the_target() {
    let pause_at = |rate, unit, packets, dequeued| {
        let mut sfc = sfc(|config| (config.bit_delay, config.pause_unit) = (Ps(0), unit));
        sfc.on_rate(0, rate);
        fill(&mut sfc, 0, packets);
        let mut copy = sfc.mirror_arrival(1, 0, &data(5, 0, 2)).unwrap();
        drain(&mut sfc, 2, dequeued);
        fill(&mut sfc, 3, 100);
        (sfc.use_copy(4, &mut copy) == CopyUse::ToSender).then_some(copy)
    };
    let pause = |unit, packets, dequeued| pause_at(RATE, unit, packets, dequeued);
    let asks = |pause: Option<Packet>, ps| {
        let frame = pause.unwrap();
        assert_eq!((frame.kind, frame.wire_bytes), (Kind::BackToSender, 64));
        assert_eq!((frame.src, frame.dst, frame.label), (0, 5, 7 << 16));
        assert_eq!((frame.queue, frame.class(), frame.seq), (CONTROL_QUEUE, 3, ps));
    };
    // 289 packets left when one was dequeued: (289 000 - 125 000) B x 80 ps.
    asks(pause(Ps(0), 300, 11), 13_120_000);
    asks(pause(Ps::from_us(1), 300, 11), 13_000_000);
    // A port at half its rate takes twice as long.
    asks(pause_at(RATE / 2, Ps(0), 300, 11), 26_240_000);
    // Drained below the target in the meantime; nothing dequeued at all; less than a unit.
    assert!(pause(Ps(0), 300, 200).is_none());
    assert!(pause(Ps(0), 300, 0).is_none());
    assert!(pause(Ps::from_us(1), 300, 170).is_none());
}

#[test]
fn only_congestion_at_a_host_is_worth_remembering() {
    let mut sfc = sfc(|config| config.bit_delay = Ps(0));
    for (egress, cacheable) in [(0, true), (2, false)] {
        for _ in 0..300 {
            sfc.on_enqueue(0, egress, &mut data(5, 0, 1), &Fifo::default());
        }
        sfc.on_dequeue(0, egress, &mut data(5, 0, 1));
        let mut copy = sfc.mirror_arrival(0, egress, &data(egress.into(), 0, 1)).unwrap();
        assert_eq!(sfc.use_copy(1, &mut copy), CopyUse::ToSender);
        assert_eq!(copy.as_back_to_sender().is_cacheable(), cacheable);
    }
}

/// A cache of one entry holds one receiver at a time. Each pause is of 20 us, so both overlap.
#[test]
fn signals_that_a_full_cache_cannot_hold_are_counted() {
    let mut sfc = sfc(|config| config.cache_entries = 1);
    for receiver in [6, 7, 8] {
        let mut signal = data(receiver, 0, 2);
        (signal.kind, signal.seq) = (Kind::BackToSender, 20_000_000);
        signal.as_back_to_sender_mut().set_reach(false, true);
        sfc.remember(0, &signal);
    }
    assert_eq!((sfc.cache_peak(), sfc.cache_collisions()), (1, 2));
}

/// Algorithm 1, lines 3 to 6 and 11 to 17: a signal on its way to host 0, about host 6.
#[test]
fn a_remembered_signal_is_passed_on_near_the_source() {
    let mut sfc = sfc(|config| config.pause_unit = Ps(0));
    let mut signal = data(6, 0, 2);
    (signal.kind, signal.seq) = (Kind::BackToSender, 20_000_000);
    sfc.remember(0, &signal);
    assert!(sfc.mirror_arrival(1, 2, &data(1, 6, 1)).is_none(), "not cacheable");
    signal.as_back_to_sender_mut().set_reach(false, true);
    sfc.remember(0, &signal);
    assert!(sfc.mirror_arrival(1, 2, &data(1, 7, 1)).is_none(), "another receiver");
    let mut copy = sfc.mirror_arrival(5_000_000, 2, &data(1, 6, 1)).unwrap();
    sfc.use_copy(5_000_000, &mut copy);
    assert_eq!(
        (copy.seq, copy.dst, copy.as_back_to_sender().is_cacheable()),
        (15_000_000, 1, false)
    );
    assert!(sfc.mirror_arrival(20_000_000, 2, &data(1, 6, 1)).is_none(), "the pause is over");
    assert_eq!((sfc.stats.sent_near_source, sfc.cache_peak()), (1, 1));
}

#[test]
fn the_estimator_speaks_up_before_any_signal_came() {
    let mut sfc = sfc(|config| config.estimator = true);
    // Two hosts of this rack send to host 6 at line rate: the surplus of its link queues.
    let mut first = None;
    for k in 0..1_000u64 {
        for host in 0..2u16 {
            let copy = sfc.mirror_arrival(k * 80_000, 2, &data(host.into(), 6, host));
            first = first.or(copy.map(|copy| (k, copy.seq)));
        }
    }
    assert_eq!(first, None, "a decaying window of one RTT never exceeds twice the bytes it drains");
    let (rounds, mut pause) = (0..1_000u64)
        .find_map(|k| {
            let now = 100_000_000_000 + k * 80_000;
            let copies = (0..4).filter_map(|host| sfc.mirror_arrival(now, 2, &data(host, 7, 0)));
            copies.last().map(|copy| (k, copy.seq))
        })
        .expect("four hosts at once are an incast");
    // Four senders: X grows by 4 packets each 80 ns and decays over 10 us. It is 375 KB, three
    // times the link's bytes, after 10 us x ln(4).
    assert!((165..=180).contains(&rounds), "{rounds}");
    // (250 KB - 125 KB) x 80 ps.
    pause /= 1_000_000;
    assert!((10..=11).contains(&pause), "{pause} us");
}

#[test]
fn a_signal_becomes_a_pfc_frame_only_for_a_host() {
    let mut sfc = sfc(|config| config.to_pfc = true);
    let mut signal = data(6, 0, 2);
    (signal.kind, signal.seq) = (Kind::BackToSender, 13_000_000);
    assert_eq!(sfc.convert(2, &signal), None);
    // 13 us are 1.3 Mbit at 100 Gb/s: 2539 quanta of 512 bits.
    assert_eq!(sfc.convert(0, &signal), Some(Signal::pause_for(0, 3, 2_539)));
    // A frame holds 65 535 quanta, 335 us.
    signal.seq = 1_000_000_000;
    assert_eq!(sfc.convert(1, &signal), Some(Signal::pause_for(1, 3, 65_535)));
    assert_eq!(sfc.stats.converted, 2);
}

#[test]
fn a_signal_from_the_egress_comes_with_each_packet_that_leaves() {
    let mut sfc = sfc(|config| {
        config.signal = SignalAt::Egress;
        (config.cache, config.filter, config.pause_unit) = (false, false, Ps(0));
    });
    fill(&mut sfc, 0, 252);
    assert!(!sfc.mirrors_arrivals());
    let mut leave = |now| {
        sfc.on_dequeue(now, 0, &mut data(5, 0, 2));
        let mut copy = sfc.mirror_departure(now, 0, &mut data(5, 0, 2), &Fifo::default())?;
        sfc.use_copy(now, &mut copy);
        Some(copy.seq)
    };
    assert_eq!([leave(1), leave(2)], [Some(10_080_000), None]);
}

#[test]
fn thresholds_follow_the_network_unless_they_are_given() {
    let derived = |config: SfcConfig| config.derived(200_000, Ps::from_us(16));
    let config = derived(SfcConfig::default());
    assert_eq!((config.trigger, config.target), (Bytes(400_000), Bytes(200_000)));
    assert_eq!((config.filter_reset, config.estimator_tau), (Ps::from_us(8), Ps::from_us(16)));
    let given = SfcConfig { trigger: Bytes(50), target: Bytes(20), ..SfcConfig::default() };
    assert_eq!((derived(given.clone()).trigger, derived(given).target), (Bytes(50), Bytes(20)));
}

#[test]
fn counts_of_switches_add_up() {
    let of = |unit: u64| SfcStats {
        triggered: unit,
        suppressed: 2 * unit,
        sent: 3 * unit,
        sent_bytes: 4 * unit,
        sent_near_source: 5 * unit,
        converted: 6 * unit,
    };
    let mut all = SfcStats::default();
    [of(10), of(3)].iter().for_each(|other| all.add(other));
    assert_eq!(all, of(13));
}

/// Four hosts at line rate are an incast, but not if they send within their rack, or come from
/// others, through port 2.
#[test]
fn the_estimator_ignores_traffic_within_the_rack_and_from_others() {
    for (ingress, egress, expected) in [(0, 2, true), (0, 1, false), (2, 2, false), (2, 0, false)] {
        let mut sfc = sfc(|config| config.estimator = true);
        let speaks = (0..1_000u64).any(|round| {
            let senders = 0..4;
            let packets = senders.map(|host| data(host, u32::from(egress), ingress));
            packets.filter_map(|packet| sfc.mirror_arrival(round * 80_000, egress, &packet)).count()
                > 0
        });
        assert_eq!(speaks, expected, "from port {ingress} to port {egress}");
    }
}

/// A filter by pair takes all flows of two hosts and one class for one flow. A filter by 5-tuple
/// tells flows apart, but not the classes of a flow.
#[test]
fn a_filter_by_pair_suppresses_other_flows_of_the_class() {
    for (key, other_flow, other_class) in
        [(FilterKey::FiveTuple, true, false), (FilterKey::Pair, false, true)]
    {
        let mut sfc = sfc(|config| (config.filter_key, config.bit_delay) = (key, Ps(0)));
        let of = |class: u8, label| {
            let flags = class << flag::CLASS_SHIFT;
            Packet { queue: class, flags, label, ..data(5, 0, 2) }
        };
        for class in [2, 3] {
            (0..251).for_each(|_| _ = sfc.on_enqueue(0, 0, &mut of(class, 7), &Fifo::default()));
        }
        let signals = [of(3, 7), of(3, 8), of(2, 7)];
        let signals = signals.map(|packet| sfc.mirror_arrival(1, 0, &packet).is_some());
        assert_eq!(signals, [true, other_flow, other_class], "{key:?}");
    }
}

#[test]
fn settings_are_checked_at_their_bounds() {
    let base_rtt = Ps::from_us(10);
    let check = |change: fn(&mut SfcConfig)| {
        let mut config = SfcConfig::default().derived(125_000, Ps::from_us(10));
        change(&mut config);
        config.check(base_rtt).map_err(|(key, _)| key)
    };
    assert_eq!(check(|sfc| sfc.mirror_delay = Ps::from_us(10)), Ok(()));
    assert_eq!(check(|sfc| sfc.mirror_delay = Ps(10_000_001)), Err("mirror_delay"));
    assert_eq!(check(|sfc| sfc.target = Bytes(249_999)), Ok(()));
    assert_eq!(check(|sfc| sfc.target = sfc.trigger), Err("target"));
    assert_eq!(check(|sfc| sfc.cache_entries = 0), Err("cache_entries"));
    assert_eq!(check(|sfc| sfc.filter_hashes = 16), Ok(()));
    assert_eq!(check(|sfc| sfc.filter_hashes = 17), Err("filter_hashes"));
    assert_eq!(check(|sfc| sfc.filter_cells = 0), Err("filter_cells"));
    assert_eq!(check(|sfc| sfc.cache_entries = 1 << 20), Ok(()));
    assert_eq!(check(|sfc| sfc.cache_entries = (1 << 20) + 1), Err("cache_entries"));
    assert_eq!(check(|sfc| sfc.frame_size = Bytes(31)), Err("frame_size"));
}
