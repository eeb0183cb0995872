//! The frame of priority flow control (IEEE 802.1Qbb): a MAC control frame that pauses each of
//! eight classes for its own time. SFC-P (SFC 4) sends it to the NIC of a paused flow's sender.

use crate::SMALLEST_FRAME;
use crate::headers::{DecodeError, Mac, array, be16, leading};

/// Destination of all PFC frames: a group address that bridges do not forward.
pub const DESTINATION: Mac = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x01];

const ETHERTYPE_MAC_CONTROL: u16 = 0x8808;
const OPCODE: u16 = 0x0101;
/// Offsets of the first time and of the end of the times.
const TIMES: usize = 18;
const END: usize = TIMES + 16;

/// Pauses for traffic classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcFrame {
    /// Address of the sender of the frame.
    pub src_mac: Mac,
    /// For each class, the pause time in quanta of 512 bit times, where 0 resumes the class; `None`
    /// if the frame does not address the class.
    pub quanta: [Option<u16>; 8],
}

impl PfcFrame {
    /// Appends the frame: 60 bytes, 64 on the wire.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let begin = out.len();
        out.extend(DESTINATION);
        out.extend(self.src_mac);
        out.extend(ETHERTYPE_MAC_CONTROL.to_be_bytes());
        out.extend(OPCODE.to_be_bytes());
        let enabled =
            |vector, class: usize| vector | u16::from(self.quanta[class].is_some()) << class;
        out.extend((0..8).fold(0, enabled).to_be_bytes());
        for quanta in self.quanta {
            out.extend(quanta.unwrap_or(0).to_be_bytes());
        }
        out.resize(begin + SMALLEST_FRAME, 0);
    }

    /// Decodes a frame; padding may be missing.
    ///
    /// # Errors
    /// The reason that the bytes are not such a frame.
    pub fn decode(frame: &[u8]) -> Result<Self, DecodeError> {
        let frame: &[u8; END] = leading(frame)?;
        let (ethertype, opcode) = (be16(frame, 12), be16(frame, 14));
        if ethertype != ETHERTYPE_MAC_CONTROL {
            return Err(DecodeError::WrongEtherType(ethertype));
        }
        if opcode != OPCODE {
            return Err(DecodeError::WrongOpcode(opcode));
        }
        let enabled = be16(frame, 16);
        let time = |class| (enabled >> class & 1 == 1).then(|| be16(frame, TIMES + 2 * class));
        Ok(Self { src_mac: array(frame, 6), quanta: core::array::from_fn(time) })
    }
}
