//! Rivals of BFC under priority classes: "DCTCP marks packets based on per-class queueing, while
//! HPCC uses switch aggregates" (BFC App. A.3).

use xoff_core::Bytes;

use super::rig::{self, DESTINATIONS};
use super::{InBand, OutputQueued, Parts};
use crate::arch::Switch;
use crate::buffer::BufferConfig;
use crate::fabric::Fabric;
use crate::mark::{EcnConfig, MarkAt, RedEcn};
use crate::packet::{Kind, Packet, flag};
use crate::record::Record;
use crate::sched::{AnyScheduler, Fifo};

const RATE: u64 = 10_000_000_000;

/// A switch with a busy port 1, where a packet of each of these classes waits.
fn filled(classes: &[u8]) -> (OutputQueued, Fabric, Vec<u32>) {
    let config = EcnConfig { kmin: Bytes(5_000), kmax: Bytes(5_000), ..EcnConfig::default() };
    let parts = Parts {
        ecn: (vec![RedEcn::new(&config); 2], MarkAt::Dequeue),
        in_band: InBand::Int,
        ..rig::parts(|| AnyScheduler::Fifo(Fifo::default()), &BufferConfig::default())
    };
    let (mut switch, mut fabric) = (OutputQueued::new(parts), rig::fabric(RATE));
    let mut send = |class: u8| {
        let mut packet = Packet::new(Kind::Data, 1000);
        (packet.dst, packet.flags) = (1, class << flag::CLASS_SHIFT);
        packet.record = fabric.records.add_stack();
        let id = fabric.packets.insert(packet);
        assert_eq!(switch.on_packet(&mut fabric, &DESTINATIONS, 0, id), None);
        id
    };
    // The first packet passes and keeps the port busy.
    send(0);
    let waiting = classes.iter().map(|&class| send(class)).collect();
    (switch, fabric, waiting)
}

/// The next packet leaves. Returns its class, whether it was marked, and the queue length in its
/// INT.
fn leave(
    switch: &mut OutputQueued,
    fabric: &mut Fabric,
    waiting: &mut Vec<u32>,
) -> (u8, bool, u32) {
    fabric.now = fabric.busy_until(1);
    while fabric.wheel.pop_before(fabric.now + 1).is_some() {}
    let before = switch.egress()[1].data_bytes();
    let stamp = |fabric: &Fabric, id: u32| match &fabric.records[fabric.packets[id].record] {
        Record::Int(stack) => stack.hops().last().map(|hop| hop.queue_bytes),
        _ => panic!("no INT"),
    };
    switch.pick(fabric, 1);
    assert_eq!(switch.egress()[1].data_bytes() + 1000, before);
    let place = waiting.iter().position(|&id| stamp(fabric, id).is_some()).unwrap();
    let id = waiting.remove(place);
    let packet = &fabric.packets[id];
    (packet.class(), packet.has(flag::MARKED), stamp(fabric, id).unwrap())
}

#[test]
fn marks_go_by_the_queue_of_the_class_and_telemetry_by_the_port() {
    // Eight packets of class 3 form a long queue; packets of classes 0 and 1 overtake them.
    let (mut switch, mut fabric, mut waiting) = filled(&[3, 3, 3, 3, 3, 3, 3, 3, 1, 0]);
    let mut left = Vec::new();
    while !waiting.is_empty() {
        left.push(leave(&mut switch, &mut fabric, &mut waiting));
    }
    // A class is marked while more than 5000 B of it stay behind. INT reports all bytes behind.
    let of_class_3 = (0..8).rev().map(|behind| (3, behind > 5, behind * 1000));
    let expected: Vec<(u8, bool, u32)> =
        [(0, false, 9000), (1, false, 8000)].into_iter().chain(of_class_3).collect();
    assert_eq!(left, expected);
    assert_eq!(switch.stats().marks, 2);
}
