//! Slowdowns of flows by traffic class and size.

use xoff_sim::Simulation;
use xoff_sim::measure::{BIN_EDGES, ClassResults, RANGES, Slowdowns};

use super::keys::{Named, keys};

keys! {
    /// Statistics of slowdowns in a group of flows. Percentiles count every measured flow, with or
    /// without a row in `flows.parquet`. A percentile above the median is null if fewer than ten
    /// flows lie beyond it. Percentiles have three significant digits.
    pub struct SlowdownGroup {
        /// Flows of the group.
        flows: u64,
        /// Flows that finished.
        finished: u64,
        /// Mean; null if a flow did not finish.
        mean: Option<f64>,
        /// Median.
        p50: Option<f64>,
        /// 95th percentile.
        p95: Option<f64>,
        /// 99th percentile.
        p99: Option<f64>,
        /// 99.9th percentile.
        p999: Option<f64>,
    }
}

impl SlowdownGroup {
    fn of(group: &Slowdowns) -> Self {
        Self {
            flows: group.flows(),
            finished: group.finished(),
            mean: group.mean(),
            p50: group.quantile(0.5),
            p95: group.quantile(0.95),
            p99: group.quantile(0.99),
            p999: group.quantile(0.999),
        }
    }
}

keys! {
    /// Slowdowns of flows within a range of sizes.
    pub struct SlowdownBin {
        /// Smallest size.
        low_bytes: u64,
        /// Upper end of the sizes, excluded; null in the last bin.
        high_bytes: Option<u64>,
        /// Slowdowns of the bin.
        #[serde(flatten)]
        group: SlowdownGroup,
    }
}

impl SlowdownBin {
    fn of((index, group): (usize, &Slowdowns)) -> Self {
        Self {
            low_bytes: if index == 0 { 0 } else { BIN_EDGES[index - 1] },
            high_bytes: BIN_EDGES.get(index).copied(),
            group: SlowdownGroup::of(group),
        }
    }
}

keys! {
    /// A traffic class. The column `class` of tables is its index in the list.
    pub struct Class {
        /// Name of the class.
        class: String,
        /// Measured flows.
        flows: u64,
        /// Measured flows that finished.
        finished: u64,
        /// Measured flows that did not finish. They count as infinitely slow.
        unfinished: u64,
        /// Slowdowns by size.
        bins: Vec<SlowdownBin>,
        /// Slowdowns in named ranges of sizes: `short` below 3 KB, `medium` 200 KB to 1 MB, `long`
        /// above 3 MB.
        ranges: Named<SlowdownGroup>,
        /// Slowdowns of all sizes.
        all: SlowdownGroup,
        /// Goodput of flows without end and of stopped flows.
        endless_goodput_bps: f64,
        /// Flows without end.
        endless_flows: usize,
        /// Lowest goodput of a flow without end.
        endless_least_bps: Option<f64>,
        /// Highest goodput of a flow without end.
        endless_most_bps: Option<f64>,
    }
}

impl Class {
    pub(super) fn all(simulation: &Simulation) -> Vec<Self> {
        let endless = simulation.endless_acked();
        let of_flows = simulation.endless_flows();
        let seconds = simulation.measured().seconds();
        let class = |(index, (class, acked)): (usize, (&ClassResults, &u64))| {
            let own = of_flows.iter().filter(|flow| usize::from(flow.class) == index);
            let rates = own.map(|flow| flow.acked as f64 * 8.0 / seconds);
            let ranges = RANGES.iter().zip(&class.ranges);
            Self {
                class: class.name.clone(),
                flows: class.all.flows(),
                finished: class.all.finished(),
                unfinished: class.all.flows() - class.all.finished(),
                bins: class.bins.iter().enumerate().map(SlowdownBin::of).collect(),
                ranges: ranges.map(|(range, group)| (range.0, SlowdownGroup::of(group))).collect(),
                all: SlowdownGroup::of(&class.all),
                endless_goodput_bps: *acked as f64 * 8.0 / seconds,
                endless_flows: rates.clone().count(),
                endless_least_bps: rates.clone().reduce(f64::min),
                endless_most_bps: rates.reduce(f64::max),
            }
        };
        simulation.classes().iter().zip(&endless).enumerate().map(class).collect()
    }
}
