//! Endpoints of the control protocol at the hosts: hands them datagrams and times, and sends what
//! they write.

use xoff_control::Rate;
use xoff_net::{Fabric, Kind, Packet};

use super::{FlowtuneHosts, StreamSpec};
use crate::flowtune::Message;
use crate::flowtune::datagram::{Datagrams, endpoint_id, nanos, picos};
use crate::flowtune::stream_id::{Direction, StreamId};
use crate::hosts::Hosts;

/// A header of UDP is this much shorter than TCP's, which `frame.header` has (bytes).
pub const SHORTER_HEADER: u16 = 12;

impl FlowtuneHosts {
    /// Tells a server's endpoint what its agent has to say.
    pub(super) fn report(datagrams: &mut Datagrams, now: u64, nic: u32, message: Message) {
        let Some(endpoint) = datagrams.endpoint(nic) else { return };
        match message {
            Message::Start { flowlet, dst, label } => {
                endpoint.start(flowlet.into(), endpoint_id(dst), label, nanos(now));
            }
            Message::End { flowlet } => {
                endpoint.end(flowlet.into(), nanos(now));
            }
            other => unreachable!("{other:?} is not a message of an agent"),
        }
    }

    /// Time at which a server's endpoint must be asked (ps).
    pub(super) fn endpoint_timer(&mut self, nic: u32) -> Option<u64> {
        Some(picos(self.datagrams.as_mut()?.endpoint(nic)?.deadline()))
    }

    /// Tells a server's agent which rates have changed.
    fn take_rates(&mut self, now: u64, nic: u32) {
        let Self { datagrams, agents, stats, actions, .. } = self;
        let Some(endpoint) = datagrams.as_mut().and_then(|all| all.endpoint(nic)) else { return };
        let agent = &mut agents[nic as usize];
        while let Some(change) = endpoint.next_rate() {
            let flowlet = change.flowlet as u32;
            match change.rate {
                Rate::Paced(bytes_per_second) => {
                    let message = Message::Rate { flowlet, rate: 8 * bytes_per_second };
                    agent.on_message(now, message, stats, actions);
                }
                Rate::FallBack => agent.on_expiry(flowlet, stats, actions),
            }
        }
    }
}

impl Hosts {
    /// Opens a stream of datagrams written by a host of this partition, which is a server's
    /// endpoint or an allocator.
    pub(super) fn open_datagrams(&mut self, fabric: &mut Fabric, nic: u32, spec: StreamSpec) {
        let Some(FlowtuneHosts { datagrams: Some(datagrams), timers, .. }) =
            self.flowtune.as_deref_mut()
        else {
            return;
        };
        datagrams.write_here(nic, spec);
        if let Direction::ToAllocator(server) = spec.stream.direction() {
            datagrams.join(nic, server);
            fabric.wheel.arm(timers[nic as usize], 0);
        }
    }

    /// Asks a server's endpoint for datagrams and for rates.
    pub(super) fn ask_endpoint(&mut self, fabric: &mut Fabric, nic: u32) {
        let mut buffer = [0; xoff_control::wire::DATAGRAM];
        let now = fabric.now;
        while let Some(datagrams) = self.flowtune.as_mut().and_then(|all| all.datagrams.as_mut())
            && let Some(endpoint) = datagrams.endpoint(nic)
            && let Some((_, length)) = endpoint.transmit(nanos(now), &mut buffer)
        {
            let stream = StreamId::to_allocator(self.nics[nic as usize].host);
            self.send_datagram(fabric, stream, &buffer[..length]);
        }
        if let Some(flowtune) = &mut self.flowtune {
            flowtune.take_rates(now, nic);
        }
    }

    /// Sends a datagram. It passes the data of its NIC, as acknowledgements do.
    pub fn send_datagram(&mut self, fabric: &mut Fabric, stream: StreamId, bytes: &[u8]) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let Some(datagrams) = &mut flowtune.datagrams else { return };
        let writer = datagrams.send(stream, bytes);
        let spec = writer.spec;
        let length = self.overhead.saturating_sub(SHORTER_HEADER) + bytes.len() as u16;
        let mut packet = Packet::new(Kind::Segment, length.max(self.ack_bytes));
        packet.as_data_mut().set(writer.packets, fabric.now, u64::MAX);
        packet.flow = stream.flow();
        packet.src = spec.src.0;
        packet.dst = spec.dst.0;
        packet.label = spec.label;
        let stats = flowtune.streams.count(stream);
        stats.messages += 1;
        stats.message_bytes += bytes.len() as u64;
        stats.packets += 1;
        stats.wire_bytes += u64::from(packet.wire_bytes);
        let id = fabric.packets.insert(packet);
        fabric.hold(self.nics[writer.nic as usize].port);
        self.send_control(fabric, writer.nic, id);
    }

    /// Handles an arriving datagram.
    #[cold]
    pub(super) fn on_datagram(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        // Flows may send at the rates received now.
        fabric.hold(self.nics[nic as usize].port);
        let packet = &fabric.packets[id];
        let (stream, number) = (StreamId::of_flow(packet.flow), packet.as_data().offset());
        fabric.packets.remove(id);
        if flowtune.loses(nic, stream) {
            return;
        }
        let FlowtuneHosts { datagrams: Some(datagrams), stats, .. } = &mut **flowtune else {
            return;
        };
        let Some(bytes) = datagrams.take(stream, number) else { return };
        if let Direction::ToAllocator(_) = stream.direction() {
            datagrams.inbox.push((stream, bytes));
            return;
        }
        let Some(endpoint) = datagrams.endpoint(nic) else { return };
        stats.refused += u64::from(endpoint.receive(0, &bytes, nanos(fabric.now)).is_err());
        self.act(fabric, nic);
    }

    /// Takes the datagrams that have arrived at allocators of this partition.
    pub fn take_datagrams(&mut self) -> Vec<(StreamId, Box<[u8]>)> {
        let datagrams = self.flowtune.as_mut().and_then(|all| all.datagrams.as_mut());
        datagrams.map_or_else(Vec::new, |datagrams| std::mem::take(&mut datagrams.inbox))
    }
}
