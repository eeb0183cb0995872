//! The two precisions of rates, and the reciprocal in each.

use std::fmt::Debug;
use std::ops::{Add, Mul};

/// Range of a precision. Settings outside it are rejected, so that no product overflows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    /// The smallest weight; its reciprocal is the largest.
    pub(crate) least_weight: f64,
    /// The smallest `capacity^alpha`; its reciprocal is the largest.
    pub(crate) least_power: f64,
    /// The highest initial price, and the largest step.
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
    /// The reciprocal, exact or approximate: never above the exact value by more than its rounding.
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

/// Subtracting a float's bits from this constant gives nearly the bits of its reciprocal: the
/// exponent changes sign, and a line approximates 1/m of the mantissa m. The error is at most 5.1
/// %.
pub(crate) const RECIPROCAL_BITS: u32 = 0x7EF3_11C3;

/// Reciprocal of a positive normal number, accurate to about seven parts per million and never too
/// large by more than its rounding.
///
/// "The -RT variants are optimized implementations which use single-point floating point operations
/// and some numeric approximations for speed" (§5.4); the paper does not name the approximations. A
/// processor's own approximation (`rcpps`) differs between vendors. This one uses only operations
/// that give the same bits on all processors. A step of Newton's method squares the relative error
/// and leaves the result too small.
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
