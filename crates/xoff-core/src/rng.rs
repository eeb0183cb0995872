//! One independent random stream per (seed, purpose, entity).
//!
//! A stream belongs to an entity of the topology, never to a thread or a partition. A run therefore
//! draws the same numbers however it is partitioned.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::math;

/// The use of a stream. Two purposes of one entity never share a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Random marking of packets at a switch.
    Marking = 1,
    /// Queue assignment at a switch.
    QueueAssignment = 2,
    /// Hash seeds of a switch's load balancer.
    Balancing = 3,
    /// Start times, sizes and end points of the flows of a traffic source.
    Traffic = 4,
    /// Injected faults.
    Faults = 5,
    /// Random decisions of a transport.
    Transport = 6,
    /// Choice of the packet that a switch trims when a queue is full.
    Trimming = 7,
    /// Packet losses on a lossy link.
    LinkLoss = 8,
    /// Deliberate packet losses on a control connection.
    MessageLoss = 9,
    /// Choice of the egress port when a switch sprays packets over equal-cost or preferred ports.
    Spraying = 10,
    /// Jitter of a receiver's credits: their send times and sizes.
    Credits = 11,
    /// Choice of the packets whose headers a switch recirculates.
    Recirculation = 13,
    /// Rounding of a switch's telemetry.
    Telemetry = 14,
    /// Choice of the acknowledgements to which a host's flows react.
    Sampling = 15,
    /// Which ranks of an all-to-all get most.
    Popularity = 16,
    /// Keys and tokens of Flowtune's control protocol.
    ControlKeys = 17,
}

/// A value-stable random stream (xoshiro256++).
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

/// The step of SplitMix64: 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64: a bijection of 64-bit words in which every input bit affects every
/// output bit.
#[must_use]
pub fn mix64(x: u64) -> u64 {
    let x = x.wrapping_add(GOLDEN);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A small generator for measurements, whose state is its seed: SplitMix64.
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// Draws a whole number in [0, n) by multiplication.
    pub fn below(&mut self, n: u32) -> u32 {
        let drawn = mix64(self.0);
        self.0 = self.0.wrapping_add(GOLDEN);
        ((u128::from(drawn) * u128::from(n)) >> 64) as u32
    }
}

impl Rng {
    /// Returns the stream of `entity` for `purpose` in a run with this `seed`.
    #[must_use]
    pub fn stream(seed: u64, purpose: Purpose, entity: u64) -> Self {
        let key = mix64(mix64(mix64(seed) ^ purpose as u64) ^ entity);
        Self(Xoshiro256PlusPlus::seed_from_u64(key))
    }

    /// Draws 64 random bits.
    #[inline]
    pub fn u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a number in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Draws a whole number in [0, n) by multiplication (bias below n / 2^64).
    ///
    /// # Panics
    /// If `n` is zero.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "the range must not be empty");
        ((u128::from(self.u64()) * u128::from(n)) >> 64) as u64
    }

    /// Permutes items uniformly at random.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            items.swap(place, self.below(place as u64 + 1) as usize);
        }
    }

    /// Draws from the exponential distribution of mean 1, by inversion.
    pub fn exponential(&mut self) -> f64 {
        -math::ln(1.0 - self.unit())
    }

    /// Draws from the standard normal distribution by the trigonometric Box-Muller transform. Only
    /// one number of each pair is used, so that a stream's state depends only on the number of
    /// draws.
    pub fn normal(&mut self) -> f64 {
        let radius = math::sqrt(2.0 * self.exponential());
        radius * libm::cos(2.0 * core::f64::consts::PI * self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_purpose_and_entity() {
        let draw = |seed, purpose, entity| Rng::stream(seed, purpose, entity).u64();
        let first = draw(1, Purpose::Marking, 7);
        assert_eq!(first, draw(1, Purpose::Marking, 7));
        for other in [
            draw(2, Purpose::Marking, 7),
            draw(1, Purpose::Traffic, 7),
            draw(1, Purpose::Marking, 8),
        ] {
            assert_ne!(first, other);
        }
    }

    /// The reference implementation (Vigna, splitmix64.c) with seed 1234567 draws
    /// 6457827717110365317, 3203168211198807973 and 9817491932198370423: here their upper 31 bits.
    #[test]
    fn the_small_generator_is_splitmix64() {
        let mut random = SplitMix64(1_234_567);
        let drawn = [(); 3].map(|()| random.below(1 << 31));
        assert_eq!(drawn, [751_790_091, 372_897_858, 1_142_906_482]);
    }

    #[test]
    fn moments_are_right() {
        let mut rng = Rng::stream(1, Purpose::Traffic, 0);
        let n = 200_000;
        let (mut exponential, mut normal, mut square) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            exponential += rng.exponential();
            let x = rng.normal();
            normal += x;
            square += x * x;
        }
        let n = f64::from(n);
        assert!((exponential / n - 1.0).abs() < 0.01);
        assert!((normal / n).abs() < 0.01);
        assert!((square / n - 1.0).abs() < 0.02);
    }

    /// The values themselves enter every digest: a library upgrade must not change them.
    #[test]
    fn values_are_stable() {
        let mut rng = Rng::stream(1, Purpose::Traffic, 0);
        let drawn: Vec<u64> = (0..3).map(|_| rng.u64()).collect();
        let mut again = Rng::stream(1, Purpose::Traffic, 0);
        assert_eq!(drawn, (0..3).map(|_| again.u64()).collect::<Vec<_>>());
        assert_eq!(rng.below(1), 0);
    }
}
