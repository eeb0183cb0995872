//! The back-to-sender frame of Source Flow Control.
//!
//! The paper (SFC 3.3, 4) lists its contents but not their layout. The layout follows the public P4
//! program for Tofino 2 where that has a field, and uses its padding for the rest.
//! `docs/bts-frame.md` specifies it byte by byte. It is not a standard frame.

use crate::SMALLEST_FRAME;
use crate::headers::{Datagram, DecodeError, Mac, array, be16, leading};

/// UDP destination port that identifies the frame (the P4 program's).
pub const PORT: u16 = 1674;

/// Version of the layout. The field is the P4 program's; the value is xoff's.
pub const VERSION: u8 = 1;

/// Code point of the frame itself, which overtakes data (SFC 3.1): network control (CS6).
pub const DSCP: u8 = 48;

const CACHEABLE: u8 = 1;

/// A switch's request to a sender to pause one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bts {
    /// Ethernet source: the destination of the data packet that triggered the frame.
    pub src_mac: Mac,
    /// Ethernet destination: the source of that data packet.
    pub dst_mac: Mac,
    /// The receiver of the flow; it is the congested host if the frame is cacheable.
    pub src_ip: u32,
    /// The sender of the flow.
    pub dst_ip: u32,
    /// The data packet's UDP ports. The source port identifies the sender's queue pair (SFC 4).
    pub src_port: u16,
    /// See `src_port`.
    pub dst_port: u16,
    /// The data packet's destination queue pair, 24 bits.
    pub queue_pair: u32,
    /// The data packet's differentiated services code point: the traffic class to pause.
    pub dscp: u8,
    /// Duration of the pause (us).
    pub pause_us: u16,
    /// True if switches on the path may cache the frame: the congested port faces a server.
    pub cacheable: bool,
}

impl Bts {
    /// Appends the frame: 60 bytes, 64 on the wire.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let datagram = Datagram {
            src_mac: self.src_mac,
            dst_mac: self.dst_mac,
            src_ip: self.src_ip,
            dst_ip: self.dst_ip,
            dscp: DSCP,
            ecn: 0,
            src_port: self.src_port,
            dst_port: PORT,
        };
        datagram.write(SMALLEST_FRAME, out);
        out.extend([VERSION, self.dscp]);
        out.extend(self.pause_us.to_be_bytes());
        out.push(if self.cacheable { CACHEABLE } else { 0 });
        let [_, queue_pair @ ..] = self.queue_pair.to_be_bytes();
        out.extend(queue_pair);
        out.extend(self.dst_port.to_be_bytes());
        out.extend([0; 8]);
    }

    /// Decodes a frame. Reserved fields and unknown flags are ignored.
    ///
    /// # Errors
    /// The reason that the bytes are not such a frame.
    pub fn decode(frame: &[u8]) -> Result<Self, DecodeError> {
        let datagram = Datagram::read(frame)?;
        if datagram.dst_port != PORT {
            return Err(DecodeError::WrongPort(datagram.dst_port));
        }
        let frame: &[u8; SMALLEST_FRAME] = leading(frame)?;
        let [version, dscp] = array(frame, Datagram::BYTES);
        if version != VERSION {
            return Err(DecodeError::WrongVersion(version));
        }
        let [high, middle, low] = array(frame, 47);
        Ok(Self {
            src_mac: datagram.src_mac,
            dst_mac: datagram.dst_mac,
            src_ip: datagram.src_ip,
            dst_ip: datagram.dst_ip,
            src_port: datagram.src_port,
            dst_port: be16(frame, 50),
            queue_pair: u32::from_be_bytes([0, high, middle, low]),
            dscp,
            pause_us: be16(frame, 44),
            cacheable: frame[46] & CACHEABLE != 0,
        })
    }
}
