//! What a run of flowlets left.

use xoff_core::table;

use crate::series::Series;

/// Steps without a change after which rates count as settled.
pub(crate) const SETTLED_STEPS: u64 = 50;

table! {
    /// Fluid engine: one row for each measured step. Rates are sums over flowlets or links. A step
    /// that did not compute the optimum has NaN in its columns.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct StepRow in "samples" {
        /// Time of the step.
        time_ps: u64,
        /// Flowlets with something to send.
        flows: u32,
        /// Rates that the flowlets were told to send at.
        allocated_gbps: f64,
        /// Rates that the links carry.
        carried_gbps: f64,
        /// Allocations beyond the capacities of links.
        over_capacity_gbps: f64,
        /// Optimal rates.
        optimal_gbps: f64,
        /// `carried_gbps / optimal_gbps`.
        optimum_share: f64 = |row| row.carried_gbps / row.optimal_gbps,
    }
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
