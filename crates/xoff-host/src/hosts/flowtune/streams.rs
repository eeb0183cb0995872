//! Control connections at the hosts: what is written leaves as packets, what arrives is acknowledged and
//! read.

use xoff_net::packet::flag;
use xoff_net::{Fabric, Kind, Packet};

use super::FlowtuneHosts;
use crate::cc::ControlConfig;
use crate::flow::{FlowStart, Sender};
use crate::flowtune::Message;
use crate::flowtune::stream::{Direction, Letter, StreamId};
use crate::hosts::Hosts;
use crate::recovery::{Reply, SenderHalf, sack};
use crate::transport::Recovery;

/// A stream that is written at a host of this partition.
#[derive(Clone, Copy, Debug)]
pub struct StreamSpec {
    /// Which one.
    pub stream: StreamId,
    /// Its writer.
    pub src: u32,
    /// Its reader.
    pub dst: u32,
    /// Source and destination port.
    pub label: u32,
    /// The partition of its reader, unless it is this one.
    pub partition: Option<u32>,
}

impl FlowtuneHosts {
    /// Whether a packet of a stream is lost on purpose.
    fn loses(&mut self, nic: u32, stream: StreamId) -> bool {
        let share = self.setup.agent.message_loss;
        let lost = share > 0.0 && self.losses[nic as usize].unit() < share;
        self.streams.count(stream).lost += u64::from(lost);
        lost
    }
}

impl Hosts {
    /// Opens a stream that a host of this partition writes.
    pub fn open_stream(&mut self, fabric: &mut Fabric, nic: u32, spec: StreamSpec) {
        let StreamSpec { stream, src, dst, label, partition } = spec;
        let Some(flowtune) = &self.flowtune else { return };
        let tcp = flowtune.setup.stream.clone();
        let path = &self.paths[nic];
        let half = SenderHalf::new(Recovery::Sack, &tcp);
        let (control, pace) = ControlConfig::NewReno(tcp).start(path);
        let reach = sack::REACH_PACKETS * path.payload;
        let start = FlowStart {
            id: u64::from(stream.flow()),
            start_ps: 0,
            src,
            dst,
            bytes: 0,
            label,
            source: u16::MAX,
            class: 0,
        };
        let (id, timers) = self.new_number(fabric, start.id);
        let mut flow = Sender::new(start, pace, half, nic, timers);
        flow.open = true;
        flow.reach = reach;
        self.add_flow(id, flow, control);
        if let Some(flowtune) = &mut self.flowtune {
            flowtune.streams.write_here(stream, id, partition);
        }
    }

    /// Lets a host of this partition read a stream.
    pub fn read_stream(&mut self, stream: StreamId) {
        if let Some(flowtune) = &mut self.flowtune {
            flowtune.streams.read_here(stream);
        }
    }

    /// Writes a message to a stream of this partition.
    pub fn tell(&mut self, fabric: &mut Fabric, stream: StreamId, message: Message) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let id = flowtune.streams.sender(stream);
        let payload = self.setup.frame.payload.0;
        let packets = flowtune.streams.write(stream, message, payload);
        self.flows[id as usize].start.bytes = packets * payload;
        self.make_ready(fabric, id);
    }

    /// A packet of a stream leaves. "Ethernet has 64-byte minimum frames and preamble and interframe
    /// gaps, which cost 84-bytes, even if only eight byte rate updates are sent" (§6).
    #[cold]
    pub(in crate::hosts) fn send_segment(&mut self, fabric: &Fabric, id: u32, packet: &mut Packet) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let (full, flow) = (self.setup.frame.payload.0, &mut self.flows[id as usize]);
        let stream = StreamId::of_flow(packet.flow);
        let bytes = flowtune.streams.send(
            stream,
            packet.as_data().offset() / full,
            flow.snd_una / full,
            full,
        );
        packet.kind = Kind::Segment;
        packet.remaining = u32::MAX;
        packet.wire_bytes = (self.overhead + bytes).max(self.ack_bytes);
        flow.last_wire_bytes = u64::from(packet.wire_bytes);
        flow.next_avail = fabric.now + fabric.time_at(flow.pace.rate, flow.last_wire_bytes);
        let stats = flowtune.streams.count(stream);
        stats.packets += 1;
        stats.wire_bytes += flow.last_wire_bytes;
    }

    /// A retransmission timeout has come, perhaps a stream's.
    pub(in crate::hosts) fn count_stream_timeout(&mut self, id: u32) {
        let flow = &self.flows[id as usize];
        if let Some(flowtune) = &mut self.flowtune
            && flow.open
        {
            flowtune.streams.count(StreamId::of_flow(flow.start.id as u32)).timeouts += 1;
        }
    }

    /// A packet of a stream has arrived: it is acknowledged as data is, and messages that are complete
    /// now are read.
    #[cold]
    pub(in crate::hosts) fn on_segment(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        // Beside the acknowledgement, flows may send at rates that are read now.
        fabric.hold(self.nics[nic as usize].port);
        let packet = &mut fabric.packets[id];
        let stream = StreamId::of_flow(packet.flow);
        if flowtune.loses(nic, stream) {
            fabric.packets.remove(id);
            return;
        }
        let payload = self.setup.frame.payload.0;
        let repeated = self.receivers.repeated;
        let (reply, _) = self.receivers.on_data(fabric.now, packet, payload);
        // Counted are flows' packets.
        self.receivers.repeated = repeated;
        let (kind, arrived, block) = match reply {
            Reply::Sack { expected, block } => (Kind::Nack, expected, block.to_bits()),
            Reply::Ack(seq) => (Kind::Ack, seq, 0),
            Reply::Nack { .. } | Reply::Nothing => {
                unreachable!("selective acknowledgements answer every packet")
            }
        };
        if flowtune.loses(nic, stream) {
            fabric.packets.remove(id);
        } else {
            flowtune.streams.count(stream).ack_wire_bytes += u64::from(self.ack_bytes);
            std::mem::swap(&mut packet.src, &mut packet.dst);
            packet.label = packet.label.rotate_left(16);
            packet.kind = kind;
            packet.as_answer_mut().set(arrived, block);
            packet.wire_bytes = self.ack_bytes;
            packet.flags &= 7 << flag::CLASS_SHIFT;
            self.send_control(fabric, nic, id);
        }
        self.read(fabric, nic, stream, arrived / payload);
    }

    fn read(&mut self, fabric: &mut Fabric, nic: u32, stream: StreamId, packets: u64) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let to_server = matches!(stream.direction(), Direction::FromAllocator(_));
        while let Some(message) = flowtune.streams.read(stream, packets) {
            if to_server {
                let agent = &mut flowtune.agents[nic as usize];
                agent.on_message(fabric.now, message, &mut flowtune.stats, &mut flowtune.actions);
            } else {
                flowtune.inbox.push((stream, message));
            }
        }
        if to_server {
            self.act(fabric, nic);
        }
    }

    /// What allocators of this partition have been told since somebody took it.
    pub fn take_inbox(&mut self) -> Vec<(StreamId, Message)> {
        self.flowtune.as_mut().map_or_else(Vec::new, |flowtune| std::mem::take(&mut flowtune.inbox))
    }

    /// Exchanges the messages for readers of another partition for an empty list.
    pub fn swap_letters(&mut self, partition: usize, letters: &mut Vec<Letter>) {
        if let Some(flowtune) = &mut self.flowtune {
            flowtune.streams.swap_mail(partition, letters);
        }
    }

    /// Whether there are any.
    #[must_use]
    pub fn has_letters(&self, partition: usize) -> bool {
        self.flowtune.as_ref().is_some_and(|flowtune| flowtune.streams.has_mail(partition))
    }

    /// Takes in messages for readers of this partition.
    pub fn receive_letters(&mut self, letters: impl Iterator<Item = Letter>) {
        if let Some(flowtune) = &mut self.flowtune {
            letters.for_each(|letter| flowtune.streams.receive(letter));
        }
    }
}
