//! How a flow falls into packets.

/// What both halves of every flow know.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Payload of a full packet.
    pub payload: u64,
    /// What goes before the receiver has said anything (bytes).
    pub initial_window: u64,
}

impl Shape {
    /// Bytes of a flow that are sent unasked: the first window, in whole packets.
    #[must_use]
    pub fn unasked(&self, size: u64) -> u64 {
        size.min(self.initial_window.div_ceil(self.payload) * self.payload)
    }

    /// Payload of the packet whose first byte is `seq`.
    #[must_use]
    pub fn payload_at(&self, seq: u64, size: u64) -> u64 {
        self.payload.min(size - seq)
    }

    /// The number of that packet.
    #[must_use]
    pub fn packet_at(&self, seq: u64) -> u64 {
        seq / self.payload
    }

    /// Bytes of a flow before the packet of this number.
    #[must_use]
    pub fn bytes_before(&self, packet: u64, size: u64) -> u64 {
        size.min(packet * self.payload)
    }
}
