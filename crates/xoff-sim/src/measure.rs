//! Measured results: flow completion times by class and size, buffers, active flows, links.
//!
//! Percentiles come from histograms with three significant digits, so that they count every flow at
//! any length of a run in bounded memory. An unfinished flow counts as infinitely slow.

use hdrhistogram::Histogram;
use xoff_core::{FlowId, HostId};

use crate::batches::Batches;

/// Upper ends of the size bins (bytes); the last bin is unbounded.
pub const BIN_EDGES: [u64; 11] =
    [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];

/// Named ranges of sizes, half-open: BFC §6.3 calls flows below 3 KB short and above 3 MB long,
/// §6.2.2 flows of 200-1000 KB medium.
pub const RANGES: [(&str, u64, u64); 3] =
    [("short", 0, 3_000), ("medium", 200_000, 1_000_001), ("long", 3_000_001, u64::MAX)];

/// A percentile is shown only if this many flows are beyond it.
pub const SAMPLES_BEYOND: u64 = 10;

/// Progress of an endless flow in the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndlessFlow {
    /// Its number.
    pub flow: FlowId,
    /// Class of its traffic source.
    pub class: u16,
    /// Payload bytes acknowledged.
    pub acked: u64,
}

/// Measured flows that had begun and not ended. If their number grows, the network cannot carry the
/// load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outstanding {
    /// In the middle of the measurement.
    pub middle: u64,
    /// At its end.
    pub end: u64,
}

/// What a finished flow, query or web request adds to each of its groups, rounded once for all.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    value: f64,
    thousandths: u64,
    batch: Option<u16>,
}

impl Measured {
    /// A slowdown, or a completion time in microseconds, with its batch of time if there are any.
    #[must_use]
    pub fn new(value: f64, batch: Option<u16>) -> Self {
        Self { value, thousandths: (value * 1000.0).round() as u64, batch }
    }
}

/// A histogram of the slowdowns of a group of flows.
#[derive(Clone, Debug)]
pub struct Slowdowns {
    /// In thousandths.
    histogram: Histogram<u64>,
    sum: f64,
    started: u64,
    batches: Batches,
}

/// Completion times of a group of queries or web requests, in microseconds; counted like slowdowns.
pub type CompletionTimes = Slowdowns;

fn histogram() -> Histogram<u64> {
    let mut histogram = Histogram::new(3).expect("three significant digits are allowed");
    histogram.auto(true);
    histogram
}

impl Default for Slowdowns {
    fn default() -> Self {
        Self { histogram: histogram(), sum: 0.0, started: 0, batches: Batches::default() }
    }
}

impl Slowdowns {
    /// Counts the start of a flow in this group.
    pub fn start(&mut self) {
        self.started += 1;
    }

    /// Takes back the start of a flow that has not finished and that a host cut off.
    pub fn withdraw(&mut self) {
        self.started -= 1;
    }

    /// Adds a finished flow of this group, also to its batch of time if there are batches.
    pub fn finish(&mut self, measured: Measured) {
        let Measured { value, thousandths, batch } = measured;
        self.sum += value;
        self.histogram.record(thousandths).expect("the histogram grows as needed");
        if let Some(batch) = batch {
            self.batches.finish(batch, value, thousandths);
        }
    }

    /// Adds a flow that did not finish to its batch, with the least slowdown that it can have.
    pub fn censor(&mut self, bound: f64, batch: u16) {
        self.batches.censor(batch, bound);
    }

    /// Slowdowns by batch of time, if there are batches.
    #[must_use]
    pub fn batches(&self) -> &Batches {
        &self.batches
    }

    /// Number of flows begun.
    #[must_use]
    pub fn flows(&self) -> u64 {
        self.started
    }

    /// Number of flows finished.
    #[must_use]
    pub fn finished(&self) -> u64 {
        self.histogram.len()
    }

    /// Mean slowdown; `None` if there are no flows or one did not finish.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.started > 0 && self.finished() == self.started)
            .then(|| self.sum / self.started as f64)
    }

    /// A quantile over all flows; `None` if fewer than ten flows are beyond it or it is infinite.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        let rank = (quantile * self.started as f64).ceil() as u64;
        if self.started < rank + SAMPLES_BEYOND && quantile > 0.5 {
            return None;
        }
        self.at_rank(rank.max(1))
    }

    fn at_rank(&self, rank: u64) -> Option<f64> {
        if rank > self.finished() {
            return None;
        }
        let mut seen = 0;
        self.histogram.iter_recorded().find_map(|step| {
            seen += step.count_since_last_iteration();
            (seen >= rank).then(|| step.value_iterated_to() as f64 / 1000.0)
        })
    }
}

/// The slowdowns of one traffic class, by size.
#[derive(Clone, Debug)]
pub struct ClassResults {
    /// The class's name.
    pub name: String,
    /// By bin.
    pub bins: Vec<Slowdowns>,
    /// By named range.
    pub ranges: Vec<Slowdowns>,
    /// All sizes.
    pub all: Slowdowns,
}

impl ClassResults {
    /// Creates it without results.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            bins: vec![Slowdowns::default(); BIN_EDGES.len() + 1],
            ranges: vec![Slowdowns::default(); RANGES.len()],
            all: Slowdowns::default(),
        }
    }

    /// Every group with its name: `bin0` and so on by size, the named ranges, and `all`.
    pub fn named(&self) -> impl Iterator<Item = (String, &Slowdowns)> {
        let bins = self.bins.iter().enumerate().map(|(index, bin)| (format!("bin{index}"), bin));
        let ranges = RANGES.iter().zip(&self.ranges).map(|(range, group)| (range.0.into(), group));
        bins.chain(ranges).chain([("all".into(), &self.all)])
    }

    /// Applies `change` to every group that contains a size.
    pub fn with_groups(&mut self, size_bytes: u64, mut change: impl FnMut(&mut Slowdowns)) {
        change(&mut self.all);
        change(&mut self.bins[BIN_EDGES.partition_point(|&edge| edge <= size_bytes)]);
        for (range, &(_, low, high)) in self.ranges.iter_mut().zip(&RANGES) {
            if (low..high).contains(&size_bytes) {
                change(range);
            }
        }
    }
}

/// A distribution sampled on the grid.
#[derive(Clone, Debug)]
pub struct Distribution(Histogram<u64>);

impl Default for Distribution {
    fn default() -> Self {
        Self(histogram())
    }
}

impl Distribution {
    /// Adds a sample.
    pub fn add(&mut self, value: u64) {
        self.0.record(value).expect("the histogram grows as needed");
    }

    /// Adds a sample `count` times.
    pub fn add_many(&mut self, value: u64, count: u64) {
        self.0.record_n(value, count).expect("the histogram grows as needed");
    }

    /// Adds the samples of a histogram.
    pub fn merge(&mut self, other: &Histogram<u64>) {
        self.0.add(other).expect("the histogram grows as needed");
    }

    /// Number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// A quantile; `None` without samples.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(quantile))
    }

    /// The largest sample.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.0.max()
    }

    /// The mean of the samples.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// CDF with at most about 200 points (value, fraction of samples up to it).
    #[must_use]
    pub fn cdf(&self) -> Vec<(u64, f64)> {
        let total = self.0.len() as f64;
        let mut seen = 0;
        let mut points: Vec<(u64, f64)> = Vec::new();
        for step in self.0.iter_recorded() {
            seen += step.count_since_last_iteration();
            let fraction = seen as f64 / total;
            let spaced = points.last().is_none_or(|&(_, last)| {
                fraction - last >= 0.005 || 1.0 - fraction <= 0.5 * (1.0 - last)
            });
            if spaced || seen == self.0.len() {
                points.push((step.value_iterated_to(), fraction));
            }
        }
        points
    }
}

/// Delays of packets through one port, and its utilisation.
#[derive(Clone, Debug, Default)]
pub struct MonitorResults {
    /// Name of the monitor.
    pub name: String,
    /// Queueing delays of data packets (ps): start of transmission minus enqueue.
    pub delays: Distribution,
    /// Bytes in the port's data queues, sampled.
    pub bytes: Distribution,
    /// Fraction of the link's capacity used.
    pub utilisation: f64,
}

impl MonitorResults {
    /// Without anything measured, of the link to a host.
    pub(crate) fn of_host(host: &HostId) -> Self {
        Self { name: format!("to host {host}"), ..Self::default() }
    }
}

/// Delays of packets through all ports of one kind.
#[derive(Clone, Debug)]
pub struct LinkDelays {
    /// The layers that the ports' links connect, in the direction of transmission, such as
    /// `spine-leaf`.
    pub link: String,
    /// The selected packets; `all` for all data packets.
    pub packets: &'static str,
    /// Queueing delays (ps): start of transmission minus enqueue.
    pub delays: Distribution,
}

impl From<Histogram<u64>> for Distribution {
    fn from(histogram: Histogram<u64>) -> Self {
        Self(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_count_unfinished_flows_as_infinite() {
        let mut group = Slowdowns::default();
        for flow in 0..2000 {
            group.start();
            if flow < 1990 {
                group.finish(Measured::new(1.0 + f64::from(flow) / 1000.0, None));
            }
        }
        assert_eq!(group.mean(), None);
        assert!((group.quantile(0.5).unwrap() - 2.0).abs() < 0.01);
        assert!((group.quantile(0.99).unwrap() - 2.98).abs() < 0.01);
        assert_eq!(group.quantile(0.999), None);
        let mut few = Slowdowns::default();
        for _ in 0..100 {
            few.start();
            few.finish(Measured::new(1.0, None));
        }
        assert_eq!((few.quantile(0.95), few.quantile(0.9)), (None, Some(1.0)));
        assert_eq!(few.mean(), Some(1.0));
    }

    #[test]
    fn sizes_fall_into_bins_and_ranges() {
        let mut class = ClassResults::new("background");
        for size in [1, 99, 100, 2_999, 3_000, 200_000, 1_000_000, 3_000_000, 3_000_001] {
            class.with_groups(size, Slowdowns::start);
        }
        let flows: Vec<u64> = class.bins.iter().map(Slowdowns::flows).collect();
        assert_eq!(flows, [2, 1, 0, 1, 1, 0, 0, 1, 0, 1, 2, 0]);
        let flows: Vec<u64> = class.ranges.iter().map(Slowdowns::flows).collect();
        assert_eq!(flows, [4, 2, 1]);
    }

    #[test]
    fn a_distributions_cdf_ends_at_one() {
        let mut distribution = Distribution::default();
        (0..10_000).for_each(|value| distribution.add(value));
        let cdf = distribution.cdf();
        assert!(cdf.len() < 260, "{}", cdf.len());
        assert_eq!(cdf.last().unwrap().1, 1.0);
        assert!(cdf.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
    }
}
