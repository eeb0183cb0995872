//! Distributions of samples: buffers, throughput and active flows.

use xoff_sim::measure::Distribution;
use xoff_sim::throughput::Throughput;
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

keys! {
    /// Payload that reached a host in an interval, over the length of the interval. One sample for
    /// each full interval of the measured time and each host that received anything from the start
    /// of the run to the end of the measured time.
    pub struct ReceiverThroughput {
        /// Length of the interval: 100 us, or the next multiple of the grid.
        interval_ps: u64,
        /// Median.
        p50_bps: Option<u64>,
        /// 95th percentile.
        p95_bps: Option<u64>,
        /// 99th percentile.
        p99_bps: Option<u64>,
        /// Mean.
        mean_bps: f64,
        /// Cumulative distribution.
        cdf: Vec<(u64, f64)>,
    }
}

impl ReceiverThroughput {
    pub(super) fn of(found: &Throughput) -> Option<Self> {
        let distribution = found.distribution();
        (distribution.count() > 0).then(|| Self {
            interval_ps: found.interval().0,
            p50_bps: distribution.quantile(0.5),
            p95_bps: distribution.quantile(0.95),
            p99_bps: distribution.quantile(0.99),
            mean_bps: distribution.mean(),
            cdf: distribution.cdf(),
        })
    }
}

keys! {
    /// Samples on the grid, pooled over ports.
    pub struct Sampled {
        /// Mean.
        mean: f64,
        /// Maximum.
        max: u64,
        /// Cumulative distribution.
        cdf: Vec<(u64, f64)>,
    }
}

impl Sampled {
    pub(super) fn of(distribution: &Distribution) -> Option<Self> {
        (distribution.count() > 0).then(|| Self {
            mean: distribution.mean(),
            max: distribution.max(),
            cdf: distribution.cdf(),
        })
    }
}
