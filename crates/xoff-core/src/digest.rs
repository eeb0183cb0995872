//! The digest of a run: one hash chain per entity, folded in the order of entity ids.
//!
//! A chain covers only the actions of its entity and their times. The digest therefore does not
//! depend on the assignment of entities to partitions or threads, and it includes no scheduler
//! counters.

use crate::rng::mix64;

/// A 64-bit hash chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// Adds one word to the chain.
    #[inline]
    pub fn add(&mut self, word: u64) {
        // One multiplication per word: this runs on the packet path. The rotation makes the chain
        // sensitive to order; the odd multiplier (from SplitMix64) spreads the bits.
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }

    /// The chain's current value, mixed.
    #[must_use]
    pub fn value(self) -> u64 {
        mix64(self.0)
    }
}

/// Digest of a text, so that results identify their exact input.
#[must_use]
pub fn text_digest(text: &str) -> u64 {
    bytes_digest(text.as_bytes())
}

/// Digest of the contents of a file.
#[must_use]
pub fn bytes_digest(bytes: &[u8]) -> u64 {
    let mut digest = Digest::default();
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        digest.add(u64::from_le_bytes(word));
    }
    digest.add(bytes.len() as u64);
    digest.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_matters() {
        let chain = |words: &[u64]| {
            let mut digest = Digest::default();
            words.iter().for_each(|&word| digest.add(word));
            digest.value()
        };
        assert_ne!(chain(&[1, 2]), chain(&[2, 1]));
        assert_ne!(chain(&[0]), chain(&[0, 0, 1]));
        assert_eq!(chain(&[5, 6, 7]), chain(&[5, 6, 7]));
    }
}
