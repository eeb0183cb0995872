//! RoCEv2: the headers after the UDP header of an RDMA packet, without payload and invariant CRC.
//!
//! The codes are those of the base transport header of the InfiniBand architecture and of its
//! RoCEv2 annex. Flows are SEND operations of reliable connections, one message per flow.

/// UDP destination port of all packets.
pub const PORT: u16 = 4791;

/// Size of the base transport header.
pub const HEADER_BYTES: usize = 12;

/// Sizes of the headers after the base transport header: of an acknowledgement, and of a congestion
/// notification.
const EXTENSION_BYTES: usize = 4;
const RESERVED_BYTES: usize = 16;

/// Type of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Data of a message.
    Send {
        /// True for the first packet of the message.
        first: bool,
        /// True for the last packet of the message.
        last: bool,
    },
    /// An acknowledgement; its packet sequence number is that of the last acknowledged packet.
    Ack,
    /// A negative acknowledgement; its packet sequence number is that of the missing packet.
    Nak,
    /// A congestion notification packet (CNP).
    Notification,
}

impl Operation {
    fn opcode(self) -> u8 {
        match self {
            Self::Send { first: true, last: false } => 0x00,
            Self::Send { first: false, last: false } => 0x01,
            Self::Send { first: false, last: true } => 0x02,
            Self::Send { first: true, last: true } => 0x04,
            Self::Ack | Self::Nak => 0x11,
            Self::Notification => 0x81,
        }
    }

    /// Size of the base transport header and all headers after it.
    #[must_use]
    pub fn header_bytes(self) -> usize {
        HEADER_BYTES
            + match self {
                Self::Send { .. } => 0,
                Self::Ack | Self::Nak => EXTENSION_BYTES,
                Self::Notification => RESERVED_BYTES,
            }
    }
}

/// The transport headers of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// Type of the packet.
    pub operation: Operation,
    /// Backward congestion notification: set when an acknowledgement echoes a mark, and in every
    /// congestion notification.
    pub becn: bool,
    /// Destination queue pair, 24 bits.
    pub queue_pair: u32,
    /// Packet sequence number; its low 24 bits are sent.
    pub sequence: u32,
}

impl Transport {
    /// Appends the headers.
    pub fn write(&self, out: &mut Vec<u8>) {
        // No solicited event, migrated, no padding, version 0; default partition.
        out.extend([self.operation.opcode(), 0x40, 0xff, 0xff]);
        let [_, queue_pair @ ..] = self.queue_pair.to_be_bytes();
        out.push(if self.becn { 0x40 } else { 0 });
        out.extend(queue_pair);
        let [_, sequence @ ..] = self.sequence.to_be_bytes();
        let last = matches!(self.operation, Operation::Send { last: true, .. });
        // The sender requests an acknowledgement of a message's last packet.
        out.push(if last { 0x80 } else { 0 });
        out.extend(sequence);
        match self.operation {
            Operation::Send { .. } => (),
            // An acknowledgement with unlimited credits, or a sequence error. No message is
            // complete.
            Operation::Ack => out.extend([0x1f, 0, 0, 0]),
            Operation::Nak => out.extend([0x60, 0, 0, 0]),
            Operation::Notification => out.extend([0; RESERVED_BYTES]),
        }
    }
}
