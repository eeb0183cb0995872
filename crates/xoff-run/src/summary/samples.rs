//! Samples of ports on the time grid.

use xoff_sim::measure::Distribution;

use super::keys::keys;

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
