//! Control connections at the hosts: sends written messages as packets, acknowledges arriving
//! packets and reads their messages.

use xoff_core::FlowId;
use xoff_net::packet::flag;
use xoff_net::{Fabric, Kind, Packet};

use super::StreamSpec;
use crate::cc::{ControlConfig, NewRenoConfig};
use crate::flow::{FlowStart, Sender};
use crate::flowtune::Message;
use crate::flowtune::stream_id::{Direction, StreamId};
use crate::hosts::Hosts;
use crate::recovery::{Reply, SenderHalf, sack};
use crate::transport::Recovery;

impl Hosts {
    /// Opens a connection in one direction, written by a host of this partition.
    pub(super) fn open_connection(&mut self, fabric: &mut Fabric, nic: u32, spec: StreamSpec) {
        let StreamSpec { stream, src, dst, label, partition } = spec;
        let Some(flowtune) = &self.flowtune else { return };
        let tcp = flowtune.setup.stream.clone();
        let path = &self.paths[nic];
        let half = SenderHalf::new(Recovery::Sack, &tcp);
        let (control, pace) = ControlConfig::NewReno(NewRenoConfig::default()).start(path, &tcp);
        let reach = sack::REACH_PACKETS * path.payload;
        let start = FlowStart {
            id: FlowId(stream.flow().into()),
            start_ps: 0,
            src,
            dst,
            bytes: 0,
            label,
            source: u16::MAX,
            class: 0,
        };
        let (sender, timers) = self.new_number(fabric, start.id);
        let mut flow = Sender::new(start, pace, half, nic, timers);
        flow.open = true;
        flow.reach = reach;
        self.add_flow(sender, flow, control);
        if let Some(flowtune) = &mut self.flowtune {
            flowtune.streams.write_here(stream, sender, partition);
        }
    }

    /// Writes a message to a stream of this partition.
    pub fn tell(&mut self, fabric: &mut Fabric, stream: StreamId, message: Message) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let sender = flowtune.streams.sender(stream);
        let payload = self.setup.frame.payload.0;
        let packets = flowtune.streams.write(stream, message, payload);
        self.flows[sender as usize].start.bytes = packets * payload;
        self.make_ready(fabric, sender);
    }

    /// Sends a packet of a stream. "Ethernet has 64-byte minimum frames and preamble and interframe
    /// gaps, which cost 84-bytes, even if only eight byte rate updates are sent" (§6).
    #[cold]
    pub(in crate::hosts) fn send_segment(
        &mut self,
        fabric: &Fabric,
        sender: u32,
        packet: &mut Packet,
    ) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let (full, flow) = (self.setup.frame.payload.0, &mut self.flows[sender as usize]);
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

    /// Counts a retransmission timeout if it belongs to a stream.
    pub(in crate::hosts) fn count_stream_timeout(&mut self, sender: u32) {
        let flow = &self.flows[sender as usize];
        if let Some(flowtune) = &mut self.flowtune
            && flow.open
        {
            flowtune.streams.count(StreamId::of_flow(flow.start.id.0 as u32)).timeouts += 1;
        }
    }

    /// Handles an arriving packet of a stream: acknowledges it like data and reads complete
    /// messages.
    pub(super) fn on_stream_segment(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        // Besides the acknowledgement, flows may send at the rates received now.
        fabric.hold(self.nics[nic as usize].port);
        let packet = &mut fabric.packets[id];
        let stream = StreamId::of_flow(packet.flow);
        if flowtune.loses(nic, stream) {
            fabric.packets.remove(id);
            return;
        }
        let payload = self.setup.frame.payload.0;
        let repeated = self.receivers.repeated;
        let reply = self.receivers.on_data(fabric.now, packet, payload).reply;
        // Only packets of flows count as duplicates.
        self.receivers.repeated = repeated;
        let (kind, arrived, block) = match reply {
            Reply::Sack { expected, block } => (Kind::Nack, expected, block.to_bits()),
            Reply::Ack(seq) => (Kind::Ack, seq, 0),
            Reply::Nack { .. } | Reply::Nothing => {
                unreachable!("selective acknowledgements reply to every packet")
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

    /// Takes the messages received by allocators of this partition.
    pub fn take_inbox(&mut self) -> Vec<(StreamId, Message)> {
        self.flowtune.as_mut().map_or_else(Vec::new, |flowtune| std::mem::take(&mut flowtune.inbox))
    }
}
