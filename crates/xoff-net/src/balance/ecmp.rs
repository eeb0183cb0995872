//! Per-flow equal-cost multi-path: a hash of the 5-tuple picks the port, with a different seed at
//! each switch, so that paths do not polarise.

use std::sync::Arc;

use xoff_core::knobs;

use super::{BalanceSettings, PathPer, address, given, murmur3};
use crate::packet::Packet;

knobs! {
    /// Equal-cost multi-path.
    pub struct EcmpConfig;
}

impl BalanceSettings for EcmpConfig {
    fn path_per(&self) -> PathPer {
        PathPer::Flow
    }

    fn hashes(&self) -> bool {
        true
    }
}

/// What of a packet is hashed.
#[derive(Clone, Debug)]
pub enum Hashed {
    /// The addresses and ports of its direction.
    OneWay,
    /// The same for a packet and its answer.
    BothWays,
    /// Those of its direction, where hosts have these numbers in their addresses.
    Numbered(Arc<[u32]>),
    /// Nothing: the packet's label names the port.
    Given,
}

/// A switch's hash of flows.
#[derive(Clone, Debug)]
pub struct Ecmp {
    /// The seed of the hash: one per switch, or one per layer if both directions hash alike.
    pub seed: u32,
    /// What is hashed.
    pub hashed: Hashed,
}

impl Ecmp {
    /// A hash of one direction.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        Self { seed, hashed: Hashed::OneWay }
    }

    /// A packet's choice among `count` equal-cost ports.
    #[must_use]
    pub fn choose(&self, packet: &Packet, count: u32) -> u32 {
        if count == 1 {
            return 0;
        }
        match &self.hashed {
            Hashed::OneWay => self.choose_for_one(packet, count),
            Hashed::BothWays => self.choose_for_both(packet, count),
            Hashed::Given => u32::from(given::path(packet.label)) % count,
            Hashed::Numbered(numbers) => {
                let ends = [packet.src, packet.dst].map(|host| address(numbers[host as usize]));
                murmur3([ends[0], ends[1], packet.label], self.seed) % count
            }
        }
    }

    /// The same with a hash of one direction.
    #[inline(always)]
    pub(crate) fn choose_for_one(&self, packet: &Packet, count: u32) -> u32 {
        if count == 1 {
            return 0;
        }
        murmur3([address(packet.src), address(packet.dst), packet.label], self.seed) % count
    }

    /// The same for a packet and its answer: "symmetric hashing" (ExpressPass §3.1). It hashes the
    /// 5-tuple of the direction with the smaller sender number.
    fn choose_for_both(&self, packet: &Packet, count: u32) -> u32 {
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

    fn joint_choices(hashed: &Hashed) -> [[u32; 4]; 4] {
        let mut joint = [[0u32; 4]; 4];
        for label in 0..16_000 {
            let mut packet = Packet::new(Kind::Data, 100);
            packet.dst = 77;
            packet.label = label;
            let choice = |seed| {
                let hashed = hashed.clone();
                Ecmp { seed, hashed }.choose(&packet, 4) as usize
            };
            joint[choice(5)][choice(6)] += 1;
        }
        joint
    }

    #[test]
    fn flows_spread_evenly_and_independently_at_each_switch() {
        let numbered = Hashed::Numbered((5..90).collect());
        for hashed in [Hashed::OneWay, Hashed::BothWays, numbered] {
            let joint = joint_choices(&hashed);
            assert!(joint.iter().flatten().all(|count| (800..1200).contains(count)), "{joint:?}");
        }
    }
}
