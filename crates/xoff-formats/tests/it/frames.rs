//! Packets of the engine as frames and in capture files.

use xoff_core::NodeId;
use xoff_formats::headers::Datagram;
use xoff_formats::pcapng::{self, Interface};
use xoff_formats::{Bts, Frames, PfcFrame};
use xoff_net::hop::{Ask, Signal};
use xoff_net::packet::flag;
use xoff_net::{Kind, Packet};

const FRAMES: Frames = Frames { payload_bytes: 1000, pauses_queues: false };

/// A packet from host 3 to host 300 with a label of ports 0x1234 and 0x5678, of class 2.
fn packet(kind: Kind, wire_bytes: u16) -> Packet {
    let mut packet = Packet::new(kind, wire_bytes);
    (packet.src, packet.dst, packet.flow, packet.label) = (3, 300, 7, 0x5678_1234);
    packet.flags = 2 << flag::CLASS_SHIFT;
    packet
}

fn frame(packet: &Packet) -> Vec<u8> {
    let mut out = Vec::new();
    FRAMES.write(packet, NodeId(0x81), &mut out);
    out
}

/// The headers after the UDP header.
fn transport(packet: &Packet) -> Vec<u8> {
    frame(packet)[Datagram::BYTES..].to_vec()
}

#[test]
fn data_frames_have_addresses_sequence_numbers_and_marks() {
    let mut data = packet(Kind::Data, 1048);
    (data.seq, data.remaining) = (5_000, 20_000);
    let bytes = frame(&data);
    let headers = Datagram::read(&bytes).unwrap();
    assert_eq!((headers.src_mac, headers.dst_mac), ([2, 0, 0, 0, 0, 3], [2, 0, 0, 0, 1, 44]));
    assert_eq!((headers.src_ip, headers.dst_ip), (0x0b00_0301, 0x0b01_2c01));
    assert_eq!((headers.src_port, headers.dst_port), (0xd234, 4791));
    assert_eq!((headers.dscp, headers.ecn), (2, 2));
    // The lengths are those of the simulated packet, minus the Ethernet header and check sequence.
    assert_eq!(bytes[16..18], 1030u16.to_be_bytes());
    assert_eq!(transport(&data), [0x01, 0x40, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 5]);
    assert_eq!(Frames::wire_bytes(&data, &bytes), 1048);
    data.flags |= flag::MARKED;
    assert_eq!(Datagram::read(&frame(&data)).unwrap().ecn, 3);
    let opcode = |seq, remaining| {
        let mut data = packet(Kind::Data, 1048);
        (data.seq, data.remaining) = (seq, remaining);
        (transport(&data)[0], transport(&data)[8])
    };
    assert_eq!([opcode(0, 1), opcode(9000, 0), opcode(0, 0)], [(0, 0), (2, 0x80), (4, 0x80)]);
}

#[test]
fn acknowledgements_have_the_sequence_number_of_their_packet() {
    let answer = |kind, seq, marked| {
        let mut answer = packet(kind, 60);
        answer.seq = seq;
        answer.flags |= marked;
        answer
    };
    let ack = |seq| transport(&answer(Kind::Ack, seq, 0));
    assert_eq!(ack(3_000), [0x11, 0x40, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 2, 0x1f, 0, 0, 0]);
    // The last packet of a flow is shorter than the others.
    assert_eq!((ack(3_001)[11], ack(1)[11]), (3, 0));
    let nack = transport(&answer(Kind::Nack, 3_000, 0));
    assert_eq!((nack[0], nack[11], nack[12]), (0x11, 3, 0x60));
    let echo = transport(&answer(Kind::Ack, 3_000, flag::MARKED));
    assert_eq!((echo[4], ack(3_000)[4]), (0x40, 0));
    let notification = transport(&answer(Kind::Notification, 0, flag::MARKED));
    assert_eq!((notification[0], notification[4], notification.len()), (0x81, 0x40, 28));
    // The headers of an acknowledgement are longer than its simulated size.
    let short = answer(Kind::Ack, 1, 0);
    assert_eq!(frame(&short)[16..18], 44u16.to_be_bytes());
    assert_eq!(Frames::wire_bytes(&short, &frame(&short)), 60);
}

#[test]
fn a_back_to_sender_frame_has_the_fields_of_its_record() {
    let mut data = packet(Kind::Data, 1048);
    (data.src, data.dst) = (data.dst, data.src);
    let forward = Datagram::read(&frame(&data)).unwrap();
    let mut bts = packet(Kind::BackToSender, 64);
    bts.label = data.label.rotate_left(16);
    bts.as_back_to_sender_mut().set_pause(12_000_001);
    bts.as_back_to_sender_mut().set_reach(false, true);
    let found = Bts::decode(&frame(&bts)).unwrap();
    assert_eq!((found.src_ip, found.dst_ip), (forward.dst_ip, forward.src_ip));
    assert_eq!((found.src_port, found.dst_port), (forward.src_port, forward.dst_port));
    // Pause times are rounded up to a microsecond.
    assert_eq!((found.pause_us, found.cacheable, found.dscp), (13, true, 2));
    assert_eq!(found.queue_pair, u32::from(transport(&data)[7]));
    bts.as_back_to_sender_mut().set_pause(65_536_000_000);
    bts.as_back_to_sender_mut().set_reach(false, false);
    let found = Bts::decode(&frame(&bts)).unwrap();
    assert_eq!((found.pause_us, found.cacheable), (u16::MAX, false));
}

#[test]
fn pauses_of_classes_are_pfc_frames() {
    let quanta = |signal: Signal| PfcFrame::decode(&frame(&signal.frame(64))).unwrap().quanta;
    let only = |class: usize, quanta| {
        let mut all = [None; 8];
        all[class] = Some(quanta);
        all
    };
    assert_eq!(quanta(Signal::new(1, Ask::Pause, 1 << 3)), only(3, 0xffff));
    assert_eq!(quanta(Signal::new(1, Ask::Resume, 1 << 3)), only(3, 0));
    assert_eq!(quanta(Signal::pause_for(1, 5, 1953)), only(5, 1953));
    let mut out = Vec::new();
    let queues = Frames { pauses_queues: true, ..FRAMES };
    queues.write(&Signal::new(1, Ask::Exactly, 1 << 100 | 1).frame(64), NodeId(0x81), &mut out);
    assert_eq!(out[6..12], [2, 0, 0, 0, 0, 0x81]);
    assert_eq!((&out[12..15], out.len()), (&[0x88, 0xb5, 2][..], 60));
    assert_eq!(u128::from_be_bytes(out[15..31].try_into().unwrap()), 1 << 100 | 1);
}

fn word(file: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap())
}

/// Type and body of each block of a file.
fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
    let mut found = Vec::new();
    while !file.is_empty() {
        let length = word(file, 4) as usize;
        assert_eq!((length % 4, word(file, length - 4)), (0, length as u32));
        found.push((word(file, 0), &file[8..length - 4]));
        file = &file[length..];
    }
    found
}

/// Code and value of each option of an interface.
fn options(mut body: &[u8]) -> Vec<(u16, &[u8])> {
    let mut found = Vec::new();
    while !body.is_empty() {
        let (code, length) = (word(body, 0) as u16, (word(body, 0) >> 16) as usize);
        found.push((code, &body[4..4 + length]));
        body = &body[4 + length.next_multiple_of(4)..];
    }
    found
}

#[test]
fn a_capture_file_has_interfaces_and_packets() {
    let interface = |name: &str| Interface {
        name: name.into(),
        description: format!("of {name}"),
        speed_bps: 100_000_000_000,
    };
    let mut file = Vec::new();
    pcapng::begin(&[interface("host0:0"), interface("leaf0:16")], &mut file);
    let time_ps = (9 << 32) + 7;
    pcapng::packet(1, time_ps, 1048, &[1, 2, 3, 4, 5], &mut file);
    let blocks = blocks(&file);
    assert_eq!(blocks.iter().map(|block| block.0).collect::<Vec<_>>(), [0x0a0d_0d0a, 1, 1, 6]);
    assert_eq!(blocks[0].1[..8], [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
    assert_eq!(blocks[2].1[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
    let speed = 100_000_000_000u64.to_le_bytes();
    let wanted: [(u16, &[u8]); 5] =
        [(2, b"leaf0:16"), (3, b"of leaf0:16"), (8, &speed), (9, &[12]), (0, b"")];
    assert_eq!(options(&blocks[2].1[8..]), wanted);
    let packet = blocks[3].1;
    let fields: Vec<u32> = (0..5).map(|field| word(packet, 4 * field)).collect();
    assert_eq!(fields, [1, 9, 7, 5, 1048]);
    assert_eq!(packet[20..], [1, 2, 3, 4, 5, 0, 0, 0]);
}
