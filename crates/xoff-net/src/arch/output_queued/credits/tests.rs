//! A port with random arrivals of credits and data.

use proptest::prelude::*;

use super::super::rig::{self, DESTINATIONS};
use super::super::{OutputQueued, Parts};
use crate::arch::Switch;
use crate::buffer::BufferConfig;
use crate::credit::{CreditQueue, CreditShape};
use crate::fabric::Fabric;
use crate::packet::{Kind, Packet};
use crate::phase;
use crate::sched::{AnyScheduler, Fifo};

const RATE: u64 = 100_000_000_000;
/// Time of a byte on the link (ps).
const BYTE: u64 = 80;
const SHAPE: CreditShape = CreditShape { credit_bytes: 84, data_bytes: 1048, queue: 16, burst: 2 };
const TIMERS: u32 = 20;

fn switch() -> (OutputQueued, Fabric) {
    let mut fabric = rig::fabric(RATE);
    for port in 0..2 {
        fabric.wheel.add_timer(phase::TIMER | u64::from(port), TIMERS + port);
    }
    let period = fabric.duration(1, SHAPE.bytes_per_credit());
    let fifo = || AnyScheduler::Fifo(Fifo::default());
    let parts = Parts {
        credits: vec![CreditQueue::new(&SHAPE, period); 2],
        control_acks: true,
        ..rig::parts(fifo, &BufferConfig::default())
    };
    (OutputQueued::new(parts), fabric)
}

/// Start of each packet's transmission on port 1 (ps), its kind and bytes.
type Left = Vec<(u64, Kind, u16)>;

/// Runs the switch until `until` (ps).
fn run(switch: &mut OutputQueued, fabric: &mut Fabric, until: u64, left: &mut Left) {
    loop {
        if fabric.is_picking() && !fabric.wheel.may_be_due(fabric.now) {
            let mut ports = Vec::new();
            fabric.take_picking(&mut ports);
            for port in ports {
                fabric.begin_picking(port);
                switch.pick(fabric, port as u16);
            }
            continue;
        }
        let limit = if fabric.is_picking() { fabric.now + 1 } else { until };
        let Some(event) = fabric.wheel.pop_before(limit) else {
            if fabric.is_picking() {
                continue;
            }
            break;
        };
        fabric.now = event.time;
        match event.tag {
            3 => {
                let packet = &fabric.packets[event.item];
                let began = event.time - 1_000_000 - u64::from(packet.wire_bytes) * BYTE;
                left.push((began, packet.kind, packet.wire_bytes));
                fabric.packets.remove(event.item);
            }
            10 if fabric.wake(event.item) => {
                switch.pick(fabric, event.item as u16);
            }
            TIMERS.. => assert_eq!(switch.on_port_timer(fabric, (event.tag - TIMERS) as u16), None),
            _ => {}
        }
    }
    fabric.now = until;
}

proptest! {
    /// For any arrivals: credits leave a port no faster than its bucket fills, in the order of
    /// arrival. A credit leaves or finds the queue full. Data takes the rest of the link and loses
    /// nothing. A credit with tokens waits for one packet at most.
    #[test]
    fn credits_keep_to_their_share_and_go_first(
        arrivals in prop::collection::vec((0u64..150_000, any::<bool>(), 76u16..=92), 1..150),
    ) {
        let (mut switch, mut fabric) = switch();
        let mut left = Left::new();
        let mut dropped = 0;
        for &(gap, credit, bytes) in &arrivals {
            let time = fabric.now + gap;
            run(&mut switch, &mut fabric, time, &mut left);
            let (kind, bytes) = if credit { (Kind::Credit, bytes) } else { (Kind::Data, 1048) };
            let mut packet = Packet::new(kind, bytes);
            packet.dst = 1;
            let id = fabric.packets.insert(packet);
            if let Some(id) = switch.on_packet(&mut fabric, &DESTINATIONS, 0, id) {
                prop_assert_eq!(fabric.packets[id].kind, Kind::Credit);
                fabric.packets.remove(id);
                dropped += 1;
            }
        }
        run(&mut switch, &mut fabric, u64::MAX / 2, &mut left);
        prop_assert!(fabric.packets.is_empty());
        prop_assert_eq!(left.len() + dropped, arrivals.len());
        prop_assert_eq!(switch.credits()[1].dropped, dropped as u64);
        let credits: Vec<(u64, u16)> =
            left.iter()
                .filter(|left| left.1 == Kind::Credit)
                .map(|left| (left.0, left.2))
                .collect();
        let period = SHAPE.bytes_per_credit() * BYTE;
        let depth = SHAPE.credit_bytes * u64::from(SHAPE.burst) * period;
        for first in 0..credits.len() {
            let mut bytes = 0;
            for &(time, size) in &credits[first..] {
                bytes += u64::from(size);
                let interval = time - credits[first].0;
                prop_assert!(bytes * period <= depth + interval * SHAPE.credit_bytes);
            }
        }
    }
}

/// The port is always busy with data, and credits get exactly their share.
#[test]
fn a_loaded_port_sends_a_credit_a_period() {
    let (mut switch, mut fabric) = switch();
    let mut left = Left::new();
    for _ in 0..400 {
        for kind in [Kind::Data, Kind::Credit] {
            let mut packet = Packet::new(kind, if kind == Kind::Data { 1048 } else { 84 });
            packet.dst = 1;
            let id = fabric.packets.insert(packet);
            if let Some(id) = switch.on_packet(&mut fabric, &DESTINATIONS, 0, id) {
                fabric.packets.remove(id);
            }
        }
        let until = fabric.now + 1048 * BYTE;
        run(&mut switch, &mut fabric, until, &mut left);
    }
    // Packets still on the link are not recorded yet.
    let seen = fabric.now - 1_000_000;
    let credits = left.iter().filter(|left| left.1 == Kind::Credit).count() as u64;
    let periods = seen / (SHAPE.bytes_per_credit() * BYTE);
    assert!(credits.abs_diff(periods) <= 3, "{credits} credits in {periods} periods");
    let busy: u64 = left.iter().map(|left| u64::from(left.2) * BYTE).sum();
    assert!(seen - busy < 20 * BYTE * 1048, "the link rested");
}
