//! Throughput of receivers.

use xoff_sim::throughput::Throughput;

use super::keys::keys;

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
