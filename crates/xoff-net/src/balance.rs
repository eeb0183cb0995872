//! Which of several equal ports a packet takes: that of a hash of its flow, another one for each packet
//! (`spray`), or a random one of those that are lightly loaded (`adaptive`).
//!
//! Per-flow equal-cost multi-path: a hash of the 5-tuple picks the port, with another seed at each
//! switch, so that paths do not polarise.

mod adaptive;
mod spray;

use crate::packet::Packet;

pub use adaptive::{Adaptive, AlbConfig};
pub use spray::{Spray, SprayConfig, SprayOrder};

/// The address a host has on the wire, for hashing: 11.x.y.1 with the host's number in x.y, the
/// numbering of the HPCC simulator's files.
#[inline]
#[must_use]
pub fn address(host: u32) -> u32 {
    0x0b00_0001 + ((host >> 8) << 16) + ((host & 0xff) << 8)
}

/// MurmurHash3 (x86, 32 bits; public domain, A. Appleby) of three words.
#[inline]
#[must_use]
pub fn murmur3(words: [u32; 3], seed: u32) -> u32 {
    let mut hash = seed;
    for word in words {
        let mixed = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        hash = (hash ^ mixed).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= 12;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// Which of `count` equal ports a packet takes.
#[inline]
#[must_use]
pub fn ecmp(packet: &Packet, seed: u32, count: u32) -> u32 {
    if count == 1 {
        return 0;
    }
    murmur3([address(packet.src), address(packet.dst), packet.label], seed) % count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    #[test]
    fn flows_spread_evenly_and_independently_at_each_switch() {
        let mut joint = [[0u32; 4]; 4];
        for label in 0..16_000 {
            let mut packet = Packet::new(Kind::Data, 100);
            packet.dst = 77;
            packet.label = label;
            joint[ecmp(&packet, 5, 4) as usize][ecmp(&packet, 6, 4) as usize] += 1;
        }
        for count in joint.iter().flatten() {
            assert!((800..1200).contains(count), "{joint:?}");
        }
    }
}
