//! Conversion of the engine's packet records to frames.
//!
//! `docs/results.md` documents the origin of addresses, ports and numbers. A frame ends with its
//! headers, since payload is not simulated. Lengths inside a frame, and [`Frames::wire_bytes`], are
//! those of the simulated packet on the wire. Headers longer than the simulated ones reduce the
//! payload. INT is not written.

use xoff_core::NodeId;
use xoff_net::balance::address;
use xoff_net::hop::{Ask, flow_pause};
use xoff_net::packet::flag;
use xoff_net::{Kind, Packet};

use crate::headers::{Datagram, Mac};
use crate::pfc::PfcFrame;
use crate::roce::{self, Operation, Transport};
use crate::{Bts, CHECK_SEQUENCE, SMALLEST_FRAME};

/// The EtherType of non-standard frames between neighbours: IEEE's for local experiments.
pub const ETHERTYPE_QUEUES: u16 = 0x88b5;

/// The longest time, for a pause that lasts until a resume.
const UNTIL_RESUMED: u16 = u16::MAX;

const CAPABLE: u8 = 2;
const EXPERIENCED: u8 = 3;

const PS_PER_US: u64 = 1_000_000;

/// Converts packets of a run to frames.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    /// Payload bytes of a full packet.
    pub payload_bytes: u64,
    /// True if pauses between neighbours address queues (BFC), false if they address classes (PFC).
    pub pauses_queues: bool,
}

impl Frames {
    /// Appends a packet that node `from` sends on a link.
    ///
    /// # Panics
    /// If the packet belongs to a receiver-driven transport, which has no known frame format.
    pub fn write(&self, packet: &Packet, from: NodeId, out: &mut Vec<u8>) {
        match packet.kind {
            Kind::Data | Kind::Segment => self.data(packet, out),
            Kind::Ack | Kind::Nack | Kind::Notification => self.answer(packet, out),
            Kind::LinkControl if self.pauses_queues => queues(packet, from, out),
            Kind::LinkControl => classes(packet, from, out),
            Kind::BackToSender => back_to_sender(packet, out),
            kind @ (Kind::Trimmed | Kind::Returned | Kind::Pull | Kind::Credit | Kind::Request) => {
                unreachable!("no frame format is known for a packet of kind {kind:?}")
            }
        }
    }

    /// Size of the packet on the wire; `frame` is its beginning.
    #[must_use]
    pub fn wire_bytes(packet: &Packet, frame: &[u8]) -> u32 {
        u32::from(packet.wire_bytes).max(frame.len() as u32)
    }

    fn data(&self, packet: &Packet, out: &mut Vec<u8>) {
        let header = packet.as_data();
        let (first, last) = (header.offset() == 0, header.remaining() == 0);
        let ecn = if packet.has(flag::MARKED) { EXPERIENCED } else { CAPABLE };
        let sequence = (header.offset() / self.payload_bytes) as u32;
        roce(packet, Operation::Send { first, last }, ecn, sequence, out);
    }

    fn answer(&self, packet: &Packet, out: &mut Vec<u8>) {
        let expected = packet.as_answer().expected();
        let (operation, sequence) = match packet.kind {
            Kind::Nack => (Operation::Nak, expected / self.payload_bytes),
            Kind::Notification => (Operation::Notification, 0),
            _ => (Operation::Ack, expected.div_ceil(self.payload_bytes).saturating_sub(1)),
        };
        roce(packet, operation, 0, sequence as u32, out);
    }
}

fn roce(packet: &Packet, operation: Operation, ecn: u8, sequence: u32, out: &mut Vec<u8>) {
    let headers = Datagram::BYTES + operation.header_bytes();
    let frame_bytes = usize::from(packet.wire_bytes).saturating_sub(CHECK_SEQUENCE).max(headers);
    let datagram = Datagram {
        src_mac: mac(NodeId(packet.src)),
        dst_mac: mac(NodeId(packet.dst)),
        src_ip: address(packet.src),
        dst_ip: address(packet.dst),
        dscp: packet.class(),
        ecn,
        src_port: source_port(packet.label),
        dst_port: roce::PORT,
    };
    datagram.write(frame_bytes, out);
    let echo = operation == Operation::Notification || operation == Operation::Ack;
    let becn = packet.has(flag::MARKED) && ecn == 0 && echo;
    Transport { operation, becn, queue_pair: queue_pair(packet.flow), sequence }.write(out);
}

/// In the record, sender and receiver and their ports are swapped with respect to the data packet.
fn back_to_sender(packet: &Packet, out: &mut Vec<u8>) {
    let header = packet.as_back_to_sender();
    let bts = Bts {
        src_mac: mac(NodeId(packet.src)),
        dst_mac: mac(NodeId(packet.dst)),
        src_ip: address(packet.src),
        dst_ip: address(packet.dst),
        src_port: source_port(packet.label.rotate_left(16)),
        dst_port: roce::PORT,
        queue_pair: queue_pair(packet.flow),
        dscp: packet.class(),
        pause_us: u16::try_from(header.pause_ps().div_ceil(PS_PER_US)).unwrap_or(u16::MAX),
        cacheable: header.is_cacheable(),
    };
    bts.encode(out);
}

/// A pause of traffic classes.
fn classes(packet: &Packet, from: NodeId, out: &mut Vec<u8>) {
    let frame = packet.as_link_control();
    let quanta = match frame.ask() {
        Ask::Resume => 0,
        Ask::PauseFor => frame.quanta(),
        _ => UNTIL_RESUMED,
    };
    let spoken_of = |class| frame.queues() >> class & 1 == 1;
    let quanta = core::array::from_fn(|class| spoken_of(class).then_some(quanta));
    PfcFrame { src_mac: mac(from), quanta }.encode(out);
}

/// A pause of queues or of a flow: one byte with the request, then 128 bits with the mask of queues
/// or the flow's queue pair.
fn queues(packet: &Packet, from: NodeId, out: &mut Vec<u8>) {
    let begin = out.len();
    out.extend(crate::pfc::DESTINATION);
    out.extend(mac(from));
    out.extend(ETHERTYPE_QUEUES.to_be_bytes());
    out.push(packet.as_link_control().ask() as u8);
    let named = match flow_pause(packet) {
        Some(_) => u128::from(queue_pair(packet.flow)),
        None => packet.as_link_control().queues(),
    };
    out.extend(named.to_be_bytes());
    out.resize(begin + SMALLEST_FRAME, 0);
}

/// A node's locally administered MAC address.
fn mac(node: NodeId) -> Mac {
    let [a, b, c, d] = node.0.to_be_bytes();
    [2, 0, a, b, c, d]
}

fn source_port(label: u32) -> u16 {
    0xc000 | label as u16 & 0x3fff
}

fn queue_pair(flow: u32) -> u32 {
    flow % ((1 << 24) - 2) + 2
}
