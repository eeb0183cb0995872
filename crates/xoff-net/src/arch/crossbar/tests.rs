//! One switch with random packets: its counts equal a recount, it loses nothing inside, and no
//! packet waits behind a less important one.

use proptest::prelude::*;
use xoff_core::rng::Purpose;
use xoff_core::{Bytes, Event, Ps, Rng, Wheel};

use super::*;
use crate::arch::{Forwarding, PauseConfig, Switch, Thresholds};
use crate::balance::{Adaptive, AlbConfig, Ecmp};
use crate::fabric::{FabricTags, Instants, Peer, PortSpec, Rounding, phase};
use crate::mark::{Draws, MarkAt};
use crate::packet::{Kind, Packet, flag};
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
        let tags = FabricTags { arrival: 0, wake: WAKE };
        let (rounding, instants) = (Rounding::PicosecondUp, Instants::Phases);
        let mut fabric = Fabric::new(rounding, instants, 1, Wheel::new(11), tags);
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

    fn happen(&mut self, event: Event, left: &mut [Option<u64>]) {
        let Self { switch, fabric, destinations, lost } = self;
        match event.tag {
            port if port < PORTS => {
                let dropped = switch.on_packet(fabric, destinations, port as u16, event.item);
                lost.extend(dropped.map(|id| fabric.packets[id].flow));
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
                switch.on_stage(fabric, destinations, (tag - STAGE) as u16, event.item);
            }
        }
    }

    fn pick(&mut self, port: u32) {
        let number = if port == 2 * PORTS { PORTS } else { port };
        self.switch.pick(&mut self.fabric, number as u16);
    }

    /// The reservation of an egress equals the bytes in it and on the way there, and fits.
    fn check_counts(&self) {
        let switch = &self.switch;
        let ingress: u64 = (0..PORTS as u16).map(|port| u64::from(switch.pfc.held(port))).sum();
        let mut egress = 0;
        for (output, port) in switch.io.egress.iter().enumerate() {
            let held = switch.held[output];
            assert!(held <= switch.egress_size && port.data_bytes() <= held);
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

proptest! {
    #[test]
    fn all_that_enters_leaves_once_and_is_counted(
        sent in traffic(),
        (speedup, iterations, classes) in (1.0..4.0f64, 1..5u8, 1..9u8),
        (ingress, egress) in (3_000..100_000u64, 13_000..30_000u64),
        adaptive in any::<bool>(),
    ) {
        let (ingress_size, egress_size) = (Bytes(ingress), Bytes(egress));
        let config = CrossbarConfig {
            ingress_size, egress_size, speedup, iterations, classes, ..CrossbarConfig::default()
        };
        let mut bench = Bench::new(config, adaptive);
        let left = bench.run(&sent, Bench::check_counts);
        for (number, time) in left.iter().enumerate() {
            prop_assert_eq!(time.is_none(), bench.lost.contains(&(number as u32)));
        }
        prop_assert_eq!(bench.switch.stats().drops, bench.lost.len() as u64);
        prop_assert_eq!(bench.switch.used_bytes(), 0);
        prop_assert!(bench.lost.is_empty() || ingress < 70_000);
    }

    /// Packets of one class between the same two ports stay in order.
    #[test]
    fn a_class_of_a_pair_stays_in_order(sent in traffic(), classes in 1..9u8) {
        let mut bench = Bench::new(CrossbarConfig { classes, ..CrossbarConfig::default() }, false);
        let left = bench.run(&sent, |_| ());
        let queue = |one: &Sent| (one.input, one.output, one.class.min(classes - 1));
        for (later, one) in sent.iter().enumerate() {
            let before = (0..later).rev().find(|&other| queue(&sent[other]) == queue(one));
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
