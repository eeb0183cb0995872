//! Flow-control frames: known bytes, round trips, and invalid bytes.

use proptest::prelude::*;
use xoff_formats::{Bts, DecodeError, PfcFrame};

const BTS: Bts = Bts {
    src_mac: [2, 0, 0, 0, 0, 9],
    dst_mac: [2, 0, 0, 0, 0, 3],
    src_ip: 0x0b00_0901,
    dst_ip: 0x0b00_0301,
    src_port: 0xc123,
    dst_port: 4791,
    queue_pair: 0x00ab_cdef,
    dscp: 3,
    pause_us: 250,
    cacheable: true,
};

const PFC: PfcFrame = PfcFrame {
    src_mac: [2, 0, 0, 0, 0, 0x80],
    quanta: [None, Some(0xffff), None, Some(0), None, None, None, Some(0x0102)],
};

fn encoded(bts: &Bts) -> Vec<u8> {
    let mut frame = Vec::new();
    bts.encode(&mut frame);
    frame
}

/// The bytes in `docs/bts-frame.md`.
#[test]
#[rustfmt::skip]
fn a_known_bts_frame() {
    assert_eq!(encoded(&BTS), [
        // Ethernet
        0x02, 0, 0, 0, 0, 3, 0x02, 0, 0, 0, 0, 9, 0x08, 0x00,
        // IPv4: 46 bytes, code point 48
        0x45, 0xc0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0x17, 0xfe, 11, 0, 9, 1, 11, 0, 3, 1,
        // UDP: 26 bytes to port 1674
        0xc1, 0x23, 0x06, 0x8a, 0, 26, 0, 0,
        // version, code point, pause
        1, 3, 0, 250,
        // flags, queue pair, port, reserved
        1, 0xab, 0xcd, 0xef, 0x12, 0xb7, 0, 0, 0, 0, 0, 0, 0, 0,
    ]);
}

#[test]
#[rustfmt::skip]
fn a_known_pfc_frame() {
    let mut frame = Vec::new();
    PFC.encode(&mut frame);
    let mut wanted = vec![
        0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0, 0, 0, 0, 0x80, 0x88, 0x08, 0x01, 0x01,
        0x00, 0x8a, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x02,
    ];
    wanted.resize(60, 0);
    assert_eq!(frame, wanted);
    assert_eq!(PfcFrame::decode(&frame[..34]), Ok(PFC));
    let too_short = DecodeError::TooShort { needed: 34, found: 33 };
    assert_eq!(PfcFrame::decode(&frame[..33]), Err(too_short));
    assert_eq!(PfcFrame::decode(&encoded(&BTS)), Err(DecodeError::WrongEtherType(0x0800)));
    frame[15] = 2;
    assert_eq!(PfcFrame::decode(&frame), Err(DecodeError::WrongOpcode(0x0102)));
}

#[test]
fn invalid_bts_frames_are_rejected_with_the_reason() {
    let mut frame = encoded(&BTS);
    assert_eq!(Bts::decode(&frame[..59]), Err(DecodeError::TooShort { needed: 60, found: 59 }));
    frame[42] = 2;
    assert_eq!(Bts::decode(&frame), Err(DecodeError::WrongVersion(2)));
    frame[37] = 0x8b;
    assert_eq!(Bts::decode(&frame), Err(DecodeError::WrongPort(1675)));
}

#[test]
fn reserved_bits_are_ignored() {
    let mut frame = encoded(&BTS);
    frame[46] |= 0xfe;
    frame[52..].fill(0xff);
    frame.push(7);
    assert_eq!(Bts::decode(&frame), Ok(BTS));
}

proptest! {
    #[test]
    fn a_bts_frame_survives_a_round_trip(
        (src_mac, dst_mac, src_ip, dst_ip) in any::<([u8; 6], [u8; 6], u32, u32)>(),
        (src_port, dst_port, pause_us, cacheable) in any::<(u16, u16, u16, bool)>(),
        queue_pair in 0u32..1 << 24,
        dscp in any::<u8>(),
    ) {
        let bts = Bts {
            src_mac,
            dst_mac,
            src_ip,
            dst_ip,
            src_port,
            dst_port,
            queue_pair,
            dscp,
            pause_us,
            cacheable,
        };
        prop_assert_eq!(Bts::decode(&encoded(&bts)), Ok(bts));
        prop_assert_eq!(encoded(&bts).len(), 60);
    }

    #[test]
    fn a_pfc_frame_survives_a_round_trip(src_mac: [u8; 6], quanta: [Option<u16>; 8]) {
        let frame = PfcFrame { src_mac, quanta };
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        prop_assert_eq!(PfcFrame::decode(&bytes), Ok(frame));
        prop_assert_eq!(bytes.len(), 60);
    }

    /// A frame with changed bytes and a truncated end, or arbitrary bytes.
    #[test]
    fn no_bytes_make_a_decoder_panic(
        changes in prop::collection::vec((0usize..60, any::<u8>()), 0..6),
        length in 0usize..=60,
        noise in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let mut pfc = Vec::new();
        PFC.encode(&mut pfc);
        for mut frame in [encoded(&BTS), pfc] {
            changes.iter().for_each(|&(at, value)| frame[at] = value);
            let whole = Bts::decode(&frame).is_ok();
            prop_assert!(!whole || length == 60 || Bts::decode(&frame[..length]).is_err());
            let _ = PfcFrame::decode(&frame[..length]);
        }
        prop_assert!(Bts::decode(&noise).is_err() && PfcFrame::decode(&noise).is_err());
    }
}
