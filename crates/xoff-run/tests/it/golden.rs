//! One small scenario for every preset and a small form of every benchmark case, with recorded
//! results. A change of results must be reviewed, and debug and release builds must agree on every
//! digest.

use std::fmt::Write as _;
use std::path::PathBuf;
use xoff_net::arch::Switch;

use crate::common::{for_fast_links, open, over_switches, run};
use xoff_core::knobs::Knob;
use xoff_core::seam::Seam;
use xoff_net::topo::{TopologyConfig, TopologyKind};
use xoff_run::bench::{Size, scenario};
use xoff_run::bench_cases;
use xoff_scenario::presets;

const SCENARIO: &str = include_str!("../golden/scenario.toml");

const HEADER: [&str; 9] =
    ["preset", "digest", "flows", "packet_hops", "p50", "p99", "pauses", "drops", "marks"];

/// Whether a preset has one buffer per switch, which the scenario makes small. Presets with a
/// buffer per queue keep the size of their papers. Flowtune's queues get 2 MB too, so that its line
/// shows rates and no losses.
fn has_shared_buffer(scheme: &str) -> bool {
    let text = format!("scheme = \"{scheme}\"\n{SCENARIO}");
    let run = open(&text, for_fast_links(scheme));
    scheme == "flowtune" || run.effective().contains("[buffer]\nkind = \"shared\"\n")
}

fn line(scheme: &str) -> [String; 9] {
    let scheme_is = format!("scheme={scheme}");
    let mut overrides = vec![scheme_is.as_str()];
    if has_shared_buffer(scheme) {
        overrides.push("buffer.size=2MB");
    }
    overrides.extend(for_fast_links(scheme));
    results(scheme, &overrides)
}

/// BFC on the default network of a shape.
fn topology_line(kind: TopologyKind) -> [String; 9] {
    let topology = format!("network.topology={}", kind.show());
    let name = kind.show().replace('"', "");
    results(&name, &["scheme=bfc", "buffer.size=2MB", "traffic.0.load_on=hosts", &topology])
}

fn results(name: &str, overrides: &[&str]) -> [String; 9] {
    let (run, rows) = run(SCENARIO, overrides);
    let short = &run.simulation().classes()[0].ranges[0];
    let quantile = |q| short.quantile(q).map_or("-".into(), |value: f64| format!("{value:.2}"));
    [
        name.into(),
        format!("{:016x}", run.digest()),
        rows.len().to_string(),
        run.progress().packet_hops.to_string(),
        quantile(0.5),
        quantile(0.99),
        over_switches(&run, |switch| switch.stats().pauses).to_string(),
        over_switches(&run, |switch| switch.stats().drops).to_string(),
        over_switches(&run, |switch| switch.stats().marks).to_string(),
    ]
}

const BENCH_HEADER: [&str; 7] =
    ["case", "digest", "flows", "packet_hops", "pauses", "drops", "marks"];

fn bench_line(case: &str) -> [String; 7] {
    let text = scenario(case, Size::Small).unwrap_or_else(|| panic!("{case} has no scenario"));
    let (run, _) = run(&text, &[]);
    [
        case.into(),
        format!("{:016x}", run.digest()),
        run.progress().flows_finished.to_string(),
        run.progress().packet_hops.to_string(),
        over_switches(&run, |switch| switch.stats().pauses).to_string(),
        over_switches(&run, |switch| switch.stats().drops).to_string(),
        over_switches(&run, |switch| switch.stats().marks).to_string(),
    ]
}

/// Names to the left, numbers to the right of their columns.
fn table<const COLUMNS: usize>(lines: &[[String; COLUMNS]]) -> String {
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        let (name, rest) = (&line[0], &line[1..]);
        let _ = write!(text, "{name:<0$}", width(0));
        for (column, word) in (1..).zip(rest) {
            let _ = write!(text, "  {word:>0$}", width(column));
        }
        text.push('\n');
    }
    text
}

/// Compares a table with the recorded one, or writes it.
fn compare<const COLUMNS: usize>(
    name: &str,
    header: [&str; COLUMNS],
    lines: impl Iterator<Item = [String; COLUMNS]>,
) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let lines: Vec<_> = std::iter::once(header.map(String::from)).chain(lines).collect();
    let found = table(&lines);
    if std::env::var_os("XOFF_UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, found).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == written,
        "results have changed.\nwritten in {}:\n{written}\nfound:\n{found}\nIf that is meant, run \
         XOFF_UPDATE_GOLDEN=1 cargo test -p xoff-run golden::",
        file.display()
    );
}

#[test]
fn every_presets_line_is_as_written_down() {
    let lines = presets().into_iter().map(|(scheme, _)| line(&scheme));
    compare("presets.txt", HEADER, lines);
}

#[test]
fn every_topologys_line_is_as_written_down() {
    let [_, columns @ ..] = HEADER;
    let header = std::array::from_fn(|at| if at == 0 { "topology" } else { columns[at - 1] });
    // A graph has no default: its network comes from a file.
    let kinds = TopologyConfig::kinds().into_iter().filter(|&kind| kind != TopologyKind::Graph);
    let lines = kinds.map(topology_line);
    compare("topologies.txt", header, lines);
}

#[test]
fn every_benchmark_cases_line_is_as_written_down() {
    let lines = bench_cases().into_iter().map(|case| bench_line(&case));
    compare("bench.txt", BENCH_HEADER, lines);
}
