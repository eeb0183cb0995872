//! Results of a run of flowlets.

use xoff_core::table;

use crate::series::Series;

/// Steps without a change of flows after which rates count as converged.
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

/// Throughput under each normaliser as a fraction of the optimum's, at each computation of the
/// optimum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ByNormalizer {
    /// F-NORM, scaling down only.
    pub flow: Series,
    /// F-NORM as printed.
    pub flow_as_printed: Series,
    /// U-NORM.
    pub uniform: Series,
}

/// Results over the measured steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Number of flowlets with data to send, at each step.
    pub flows: Series,
    /// Sum of their allocated rates (Gb/s).
    pub allocated_gbps: Series,
    /// Sum over links of the allocation beyond the capacity (Gb/s).
    pub over_capacity_gbps: Series,
    /// The same, only at steps after a period without changes of flows.
    pub settled_over_capacity_gbps: Series,
    /// Largest ratio of a link's allocation to its capacity.
    pub most_used_link: Series,
    /// Carried throughput as a fraction of the optimal throughput.
    pub optimum_share: Series,
    /// The same for this allocator's rates under each normaliser.
    pub normalized_share: ByNormalizer,
    /// Number of times that the optimum was not found.
    pub unsolved: u64,
    /// Time that flowlets waited for their first rate (us).
    pub wait_us: Series,
    /// Slowdown: FCT over the FCT at the path's full capacity, of flowlets that began and ended in
    /// the measurement.
    pub slowdown: Series,
    /// Number of flowlets that began in the measurement and did not end.
    pub unfinished: u64,
}
