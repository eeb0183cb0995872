//! A switch writes the same data into packets that wait in a queue and packets that pass it.

use proptest::prelude::*;
use xoff_core::Ps;

use super::rig::{self, DESTINATIONS};
use super::{InBand, OutputQueued, Parts};
use crate::arch::Switch;
use crate::buffer::BufferConfig;
use crate::fabric::Fabric;
use crate::packet::{Kind, Packet};
use crate::record::Record;
use crate::sched::{AnyScheduler, Fifo};
use crate::xcp::{Router, XcpConfig, XcpHeader};

const RATE: u64 = 10_000_000_000;

fn switch() -> (OutputQueued, Fabric) {
    let config = XcpConfig::default().derived(Ps::from_us(10));
    let in_band = InBand::Xcp(Router::new(&config, [RATE, RATE].into_iter()));
    let fifo = || AnyScheduler::Fifo(Fifo::default());
    let parts = Parts { in_band, ..rig::parts(fifo, &BufferConfig::default()) };
    (OutputQueued::new(parts), rig::fabric(RATE))
}

/// Sends packets of these bytes out of port 1, each at this interval after the one before has left.
/// Returns their headers as they left, and the agent. With `waits`, another port has its turn
/// within the same instant.
fn send(packets: &[(u64, u16)], waits: bool) -> (Vec<XcpHeader>, String) {
    let (mut switch, mut fabric) = switch();
    let mut headers = Vec::new();
    for &(gap, bytes) in packets {
        fabric.now = fabric.busy_until(1) + gap;
        while fabric.wheel.pop_before(fabric.now + 1).is_some() {}
        let header = XcpHeader { rtt_ps: 1e7, spacing_ps: f64::from(bytes) * 1e3, feedback: 1.0 };
        let mut packet = Packet::new(Kind::Data, bytes);
        packet.dst = 1;
        packet.record = fabric.records.add_header(header);
        let record = packet.record;
        let id = fabric.packets.insert(packet);
        if waits {
            fabric.kick(0);
        }
        assert_eq!(switch.on_packet(&mut fabric, &DESTINATIONS, 0, id), None);
        assert_eq!(switch.egress()[1].data_bytes(), if waits { u32::from(bytes) } else { 0 });
        let mut ports = Vec::new();
        fabric.take_picking(&mut ports);
        for port in ports {
            fabric.begin_picking(port);
            switch.pick(&mut fabric, port as u16);
        }
        assert!(fabric.busy_until(1) > fabric.now, "it has left");
        let Record::Xcp(header) = fabric.records[record] else { panic!("no header") };
        headers.push(header);
    }
    let InBand::Xcp(router) = switch.in_band() else { panic!("no XCP") };
    (headers, format!("{:?}", router.agents()[1]))
}

proptest! {
    #[test]
    fn passing_is_waiting(packets in prop::collection::vec((0u64..3_000_000, 64u16..1500), 1..60)) {
        let (passed, waited) = (send(&packets, false), send(&packets, true));
        prop_assert_eq!(&passed, &waited);
        let informed = passed.0.iter().filter(|header| header.feedback != 0.0).count();
        prop_assert!(packets.len() < 59 || informed > 0, "no packet carried feedback");
    }
}
