//! INT in the fields of the HPCC simulator's header. They are narrow and wrap. That matters when
//! routes change: an entry then follows that of another switch.

use xoff_net::telemetry::IntHop;

use super::{Path, Settings};

/// Entries of the header. A later one takes the place of the first, and so on.
pub(super) const ENTRIES: usize = 5;
const TIME_BITS: u32 = 24;
const BYTES_BITS: u32 = 20;
const QUEUE_BITS: u32 = 17;
pub(super) const PS_PER_NS: u64 = 1_000;

/// A value in its unit, in a field of this width.
fn field(value: u64, unit: u64, bits: u32) -> u64 {
    (value / unit) & ((1 << bits) - 1)
}

/// The growth of a count in such a field.
fn growth(now: u64, before: u64, unit: u64, bits: u32) -> u64 {
    let [now, before] = [now, before].map(|value| field(value, unit, bits));
    now.wrapping_sub(before) & ((1 << bits) - 1)
}

/// The utilisation of a hop, and the nanoseconds that it covers. Without a window, which that
/// simulator counts as 0, the share of a queue is no number.
pub(super) fn load(settings: &Settings, path: &Path, now: &IntHop, before: &IntHop) -> (f64, u64) {
    let tau = growth(now.time_ps, before.time_ps, PS_PER_NS, TIME_BITS);
    let unit = settings.bytes_unit;
    let bytes = growth(now.tx_bytes, before.tx_bytes, unit, BYTES_BITS) * unit;
    let unit = u64::from(settings.queue_unit);
    let [here, earlier] =
        [now, before].map(|hop| field(u64::from(hop.queue_bytes), unit, QUEUE_BITS) * unit);
    let rate = f64::from(now.rate_mbps) * 1e6;
    let tx_rate = (bytes * 8) as f64 / (tau as f64 * 1e-9);
    let queue = here.min(earlier) as f64;
    let window = if path.window == u64::MAX { 0.0 } else { path.window as f64 };
    let u = tx_rate / rate + queue * path.line_rate as f64 / rate / window;
    (u, tau)
}

#[cfg(test)]
mod tests {
    use xoff_core::Bytes;

    use super::super::super::PATH;
    use super::super::{Hpcc, HpccConfig};
    use super::*;

    #[test]
    fn counts_wrap_in_their_fields() {
        assert_eq!(growth(130 << 20, 127 << 20, 128, BYTES_BITS), (3 << 20) / 128);
        assert_eq!(growth(128 << 20, 127 << 20, 128, BYTES_BITS), (1 << 20) / 128);
        assert_eq!(growth(5_000, 6_000, 1_000, TIME_BITS), (1 << 24) - 1);
        assert_eq!(field(80 * ((1 << 17) + 3), 80, QUEUE_BITS), 3);
    }

    /// HPCC eq. 2: 50 KB in 8 us are half of 100 Gb/s, and a queue of 40 KB is 0.4 of the window of
    /// 100 KB. On a link of four times the rate, both count a quarter.
    #[test]
    fn a_load_is_the_rate_and_the_queue() {
        let one = Bytes(1);
        let config =
            HpccConfig { int_bytes_unit: one, int_queue_unit: one, ..HpccConfig::default() };
        let settings = Hpcc::new(&config, &PATH).settings;
        for (rate_mbps, expected) in [(100_000, 0.5 + 0.4), (400_000, (0.5 + 0.4) / 4.0)] {
            let hop = |time_ps, tx_bytes, queue_bytes| IntHop {
                time_ps,
                tx_bytes,
                queue_bytes,
                rate_mbps,
            };
            let (now, before) = (hop(9_000_000, 51_000, 60_000), hop(1_000_000, 1_000, 40_000));
            let (found, covered) = load(&settings, &PATH, &now, &before);
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            assert_eq!(covered, 8_000);
        }
    }
}
