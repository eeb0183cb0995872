//! Rates in four bytes.

/// A rate in bytes per second as a floating-point number: an exponent of 5 bits, then a mantissa of
/// 27 bits. A rate is exact up to 134 MB/s, and low by less than 2^-26 above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateCode(pub u32);

const MANTISSA: u32 = 27;

impl RateCode {
    /// The greatest rate (bytes per second).
    pub const MOST: u64 = ((1 << MANTISSA) - 1) << 31;

    /// Encodes a rate, rounded down: rounding up could exceed a capacity.
    #[must_use]
    pub fn of(bytes_per_second: u64) -> Self {
        let rate = bytes_per_second.min(Self::MOST);
        let exponent = (u64::BITS - rate.leading_zeros()).saturating_sub(MANTISSA);
        Self(exponent << MANTISSA | (rate >> exponent) as u32)
    }

    /// The rate in bytes per second.
    #[must_use]
    pub fn bytes_per_second(self) -> u64 {
        u64::from(self.0 & ((1 << MANTISSA) - 1)) << (self.0 >> MANTISSA)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rates_lose_less_than_their_26th_part(rate in 0..=RateCode::MOST) {
            let decoded = RateCode::of(rate).bytes_per_second();
            prop_assert!(decoded <= rate);
            prop_assert!(rate - decoded <= rate >> 26);
            prop_assert_eq!(RateCode::of(decoded).bytes_per_second(), decoded);
        }
    }

    #[test]
    fn the_greatest_rate_is_all_ones() {
        assert_eq!(RateCode::of(u64::MAX), RateCode(u32::MAX));
        assert_eq!(RateCode(u32::MAX).bytes_per_second(), RateCode::MOST);
        assert_eq!(RateCode::of(125_000_000), RateCode(125_000_000));
    }
}
