//! Values by batch of time, against the rows of flows and the summary.

use std::collections::BTreeMap;

use crate::common::{for_fast_links, open, open_on};
use xoff_run::Run;
use xoff_scenario::presets;
use xoff_sim::measure::{RANGES, Slowdowns};
use xoff_sim::{BatchRow, FlowRow, QueryRow, RequestRow, Threads};

const BATCHES: u64 = 7;

/// More than the links carry: open-loop flows, an incast, flows that are stopped and without end,
/// successive flows, and web requests whose queries follow each other.
const OVERLOAD: &str = "scheme = \"dctcp\"\n\
    [network]\ntopology = \"leaf-spine\"\n\
    [leaf_spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n\
    host_rate = \"10Gbps\"\nspine_rate = \"10Gbps\"\n\
    [run]\nwarmup = \"1ms\"\nmeasure = \"4ms\"\ndrain = \"500us\"\nbatches = 7\n\
    [[traffic]]\nkind = \"open-loop\"\nload = 0.9\nstop = \"6ms\"\n\
    [[traffic]]\nkind = \"incast\"\ndegree = 8\nbytes = \"1MB\"\nperiod = \"500us\"\n\
    stop = \"6ms\"\n\
    [[traffic]]\nkind = \"elephants\"\nsenders = \"0-7\"\nreceivers = \"8-15\"\ncount = 3\n\
    [[traffic]]\nkind = \"staggered\"\nsenders = \"4-8\"\ninterval = \"800us\"\n\
    bytes = \"100MB\"\n\
    [[traffic]]\nkind = \"successive\"\nbytes = \"100KB\"\nsenders = \"0-3\"\nstop = \"6ms\"\n\
    [[traffic]]\nkind = \"queries\"\nworkflow = \"sequential\"\nqueries = \"3,6\"\nrate = 600.0\n\
    stop = \"6ms\"\n";

#[derive(Debug, Default, PartialEq)]
struct Rows {
    flows: Vec<FlowRow>,
    queries: Vec<QueryRow>,
    requests: Vec<RequestRow>,
    batches: Vec<BatchRow>,
}

fn finish(mut run: Run) -> (Run, Rows) {
    while run.step().unwrap_or_else(|message| panic!("{message}")) {}
    let rows = run.rows();
    let (flows, queries) = (rows.flows.clone(), rows.queries.clone());
    let (requests, batches) = (rows.requests.clone(), rows.batches.clone());
    (run, Rows { flows, queries, requests, batches })
}

fn overload(overrides: &[&str]) -> (Run, Rows) {
    finish(open(OVERLOAD, overrides))
}

/// Finished and censored values with their sums, by kind, class, group and batch.
type Sums = BTreeMap<(String, u16, String, u16), (u64, f64, u64, f64)>;

fn sums(rows: &[BatchRow]) -> Sums {
    let mut sums = Sums::new();
    for row in rows {
        let sum = sums.entry((row.kind.clone(), row.class, row.group.clone(), row.batch));
        let sum = sum.or_default();
        sum.0 += row.finished;
        sum.1 += row.sum;
        sum.2 += row.censored;
        sum.3 += row.censored_sum;
    }
    sums
}

/// The sums from rows of the run itself and of a longer run, in which all has ended. `end_ps` is
/// the end of the run itself.
fn expected(run: &Rows, whole: &Rows, end_ps: u64) -> Sums {
    let mut sums = Sums::new();
    let mut add = |kind: &str, class: u16, group: &str, start: u64, took: u64, ended, unit: f64| {
        let batch = ((start - 1_000_000_000) * BATCHES / 4_000_000_000) as u16;
        let sum = sums.entry((kind.into(), class, group.into(), batch)).or_default();
        if ended {
            sum.0 += 1;
            sum.1 += took as f64 / unit;
        } else {
            sum.2 += 1;
            sum.3 += end_ps.saturating_sub(start) as f64 / unit;
            assert!(start + took > end_ps);
        }
    };
    let ended: BTreeMap<u64, &FlowRow> = run.flows.iter().map(|row| (row.flow, row)).collect();
    for row in &whole.flows {
        let in_range = |range: &&(&str, u64, u64)| (range.1..range.2).contains(&row.size_bytes);
        let named = RANGES.iter().filter(in_range).map(|range| range.0);
        for group in named.chain(["all"]) {
            let (ended, ideal) = (ended.contains_key(&row.flow), row.ideal_fct_ps as f64);
            add("flows", row.class, group, row.start_ps, row.fct_ps, ended, ideal);
        }
    }
    for row in &whole.requests {
        let ended = run.requests.iter().any(|other| other.request == row.request);
        let count = row.queries.to_string();
        for group in ["all", &count] {
            add("requests", row.class, group, row.start_ps, row.completion_ps, ended, 1e6);
        }
    }
    sums
}

/// All expected sums are among those found, as near as sums in another order are.
fn assert_near(expected: &Sums, found: &Sums) {
    let near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs();
    for (key, sum) in expected {
        let other = &found[key];
        assert_eq!((sum.0, sum.2), (other.0, other.2), "{key:?}");
        assert!(near(sum.1, other.1) && near(sum.3, other.3), "{key:?}: {sum:?} {other:?}");
    }
}

#[test]
fn batches_have_what_finished_and_the_bounds_of_what_did_not() {
    let (_, short) = overload(&[]);
    let (run, whole) = overload(&["run.drain=2s"]);
    assert_eq!(run.summary().classes.iter().map(|class| class.unfinished).sum::<u64>(), 0);
    assert_near(&expected(&short, &whole, 5_500_000_000), &sums(&short.batches));
    let all = |kind: &str| -> (u64, u64) {
        let rows = short.batches.iter().filter(|row| row.kind == kind && row.group == "all");
        rows.fold((0, 0), |sum, row| (sum.0 + row.finished, sum.1 + row.censored))
    };
    let flows = all("flows");
    assert_eq!(flows.0, short.flows.len() as u64);
    assert!(flows.1 > 50, "{flows:?}");
    assert_eq!(flows.0 + flows.1, whole.flows.len() as u64);
    let (requests, queries) = (all("requests"), all("queries"));
    assert!(requests.1 > 3 && queries.1 > requests.1, "{requests:?} {queries:?}");
    assert_eq!(requests.0 + requests.1, whole.requests.len() as u64);
    assert_eq!(queries.0 + queries.1, whole.queries.len() as u64);
}

/// Every query is in the batch of its web request, with the time since its own start, or zero if it
/// has none.
#[test]
fn a_query_is_in_the_batch_of_its_web_request() {
    let (_, short) = overload(&[]);
    let (_, whole) = overload(&["run.drain=2s"]);
    let arrived: BTreeMap<u64, u64> =
        whole.requests.iter().map(|row| (row.request, row.start_ps)).collect();
    let mut expected = Sums::new();
    for row in &whole.queries {
        let batch = ((arrived[&row.request] - 1_000_000_000) * BATCHES / 4_000_000_000) as u16;
        let sum = expected.entry(("queries".into(), row.class, "all".into(), batch)).or_default();
        if short.queries.contains(row) {
            sum.0 += 1;
            sum.1 += row.completion_ps as f64 / 1e6;
        } else {
            sum.2 += 1;
            sum.3 += 5_500_000_000_u64.saturating_sub(row.start_ps) as f64 / 1e6;
        }
    }
    assert_near(&expected, &sums(&short.batches));
    let never = short.batches.iter().filter(|row| row.kind == "queries" && row.low == 0.0);
    assert!(never.clone().map(|row| row.censored).sum::<u64>() > 5);
    assert!(never.clone().all(|row| row.finished == 0 && row.censored_sum == 0.0));
}

fn pooled(rows: &[&BatchRow], quantile: f64) -> f64 {
    let mut buckets: Vec<(f64, f64, u64)> =
        rows.iter().map(|row| (row.low, row.high, row.finished)).collect();
    buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
    let all: u64 = buckets.iter().map(|bucket| bucket.2).sum();
    let rank = ((quantile * all as f64).ceil() as u64).max(1);
    let mut seen = 0;
    let (low, high, _) = buckets
        .into_iter()
        .find(|bucket| {
            seen += bucket.2;
            seen >= rank
        })
        .expect("a bucket has the rank");
    (low + high) / 2.0
}

#[test]
fn batches_pool_to_the_percentiles_of_the_summary() {
    let (run, rows) = overload(&["run.drain=2s"]);
    let near = |kind: &str, class: usize, name: &str, group: &Slowdowns| {
        let own = |row: &&BatchRow| {
            (row.kind.as_str(), usize::from(row.class), row.group.as_str()) == (kind, class, name)
        };
        let own: Vec<&BatchRow> = rows.batches.iter().filter(own).collect();
        assert_eq!(own.iter().map(|row| row.finished).sum::<u64>(), group.flows(), "{name}");
        for quantile in [0.5, 0.95, 0.99, 0.999] {
            let Some(exact) = group.quantile(quantile) else { continue };
            let found = pooled(&own, quantile);
            assert!((found / exact - 1.0).abs() < 0.004, "{kind} {name}: {found} {exact}");
        }
        own.len()
    };
    let simulation = run.simulation();
    let mut seen = 0;
    for (class, flows) in simulation.classes().iter().enumerate() {
        seen +=
            flows.named().map(|(name, group)| near("flows", class, &name, group)).sum::<usize>();
    }
    for (class, requests) in simulation.requests().iter().enumerate() {
        let named = requests.named_queries();
        seen += named.map(|(name, group)| near("queries", class, &name, group)).sum::<usize>();
        let named = requests.named_requests();
        seen += named.map(|(name, group)| near("requests", class, &name, group)).sum::<usize>();
    }
    assert_eq!(seen, rows.batches.len());
    assert!(rows.batches.iter().any(|row| row.kind == "queries" && row.group == "2000"));
    let ordered = |pair: &[BatchRow]| {
        let place = |row: &BatchRow| (row.kind.clone(), row.class);
        place(&pair[0]) <= place(&pair[1])
    };
    assert!(rows.batches.windows(2).all(ordered));
}

#[test]
fn batches_are_the_same_however_the_network_is_cut() {
    let outcome = |count: usize, threads: usize| {
        let threads = Threads { count: threads, ..Threads::ONE };
        let partitions = format!("run.partitions={count}");
        let (run, rows) = finish(open_on(threads, OVERLOAD, &[&partitions]));
        (run.digest(), rows)
    };
    let one = outcome(1, 1);
    for (partitions, threads) in [(4, 1), (4, 2), (2, 2)] {
        assert!(one == outcome(partitions, threads), "{partitions} {threads}");
    }
}

/// An assertion of the engine compares the numbers of censored and of unfinished flows.
#[test]
fn every_preset_finds_its_unfinished_flows() {
    // Without warm-up, the streams of Flowtune's messages begin in the measured time as well.
    let traffic = "[run]\nwarmup = \"0us\"\nmeasure = \"40us\"\ndrain = \"0us\"\nbatches = 4\n\
                   [[traffic]]\nkind = \"open-loop\"\nload = 0.6\n\
                   [[traffic]]\nkind = \"incast\"\ndegree = 60\nbytes = \"4MB\"\n\
                   period = \"30us\"\n";
    for (scheme, _) in presets() {
        let text = format!("scheme = \"{scheme}\"\n{traffic}");
        let (run, rows) = finish(open(&text, for_fast_links(&scheme)));
        let unfinished: u64 = run.summary().classes.iter().map(|class| class.unfinished).sum();
        let all = rows.batches.iter().filter(|row| row.group == "all");
        let censored: u64 = all.map(|row| row.censored).sum();
        assert_eq!(censored, unfinished, "{scheme}");
        assert!(censored > 100, "{scheme}: {censored}");
    }
}

#[test]
fn batches_change_no_other_result() {
    let (with, rows) = overload(&[]);
    let (without, plain) = overload(&["run.batches=0"]);
    assert_eq!(with.digest(), without.digest());
    assert_eq!(with.summary().json(), without.summary().json());
    assert!(plain.batches.is_empty() && plain.flows == rows.flows);
    let numbers: Vec<u16> = rows.batches.iter().map(|row| row.batch).collect();
    assert!((0..BATCHES as u16).all(|batch| numbers.contains(&batch)));
    assert!(numbers.iter().all(|&batch| u64::from(batch) < BATCHES));
}

#[test]
fn progress_counts_what_is_missing_during_the_drain() {
    let mut run = open(OVERLOAD, &[]);
    let begin = run.progress();
    assert_eq!((begin.drain_end_ps, begin.measured_flows), (5_500_000_000, 0));
    let mut drain = Vec::new();
    while run.step().unwrap_or_else(|message| panic!("{message}")) {
        let progress = run.progress();
        if progress.draining {
            drain.push(progress);
        }
    }
    assert_eq!(drain.len(), 50);
    assert!(drain.is_sorted_by(|one, other| one.missing_flows >= other.missing_flows));
    let (last, summary) = (run.progress(), run.summary());
    let sum = |count: fn(&xoff_run::summary::Class) -> u64| {
        summary.classes.iter().map(count).sum::<u64>()
    };
    assert_eq!(last.measured_flows, sum(|class| class.flows));
    assert_eq!(last.missing_flows, sum(|class| class.unfinished));
    let requests = &run.simulation().requests()[5].requests[&None];
    assert_eq!(last.measured_requests, requests.flows());
    assert_eq!(last.missing_requests, requests.flows() - requests.finished());
    assert!(last.missing_requests > 0);
}
