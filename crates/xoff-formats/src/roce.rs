//! RoCEv2: what follows the UDP header of a packet of RDMA, without payload and invariant CRC.
//!
//! The numbers are those of the InfiniBand architecture's base transport header and of its RoCEv2
//! annex. Flows are sent as SEND operations of reliable connections, one message a flow.

/// The UDP destination port of all packets.
pub const PORT: u16 = 4791;

/// Bytes of the base transport header.
pub const HEADER_BYTES: usize = 12;

/// What follows the base transport header of an acknowledgement, and of a congestion notification.
const EXTENSION_BYTES: usize = 4;
const RESERVED_BYTES: usize = 16;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Data: whether its message begins and ends with it.
    Send {
        /// Whether it is the first packet of its message.
        first: bool,
        /// Whether it is the last one.
        last: bool,
    },
    /// An acknowledgement; the packet sequence number is that of the last packet acknowledged.
    Ack,
    /// A packet is missing; the packet sequence number is its own.
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

    /// Bytes from the base transport header to the end of the last header.
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

/// A packet's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// What it is.
    pub operation: Operation,
    /// Backward notification of congestion: the echo of a mark, and every congestion notification.
    pub becn: bool,
    /// The queue pair it is for, 24 bits.
    pub queue_pair: u32,
    /// Its packet sequence number, of which 24 bits are sent.
    pub sequence: u32,
}

impl Transport {
    /// Appends the headers.
    pub fn write(&self, out: &mut Vec<u8>) {
        // No solicited event, migrated, no padding, version 0; the default partition.
        out.extend([self.operation.opcode(), 0x40, 0xff, 0xff]);
        let [_, queue_pair @ ..] = self.queue_pair.to_be_bytes();
        out.push(if self.becn { 0x40 } else { 0 });
        out.extend(queue_pair);
        let [_, sequence @ ..] = self.sequence.to_be_bytes();
        let last = matches!(self.operation, Operation::Send { last: true, .. });
        // The sender wants an acknowledgement of a message's last packet.
        out.push(if last { 0x80 } else { 0 });
        out.extend(sequence);
        match self.operation {
            Operation::Send { .. } => (),
            // An acknowledgement without limit of credits; a sequence error. No message is complete.
            Operation::Ack => out.extend([0x1f, 0, 0, 0]),
            Operation::Nak => out.extend([0x60, 0, 0, 0]),
            Operation::Notification => out.extend([0; RESERVED_BYTES]),
        }
    }
}
