//! Typed units: picoseconds, bits per second, bytes.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// A time or a duration in picoseconds. The range of 2^64 ps is 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ps(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(pub u64);

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Ps {
    /// The end of time: later than every event.
    pub const NEVER: Ps = Ps(u64::MAX);

    /// Converts whole nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Ps(ns * 1_000)
    }

    /// Converts whole microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Ps(us * 1_000_000)
    }

    /// This time in seconds, for display.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-12
    }
}

impl Add for Ps {
    type Output = Ps;
    fn add(self, other: Ps) -> Ps {
        Ps(self.0 + other.0)
    }
}

impl AddAssign for Ps {
    fn add_assign(&mut self, other: Ps) {
        self.0 += other.0;
    }
}

impl Sub for Ps {
    type Output = Ps;
    fn sub(self, other: Ps) -> Ps {
        Ps(self.0 - other.0)
    }
}

impl BitRate {
    /// Converts whole gigabits per second.
    #[must_use]
    pub const fn from_gbps(gbps: u64) -> Self {
        BitRate(gbps * 1_000_000_000)
    }

    /// The sum of some rates, or the largest rate there is.
    #[must_use]
    pub fn total(rates: impl Iterator<Item = Self>) -> Self {
        Self(rates.fold(0, |sum, Self(rate)| sum.saturating_add(rate)))
    }

    /// Time to send `bytes` at this rate, rounded up to a whole picosecond. [`Ps::NEVER`] if the
    /// result does not fit.
    ///
    /// # Panics
    /// If the rate is zero.
    #[must_use]
    pub fn time_for(self, bytes: u64) -> Ps {
        assert!(self.0 > 0, "the rate must not be zero");
        let bits_times_ps = u128::from(bytes) * 8_000_000_000_000;
        u64::try_from(bits_times_ps.div_ceil(u128::from(self.0))).map_or(Ps::NEVER, Ps)
    }

    /// Bytes sent in `time` at this rate, rounded down.
    #[must_use]
    pub fn bytes_in(self, time: Ps) -> Bytes {
        Bytes((u128::from(self.0) * u128::from(time.0) / 8_000_000_000_000) as u64)
    }
}

/// Formats `value` in the largest unit that divides it. Each factor is a multiple of the next.
fn whole(value: u64, units: &[(u64, &str)]) -> String {
    let (factor, name) = units
        .iter()
        .find(|(factor, _)| value.is_multiple_of(*factor) && value >= *factor)
        .unwrap_or(&units[units.len() - 1]);
    format!("{}{name}", value / factor)
}

impl fmt::Display for Ps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 5] = [
            (1_000_000_000_000, "s"),
            (1_000_000_000, "ms"),
            (1_000_000, "us"),
            (1_000, "ns"),
            (1, "ps"),
        ];
        f.write_str(&whole(self.0, &UNITS))
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] =
            [(1_000_000_000, "Gbps"), (1_000_000, "Mbps"), (1_000, "Kbps"), (1, "bps")];
        f.write_str(&whole(self.0, &UNITS))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] =
            [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB"), (1, "B")];
        f.write_str(&whole(self.0, &UNITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialisation_is_exact_and_rounds_up() {
        assert_eq!(BitRate::from_gbps(100).time_for(1048), Ps(83_840));
        assert_eq!(BitRate(3).time_for(1), Ps(2_666_666_666_667));
        // 8e12 x bytes overflows 64 bits above 2.3 MB.
        assert_eq!(BitRate::from_gbps(100).time_for(30_000_000), Ps(2_400_000_000));
        assert_eq!(BitRate::from_gbps(100).bytes_in(Ps::from_us(8)), Bytes(100_000));
    }

    #[test]
    fn an_unrepresentable_time_is_never() {
        // 2^61 bytes take 2^61 ps at 8 Tb/s. At 1 Tb/s they are the first size whose time
        // overflows.
        assert_eq!(BitRate::from_gbps(8_000).time_for(1 << 61), Ps(1 << 61));
        assert_eq!(BitRate::from_gbps(1_000).time_for((1 << 61) - 1), Ps(u64::MAX - 7));
        assert_eq!(BitRate::from_gbps(1_000).time_for(1 << 61), Ps::NEVER);
        assert_eq!(BitRate(1).time_for(u64::MAX), Ps::NEVER);
    }

    #[test]
    fn formats_in_the_largest_whole_unit() {
        assert_eq!(Ps(2_500_000).to_string(), "2500ns");
        assert_eq!(Ps(0).to_string(), "0ps");
        assert_eq!(Ps::from_us(8).to_string(), "8us");
        assert_eq!(BitRate::from_gbps(100).to_string(), "100Gbps");
        assert_eq!(Bytes(12_000_000).to_string(), "12MB");
    }
}
