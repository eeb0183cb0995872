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

#[cfg(test)]
mod tests {
    use super::*;

    /// `L2_ACK_INTERVAL`, `L2_CHUNK_SIZE` and `L2_BACK_TO_ZERO` of the HPCC simulator: whole chunks
    /// are acknowledged, and all packets from some byte on.
    #[test]
    fn whole_chunks_and_all_packets_of_the_end_are_acknowledged() {
        let chunks = Chunks { ack_from: 10_000, chunk: 4000, back_to_zero: true };
        let acknowledged =
            (1..=12).map(|packet| packet * 1000).filter(|&at| chunks.acknowledges(at));
        assert_eq!(acknowledged.collect::<Vec<_>>(), [4000, 8000, 10_000, 11_000, 12_000]);
        assert_eq!([3999, 4000, 11_999].map(|at| chunks.counted(at)), [0, 4000, 8000]);
        let each = Chunks::default();
        assert!((1..20).all(|at| each.acknowledges(at) && each.counted(at) == at));
    }
}
