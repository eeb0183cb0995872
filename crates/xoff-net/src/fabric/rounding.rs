//! The time of a packet on a link, as different simulators round it.

/// Rounding of the time to serialise a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Up to a whole picosecond.
    PicosecondUp,
    /// Down to a whole nanosecond, as simulators with a nanosecond clock do.
    NanosecondDown,
    /// As in ns-3: a binary number of seconds, with its fraction truncated to 2^-64 and then to a
    /// whole nanosecond. A time that is a whole number of nanoseconds often comes out one short.
    BinarySeconds,
}

/// The time of `bytes` on a link of `rate` bit/s, in ps.
#[must_use]
pub fn serialisation(rounding: Rounding, rate: u64, bytes: u64) -> u64 {
    match rounding {
        Rounding::PicosecondUp => (bytes * 8_000_000_000_000).div_ceil(rate),
        Rounding::NanosecondDown => bytes * 8_000_000_000 / rate * 1_000,
        Rounding::BinarySeconds => binary_seconds(bytes as f64 * 8.0 / rate as f64) * 1_000,
    }
}

/// Whole nanoseconds of a number of seconds in ns-3's fixed point of 64 fractional bits.
fn binary_seconds(seconds: f64) -> u64 {
    const NS_PER_S: u64 = 1_000_000_000;
    let whole = seconds.floor();
    let fraction = ((seconds - whole) * 2f64.powi(64)) as u64;
    whole as u64 * NS_PER_S + ((u128::from(fraction) * u128::from(NS_PER_S)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanosecond_truncation_is_a_setting() {
        assert_eq!(serialisation(Rounding::NanosecondDown, 100_000_000_000, 1048), 83_000);
        assert_eq!(serialisation(Rounding::BinarySeconds, 100_000_000_000, 1048), 83_000);
        // 80 ns are a little less in binary.
        assert_eq!(serialisation(Rounding::NanosecondDown, 100_000_000_000, 1000), 80_000);
        assert_eq!(serialisation(Rounding::BinarySeconds, 100_000_000_000, 1000), 79_000);
        assert_eq!(serialisation(Rounding::BinarySeconds, 4, 3), 6_000_000_000_000);
        assert_eq!(serialisation(Rounding::PicosecondUp, 100_000_000_000, 1048), 83_840);
        assert_eq!(serialisation(Rounding::PicosecondUp, 3_000_000_000, 1), 2_667);
    }
}
