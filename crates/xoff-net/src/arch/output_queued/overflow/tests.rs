//! Compares a port of a trimming switch with a model of its two queues, and tests ports with a
//! scheduler that drops.

use std::collections::VecDeque;

use proptest::prelude::*;
use xoff_core::rng::Purpose;
use xoff_core::{Bytes, Ps, Rng};

use super::super::rig::{self, DESTINATIONS};
use super::super::{OutputQueued, Parts, SwitchStats};
use crate::arch::Switch;
use crate::buffer::{BufferConfig, BufferKind};
use crate::fabric::Fabric;
use crate::packet::{Kind, NONE, Packet};
use crate::sched::{AnyScheduler, DrrFlows, Fifo, PFabric, SfqCodel, SfqCodelConfig};
use crate::trim::{Trim, TrimConfig};

const RATE: u64 = 100_000_000_000;
const QUEUE_BYTES: u32 = 4000;
const HEADER_QUEUE_BYTES: u32 = 500;

fn switch(trim: &TrimConfig) -> (OutputQueued, Fabric) {
    let trim = Trim::new(trim, 2, Rng::stream(1, Purpose::Trimming, 0));
    switch_of(|| AnyScheduler::Fifo(Fifo::default()), Some(Box::new(trim)))
}

fn switch_of(
    scheduler: impl Fn() -> AnyScheduler,
    trim: Option<Box<Trim>>,
) -> (OutputQueued, Fabric) {
    let (kind, size) = (BufferKind::Dedicated, Bytes(u64::from(QUEUE_BYTES)));
    let buffer = BufferConfig { kind, size, ..BufferConfig::default() };
    let parts = Parts { trim, control_acks: true, ..rig::parts(scheduler, &buffer) };
    (OutputQueued::new(parts), rig::fabric(RATE))
}

fn config(trim_arriving: f64, header_weight: u8, return_to_sender: bool) -> TrimConfig {
    let header_queue = Bytes(u64::from(HEADER_QUEUE_BYTES));
    let header_bytes = Bytes(64);
    TrimConfig { header_bytes, trim_arriving, header_queue, return_to_sender, header_weight }
}

/// Packets that reach the other end of a port's link, in order: number, kind, bytes.
fn arrivals(fabric: &mut Fabric, at: u32) -> Vec<(u64, Kind, u16)> {
    let mut seen = Vec::new();
    while let Some(event) = fabric.wheel.pop_before(u64::MAX) {
        if event.tag == at {
            let packet = &fabric.packets[event.item];
            seen.push((packet.seq, packet.kind, packet.wire_bytes));
        }
    }
    seen
}

/// Two queues as lists, and the packets that have left them.
#[derive(Default)]
struct Model {
    data: VecDeque<(u64, Kind, u16)>,
    control: VecDeque<(u64, Kind, u16)>,
    headers_ahead: u8,
    sent: Vec<(u64, Kind, u16)>,
    stats: SwitchStats,
}

impl Model {
    fn bytes(queue: &VecDeque<(u64, Kind, u16)>) -> u32 {
        queue.iter().map(|packet| u32::from(packet.2)).sum()
    }

    fn arrive(&mut self, config: &TrimConfig, mut packet: (u64, Kind, u16)) {
        if packet.1 != Kind::Data {
            self.arrive_control(packet);
            return;
        }
        if Self::bytes(&self.data) + u32::from(packet.2) <= QUEUE_BYTES {
            self.data.push_back(packet);
            return;
        }
        if let Some(tail) = self.data.back_mut()
            && config.trim_arriving < 0.5
            && tail.2 >= packet.2
        {
            std::mem::swap(tail, &mut packet);
        }
        self.stats.trimmed += 1;
        self.arrive_control((packet.0, Kind::Trimmed, packet.2.min(64)));
    }

    fn arrive_control(&mut self, packet: (u64, Kind, u16)) {
        if Self::bytes(&self.control) + u32::from(packet.2) <= HEADER_QUEUE_BYTES {
            self.control.push_back(packet);
        } else if packet.1 == Kind::Trimmed {
            self.stats.drops += 1;
        } else {
            self.stats.control_drops += 1;
        }
    }

    fn leave(&mut self, config: &TrimConfig) {
        let both = !self.data.is_empty() && !self.control.is_empty();
        let mut data_first = self.control.is_empty();
        if both && config.header_weight > 0 {
            data_first = self.headers_ahead == config.header_weight;
            self.headers_ahead = if data_first { 0 } else { self.headers_ahead + 1 };
        }
        let queue = if data_first { &mut self.data } else { &mut self.control };
        self.sent.extend(queue.pop_front());
    }
}

fn deliver(switch: &mut OutputQueued, fabric: &mut Fabric, packet: (u64, Kind, u16)) {
    let mut record = Packet::new(packet.1, packet.2);
    (record.seq, record.src, record.dst) = (packet.0, 1, 0);
    deliver_record(switch, fabric, record);
}

/// Delivers a packet and lets ports pick. Returns the numbers of dropped packets.
fn deliver_record(switch: &mut OutputQueued, fabric: &mut Fabric, record: Packet) -> Vec<u64> {
    let id = fabric.packets.insert(record);
    let first = switch.on_packet(fabric, &DESTINATIONS, 1, id);
    let mut dropped = discard(fabric, first);
    let mut ports = Vec::new();
    fabric.take_picking(&mut ports);
    for port in ports {
        fabric.begin_picking(port);
        let first = switch.pick(fabric, port as u16);
        dropped.extend(discard(fabric, first));
    }
    dropped
}

/// Removes a packet and those linked to it from the pool.
fn discard(fabric: &mut Fabric, first: Option<u32>) -> Vec<u64> {
    let mut id = first.unwrap_or(NONE);
    let mut numbers = Vec::new();
    while id != NONE {
        numbers.push(fabric.packets[id].seq);
        fabric.packets.remove(id);
        id = fabric.packets[id].next;
    }
    numbers
}

/// The arrival of data or of an acknowledgement with these bytes, or a departure.
fn steps() -> impl Strategy<Value = Vec<Option<(Kind, u16)>>> {
    let step = prop_oneof![
        4 => prop_oneof![Just(1048u16), 49u16..1048].prop_map(|bytes| Some((Kind::Data, bytes))),
        1 => Just(Some((Kind::Ack, 60))),
        2 => Just(None),
    ];
    prop::collection::vec(step, 1..300)
}

proptest! {
    #[test]
    fn headers_and_data_leave_as_two_lists_would(
        steps in steps(), tail in any::<bool>(), header_weight in 0u8..4,
    ) {
        let config = config(if tail { 0.0 } else { 1.0 }, header_weight, false);
        let (mut switch, mut fabric) = switch(&config);
        let mut model = Model::default();
        // The port is never idle: an acknowledgement leaves if nothing else waits.
        let filler = (u64::MAX, Kind::Ack, 60);
        deliver(&mut switch, &mut fabric, filler);
        model.sent.push(filler);
        for (number, step) in (0..).zip(steps) {
            if let Some((kind, bytes)) = step {
                deliver(&mut switch, &mut fabric, (number, kind, bytes));
                model.arrive(&config, (number, kind, bytes));
            } else {
                fabric.now = fabric.busy_until(0);
                if model.data.is_empty() && model.control.is_empty() {
                    deliver(&mut switch, &mut fabric, filler);
                    model.sent.push(filler);
                } else {
                    switch.pick(&mut fabric, 0);
                    model.leave(&config);
                }
            }
            prop_assert_eq!(switch.used_bytes(), u64::from(Model::bytes(&model.data)));
            prop_assert_eq!(switch.egress()[0].data_bytes(), Model::bytes(&model.data));
            prop_assert_eq!(switch.stats(), &model.stats);
        }
        prop_assert_eq!(arrivals(&mut fabric, 2), model.sent);
    }
}

/// Four packets fill the queue and seven headers the control queue. The next header returns through
/// the port at which it entered, to the host it came from.
#[test]
fn a_header_that_finds_no_room_leaves_by_the_port_it_came_in_by() {
    let (mut switch, mut fabric) = switch(&config(1.0, 10, true));
    for number in 0..14 {
        deliver(&mut switch, &mut fabric, (number, Kind::Data, 1000));
    }
    let stats = SwitchStats { trimmed: 9, returned: 2, ..SwitchStats::default() };
    assert_eq!(switch.stats(), &stats);
    let returned = arrivals(&mut fabric, 3);
    assert_eq!(returned[0], (12, Kind::Returned, 64));
}

/// Two short packets give way to a long one of a flow with fewer bytes left. Both are counted and
/// returned.
#[test]
fn as_many_packets_give_way_as_make_room() {
    let (mut switch, mut fabric) = switch_of(|| AnyScheduler::PFabric(PFabric::default()), None);
    let mut send = |number: u64, bytes: u16, remaining: u32| {
        let mut record = Packet::new(Kind::Data, bytes);
        (record.seq, record.src, record.dst) = (number, 1, 0);
        (record.flow, record.remaining) = (number as u32, remaining);
        let dropped = deliver_record(&mut switch, &mut fabric, record);
        assert_eq!(switch.used_bytes(), u64::from(switch.egress()[0].data_bytes()));
        dropped
    };
    // The first one leaves at once; the next ones fill the port's 4000 B.
    let sizes = [1000, 1000, 500, 500, 1000, 1000];
    for (number, bytes) in (0..).zip(sizes) {
        assert_eq!(send(number, bytes, 10_000 + 1000 * number as u32), [0; 0]);
    }
    assert_eq!(send(6, 1000, 90_000), [6], "it has most bytes left");
    assert_eq!(send(7, 1000, 10), [5]);
    assert_eq!(send(8, 500, 10), [4]);
    assert_eq!(send(9, 1500, 0), [3, 2]);
    assert_eq!((switch.stats().drops, switch.egress()[0].drops().packets), (5, 5));
    assert_eq!(switch.egress()[0].data_bytes(), 4000);
}

/// A packet that CoDel drops when a port is served counts like a packet that finds no room. The
/// packet behind it is sent at the same instant.
#[test]
fn a_packet_dropped_as_it_would_leave_is_counted() {
    let us = |count: u64| Ps::from_us(count);
    let config = SfqCodelConfig { bins: 16, interval: us(10), target: us(1) };
    let port = || AnyScheduler::SfqCodel(SfqCodel::new(&config, 1000, 3));
    let (mut switch, mut fabric) = switch_of(port, None);
    let packet = |number: u64| {
        let mut record = Packet::new(Kind::Data, 1000);
        (record.seq, record.src, record.dst) = (number, 1, 0);
        record
    };
    for number in 0..5 {
        assert_eq!(deliver_record(&mut switch, &mut fabric, packet(number)), [0; 0]);
    }
    // The first has left. The second shows that the delay is long; the third has waited for another
    // interval.
    for (now, dropped) in [(us(5), None), (us(15), Some(2))] {
        fabric.now = now.0;
        let first = switch.pick(&mut fabric, 0);
        assert_eq!(discard(&mut fabric, first).first().copied(), dropped);
        assert_eq!(switch.used_bytes(), u64::from(switch.egress()[0].data_bytes()));
    }
    assert_eq!((switch.stats().drops, switch.egress()[0].drops().packets), (1, 1));
    assert_eq!(switch.egress()[0].data_bytes(), 1000);
    let sent: Vec<u64> = arrivals(&mut fabric, 2).iter().map(|packet| packet.0).collect();
    assert_eq!(sent, [0, 1, 3]);
}

#[test]
fn a_port_drops_what_its_counters_cannot_hold() {
    let buffer = BufferConfig { kind: BufferKind::Unlimited, ..BufferConfig::default() };
    let scheduler = || AnyScheduler::Fifo(Fifo::default());
    let mut switch = OutputQueued::new(rig::parts(scheduler, &buffer));
    // The first packet takes all of the simulated time.
    let mut fabric = rig::fabric(1);
    let fit = u32::MAX / u32::from(u16::MAX);
    let dropped: Vec<u64> = (0..u64::from(fit) + 3)
        .flat_map(|seq| {
            let mut record = Packet::new(Kind::Data, u16::MAX);
            (record.seq, record.src, record.dst) = (seq, 1, 0);
            deliver_record(&mut switch, &mut fabric, record)
        })
        .collect();
    // One packet is in service.
    assert_eq!(dropped, [u64::from(fit) + 1, u64::from(fit) + 2]);
    assert_eq!(switch.stats().drops, 2);
}

#[test]
#[should_panic(expected = "None(Uncontrolled) cannot be combined with the queues of DrrFlows")]
fn parts_that_do_not_fit_are_named() {
    let scheduler = || AnyScheduler::DrrFlows(DrrFlows::new(4, 1000));
    let mut switch = OutputQueued::new(rig::parts(scheduler, &BufferConfig::default()));
    let mut record = Packet::new(Kind::Data, 1000);
    (record.src, record.dst) = (1, 0);
    deliver_record(&mut switch, &mut rig::fabric(RATE), record);
}
