//! What no bytes may do to the decoders, and no packet to the writers: functions for fuzzers, which
//! panic where a rule is broken, and return why bytes are refused.

use xoff_core::NodeId;
use xoff_net::balance::address;
use xoff_net::hop::Ask;
use xoff_net::{Kind, Packet};

use crate::headers::Datagram;
use crate::pcapng::{self, Interface};
use crate::{Bts, DecodeError, Frames, PfcFrame, SMALLEST_FRAME};

/// Reads bytes as a frame of each kind.
///
/// # Errors
/// Why they are none.
///
/// # Panics
/// If a frame is another one after it is encoded.
pub fn frame(bytes: &[u8]) -> Result<(), String> {
    let mut written = Vec::new();
    let bts = Bts::decode(bytes).map(|frame| {
        frame.encode(&mut written);
        assert_eq!(Bts::decode(&written), Ok(frame));
    });
    let pfc = PfcFrame::decode(bytes).map(|frame| {
        written.clear();
        frame.encode(&mut written);
        assert_eq!(PfcFrame::decode(&written), Ok(frame));
    });
    let datagram = Datagram::read(bytes).map(|headers| {
        written.clear();
        headers.write(SMALLEST_FRAME, &mut written);
        assert_eq!(Datagram::read(&written), Ok(headers));
    });
    bts.or(pfc).or(datagram).map_err(|error: DecodeError| error.to_string())
}

/// Bytes of a packet in the input of [`capture`].
const RECORD: usize = 44;
/// Kinds that have a frame.
const KINDS: [Kind; 6] =
    [Kind::Data, Kind::Segment, Kind::Ack, Kind::Nack, Kind::Notification, Kind::LinkControl];
/// Requests of link control.
const REQUESTS: u32 = Ask::ResumeFlow as u32 + 1;

/// Writes packets with any fields into a capture file, and reads it.
///
/// # Errors
/// If there is no packet.
///
/// # Panics
/// If the file has other packets, or frames that cannot be decoded.
pub fn capture(bytes: &[u8]) -> Result<(), String> {
    let (records, _) = bytes.as_chunks::<RECORD>();
    if records.is_empty() {
        return Err(format!("a packet has {RECORD} bytes"));
    }
    let mut file = Vec::new();
    let name = String::from_utf8_lossy(&bytes[..bytes.len().min(16)]).into_owned();
    let interface = Interface { description: name.repeat(3), name, speed_bps: u64::MAX };
    pcapng::begin(&[interface], &mut file);
    let mut expected = Vec::new();
    for record in records {
        let (packet, pauses_queues) = packet(record);
        let frames = Frames { payload_bytes: 1 + u64::from(record[2]), pauses_queues };
        let mut frame = Vec::new();
        frames.write(&packet, NodeId(packet.src), &mut frame);
        check(&packet, pauses_queues, &frame);
        let wire_bytes = Frames::wire_bytes(&packet, &frame);
        assert!(wire_bytes as usize >= frame.len());
        pcapng::packet(0, packet.time, wire_bytes, &frame, &mut file);
        expected.push((packet.time, wire_bytes, frame));
    }
    assert_eq!(packets(&file), expected);
    Ok(())
}

/// A packet, and whether pauses address queues.
fn packet(record: &[u8; RECORD]) -> (Packet, bool) {
    let [kind, flags, _, pauses_queues, rest @ ..] = record;
    let u32_at = |at: usize| u32::from_le_bytes(core::array::from_fn(|byte| rest[at + byte]));
    let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
    let mut packet = Packet::new(Kind::Data, u32_at(0) as u16);
    (packet.seq, packet.stamp, packet.time) = (u64_at(4), u64_at(12), u64_at(20));
    (packet.flow, packet.label, packet.remaining) = (u32_at(28), u32_at(32), u32_at(36));
    (packet.src, packet.dst) = (u32_at(0) >> 16, u32_at(28).rotate_left(16) & 0xffff);
    (packet.flags, packet.queue) = (*flags, *pauses_queues >> 1);
    packet.kind = match KINDS.get(usize::from(*kind) % (KINDS.len() + 1)) {
        Some(&kind) => kind,
        None => Kind::BackToSender,
    };
    if packet.kind == Kind::LinkControl {
        // There is no other request.
        packet.remaining %= REQUESTS;
    }
    (packet, pauses_queues & 1 == 1)
}

/// Checks that a frame can be decoded and has the addresses of its packet.
fn check(packet: &Packet, pauses_queues: bool, frame: &[u8]) {
    match packet.kind {
        Kind::BackToSender => {
            let bts = Bts::decode(frame).expect("it is a signal");
            assert_eq!((bts.src_ip, bts.dst_ip), (address(packet.src), address(packet.dst)));
            assert_eq!(bts.dscp, packet.class());
        }
        Kind::LinkControl if !pauses_queues => {
            PfcFrame::decode(frame).expect("it pauses classes");
        }
        Kind::LinkControl => assert_eq!(frame.len(), SMALLEST_FRAME),
        _ => {
            let headers = Datagram::read(frame).expect("it has headers");
            assert_eq!(headers.src_ip, address(packet.src));
            assert_eq!((headers.dscp, headers.dst_port), (packet.class(), crate::roce::PORT));
        }
    }
}

/// Time, bytes on the wire, and frame of each packet of a file.
fn packets(mut file: &[u8]) -> Vec<(u64, u32, Vec<u8>)> {
    let word =
        |bytes: &[u8], at: usize| u32::from_le_bytes(core::array::from_fn(|byte| bytes[at + byte]));
    let mut found = Vec::new();
    while !file.is_empty() {
        let length = word(file, 4) as usize;
        assert_eq!((length % 4, word(file, length - 4) as usize), (0, length));
        let (block, rest) = file.split_at(length);
        if word(block, 0) == pcapng::PACKET {
            let time = u64::from(word(block, 12)) << 32 | u64::from(word(block, 16));
            let captured = word(block, 20) as usize;
            found.push((time, word(block, 24), block[28..28 + captured].to_vec()));
        }
        file = rest;
    }
    found
}
