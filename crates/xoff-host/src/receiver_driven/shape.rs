//! Division of flows into packets.

/// Constants known to both halves of every flow.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Payload of a full packet.
    pub payload: u64,
    /// Bytes sent before the receiver's first reply.
    pub initial_window: u64,
}

impl Shape {
    /// Unsolicited bytes of a flow: the initial window, in whole packets.
    #[must_use]
    pub fn unasked(&self, size: u64) -> u64 {
        size.min(self.initial_window.div_ceil(self.payload) * self.payload)
    }

    /// Payload of the packet with first byte `seq`.
    #[must_use]
    pub fn payload_at(&self, seq: u64, size: u64) -> u64 {
        self.payload.min(size - seq)
    }

    /// Number of the packet with first byte `seq`.
    #[must_use]
    pub fn packet_at(&self, seq: u64) -> u64 {
        seq / self.payload
    }

    /// Bytes of a flow before a packet.
    #[must_use]
    pub fn bytes_before(&self, packet: u64, size: u64) -> u64 {
        size.min(packet * self.payload)
    }
}
