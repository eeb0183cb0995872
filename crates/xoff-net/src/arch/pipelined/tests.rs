//! The whole switch: tests hand it packets and check the packets it sends.

use std::collections::BTreeSet;

use proptest::prelude::*;
use xoff_core::rng::Purpose;
use xoff_core::{Bytes, Ps, Rng, Wheel};

use super::*;
use crate::arch::{Forwarding, PauseConfig, Policy, Scope, Switch, Thresholds};
use crate::balance::Ecmp;
use crate::fabric::{FabricTags, Instants, Peer, PortSpec, Rounding};
use crate::mark::{Draws, MarkAt};
use crate::packet::{Kind, Packet};
use crate::phase;
use crate::sched::{AnyScheduler, Egress, Fifo};
use crate::topo::Route;

const PORTS: u32 = 4;
/// First port of the neighbours, where the switch's packets arrive.
const SINK: u32 = PORTS;
const WAKE: u32 = 100;
const TIMER: u32 = 200;
const FRAMES: u32 = 300;
const STAGE: u32 = 400;
const US: u64 = 1_000_000;

/// A switch between four neighbours at 1 Gb/s. Packets to host h leave at port h.
struct Bench {
    fabric: Fabric,
    switch: Pipelined,
    destinations: Vec<Destination>,
    /// Arrival of each packet at a neighbour: (time, port, class, frame or data).
    sent: Vec<(u64, u32, Packet)>,
    dropped: u64,
    /// The reasons for pauses at any time.
    reasons: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    time: u64,
    port: u16,
    to: u32,
    class: u8,
    bytes: u16,
}

impl Bench {
    fn new(config: PipelineConfig, capfc: CapfcConfig) -> Self {
        let tags = FabricTags { arrival: 0, wake: WAKE, sent: 98, next_arrival: 99, checked: 97 };
        let mut fabric =
            Fabric::new(Rounding::PicosecondUp, Instants::Phases, 1, Wheel::new(), tags);
        for id in 0..2 * PORTS {
            let peer = (id + PORTS) % (2 * PORTS);
            let (rate, delay) = (1_000_000_000, Ps::from_us(1));
            fabric.add_port(&PortSpec { id, peer_id: peer, rate, delay, peer: Peer::Local(peer) });
        }
        let first_timer = fabric.wheel.timers();
        for port in 0..PORTS {
            fabric.wheel.add_timer(phase::TIMER | phase::kind(4) | u64::from(port), TIMER + port);
        }
        fabric.wheel.add_timer(phase::TIMER | phase::kind(2), FRAMES);
        let stage_timer = fabric.wheel.add_timer(phase::TIMER | phase::kind(6), STAGE);
        let routes = vec![Route { first: 0, count: 0 }];
        let parts = PipelinedParts {
            config,
            capfc,
            stage_timer,
            io: CioqParts {
                pause: PauseConfig { scope: Scope::Class, ..PauseConfig::default() },
                thresholds: vec![Thresholds { xoff: 50_000, xon: 40_000 }; PORTS as usize],
                first_port: 0,
                mtu: 1530,
                egress: (0..PORTS)
                    .map(|_| Egress::new(AnyScheduler::Fifo(Fifo::default())))
                    .collect(),
                forwarding: Forwarding::new(routes, Vec::new(), Ecmp::new(1)),
                adaptive: None,
                ecn: (Vec::new(), MarkAt::Enqueue),
                marking: Draws::Own(Rng::stream(1, Purpose::Marking, 0)),
                control_frame: 64,
                control_loss: None,
                first_timer,
            },
        };
        let switch = Pipelined::new(parts, &fabric);
        let access = |port| Destination { group: 0, access_port: port };
        let destinations = (0..PORTS as u16).map(access).collect();
        Self {
            fabric,
            switch,
            destinations,
            sent: Vec::new(),
            dropped: 0,
            reasons: BTreeSet::new(),
        }
    }

    /// Delivers the arrivals, then runs all events that follow.
    fn run(&mut self, arrivals: &[Arrival]) {
        for arrival in arrivals {
            let mut packet = Packet::new(Kind::Data, arrival.bytes);
            packet.flags = arrival.class << crate::packet::flag::CLASS_SHIFT;
            packet.dst = arrival.to;
            packet.seq = u64::from(arrival.port) << 32 | arrival.time;
            self.at(arrival.time, arrival.port, packet);
        }
        self.finish();
    }

    fn at(&mut self, time: u64, port: u16, packet: Packet) {
        let item = self.fabric.packets.insert(packet);
        let rank = phase::ARRIVAL | u64::from(port);
        self.fabric.wheel.post(xoff_core::Event { time, rank, tag: u32::from(port), item });
    }

    fn finish(&mut self) {
        loop {
            let until = if self.fabric.is_picking() { self.fabric.now + 1 } else { u64::MAX };
            let Some(event) = self.fabric.wheel.pop_before(until) else {
                let mut ports = Vec::new();
                self.fabric.take_picking(&mut ports);
                if ports.is_empty() {
                    return;
                }
                for port in ports {
                    self.fabric.begin_picking(port);
                    self.switch.pick(&mut self.fabric, port as u16);
                }
                continue;
            };
            self.fabric.now = event.time;
            let Self { fabric, switch, destinations, .. } = self;
            let dropped = match event.tag {
                port @ 0..SINK => switch.on_packet(fabric, destinations, port as u16, event.item),
                STAGE => switch.on_stage(fabric, destinations, 0, 0),
                FRAMES => {
                    switch.on_delay_timer(fabric, destinations);
                    None
                }
                WAKE => {
                    if fabric.wake(event.item) {
                        switch.pick(fabric, event.item as u16);
                    }
                    None
                }
                timer @ TIMER.. => {
                    switch.on_port_timer(fabric, (timer - TIMER) as u16);
                    None
                }
                sink => {
                    self.sent.push((event.time, sink - SINK, fabric.packets[event.item]));
                    fabric.packets.remove(event.item);
                    None
                }
            };
            if let Some(id) = dropped {
                self.dropped += 1;
                self.fabric.packets.remove(id);
            }
            self.reasons.extend((0..PORTS as u16).map(|port| self.switch.reasons(port)));
        }
    }

    fn stats(&self) -> PipelineStats {
        self.switch.pipeline_stats(self.fabric.now)
    }

    /// Arrival times of a class's data at a neighbour.
    fn arrivals(&self, port: u32, class: u8) -> Vec<u64> {
        let of = |one: &&(u64, u32, Packet)| {
            one.1 == port && one.2.kind == Kind::Data && one.2.class() == class
        };
        self.sent.iter().filter(of).map(|one| one.0).collect()
    }

    /// Frames sent by a port: time, classes, and whether they pause.
    fn frames(&self, port: u32) -> Vec<(u64, u8, bool)> {
        let of = |one: &&(u64, u32, Packet)| one.1 == port && one.2.kind == Kind::LinkControl;
        let frame = |one: &(u64, u32, Packet)| {
            let frame = one.2.as_link_control();
            (one.0, frame.queues() as u8, frame.quanta() > 0)
        };
        self.sent.iter().filter(of).map(frame).collect()
    }
}

/// Packets of 1000 B of a class that arrive at a port at line rate.
fn train(port: u16, to: u32, class: u8, start: u64, packets: u64) -> Vec<Arrival> {
    let arrival = |n| Arrival { time: start + n * 8 * US, port, to, class, bytes: 1000 };
    (0..packets).map(arrival).collect()
}

fn stop() -> PipelineConfig {
    PipelineConfig { on_full: OnFull::Stop, ..PipelineConfig::default() }
}

fn stop_max() -> CapfcConfig {
    CapfcConfig { policy: Policy::StopMax, ..CapfcConfig::default() }
}

/// Three inputs congest port 3 in class 4. At 400 us a packet of class 0 goes to the idle port 1.
fn congestion() -> Vec<Arrival> {
    let mut all: Vec<Arrival> = (0..3).flat_map(|port| train(port, 3, 4, 0, 70)).collect();
    all.push(Arrival { time: 400 * US, port: 3, to: 1, class: 0, bytes: 500 });
    all
}

/// Time of a packet alone: the processor, its 500 B at 1 Gb/s and 1 us of link.
const ALONE: u64 = 6_160_000 + 4 * US + US;

/// "The packet belonging to other priorities or designated to different ports will suffer from the
/// HOL blocking" (CaPFC §II-A).
#[test]
fn a_stopped_processor_holds_back_all_ports_and_classes() {
    let mut bench = Bench::new(stop(), CapfcConfig::default());
    bench.run(&congestion());
    let delay = bench.arrivals(1, 0)[0] - 400 * US;
    let stats = bench.stats();
    assert!(delay > ALONE + 4 * US, "{delay}");
    assert!(stats.stops > 10 && stats.blocked_ps > 100 * US && stats.cross_class_ps > 0);
    assert_eq!((bench.dropped, stats.egress_drops, stats.ingress_drops), (0, 0, 0));
    assert_eq!(bench.arrivals(3, 4).len(), 210, "nothing is lost");
    assert_eq!(stats.processed, 211);
}

/// The same with drops: the other class waits only for packets in the processor.
#[test]
fn where_it_drops_another_class_shares_only_wire_and_processor() {
    for capfc in [CapfcConfig::default(), stop_max()] {
        let mut bench = Bench::new(PipelineConfig::default(), capfc);
        bench.run(&congestion());
        // At most one packet of the three others is admitted before it.
        let delay = bench.arrivals(1, 0)[0] - 400 * US;
        assert!((ALONE..=ALONE + 3 * US).contains(&delay), "{delay}");
        let stats = bench.stats();
        assert_eq!((stats.stops, stats.blocked_ps, stats.cross_class_ps), (0, 0, 0));
        assert!(stats.egress_drops > 0 && stats.egress_drops == bench.dropped, "{stats:?}");
        assert_eq!(bench.arrivals(3, 4).len() as u64 + bench.dropped, 210);
        // Only that class is paused.
        let frames: Vec<_> = (0..3).flat_map(|port| bench.frames(port)).collect();
        assert!(frames.iter().all(|frame| frame.1 == 1 << 4), "{frames:?}");
        assert!(bench.frames(3).is_empty());
    }
}

/// A paused class waits. Another class of the same port has its time alone.
#[test]
fn a_paused_class_holds_back_no_other() {
    let mut bench = Bench::new(PipelineConfig::default(), CapfcConfig::default());
    let pause = crate::hop::Signal::pause_for(0, 2, 1000);
    bench.at(0, 1, pause.frame(64));
    let mut arrivals = train(0, 1, 2, 10 * US, 5);
    arrivals.push(Arrival { time: 200 * US, port: 2, to: 1, class: 6, bytes: 500 });
    bench.run(&arrivals);
    assert_eq!(bench.arrivals(1, 6), [200 * US + ALONE]);
    // 1000 quanta of 512 ns, obeyed from 1.024 us on.
    let released = 512 * US + 1_024_000;
    assert_eq!(bench.arrivals(1, 2)[0], released + 8 * US + US);
}

/// Stop-Max first pauses the input with most packets.
#[test]
fn the_largest_contributor_is_asked_to_pause() {
    let mut bench = Bench::new(PipelineConfig::default(), stop_max());
    let mut arrivals = train(0, 3, 4, 0, 60);
    arrivals.extend(train(1, 3, 4, 0, 60).into_iter().step_by(2));
    bench.run(&arrivals);
    let first = bench.frames(0)[0];
    assert_eq!((first.1, first.2), (1 << 4, true));
    assert!(bench.frames(1).iter().all(|frame| frame.0 > first.0));
    assert_eq!(bench.dropped, 0);
}

/// A processor of half the rate congests ingress queues, not egress queues.
#[test]
fn a_slow_processor_congests_the_ingress() {
    let slow = PipelineConfig { packet_rate: 100_000.0, ..PipelineConfig::default() };
    let mut bench = Bench::new(slow, stop_max());
    let arrivals: Vec<Arrival> =
        (0..3).flat_map(|port| train(port, u32::from(port + 1) % 4, 1, 0, 100)).collect();
    bench.run(&arrivals);
    let stats = bench.stats();
    assert_eq!((stats.blames, stats.egress_drops), (0, 0));
    assert!(stats.congestions >= 3 && stats.ingress_drops > 0, "{stats:?}");
}

/// In words, for a run that is stuck.
#[test]
fn a_pause_is_explained() {
    let slow = PipelineConfig { packet_rate: 100_000.0, ..PipelineConfig::default() };
    for (config, reasons) in [
        (PipelineConfig::default(), "; class 4: it is blamed by egress ports 3"),
        (slow, "; class 4: its ingress queue is congested"),
        (stop(), "; its full queue has stopped the processor"),
    ] {
        let mut bench = Bench::new(config, stop_max());
        bench.run(&congestion());
        assert!(bench.reasons.contains(reasons), "{:?}", bench.reasons);
        assert!(bench.reasons.contains(""), "every pause ends");
    }
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let arrival = (0..1500u64, 0..4u16, 0..4u32, 0..2u8, 64..1530u16);
    prop::collection::vec(arrival, 1..500).prop_map(|all| {
        let mut free = [0u64; 4];
        let mut arrivals: Vec<Arrival> = all
            .into_iter()
            .map(|(time, port, to, class, bytes)| Arrival {
                time: time * US,
                port,
                to: if to == u32::from(port) {
                    (to + 1) % 4
                } else {
                    to.min(1 + u32::from(port == 1))
                },
                class,
                bytes,
            })
            .filter(|arrival| arrival.to != u32::from(arrival.port))
            .collect();
        arrivals.sort_by_key(|arrival| arrival.time);
        // A link sends one packet at a time.
        for arrival in &mut arrivals {
            let free = &mut free[usize::from(arrival.port)];
            arrival.time = arrival.time.max(*free);
            *free = arrival.time + u64::from(arrival.bytes) * 8_000;
        }
        arrivals
    })
}

fn small(on_full: OnFull) -> PipelineConfig {
    let (ingress_size, egress_size) = (Bytes(60_000), Bytes(9_000));
    PipelineConfig { on_full, ingress_size, egress_size, ..PipelineConfig::default() }
}

fn small_capfc(policy: Policy) -> CapfcConfig {
    let [xoff, xon, warn] = [6_000, 3_000, 4_000].map(Bytes);
    CapfcConfig { policy, xoff, xon, warn, cut: 0.6 }
}

proptest! {
    /// For any arrivals: PFC_wstop never drops at an egress, drops are counted at their place, and
    /// no queue exceeds its memory. In the end the switch is empty, and everything paused has been
    /// resumed.
    #[test]
    fn all_that_comes_goes_and_xon_follows_xoff(
        arrivals in arrivals(),
        stops in any::<bool>(),
        policy in 0..3,
    ) {
        let policy = [Policy::None, Policy::StopMax, Policy::StopCalibrate][policy as usize];
        let on_full = if stops { OnFull::Stop } else { OnFull::Drop };
        let mut bench = Bench::new(small(on_full), small_capfc(policy));
        bench.run(&arrivals);
        let stats = bench.stats();
        prop_assert_eq!(stats.egress_drops + stats.ingress_drops, bench.dropped);
        prop_assert!(!stops || stats.egress_drops == 0);
        prop_assert!(stops || (stats.stops, stats.blocked_ps) == (0, 0));
        let data = bench.sent.iter().filter(|one| one.2.kind == Kind::Data).count() as u64;
        prop_assert_eq!(data + bench.dropped, arrivals.len() as u64);
        prop_assert_eq!((bench.switch.used_bytes(), bench.fabric.packets.len()), (0, 0));
        let mut frames = [0, 0];
        for port in 0..PORTS {
            prop_assert_eq!(bench.switch.holds_paused(port as u16), 0);
            let mut paused = 0u8;
            for (_, classes, pauses) in bench.frames(port) {
                // Frames are sent only on changes.
                prop_assert_eq!(paused & classes, if pauses { 0 } else { classes });
                paused ^= classes;
                frames[usize::from(pauses)] += 1;
            }
            prop_assert_eq!(paused, 0);
        }
        prop_assert_eq!(frames, [stats.resumes, bench.switch.stats().pauses]);
    }

    /// The order in which packets of one instant arrive does not matter.
    #[test]
    fn an_instants_order_does_not_matter(arrivals in arrivals(), stops in any::<bool>()) {
        let on_full = if stops { OnFull::Stop } else { OnFull::Drop };
        let digests = [false, true].map(|reversed| {
            let mut bench = Bench::new(small(on_full), small_capfc(Policy::StopMax));
            let mut arrivals = arrivals.clone();
            if reversed {
                arrivals.reverse();
            }
            bench.run(&arrivals);
            (bench.switch.digest(), bench.stats())
        });
        prop_assert_eq!(digests[0], digests[1]);
    }
}
