//! What a run of flowlets left.

use crate::series::Series;

/// Steps without a change after which rates count as settled.
pub(crate) const SETTLED_STEPS: u64 = 50;

/// One measured step. Rates are sums over flows in Gb/s; what was not computed at this step is
/// not a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepRow {
    /// When.
    pub time_ps: u64,
    /// Flowlets with something to send.
    pub flows: u32,
    /// What they were told they may send at.
    pub allocated_gbps: f64,
    /// What links leave of that.
    pub carried_gbps: f64,
    /// By how much links are allocated more than they have, added up.
    pub over_capacity_gbps: f64,
    /// What the optimal rates come to.
    pub optimal_gbps: f64,
}

/// Throughput under one normaliser, as shares of the optimum's: a value each time it was computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByNormalizer {
    /// F-NORM, down only.
    pub flow: Series,
    /// F-NORM as printed.
    pub flow_as_printed: Series,
    /// U-NORM.
    pub uniform: Series,
}

/// Results over the measured steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Flowlets with something to send, at each step.
    pub flows: Series,
    /// What they were allocated together, in Gb/s.
    pub allocated_gbps: Series,
    /// Allocations beyond capacities, summed over links, in Gb/s.
    pub over_capacity_gbps: Series,
    /// The same, at steps after which nothing came or went for a while.
    pub settled_over_capacity_gbps: Series,
    /// The largest share of its capacity that a link was allocated.
    pub most_used_link: Series,
    /// Throughput over that of the optimal rates.
    pub optimum_share: Series,
    /// The same for what each normaliser makes of this allocator's rates.
    pub normalized_share: ByNormalizer,
    /// How often the optimum was not found.
    pub unsolved: u64,
    /// How long flowlets waited for their first rate, in microseconds.
    pub wait_us: Series,
    /// FCT over that at the path's whole capacity, of flowlets that began and ended in the time.
    pub slowdown: Series,
    /// Flowlets that began in the time and did not end.
    pub unfinished: u64,
}
