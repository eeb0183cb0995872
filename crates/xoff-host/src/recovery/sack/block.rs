//! A block of a selective acknowledgement, as a number in a packet.

/// A contiguous block of received packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Distance in packets from the first missing packet to the start of the block.
    pub after: u16,
    /// Number of packets.
    pub packets: u16,
}

impl Block {
    /// As one number.
    #[must_use]
    pub fn to_bits(self) -> u32 {
        u32::from(self.after) | u32::from(self.packets) << 16
    }

    /// Decodes a block.
    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        Self { after: bits as u16, packets: (bits >> 16) as u16 }
    }
}
