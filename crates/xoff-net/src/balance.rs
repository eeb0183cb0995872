//! Load balancing among equal-cost ports: the choice of a packet's port.
//!
//! Each load balancer has a file with its settings, their properties ([`BalanceSettings`]) and its
//! choice.

mod adaptive;
mod ecmp;
mod given;
mod spray;

use xoff_core::knobs::Checked;
use xoff_core::seam::Need;

pub use adaptive::{Adaptive, AlbConfig};
pub use ecmp::{Ecmp, EcmpConfig, Hashed};
pub use given::{GivenConfig, label};
pub use spray::{Spray, SprayConfig, SprayOrder};

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

    /// True if a hash of the 5-tuple chooses.
    fn hashes(&self) -> bool {
        false
    }

    /// True if the source of a flow names its path.
    fn takes_given_paths(&self) -> bool {
        false
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

xoff_core::seam! {
    /// Load balancers: the choice of a packet's port among equal-cost ports.
    pub enum BalanceConfig: dyn BalanceSettings, named by BalanceKind {
        /// The port selected by the hash of the flow.
        Ecmp(EcmpConfig) = "ecmp",
        /// The port that the traffic source names for the flow: column data_path or ack_path of its
        /// list.
        Given(GivenConfig) = "given",
        /// A lightly loaded port, section `alb`.
        Adaptive(AlbConfig) = "adaptive",
        /// A new port for each packet, section `spray`.
        Spray(SprayConfig) = "spray",
    }
}

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
