//! Completion times of queries and web requests, by class.

use xoff_sim::Simulation;
use xoff_sim::measure::CompletionTimes;
use xoff_sim::requests::{QueryGroup, RequestResults};

use super::{object, optional};

fn times(group: &CompletionTimes) -> String {
    object(&[
        ("count", group.flows().to_string()),
        ("unfinished", (group.flows() - group.finished()).to_string()),
        ("mean_us", optional(group.mean())),
        ("p50_us", optional(group.quantile(0.5))),
        ("p95_us", optional(group.quantile(0.95))),
        ("p99_us", optional(group.quantile(0.99))),
    ])
}

/// What `groups` gives for each class that has web requests; `null` where none has.
fn by_class(
    simulation: &Simulation,
    groups: impl Fn(&RequestResults) -> Vec<(String, String)>,
) -> String {
    let classes = simulation.classes().iter().zip(simulation.requests());
    let of_class =
        classes.filter(|(_, results)| !results.requests.is_empty()).map(|(class, results)| {
            let groups = groups(results);
            let groups: Vec<_> =
                groups.iter().map(|(name, group)| (&**name, group.clone())).collect();
            (class.name.as_str(), object(&groups))
        });
    let of_class: Vec<_> = of_class.collect();
    if of_class.is_empty() { "null".into() } else { object(&of_class) }
}

/// Queries by size, by priority, and by both where a class has several priorities.
pub(super) fn queries(simulation: &Simulation) -> String {
    by_class(simulation, |results| {
        let priorities =
            results.queries.keys().filter(|group| matches!(group, QueryGroup::Priority(_))).count();
        let named = results.queries.iter().filter_map(|(group, found)| {
            let name = match group {
                QueryGroup::All => "all".into(),
                QueryGroup::Size(bytes) => bytes.to_string(),
                QueryGroup::Priority(priority) => format!("priority{priority}"),
                QueryGroup::SizeAndPriority(bytes, priority) if priorities > 1 => {
                    format!("{bytes}-priority{priority}")
                }
                QueryGroup::SizeAndPriority(..) => return None,
            };
            Some((name, times(found)))
        });
        named.collect()
    })
}

/// Web requests by their number of queries.
pub(super) fn requests(simulation: &Simulation) -> String {
    by_class(simulation, |results| {
        let named = results.requests.iter().map(|(queries, found)| {
            (queries.map_or_else(|| "all".into(), |queries| queries.to_string()), times(found))
        });
        named.collect()
    })
}

/// Classes with web requests that did not end.
pub(super) fn warnings(simulation: &Simulation) -> Vec<String> {
    let classes = simulation.classes().iter().zip(simulation.requests());
    let texts = classes.filter_map(|(class, results)| {
        let all = results.requests.get(&None)?;
        let unfinished = all.flows() - all.finished();
        (unfinished > 0).then(|| {
            format!(
                "{unfinished} of {} web requests of class {} did not finish within the drain time; \
                 they count as infinitely long",
                all.flows(),
                class.name
            )
        })
    });
    texts.collect()
}
