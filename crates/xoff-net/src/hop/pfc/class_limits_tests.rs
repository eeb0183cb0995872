//! Closed forms of shares by class, and the same limits for all classes as a model.

use proptest::prelude::*;
use xoff_core::Bytes;
use xoff_core::knobs::{Knob as _, Value};

use super::*;
use crate::buffer::BufferConfig;
use crate::by_class::ByClass;
use crate::hop::pfc::ClassPfc;
use crate::hop::{Ask, HopControl, HopSettings as _, PfcConfig, Signal};
use crate::packet::{Kind, flag};
use crate::recount::WaitingPacket;
use crate::sched::Fifo;

const PORT: PfcPort = PfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
const PORTS: u16 = 16;
const BYTES: u16 = 1000;

fn buffer(by_class: &str) -> BufferConfig {
    let by_class = ByClass::read(&Value::Text(by_class.into())).unwrap();
    BufferConfig { by_class, size: Bytes(12_000_000), ..BufferConfig::default() }
}

fn switch(pfc: Option<&PfcConfig>, by_class: &str) -> ClassPfc {
    switch_of(12_000_000, pfc, by_class)
}

fn switch_of(size: u64, pfc: Option<&PfcConfig>, by_class: &str) -> ClassPfc {
    let buffer = BufferConfig { size: Bytes(size), ..buffer(by_class) };
    let plan = MemoryPlan { pfc, buffer: &buffer };
    Pfc::by_class(plan, &[PORT; PORTS as usize], PORT.rate).unwrap()
}

fn packet(class: u8, ingress: u16) -> Packet {
    let mut packet = Packet::new(Kind::Data, BYTES);
    (packet.flags, packet.ingress) = (class << flag::CLASS_SHIFT, ingress);
    packet
}

/// A packet enters, if it may.
fn enter(pfc: &mut ClassPfc, (class, ingress, egress): (u8, u16, u16)) -> Option<Option<Signal>> {
    let mut packet = packet(class, ingress);
    if !pfc.admits(egress, &packet) {
        pfc.on_refused(egress, &packet);
        return None;
    }
    Some(pfc.on_enqueue(0, egress, &mut packet, &Fifo::default()))
}

/// Bytes of a class at the port that counts it.
fn held(pfc: &ClassPfc, place: (u8, u16, u16)) -> u64 {
    let count = pfc.count_of(place.2, &packet(place.0, place.1)).0;
    count.bytes + count.headroom
}

/// Packets enter at these places in turn, for each until one is refused or causes a pause.
fn fill(pfc: &mut ClassPfc, places: &[(u8, u16, u16)]) {
    let mut open = places.to_vec();
    while !open.is_empty() {
        open.retain(|&place| enter(pfc, place) == Some(None));
    }
}

/// Packets arrive at these places all the time. At a place that refuses or has paused its neighbour
/// they only leave, so that each place stays at its threshold.
fn settle(pfc: &mut ClassPfc, places: &[(u8, u16, u16)]) {
    for _ in 0..30_000 {
        for &(class, ingress, egress) in places {
            let paused = pfc.paused(ingress) >> class & 1 == 1;
            if paused || enter(pfc, (class, ingress, egress)).is_none() {
                pfc.on_dequeue(0, egress, &mut packet(class, ingress));
            }
        }
    }
}

/// Choudhury and Hahne 1998: each queue settles at `B_i = alpha_i (B - sum of B_j)`, so
/// `B_i = alpha_i B / (1 + sum of alpha_j)`, here for classes that are lossy.
#[test]
fn lossy_queues_settle_at_the_fixed_point_of_their_alphas() {
    let mut pfc = switch(None, "0: alpha 1, 3: alpha 0.25, 5: alpha 4");
    let of = |class: u8| [1.0, 1.0, 1.0, 0.25, 1.0, 4.0, 1.0, 1.0][usize::from(class)];
    // Class 1 has the alpha of all classes.
    let places: Vec<_> =
        [0, 0, 3, 3, 3, 5, 1].iter().zip(0..).map(|(&class, egress)| (class, 15, egress)).collect();
    settle(&mut pfc, &places);
    let sum: f64 = places.iter().map(|&(class, ..)| of(class)).sum();
    for &place in &places {
        let expected = of(place.0) * 12e6 / (1.0 + sum);
        let found = held(&pfc, place) as f64;
        assert!((found - expected).abs() < 8_000.0, "{place:?}: {found} and not {expected}");
    }
    let refused = pfc.class_stats().refused;
    let refusing: Vec<bool> = refused.iter().map(|refused| refused.threshold > 0).collect();
    assert_eq!(refusing, [true, true, false, true, false, true, false, false]);
    assert_eq!(pfc.paused(15), 0);
}

/// The same for ingresses that pause, next to lossy queues: what all hold leaves free what
/// their thresholds assume.
#[test]
fn lossless_ingresses_pause_at_the_fixed_point_of_their_alphas() {
    let pfc = PfcConfig { reserve: Bytes(0), ..PfcConfig::default() };
    let by_class = "0: lossy alpha 2, 3: alpha 0.5, 4: alpha 0.125 headroom 30KB";
    let mut switch = switch(Some(&pfc), by_class);
    let places = [(3, 0, 9), (3, 1, 9), (4, 0, 9), (4, 2, 9), (0, 3, 8), (7, 5, 9)];
    settle(&mut switch, &places);
    // Set aside: the headroom of class 3, of the classes that are not named, and of class 4.
    let pool = 12e6 - f64::from(PORTS) * (37_500.0 + 37_500.0 + 30_000.0);
    let alphas = [0.5, 0.5, 0.125, 0.125, 2.0, 0.11];
    for (place, alpha) in places.into_iter().zip(alphas) {
        let expected = alpha * pool / (1.0 + alphas.iter().sum::<f64>());
        let found = held(&switch, place) as f64;
        assert!((found - expected).abs() < 8_000.0, "{place:?}: {found} and not {expected}");
    }
    fill(&mut switch, &places);
    let paused: Vec<u8> = (0..6).map(|ingress| switch.paused(ingress)).collect();
    assert_eq!(paused, [0b11000, 0b1000, 0b10000, 0, 0, 0b1000_0000]);
}

/// After a pause, a class may go on for exactly its headroom, whatever others hold.
#[test]
fn a_lossless_class_has_its_headroom_to_itself() {
    let config = PfcConfig::default();
    let mut pfc = switch(Some(&config), "0: lossy alpha 64, 3: headroom 60KB, 4: alpha 0.3");
    let others: Vec<_> = (0..PORTS).map(|port| (0, port, port)).collect();
    fill(&mut pfc, &[(3, 1, 2), (4, 1, 2)]);
    fill(&mut pfc, &others);
    for (class, headroom) in [(3, 60_000), (4, 37_500)] {
        let place = (class, 1, 2);
        while enter(&mut pfc, place).is_some() {}
        let used = pfc.count_of(2, &packet(class, 1)).0.headroom;
        assert_eq!(used, headroom / u64::from(BYTES) * u64::from(BYTES));
        let refused = pfc.class_stats().refused[usize::from(class)];
        assert_eq!(refused, Refused { headroom: 1, ..Refused::default() });
    }
}

#[test]
fn guaranteed_bytes_are_always_available() {
    let config = PfcConfig::default();
    let by_class = "0: lossy alpha 64, 1: lossy alpha 0.01 reserve 9KB, \
                    3: reserve 5KB headroom 0B, 5: lossy alpha 64";
    let mut pfc = switch_of(2_000_000, Some(&config), by_class);
    // The others leave less than a packet of the pool.
    let others = (0..PORTS).flat_map(|port| [(0, 0, port), (5, 0, port)]);
    fill(&mut pfc, &others.collect::<Vec<_>>());
    for (class, reserve) in [(1, 9), (3, 5)] {
        let fits = (0..20).take_while(|_| enter(&mut pfc, (class, 4, 5)).is_some()).count();
        assert_eq!(fits, reserve, "class {class}");
    }
}

/// The pool of headrooms holds their sum over the oversubscription. A packet that finds it used up
/// is counted as such, and one that finds the headroom of its ingress full is not.
#[test]
fn headrooms_share_a_pool() {
    let config = PfcConfig { headroom_oversubscription: 4.0, ..PfcConfig::default() };
    let mut pfc = switch(Some(&config), "3: alpha 0.01 headroom 40KB, 0: lossy, 7: lossy");
    let mut used = 0;
    // Class 3 and the rest together: 16 x (40 KB + 37.5 KB) / 4 = 310 KB.
    for ingress in 0..PORTS {
        while enter(&mut pfc, (3, ingress, 0)).is_some() {}
        used += pfc.count_of(0, &packet(3, ingress)).0.headroom;
    }
    assert_eq!((used, pfc.class_stats().headroom_max), (310_000, 310_000));
    let refused = Refused { headroom: 7, headroom_pool: 9, ..Refused::default() };
    assert_eq!(pfc.class_stats().refused[3], refused);
    // The memory that is not set aside for headrooms is in the pool.
    let reserves = u64::from(PORTS) * 2 * 4096;
    let buffer = buffer("3: alpha 0.01 headroom 40KB, 0: lossy, 7: lossy");
    let plan = MemoryPlan { pfc: Some(&config), buffer: &buffer };
    assert_eq!(plan.aside(&[PORT; 16]).bytes(), reserves + 310_000);
    let pool = 12_000_000 - reserves - 310_000;
    let alone = (pool as f64 * 0.01 / 1.01) as u64 + 4096;
    let found = config.explain(&buffer, &[PORT; 16]);
    let found: Vec<_> = found.iter().map(|(name, bytes)| (&**name, *bytes)).collect();
    assert_eq!(found[..2], [("pfc_pool", pool), ("pfc_headroom_pool", 310_000)]);
    let class = found.iter().find(|(name, _)| *name == "class3_pfc_pause_of_a_lone_ingress");
    assert_eq!(class.unwrap().1, alone, "alpha / (1 + alpha) of the pool, and the reserve");
}

/// A class that is paused is not paused again by packets that its headroom takes.
#[test]
fn each_class_pauses_once() {
    for class in [0, 3, 7] {
        let mut pfc = switch(Some(&PfcConfig::default()), "3: alpha 0.01 headroom 40KB");
        let entered: Vec<_> = std::iter::from_fn(|| enter(&mut pfc, (class, 1, 0))).collect();
        let asks: Vec<_> = entered.into_iter().flatten().collect();
        assert_eq!(asks, [Signal::new(1, Ask::Pause, 1 << class)]);
    }
}

#[test]
fn a_small_buffer_is_refused() {
    let buffer = BufferConfig { size: Bytes(900_000), ..buffer("3: headroom 60KB") };
    let plan = MemoryPlan { pfc: Some(&PfcConfig::default()), buffer: &buffer };
    let error = ClassPfc::by_class(plan, &[PORT; 16], PORT.rate).unwrap_err();
    assert!(error.contains("reserves and headrooms take 1691072B"), "{error}");
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Enter { class: u8, ingress: u16, egress: u16 },
    Leave(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let enter = (0..4u8, 0..3u16, 0..3u16).prop_map(|(class, ingress, egress)| Step::Enter {
        class,
        ingress,
        egress,
    });
    let step = prop_oneof![3 => enter, 2 => any::<usize>().prop_map(Step::Leave)];
    prop::collection::vec(step, 1..1500)
}

proptest! {
    /// For any packets, the accounts are what counting again finds, and no pause stays without a
    /// reason. A packet that passes would have joined and left without a signal or a trace.
    #[test]
    fn accounts_agree_with_the_packets(steps in steps(), shared in any::<bool>()) {
        let times = if shared { 3.0 } else { 0.0 };
        let config = PfcConfig { headroom_oversubscription: times, ..PfcConfig::default() };
        let by_class = "0: lossy alpha 0.5 reserve 3KB, 1: alpha 2, 2: alpha 0.1 headroom 9KB";
        let small = BufferConfig { size: Bytes(400_000), ..buffer(by_class) };
        let plan = MemoryPlan { pfc: Some(&config), buffer: &small };
        let mut pfc = ClassPfc::by_class(plan, &[PORT; 3], PORT.rate).unwrap();
        let mut waiting: Vec<(u16, Packet)> = Vec::new();
        for step in steps {
            match step {
                Step::Enter { class, ingress, egress } => {
                    let mut packet = packet(class, ingress);
                    if pfc.pass(0, egress, &packet) {
                        prop_assert!(pfc.admits(egress, &packet));
                        let before = format!("{pfc:?}");
                        let joined = pfc.on_enqueue(0, egress, &mut packet, &Fifo::default());
                        let left = pfc.on_dequeue(0, egress, &mut packet);
                        prop_assert_eq!((joined, left), (None, None));
                        prop_assert_eq!(format!("{pfc:?}"), before);
                    }
                    if let Some(signal) = enter(&mut pfc, (class, ingress, egress)) {
                        waiting.push((egress, packet));
                        let pause = Signal::new(ingress, Ask::Pause, 1 << class);
                        let mine = |signal: Signal| signal == pause;
                        prop_assert!(signal.is_none_or(|signal| class != 0 && mine(signal)));
                    }
                }
                Step::Leave(which) if !waiting.is_empty() => {
                    let (egress, mut packet) = waiting.swap_remove(which % waiting.len());
                    pfc.on_dequeue(0, egress, &mut packet);
                }
                Step::Leave(_) => {}
            }
        }
        let all: Vec<_> =
            waiting.iter().map(|&(egress, ref packet)| WaitingPacket { egress, packet }).collect();
        prop_assert!(pfc.recount(&all, &[]).is_ok());
        prop_assert!(all.is_empty() || pfc.recount(&all[1..], &[]).is_err());
    }

    /// With the same limits for all classes, signals are those of PFC without classes.
    #[test]
    fn classes_that_are_alike_are_those_of_plain_pfc(steps in steps()) {
        let config = PfcConfig { headroom_oversubscription: 1.0, ..PfcConfig::default() };
        let small = BufferConfig { size: Bytes(400_000), ..buffer("") };
        let plan = MemoryPlan { pfc: Some(&config), buffer: &small };
        let mut by_class = ClassPfc::by_class(plan, &[PORT; 3], PORT.rate).unwrap();
        let mut plain = Pfc::new(&config, &small, &[PORT; 3], PORT.rate).unwrap();
        let mut waiting: Vec<(u16, Packet)> = Vec::new();
        for step in steps {
            match step {
                Step::Enter { ingress, egress, .. } => {
                    let mut packet = packet(2, ingress);
                    // Plain PFC may refuse a packet within its reserve, as the HPCC simulator does.
                    if !plain.admits(egress, &packet) {
                        continue;
                    }
                    prop_assert!(by_class.admits(egress, &packet));
                    prop_assert_eq!(
                        by_class.pass(0, egress, &packet),
                        plain.pass(0, egress, &packet)
                    );
                    let signal = plain.on_enqueue(0, egress, &mut packet, &Fifo::default());
                    prop_assert_eq!(
                        by_class.on_enqueue(0, egress, &mut packet, &Fifo::default()),
                        signal
                    );
                    waiting.push((egress, packet));
                }
                Step::Leave(which) if !waiting.is_empty() => {
                    let (egress, mut packet) = waiting.swap_remove(which % waiting.len());
                    let signal = plain.on_dequeue(0, egress, &mut packet);
                    prop_assert_eq!(by_class.on_dequeue(0, egress, &mut packet), signal);
                }
                Step::Leave(_) => {}
            }
        }
    }
}

#[test]
fn counts_of_switches_add_up() {
    let of = |unit: u64| Refused {
        threshold: unit,
        headroom: 2 * unit,
        headroom_pool: 3 * unit,
        memory: 4 * unit,
    };
    let mut all = Refused::default();
    [of(10), of(3)].iter().for_each(|other| all.add(other));
    assert_eq!(all, of(13));
}

/// A packet that fits by the limits of its class has found the memory full.
#[test]
fn a_refusal_without_a_limit_is_one_of_the_memory() {
    let mut pfc = switch(Some(&PfcConfig::default()), "3: headroom 60KB");
    pfc.on_refused(2, &packet(3, 1));
    let refused = Refused { memory: 1, ..Refused::default() };
    assert_eq!(pfc.class_stats().refused[3], refused);
}

/// Packets of 1000 B in a memory of 10 KB: a queue as long as its threshold takes no more, and the
/// last packet may fill the memory. An alpha of 0 is no limit.
#[test]
fn a_lossy_queue_is_full_at_its_threshold_or_with_the_memory() {
    for (by_class, packets) in [("0: alpha 1", 5), ("0: alpha 64", 10)] {
        let mut pfc = switch_of(10_000, None, by_class);
        let fits = (0..20).take_while(|_| enter(&mut pfc, (0, 1, 2)).is_some()).count();
        assert_eq!(fits, packets, "{by_class}");
    }
    let buffer = BufferConfig { size: Bytes(10_000), alpha: 0.0, ..buffer("3: alpha 1") };
    let mut pfc =
        ClassPfc::by_class(MemoryPlan { pfc: None, buffer: &buffer }, &[PORT], 1).unwrap();
    let fits = (0..20).take_while(|_| enter(&mut pfc, (0, 0, 0)).is_some()).count();
    assert_eq!(fits, 10);
}

/// Without a pool of headrooms each class has all of its own, though the memory sets it aside once
/// for all that are not named.
#[test]
fn classes_without_a_pool_of_headrooms_do_not_share() {
    let buffer = buffer("0: lossy");
    let plan = MemoryPlan { pfc: Some(&PfcConfig::default()), buffer: &buffer };
    let mut pfc = ClassPfc::by_class(plan, &[PORT], PORT.rate).unwrap();
    for class in [2, 5] {
        while enter(&mut pfc, (class, 0, 0)).is_some() {}
        assert_eq!(pfc.count_of(0, &packet(class, 0)).0.headroom, 37_000);
    }
    let refused = Refused { headroom: 1, ..Refused::default() };
    assert_eq!(pfc.class_stats().refused[5], refused);
}
