//! Compares bins with models of their lists, and tests their shares and drops.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::packet::Kind;

const US: u64 = 1_000_000;
const CONFIG: SfqCodelConfig =
    SfqCodelConfig { bins: 1024, interval: Ps(100 * US), target: Ps(5 * US) };
const QUANTUM: u32 = 1000;

fn port(bins: u16) -> SfqCodel {
    SfqCodel::new(&SfqCodelConfig { bins, ..CONFIG }, QUANTUM, 7)
}

fn packet(label: u32, bytes: u16, time: u64) -> Packet {
    let mut packet = Packet::new(Kind::Data, bytes);
    (packet.label, packet.flow, packet.time) = (label, label, time);
    packet
}

/// `count` labels with different bins.
fn labels(port: &SfqCodel, count: usize) -> Vec<u32> {
    let mut bins = Vec::new();
    let fresh = |label: &u32| {
        let bin = port.bin_of(&packet(*label, 100, 0));
        let is_fresh = !bins.contains(&bin);
        bins.push(bin);
        is_fresh
    };
    (0..).filter(fresh).take(count).collect()
}

/// The packets dropped and the packet sent when the port may send at `now`.
fn serve(port: &mut SfqCodel, pool: &mut Pool, now: u64) -> (Vec<Packet>, Option<Packet>) {
    let mut shed = Queue::default();
    port.shed(pool, now, &mut shed);
    let dropped = std::iter::from_fn(|| shed.pop(pool)).map(|id| pool[id]).collect();
    (dropped, port.pop(pool).map(|id| pool[id]))
}

proptest! {
    /// Backlogged bins share to within a quantum and a packet, for any packet sizes.
    #[test]
    fn backlogged_bins_share_equally(
        sizes in prop::collection::vec(64u16..1000, 2..8), rounds in 50usize..400,
    ) {
        let (mut pool, mut port) = (Pool::default(), port(1024));
        let labels = labels(&port, sizes.len());
        let mut sent = vec![0u32; sizes.len()];
        let push = |port: &mut SfqCodel, pool: &mut Pool, which: usize| {
            let id = pool.insert(packet(labels[which], sizes[which], 0));
            port.push(pool, id);
        };
        (0..sizes.len()).for_each(|which| (0..2).for_each(|_| push(&mut port, &mut pool, which)));
        for _ in 0..rounds {
            let id = port.pop(&mut pool).unwrap();
            let which = labels.iter().position(|&label| label == pool[id].label).unwrap();
            sent[which] += u32::from(pool[id].wire_bytes);
            push(&mut port, &mut pool, which);
        }
        let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
        prop_assert!(most - least <= QUANTUM + 1000, "{sent:?}");
    }

    /// Compares the port with two lists of bins (RFC 8290 §4), without CoDel. Bytes are conserved.
    #[test]
    fn bins_take_turns_as_two_lists_would(
        steps in prop::collection::vec(prop::option::of((0u32..12, 64u16..1000)), 1..300),
    ) {
        let (mut pool, mut port) = (Pool::default(), port(5));
        let mut model = Model::default();
        for step in steps {
            if let Some((label, bytes)) = step {
                let record = packet(label, bytes, 0);
                model.push(port.bin_of(&record), bytes);
                let id = pool.insert(record);
                port.push(&mut pool, id);
            } else {
                let popped = port.pop(&mut pool);
                let sent = popped.map(|id| (port.bin_of(&pool[id]), pool[id].wire_bytes));
                prop_assert_eq!(sent, model.pop());
            }
            let held = model.bins.iter().flat_map(|bin| &bin.packets);
            prop_assert_eq!(port.queue_bytes(0), held.map(|&bytes| u32::from(bytes)).sum::<u32>());
            let busy = model.bins.iter().filter(|bin| !bin.packets.is_empty()).count();
            prop_assert_eq!(port.active() as usize, busy);
        }
    }

    /// A full port drops from the bin that a search through all bins finds.
    #[test]
    fn eviction_finds_the_fattest_bin(
        steps in prop::collection::vec((0u32..3, 0u32..12, 64u16..1500), 1..300),
    ) {
        let (mut pool, mut port) = (Pool::default(), port(5));
        port.make_bins();
        for (step, label, bytes) in steps {
            let record = packet(label, bytes, 0);
            let own = port.bin_of(&record);
            let id = pool.insert(record);
            if step == 0 {
                port.push(&mut pool, id);
            } else if step == 1 {
                port.pop(&mut pool);
            } else {
                let bytes = u32::from(bytes);
                let held = |bin: u16| port.bins[bin as usize].queue.bytes();
                let with = |bin: u16| held(bin) + if bin == own { bytes } else { 0 };
                let most = (0..5).map(with).max().unwrap();
                let fattest = (0..5).find(|&bin| with(bin) == most && most > bytes).unwrap_or(own);
                let expected = port.bins[fattest as usize].queue.head();
                prop_assert_eq!(port.evict(&mut pool, id), expected);
            }
        }
    }

    /// Two ports receive the same packets. In one, packets pass if they may; in the other they join
    /// and leave.
    #[test]
    fn passing_is_joining_and_leaving(
        steps in prop::collection::vec(
            (prop::option::of((0u32..4, 64u16..1500)), 0u64..30),
            1..200,
        ),
    ) {
        let (mut passed, mut joined) = (port(4), port(4));
        let mut pool = Pool::default();
        let mut now = 0;
        for (step, gap) in steps {
            now += gap * US;
            let Some((label, bytes)) = step else {
                let key = |(dropped, sent): (Vec<Packet>, Option<Packet>)| {
                    let key = |packet: Packet| (packet.label, packet.wire_bytes, packet.time);
                    (dropped.into_iter().map(key).collect::<Vec<_>>(), sent.map(key))
                };
                let ways = [&mut passed, &mut joined].map(|port| key(serve(port, &mut pool, now)));
                prop_assert_eq!(&ways[0], &ways[1]);
                continue;
            };
            let record = packet(label, bytes, now);
            let ids = [record; 2].map(|record| pool.insert(record));
            joined.push(&mut pool, ids[0]);
            if passed.may_pass(0) {
                passed.pass(&record);
                let (dropped, sent) = serve(&mut joined, &mut pool, now);
                prop_assert!(dropped.is_empty());
                prop_assert_eq!(sent.map(|packet| packet.label), Some(label));
            } else {
                passed.push(&mut pool, ids[1]);
            }
        }
    }
}

#[derive(Default)]
struct ModelBin {
    packets: VecDeque<u16>,
    deficit: i32,
}

/// Two lists of bins, implemented literally.
#[derive(Default)]
struct Model {
    bins: [ModelBin; 5],
    new: VecDeque<u16>,
    old: VecDeque<u16>,
}

impl Model {
    fn push(&mut self, bin: u16, bytes: u16) {
        if !self.new.contains(&bin) && !self.old.contains(&bin) {
            self.bins[bin as usize].deficit = QUANTUM as i32;
            self.new.push_back(bin);
        }
        self.bins[bin as usize].packets.push_back(bytes);
    }

    fn pop(&mut self) -> Option<(u16, u16)> {
        if self.bins.iter().all(|bin| bin.packets.is_empty()) {
            return None;
        }
        loop {
            let is_new = !self.new.is_empty();
            let number = if is_new { self.new[0] } else { self.old[0] };
            let bin = &mut self.bins[number as usize];
            if bin.deficit > 0 && !bin.packets.is_empty() {
                let bytes = bin.packets.pop_front().unwrap();
                bin.deficit -= i32::from(bytes);
                return Some((number, bytes));
            }
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.pop_front();
            if bin.deficit <= 0 {
                bin.deficit += QUANTUM as i32;
                self.old.push_back(number);
            } else if is_new {
                self.old.push_back(number);
            }
        }
    }
}

/// A flow of one packet goes ahead of a backlog of others, but not if it sends one packet at a
/// time.
#[test]
fn a_bin_that_comes_to_hold_something_goes_first() {
    let (mut pool, mut port) = (Pool::default(), port(1024));
    let labels = labels(&port, 3);
    let push = |port: &mut SfqCodel, pool: &mut Pool, which: usize| {
        let id = pool.insert(packet(labels[which], 1000, 0));
        port.push(pool, id);
    };
    let next = |port: &mut SfqCodel, pool: &mut Pool| {
        let id = port.pop(pool).unwrap();
        labels.iter().position(|&label| label == pool[id].label).unwrap()
    };
    for which in [0, 0, 0, 1, 1, 1] {
        push(&mut port, &mut pool, which);
    }
    assert_eq!([0; 3].map(|_| next(&mut port, &mut pool)), [0, 1, 0]);
    push(&mut port, &mut pool, 2);
    assert_eq!(next(&mut port, &mut pool), 2);
    push(&mut port, &mut pool, 2);
    assert_eq!([0; 3].map(|_| next(&mut port, &mut pool)), [1, 2, 0]);
}

/// Afterwards bins take turns as if the packet had joined its bin and left.
#[test]
fn a_packet_that_passes_leaves_the_state_of_one_that_waited() {
    let order = |passes: bool| {
        let (mut pool, mut port) = (Pool::default(), port(1024));
        let labels = labels(&port, 3);
        let push = |port: &mut SfqCodel, pool: &mut Pool, which: usize| {
            let id = pool.insert(packet(labels[which], 1000, 0));
            port.push(pool, id);
        };
        for _ in 0..2 {
            if passes {
                assert!(port.may_pass(0));
                port.pass(&packet(labels[0], 1000, 0));
            } else {
                push(&mut port, &mut pool, 0);
                assert!(port.pop(&mut pool).is_some());
            }
        }
        [0, 1, 2, 0, 1, 2].into_iter().for_each(|which| push(&mut port, &mut pool, which));
        let sent = std::iter::from_fn(|| port.pop(&mut pool).map(|id| pool[id].label));
        sent.collect::<Vec<_>>()
    };
    assert_eq!(order(true), order(false));
}

#[test]
fn flows_of_one_bin_share_a_turn() {
    let (mut pool, mut port) = (Pool::default(), port(2));
    let bin_of = |label: &u32| port.bin_of(&packet(*label, 100, 0));
    let [pair, alone]: [Vec<u32>; 2] =
        [0, 1].map(|bin| (0..100).filter(|l| bin_of(l) == bin).collect());
    for label in [pair[0], pair[1], pair[0], pair[1], alone[0], alone[0], alone[0], alone[0]] {
        let id = pool.insert(packet(label, 1000, 0));
        port.push(&mut pool, id);
    }
    let sent: Vec<u32> = (0..6).map(|_| port.pop(&mut pool).unwrap()).collect();
    let of_alone = sent.iter().filter(|&&id| pool[id].label == alone[0]).count();
    assert_eq!(of_alone, 3);
}

/// A standing queue of one flow: each bin drops at its own times, and a packet with a short wait is
/// never dropped.
#[test]
fn only_the_bin_whose_packets_wait_drops() {
    let (mut pool, mut port) = (Pool::default(), port(1024));
    let labels = labels(&port, 2);
    let mut dropped = Vec::new();
    for step in 1..1000u64 {
        let now = step * US;
        // The long flow's packets have waited for 20 us, the short one's for none.
        for (label, wait) in [(labels[0], 20), (labels[0], 20), (labels[1], 0)] {
            let id = pool.insert(packet(label, 500, now.saturating_sub(wait * US)));
            port.push(&mut pool, id);
        }
        for _ in 0..2 {
            dropped.extend(serve(&mut port, &mut pool, now).0.iter().map(|packet| packet.label));
        }
    }
    assert!(dropped.len() > 20, "{}", dropped.len());
    assert!(dropped.iter().all(|&label| label == labels[0]));
}

/// For any wait, the last packet of a bin and the last packets of a port are sent.
#[test]
fn what_keeps_the_link_at_work_is_not_dropped() {
    for (counts, dropped) in [([4, 0], 1), ([3, 0], 0), ([2, 4], 0), ([3, 4], 1)] {
        let (mut pool, mut port) = (Pool::default(), port(1024));
        for (label, count) in labels(&port, 2).into_iter().zip(counts) {
            for _ in 0..count {
                let id = pool.insert(packet(label, 1000, 0));
                port.push(&mut pool, id);
            }
        }
        // The first packet of each bin shows that the wait is long.
        for _ in counts.iter().filter(|&&count| count > 0) {
            assert!(serve(&mut port, &mut pool, 50 * US).0.is_empty());
        }
        let (found, sent) = serve(&mut port, &mut pool, 500 * US);
        assert_eq!((found.len(), sent.is_some()), (dropped, true), "{counts:?}");
    }
}

#[test]
fn a_full_port_drops_from_the_head_of_the_fattest_bin() {
    let (mut pool, mut port) = (Pool::default(), port(1024));
    let labels = labels(&port, 3);
    for (which, count) in [(0, 3), (1, 5), (2, 1)] {
        for time in 0..count {
            let id = pool.insert(packet(labels[which], 1000, time));
            port.push(&mut pool, id);
        }
    }
    let mut evicted = |label: u32, bytes: u16| {
        let id = pool.insert(packet(label, bytes, 99));
        let evicted = port.evict(&mut pool, id);
        evicted.map(|id| (pool[id].label, pool[id].time))
    };
    assert_eq!(evicted(labels[2], 1000), Some((labels[1], 0)));
    // Four packets wait now; two more of the first flow would be the same number of bytes plus one.
    assert_eq!(evicted(labels[0], 1001), Some((labels[0], 0)));
    // A packet longer than every bin is itself the fattest.
    assert_eq!(evicted(u32::MAX, 9000), None);
    assert_eq!(port.queue_bytes(0), 7000);
}

#[test]
fn times_follow_from_the_base_rtt() {
    let derived = SfqCodelConfig::default().derived(Ps(25 * US));
    assert_eq!((derived.interval, derived.target), (Ps(100 * US), Ps(5 * US)));
    let given = SfqCodelConfig { target: Ps(7), ..SfqCodelConfig::default() }.derived(Ps(25 * US));
    assert_eq!(given.target, Ps(7));
    assert!(given.check().is_ok());
    for (config, key) in [
        (SfqCodelConfig { bins: 0, ..derived.clone() }, "bins"),
        (SfqCodelConfig { target: derived.interval, ..derived.clone() }, "target"),
    ] {
        assert_eq!(config.check().unwrap_err().0, key);
    }
}

#[test]
fn a_port_has_a_cache_line_for_each_bin() {
    assert_eq!(CONFIG.port_bytes(), 65_536);
}
