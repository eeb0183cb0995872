//! Occupancy of buffers: percentiles over time, and watermarks.

use xoff_sim::measure::Distribution;
use xoff_sim::watermarks::Watermarks;

use super::keys::keys;

keys! {
    /// Bytes in the buffer of a switch.
    pub struct Buffer {
        /// Median.
        p50_bytes: Option<u64>,
        /// 90th percentile.
        p90_bytes: Option<u64>,
        /// 99th percentile.
        p99_bytes: Option<u64>,
        /// 99.9th percentile.
        p999_bytes: Option<u64>,
        /// Maximum.
        max_bytes: u64,
        /// Mean.
        mean_bytes: f64,
        /// Cumulative distribution.
        cdf: Vec<(u64, f64)>,
    }
}

impl Buffer {
    pub(super) fn of(distribution: &Distribution, max_bytes: u64) -> Self {
        Self {
            p50_bytes: distribution.quantile(0.5),
            p90_bytes: distribution.quantile(0.9),
            p99_bytes: distribution.quantile(0.99),
            p999_bytes: distribution.quantile(0.999),
            max_bytes,
            mean_bytes: distribution.mean(),
            cdf: distribution.cdf(),
        }
    }
}

keys! {
    /// The keys of `buffer`, with an exact `max_bytes`, and one more.
    pub struct BufferWatermark {
        /// Watermarks of the measured time.
        #[serde(flatten)]
        measured: Buffer,
        /// Maximum over the whole run with warm-up and drain, exact.
        run_max_bytes: u64,
    }
}

impl BufferWatermark {
    pub(super) fn of(found: &Watermarks) -> Self {
        Self {
            measured: Buffer::of(found.measured(), found.measured_max()),
            run_max_bytes: found.run_max(),
        }
    }
}
