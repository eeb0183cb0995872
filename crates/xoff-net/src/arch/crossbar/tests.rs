//! One switch with random packets: its counts equal a recount, it loses nothing inside unless its
//! egress queues drop, and no packet waits behind a less important one.

use proptest::prelude::*;
use xoff_core::rng::Purpose;
use xoff_core::{Bytes, Event, Ps, Rng, Wheel};

use super::*;
use crate::arch::{Forwarding, PauseConfig, Switch, Thresholds};
use crate::balance::{Adaptive, AlbConfig, Ecmp};
use crate::fabric::{FabricTags, Instants, Peer, PortSpec, Rounding};
use crate::mark::{Draws, MarkAt};
use crate::packet::{Kind, NONE, Packet, flag};
use crate::phase;
use crate::sched::{AnyScheduler, Egress, Fifo};
use crate::topo::Route;

const PORTS: u32 = 4;
const WAKE: u32 = 1_000;
const STAGE: u32 = 2_000;
const TIMER: u32 = 3_000;
const RATE: u64 = 1_000_000_000;
/// Time of a byte on a link (ps).
const BYTE: u64 = 8_000;

/// A packet to the switch: the arrival of its last bit (ps), its ingress port, egress port and
/// class.
#[derive(Clone, Copy, Debug)]
struct Sent {
    time: u64,
    input: u32,
    output: u32,
    class: u8,
    bytes: u16,
}

/// A host behind ports 2 and 3.
const BEYOND: u32 = PORTS;

/// A switch with ports 0 to 3 and a host at each.
struct Bench {
    switch: Crossbar,
    fabric: Fabric,
    destinations: Vec<Destination>,
    lost: Vec<u32>,
}

impl Bench {
    fn new(config: CrossbarConfig, adaptive: bool) -> Self {
        let tags = FabricTags { arrival: 0, wake: WAKE, sent: 98, next_arrival: 99, checked: 97 };
        let (rounding, instants) = (Rounding::PicosecondUp, Instants::Phases);
        let mut fabric = Fabric::new(rounding, instants, 1, Wheel::new(), tags);
        for id in 0..2 * PORTS + 1 {
            let peer_id = (id + PORTS) % (2 * PORTS);
            let (delay, peer) = (Ps::from_us(1), Peer::Local(peer_id));
            fabric.add_port(&PortSpec { id, peer_id, rate: RATE, delay, peer });
        }
        for number in 0..=PORTS {
            fabric.wheel.add_timer(phase::TIMER | u64::from(number), TIMER + number);
        }
        let rng = |purpose| Rng::stream(1, purpose, 0);
        let mut destinations: Vec<_> =
            (0..PORTS as u16).map(|access_port| Destination { group: 0, access_port }).collect();
        destinations.push(Destination { group: 1, access_port: 0 });
        let routes = vec![Route { first: 0, count: 0 }, Route { first: 0, count: 2 }];
        let egress = |_| Egress::new(AnyScheduler::Fifo(Fifo::default()));
        let parts = CrossbarParts {
            config,
            arbiter: 2 * PORTS,
            first_id: 0,
            stage_tag: STAGE,
            io: CioqParts {
                pause: PauseConfig::default(),
                thresholds: vec![Thresholds { xoff: u64::MAX, xon: 0 }; PORTS as usize],
                first_port: 0,
                mtu: 1530,
                egress: (0..PORTS).map(egress).collect(),
                forwarding: Forwarding::new(routes, vec![2, 3], Ecmp::new(0)).with_sets(),
                adaptive: adaptive.then(|| {
                    Adaptive::new(&AlbConfig::default(), PORTS as usize, rng(Purpose::Spraying))
                }),
                ecn: (Vec::new(), MarkAt::Dequeue),
                marking: Draws::Own(rng(Purpose::Marking)),
                control_frame: 64,
                control_loss: None,
                first_timer: 0,
            },
        };
        let switch = Crossbar::new(parts, &fabric);
        Self { switch, fabric, destinations, lost: Vec::new() }
    }

    /// Runs until no events are left. Returns the start of each packet's transmission.
    fn run(&mut self, all: &[Sent], check: impl Fn(&Self)) -> Vec<Option<u64>> {
        for (number, sent) in all.iter().enumerate() {
            let mut packet = Packet::new(Kind::Data, sent.bytes);
            (packet.dst, packet.flow, packet.seq) = (sent.output, number as u32, u64::MAX);
            packet.flags = sent.class << flag::CLASS_SHIFT;
            let item = self.fabric.packets.insert(packet);
            let rank = phase::ARRIVAL | u64::from(sent.input);
            self.fabric.wheel.post(Event { time: sent.time, rank, tag: sent.input, item });
        }
        let mut left = vec![None; all.len()];
        let mut picking = Vec::new();
        loop {
            if self.fabric.is_picking() && !self.fabric.wheel.may_be_due(self.fabric.now) {
                self.fabric.take_picking(&mut picking);
                for port in picking.drain(..) {
                    self.fabric.begin_picking(port);
                    self.pick(port);
                }
                check(self);
                continue;
            }
            let until = if self.fabric.is_picking() { self.fabric.now + 1 } else { u64::MAX };
            let Some(event) = self.fabric.wheel.pop_before(until) else {
                if self.fabric.is_picking() { continue } else { return left }
            };
            self.fabric.now = event.time;
            self.happen(event, &mut left);
            check(self);
        }
    }

    /// A dropped packet is lost with all packets that it links to.
    fn lose(&mut self, dropped: Option<u32>) {
        let mut next = dropped;
        while let Some(id) = next {
            let packet = &self.fabric.packets[id];
            self.lost.push(packet.flow);
            next = Some(packet.next).filter(|&id| id != NONE);
        }
    }

    fn happen(&mut self, event: Event, left: &mut [Option<u64>]) {
        let Self { switch, fabric, destinations, .. } = self;
        match event.tag {
            port if port < PORTS => {
                let dropped = switch.on_packet(fabric, destinations, port as u16, event.item);
                self.lose(dropped);
            }
            port if port < 2 * PORTS => {
                let packet = &fabric.packets[event.item];
                let sent = event.time - Ps::from_us(1).0 - u64::from(packet.wire_bytes) * BYTE;
                assert!(
                    [port - PORTS, BEYOND].contains(&packet.dst),
                    "it arrives at its \
                    destination"
                );
                left[packet.flow as usize] = Some(sent);
                fabric.packets.remove(event.item);
            }
            WAKE => {
                if fabric.wake(event.item) {
                    self.pick(event.item);
                }
            }
            tag => {
                let number = (tag - STAGE) as u16;
                let dropped = switch.on_stage(fabric, destinations, number, event.item);
                self.lose(dropped);
            }
        }
    }

    fn pick(&mut self, port: u32) {
        let number = if port == 2 * PORTS { PORTS } else { port };
        self.switch.pick(&mut self.fabric, number as u16);
    }

    /// The reservation of an egress equals the bytes in it and on the way there, and fits; if an
    /// egress drops, the bytes in it fit.
    fn check_counts(&self) {
        let switch = &self.switch;
        let ingress: u64 = (0..PORTS as u16).map(|port| u64::from(switch.pfc.held(port))).sum();
        let mut egress = 0;
        for (output, port) in switch.io.egress.iter().enumerate() {
            let held = switch.held[output];
            let reserved = switch.overflow == EgressOverflow::Hold;
            let fits = if reserved { held } else { port.data_bytes() };
            assert!(fits <= switch.egress_size && port.data_bytes() <= held);
            egress += u64::from(port.data_bytes());
            let crossing = switch.free_outputs >> output & 1 == 0;
            assert_eq!(crossing, port.data_bytes() < held, "a crossing packet has a reservation");
            if let Some(adaptive) = &switch.io.adaptive {
                assert_eq!(adaptive.drain_bytes(output as u16, 7), held);
            }
        }
        assert_eq!(ingress + egress, switch.used_bytes());
    }
}

fn traffic() -> impl Strategy<Value = Vec<Sent>> {
    let packet = (0..PORTS, 0..PORTS, 0..8u8, 64..1531u16, 0..3u64);
    prop::collection::vec(packet, 1..250).prop_map(|packets| {
        let mut free = [0; PORTS as usize];
        let send = |(input, output, class, bytes, gap)| {
            let time: &mut u64 = &mut free[input as usize];
            *time += (u64::from(bytes) + gap * 200) * BYTE;
            Sent { time: *time, input, output, class, bytes }
        };
        packets.into_iter().map(send).collect()
    })
}

fn overflow() -> impl Strategy<Value = EgressOverflow> {
    use EgressOverflow::{Drop, Hold, Partition, PushOut};
    prop::sample::select(vec![Hold, Hold, Drop, PushOut, Partition])
}

proptest! {
    #[test]
    fn all_that_enters_leaves_once_and_is_counted(
        sent in traffic(),
        (speedup, iterations, classes) in (1.0..4.0f64, 1..5u8, 1..9u8),
        (ingress, egress) in (3_000..100_000u64, 13_000..30_000u64),
        (adaptive, egress_overflow) in (any::<bool>(), overflow()),
    ) {
        let (ingress_size, egress_size) = (Bytes(ingress), Bytes(egress));
        let config = CrossbarConfig {
            ingress_size, egress_size, egress_overflow, speedup, iterations, classes,
            ..CrossbarConfig::default()
        };
        let mut bench = Bench::new(config, adaptive);
        let left = bench.run(&sent, Bench::check_counts);
        for (number, time) in left.iter().enumerate() {
            prop_assert_eq!(time.is_none(), bench.lost.contains(&(number as u32)));
        }
        prop_assert_eq!(bench.switch.stats().drops, bench.lost.len() as u64);
        prop_assert_eq!(bench.switch.used_bytes(), 0);
        let inside = egress_overflow != EgressOverflow::Hold;
        prop_assert!(bench.lost.is_empty() || ingress < 70_000 || inside);
    }

    /// Packets of one class between the same two ports stay in order.
    #[test]
    fn a_class_of_a_pair_stays_in_order(
        sent in traffic(),
        classes in 1..9u8,
        egress_overflow in overflow(),
    ) {
        let holds = egress_overflow == EgressOverflow::Hold;
        let egress_size = Bytes(if holds { 131_072 } else { 13_000 });
        let config =
            CrossbarConfig { classes, egress_overflow, egress_size, ..CrossbarConfig::default() };
        let mut bench = Bench::new(config, false);
        let left = bench.run(&sent, |_| ());
        let queue = |one: &Sent| (one.input, one.output, one.class.min(classes - 1));
        for (later, one) in sent.iter().enumerate().filter(|&(later, _)| left[later].is_some()) {
            let earlier = (0..later).rev().filter(|&other| left[other].is_some());
            let before = earlier.into_iter().find(|&other| queue(&sent[other]) == queue(one));
            prop_assert!(before.is_none_or(|before| left[before] < left[later]));
        }
    }
}

/// Three inputs send class 7 to port 0 all the time, and class 7 to all ports arrives together with
/// an important packet. That packet waits only for packets on the wire and in the crossbar.
#[test]
fn what_is_important_waits_only_for_what_is_under_way() {
    let mut sent = Vec::new();
    for input in 0..PORTS {
        for number in 1..200 {
            let time = number * 1530 * BYTE;
            let important = input == 3 && number % 5 == 0;
            let (class, output) = if important { (0, 0) } else { (7, number as u32 * input % 3) };
            sent.push(Sent { time, input, output, class, bytes: 1530 });
        }
    }
    let mut bench = Bench::new(CrossbarConfig::default(), false);
    let left = bench.run(&sent, Bench::check_counts);
    let (forwarding, crossing, wire) = (3_100_000, 1530 * BYTE / 4, 1530 * BYTE);
    let of_class = |class| sent.iter().zip(&left).filter(move |(one, _)| one.class == class);
    for (one, left) in of_class(0) {
        let delay = left.expect("the important packet is sent") - one.time;
        // Its input, its output and then the wire may each be busy.
        assert!(delay <= forwarding + 3 * crossing + wire, "{delay}");
    }
    let waits = of_class(7).filter_map(|(one, left)| left.map(|left| left - one.time));
    assert!(waits.max().unwrap_or(0) > 100 * wire, "port 0 is overloaded");
}

/// Three inputs overload port 0 with class 7, and the fourth sends a tenth of its rate of class 0
/// there. The egress holds ten packets.
#[test]
fn the_overflow_of_an_egress_says_who_loses() {
    let mut sent = Vec::new();
    for number in 1..200 {
        let time = number * 1530 * BYTE;
        let one = |input, class| Sent { time, input, output: 0, class, bytes: 1530 };
        sent.extend((0..3).map(|input| one(input, 7)));
        sent.extend((number % 10 == 0).then(|| one(3, 0)));
    }
    let important: Vec<u32> =
        (0..).zip(&sent).filter(|(_, one)| one.class == 0).map(|(flow, _)| flow).collect();
    let lost = |egress_overflow| {
        let config = CrossbarConfig {
            egress_overflow,
            egress_size: Bytes(15_300),
            ingress_size: Bytes(10_000_000),
            ..CrossbarConfig::default()
        };
        let mut bench = Bench::new(config, false);
        let left = bench.run(&sent, Bench::check_counts);
        let first = sent.iter().position(|one| one.class == 0).unwrap_or(0);
        let wait = left[first].map(|left| left - sent[first].time);
        let of_important = bench.lost.iter().filter(|flow| important.contains(flow)).count();
        assert_eq!(bench.switch.io.egress[0].drops().packets, bench.lost.len() as u64);
        (bench.lost.len(), of_important, wait)
    };
    assert_eq!(lost(EgressOverflow::Hold).0, 0);
    let (blind, of_important, _) = lost(EgressOverflow::Drop);
    assert!(of_important > important.len() / 4, "{of_important}");
    // One in three packets of class 7 leaves, less those of class 0.
    assert!((380..420).contains(&blind), "{blind}");
    let (pushed, of_important, wait) = lost(EgressOverflow::PushOut);
    assert_eq!(of_important, 0);
    assert!(pushed.abs_diff(blind) <= 5 && wait.is_some_and(|wait| wait < 30_000_000), "{pushed}");
    // An eighth of the memory is one packet.
    let (parted, of_important, _) = lost(EgressOverflow::Partition);
    assert_eq!(of_important, 0);
    assert!(parted >= pushed, "{parted} {pushed}");
}

/// A packet that fits in no way pushes nothing out, and small packets leave together for a large
/// one.
#[test]
fn only_as_many_packets_are_pushed_out_as_must_be() {
    // Class 7 fills the egress with small packets. Then class 3 comes, and class 0.
    let late = 200 * 100 * BYTE;
    let small = |number: u64| Sent {
        time: (1 + number) * 100 * BYTE,
        input: 0,
        output: 0,
        class: 7,
        bytes: 100,
    };
    let large = |after: u64, class| Sent {
        time: late + after * 1530 * BYTE,
        input: 1,
        output: 0,
        class,
        bytes: 1530,
    };
    let mut sent: Vec<_> = (0..199).map(small).collect();
    sent.extend([large(0, 3), large(1, 0)]);
    let config = CrossbarConfig {
        egress_overflow: EgressOverflow::PushOut,
        egress_size: Bytes(1_600),
        ..CrossbarConfig::default()
    };
    let mut bench = Bench::new(config, false);
    bench.switch.io.egress[0].set_paused(0, 0xff);
    let left = bench.run(&sent, Bench::check_counts);
    assert!(left.iter().all(Option::is_none), "the port is paused");
    // 16 of class 7 fitted. The first large packet took the room of 15 or 16, the second its own.
    assert_eq!(bench.lost.iter().filter(|&&flow| flow < 199).count(), 199);
    assert!(bench.lost.contains(&199) && !bench.lost.contains(&200));
    assert_eq!(bench.switch.io.egress[0].data_bytes(), 1530);
}

/// DeTail §5.5.1: a pause by a neighbour fills its egress, so load balancing avoids that egress.
#[test]
fn packets_keep_away_from_an_uplink_that_is_paused() {
    let sent: Vec<_> = (1..=100)
        .map(|number| number * 1530 * BYTE)
        .map(|time| Sent { time, input: 0, output: BEYOND, class: 0, bytes: 1530 })
        .collect();
    for paused in [false, true] {
        let mut bench = Bench::new(CrossbarConfig::default(), true);
        bench.switch.io.egress[2].set_paused(0, if paused { 0xff } else { 0 });
        let left = bench.run(&sent, Bench::check_counts);
        let waits = bench.switch.held[2] as usize / 1530;
        assert_eq!(left.iter().filter(|left| left.is_none()).count(), waits);
        // Up to 16 KB it counts as equal to the other, which always stays below that.
        let limit = AlbConfig::default().favoured.0.div_ceil(1530) as usize;
        assert_eq!(waits, if paused { limit } else { 0 });
    }
}
