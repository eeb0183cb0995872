//! A port of a trimming switch against a model of its two queues.

use std::collections::VecDeque;

use proptest::prelude::*;
use xoff_core::rng::Purpose;
use xoff_core::{Bytes, Ps, Rng, Wheel};

use super::super::{Destination, InBand, OutputQueued, Parts, SwitchStats};
use crate::buffer::{Buffer, BufferConfig, BufferKind};
use crate::fabric::{Fabric, FabricTags, Instants, Peer, PortSpec, Rounding};
use crate::hop::{AnyHop, Uncontrolled};
use crate::mark::{Draws, MarkAt};
use crate::packet::{Kind, Packet};
use crate::sched::{AnyScheduler, Egress, Fifo};
use crate::topo::Route;
use crate::trim::{Trim, TrimConfig};

const QUEUE_BYTES: u32 = 4000;
const HEADER_QUEUE_BYTES: u32 = 500;
const DESTINATIONS: [Destination; 2] =
    [Destination { group: 0, access_port: 0 }, Destination { group: 0, access_port: 1 }];

/// A switch of two ports, 0 and 1; the other ends of their links are 2 and 3.
fn switch(trim: &TrimConfig) -> (OutputQueued, Fabric) {
    let tags = FabricTags { arrival: 0, wake: 10 };
    let (rounding, instants) = (Rounding::PicosecondUp, Instants::Phases);
    let mut fabric = Fabric::new(rounding, instants, 1, Wheel::new(9), tags);
    for id in 0..4 {
        let (peer_id, rate, delay) = ((id + 2) % 4, 100_000_000_000, Ps::from_us(1));
        fabric.add_port(&PortSpec { id, peer_id, rate, delay, peer: Peer::Local(peer_id) });
    }
    let rng = |purpose| Rng::stream(1, purpose, 0);
    let buffer = BufferConfig {
        kind: BufferKind::Dedicated,
        size: Bytes(u64::from(QUEUE_BYTES)),
        ..BufferConfig::default()
    };
    let parts = Parts {
        first_port: 0,
        egress: [0; 2].map(|_| Egress::new(AnyScheduler::Fifo(Fifo::default()))).into(),
        buffer: Buffer::new(&buffer),
        hop: AnyHop::None(Uncontrolled),
        ecn: (Vec::new(), MarkAt::Dequeue),
        trim: Some(Box::new(Trim::new(trim, 2, rng(Purpose::Trimming)))),
        in_band: InBand::None,
        control_acks: true,
        routes: (vec![Route { first: 0, count: 0 }], Vec::new()),
        hash_seed: 0,
        marking: Draws::Own(rng(Purpose::Marking)),
        assignment: rng(Purpose::QueueAssignment),
        control_frame: 64,
        control_loss: None,
        first_timer: 0,
    };
    (OutputQueued::new(parts), fabric)
}

fn config(trim_arriving: f64, header_weight: u8, return_to_sender: bool) -> TrimConfig {
    let header_queue = Bytes(u64::from(HEADER_QUEUE_BYTES));
    let header_bytes = Bytes(64);
    TrimConfig { header_bytes, trim_arriving, header_queue, return_to_sender, header_weight }
}

/// Packets that reach the other end of a port's link, in their order: number, kind, bytes.
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

/// Two queues as lists, and what has left them.
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
    let id = fabric.packets.insert(record);
    if let Some(dropped) = switch.on_packet(fabric, &DESTINATIONS, 1, id) {
        fabric.packets.remove(dropped);
    }
    let mut ports = Vec::new();
    fabric.take_picking(&mut ports);
    for port in ports {
        fabric.begin_picking(port);
        switch.pick(fabric, port as u16);
    }
}

/// An arrival of data of so many bytes, one of an acknowledgement, or a departure.
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
        // The port is never idle: an acknowledgement leaves where nothing else waits.
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
            prop_assert_eq!(switch.buffer().used(), u64::from(Model::bytes(&model.data)));
            prop_assert_eq!(switch.egress()[0].data_bytes(), Model::bytes(&model.data));
            prop_assert_eq!(switch.stats(), &model.stats);
        }
        prop_assert_eq!(arrivals(&mut fabric, 2), model.sent);
    }
}

/// Four packets fill the queue, seven headers the control queue: the next header goes back by the
/// port it came in by, to the host it came from.
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
