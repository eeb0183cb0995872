//! Which packets a receiver of go-back-N acknowledges, and how far its reports count.

/// Acknowledgements and chunks, as plain numbers.
#[derive(Clone, Copy, Debug)]
pub struct Chunks {
    /// Bytes from which on every packet is acknowledged.
    pub ack_from: u64,
    /// Bytes of a chunk.
    pub chunk: u64,
    /// Whether only whole chunks count.
    pub back_to_zero: bool,
}

/// Every packet counts.
impl Default for Chunks {
    fn default() -> Self {
        Self { ack_from: 0, chunk: 1, back_to_zero: false }
    }
}

impl Chunks {
    /// Whether a receiver acknowledges the packet after which it expects this byte.
    #[inline]
    #[must_use]
    pub fn acknowledges(&self, expected: u64) -> bool {
        expected >= self.ack_from || expected.is_multiple_of(self.chunk)
    }

    /// The byte up to which a report of `seq` counts.
    #[inline]
    #[must_use]
    pub fn counted(&self, seq: u64) -> u64 {
        if self.back_to_zero { seq / self.chunk * self.chunk } else { seq }
    }
}
