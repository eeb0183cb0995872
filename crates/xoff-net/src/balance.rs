//! Load balancing among equal-cost ports: by a hash of the flow, by packet (`spray`), or at random
//! among lightly loaded ports (`adaptive`).
//!
//! Per-flow equal-cost multi-path: a hash of the 5-tuple picks the port, with a different seed at
//! each switch, so that paths do not polarise.

mod adaptive;
mod spray;

use xoff_core::knobs;
use xoff_core::knobs::Checked;
use xoff_core::seam::Need;

use crate::packet::Packet;

/// The interface of a load balancer's settings.
pub trait BalanceSettings {
    /// Checks the settings on their own.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check(&self) -> Checked {
        Ok(())
    }

    /// Values that it needs in other settings.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// True if the packets of a flow take several paths and so arrive out of order.
    fn reorders(&self) -> bool {
        true
    }

    /// Its thresholds, if it follows the load of egress ports.
    fn adaptive(&self) -> Option<&AlbConfig> {
        None
    }

    /// Its settings, if it sprays packets regardless of load.
    fn spray(&self) -> Option<&SprayConfig> {
        None
    }
}

knobs! {
    /// Equal-cost multi-path.
    pub struct EcmpConfig;
}

impl BalanceSettings for EcmpConfig {
    fn reorders(&self) -> bool {
        false
    }
}

xoff_core::seam! {
    /// Load balancers: the choice of a packet's port among equal-cost ports.
    pub enum BalanceConfig: dyn BalanceSettings, named by BalanceKind {
        /// The port selected by the hash of the flow.
        Ecmp(EcmpConfig) = "ecmp",
        /// A lightly loaded port, section `alb`.
        Adaptive(AlbConfig) = "adaptive",
        /// A new port for each packet, section `spray`.
        Spray(SprayConfig) = "spray",
    }
}

pub use adaptive::{Adaptive, AlbConfig};
pub use spray::{Spray, SprayConfig, SprayOrder};

/// The address of a host on the wire, for hashing: 11.x.y.1 with the host's number in x.y, as in
/// the HPCC simulator's files.
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

/// A switch's hash of flows.
#[derive(Clone, Copy, Debug)]
pub struct Ecmp {
    /// The seed of the hash: one per switch, or one per layer if hashing is symmetric.
    pub seed: u32,
    /// Whether both directions of a flow have the same hash.
    pub symmetric: bool,
}

impl Ecmp {
    /// A hash of one direction.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        Self { seed, symmetric: false }
    }

    /// A packet's choice among `count` equal-cost ports.
    #[must_use]
    pub fn choose(self, packet: &Packet, count: u32) -> u32 {
        if self.symmetric {
            self.choose_for_both(packet, count)
        } else {
            self.choose_for_one(packet, count)
        }
    }

    /// The same with a hash of one direction.
    #[inline(always)]
    pub(crate) fn choose_for_one(self, packet: &Packet, count: u32) -> u32 {
        if count == 1 {
            return 0;
        }
        murmur3([address(packet.src), address(packet.dst), packet.label], self.seed) % count
    }

    /// The same for a packet and its answer: "symmetric hashing" (ExpressPass §3.1). It hashes the
    /// 5-tuple of the direction with the smaller sender number.
    pub(crate) fn choose_for_both(self, packet: &Packet, count: u32) -> u32 {
        if count == 1 {
            return 0;
        }
        let (mut ends, mut label) = ((packet.src, packet.dst), packet.label);
        if ends.0 > ends.1 {
            (ends, label) = ((ends.1, ends.0), label.rotate_left(16));
        }
        murmur3([address(ends.0), address(ends.1), label], self.seed) % count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    fn joint_choices(symmetric: bool) -> [[u32; 4]; 4] {
        let mut joint = [[0u32; 4]; 4];
        for label in 0..16_000 {
            let mut packet = Packet::new(Kind::Data, 100);
            packet.dst = 77;
            packet.label = label;
            let choice = |seed| Ecmp { seed, symmetric }.choose(&packet, 4) as usize;
            joint[choice(5)][choice(6)] += 1;
        }
        joint
    }

    #[test]
    fn flows_spread_evenly_and_independently_at_each_switch() {
        for symmetric in [false, true] {
            let joint = joint_choices(symmetric);
            assert!(joint.iter().flatten().all(|count| (800..1200).contains(count)), "{joint:?}");
        }
    }
}
