//! Completion times of queries and web requests, by class.

use xoff_sim::Simulation;
use xoff_sim::measure::CompletionTimes;
use xoff_sim::requests::RequestResults;

use super::keys::{Named, keys};

keys! {
    /// Completion times of a group of queries or web requests. The group counts all that arrived in
    /// the measured time. Members that did not end with the run count as infinitely long, also a
    /// sequential query that never began. Percentiles follow the rules of those of flows.
    pub struct CompletionGroup {
        /// Members of the group.
        count: u64,
        /// Members that did not end.
        unfinished: u64,
        /// Mean, in microseconds; null if a member did not end.
        mean_us: Option<f64>,
        /// Median.
        p50_us: Option<f64>,
        /// 95th percentile.
        p95_us: Option<f64>,
        /// 99th percentile.
        p99_us: Option<f64>,
    }
}

impl CompletionGroup {
    fn of(group: &CompletionTimes) -> Self {
        Self {
            count: group.flows(),
            unfinished: group.flows() - group.finished(),
            mean_us: group.mean(),
            p50_us: group.quantile(0.5),
            p95_us: group.quantile(0.95),
            p99_us: group.quantile(0.99),
        }
    }
}

/// Groups of each class that has web requests, by the class's name.
pub type ByClass = Named<Named<CompletionGroup>>;

fn by_class(
    simulation: &Simulation,
    groups: impl Fn(&RequestResults) -> Named<CompletionGroup>,
) -> Option<ByClass> {
    let classes = simulation.classes().iter().zip(simulation.requests());
    let own = classes.filter(|(_, results)| !results.requests.is_empty());
    let found: ByClass =
        own.map(|(class, results)| (class.name.as_str(), groups(results))).collect();
    (!found.0.is_empty()).then_some(found)
}

/// Queries by size, by priority, and by both if a class has several priorities.
pub(super) fn queries(simulation: &Simulation) -> Option<ByClass> {
    by_class(simulation, |results| {
        results.named_queries().map(|(name, found)| (name, CompletionGroup::of(found))).collect()
    })
}

/// Web requests by their number of queries.
pub(super) fn requests(simulation: &Simulation) -> Option<ByClass> {
    by_class(simulation, |results| {
        results.named_requests().map(|(name, found)| (name, CompletionGroup::of(found))).collect()
    })
}
