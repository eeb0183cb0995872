//! The two precisions rates are computed in, and the reciprocal of each.

use std::fmt::Debug;
use std::ops::{Add, Mul};

/// What a precision can hold: settings outside are refused, so that no product leaves its range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    /// The smallest weight; its reciprocal is the largest.
    pub(crate) least_weight: f64,
    /// The smallest `capacity^alpha`; its reciprocal is the largest.
    pub(crate) least_power: f64,
    /// The highest price to start from.
    pub(crate) most_price: f64,
}

/// A floating-point number of one precision.
pub(crate) trait Real:
    Copy + Debug + PartialOrd + Add<Output = Self> + Mul<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;
    const RANGE: Range;

    fn of(value: f64) -> Self;
    fn get(self) -> f64;
    /// One over this, exactly or nearly: never more than the exact value and its rounding.
    fn reciprocal(self) -> Self;
    fn power(self, exponent: Self) -> Self;

    fn at_least(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const RANGE: Range = Range { least_weight: 1e-40, least_power: 1e-200, most_price: 1e200 };

    fn of(value: f64) -> Self {
        value
    }

    fn get(self) -> f64 {
        self
    }

    fn reciprocal(self) -> Self {
        1.0 / self
    }

    fn power(self, exponent: Self) -> Self {
        libm::pow(self, exponent)
    }
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const RANGE: Range = Range { least_weight: 1e-5, least_power: 1e-27, most_price: 1e27 };

    fn of(value: f64) -> Self {
        value as Self
    }

    fn get(self) -> f64 {
        f64::from(self)
    }

    fn reciprocal(self) -> Self {
        approximate_reciprocal(self)
    }

    fn power(self, exponent: Self) -> Self {
        libm::powf(self, exponent)
    }
}

/// Bits of this less a float's bits are about those of its reciprocal: the exponent changes its
/// sign, and a line stands for 1/m of the mantissa m. It is at most 5.1 % away.
pub(crate) const RECIPROCAL_BITS: u32 = 0x7EF3_11C3;

/// One over a positive normal number, to about seven parts in a million, and never too large by
/// more than its rounding.
///
/// "The -RT variants are optimized implementations which use single-point floating point operations
/// and some numeric approximations for speed" (§5.4), and do not say which. A processor's own
/// approximation (`rcpps`) differs from vendor to vendor; this one is made of operations that give
/// the same bits on all. A step of Newton's method squares the relative error and leaves the
/// result too small.
pub(crate) fn approximate_reciprocal(value: f32) -> f32 {
    let guess = f32::from_bits(RECIPROCAL_BITS.wrapping_sub(value.to_bits()));
    let better = guess * (2.0 - value * guess);
    better * (2.0 - value * better)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reciprocal_is_near_and_not_above() {
        for exponent in [-100, -40, -3, 0, 7, 60, 100] {
            for step in 0..50_000_u16 {
                let value = (1.0 + f32::from(step) / 50_000.0) * 2_f32.powi(exponent);
                let product = f64::from(value) * f64::from(approximate_reciprocal(value));
                assert!(product > 1.0 - 7e-6 && product < 1.0 + 1.5e-7, "{value}: {product}");
            }
        }
    }
}
