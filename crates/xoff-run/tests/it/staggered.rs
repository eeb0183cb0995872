//! Flows that are stopped, and the bytes that their receivers get until then.

use std::collections::BTreeMap;

use crate::common::{open, open_on};
use xoff_run::Run;
use xoff_sim::{FlowSeriesRow, PortSampleRow, Threads};

/// Three senders and a receiver in another rack: a flow more every 200 us, then a flow less.
const SCENARIO: &str = r#"
leaf_spine = { leaves = 4, spines = 2, hosts_per_leaf = 4 }
run = { warmup = "0us", measure = "1400us", flow_series = "20us", port_samples = "100us" }
[[traffic]]
kind = "staggered"
senders = "4,8,12"
interval = "200us"
"#;

/// Payload of full frames at 100 Gb/s in 20 us.
const FULL: f64 = 100e9 / 8.0 * 20e-6 * 1000.0 / 1048.0;

/// Runs to the end. Returns the bytes of flows and the counts of ports.
fn series(run: &mut Run) -> (Vec<FlowSeriesRow>, Vec<PortSampleRow>) {
    let (mut flows, mut ports) = (Vec::new(), Vec::new());
    loop {
        let more = run.step().unwrap_or_else(|message| panic!("{message}"));
        flows.append(&mut run.rows().flow_series);
        ports.append(&mut run.rows().port_samples);
        assert!(run.rows().flows.is_empty(), "these flows have no row");
        if !more {
            return (flows, ports);
        }
    }
}

/// The sum over flows in an interval, by its end (us).
fn total(rows: &[FlowSeriesRow], value: fn(&FlowSeriesRow) -> u64) -> BTreeMap<u64, u64> {
    let mut sums = BTreeMap::new();
    for row in rows {
        *sums.entry(row.time_ps / 1_000_000).or_default() += value(row);
    }
    sums
}

/// By default the switch next to the receiver shares its link among the flows at once.
#[test]
fn flows_share_the_link_while_they_last() {
    let mut run = open(SCENARIO, &["scheme=ideal-fq"]);
    let (rows, _) = series(&mut run);
    for (from, until, active) in [
        (60, 200, &[0][..]),
        (260, 400, &[0, 1]),
        (460, 600, &[0, 1, 2]),
        (660, 800, &[1, 2]),
        (860, 1000, &[2]),
    ] {
        let of_phase = rows.iter().filter(|row| {
            (from..until).contains(&(row.time_ps / 1_000_000)) && row.received_bytes > 0
        });
        let mut seen: Vec<u64> = Vec::new();
        for row in of_phase {
            let share = row.received_bytes as f64 / (FULL / active.len() as f64);
            assert!((share - 1.0).abs() < 0.02, "{active:?}: {row:?}");
            assert_eq!(row.received_bytes, row.delivered_bytes);
            assert_eq!((row.src, row.dst), (4 + 4 * row.flow as u32, 0));
            seen.push(row.flow);
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, active);
    }
    let progress = run.progress();
    assert_eq!((progress.flows_started, progress.flows_finished), (3, 3));
    // Nothing is left, and all bytes received count as the class's goodput.
    let acked: u64 = run.simulation().endless_acked().iter().sum();
    assert_eq!(acked, rows.iter().map(|row| row.received_bytes).sum::<u64>());
    assert!(rows.iter().all(|row| row.time_ps <= 1_040_000_000), "rows of flows that have ended");
}

/// The bytes of a port over all intervals add up to those in the table of ports.
#[test]
fn samples_of_ports_add_up_to_what_ports_did() {
    let lossy = ["scheme=dctcp", "switch.hop=none", "buffer.size=30kB", "transport.timeout=50us"];
    let mut run = open(SCENARIO, &lossy);
    let (_, rows) = series(&mut run);
    let mut dropped = 0;
    for port in run.ports() {
        let of_port = || rows.iter().filter(|row| (row.node, row.port) == (port.node, port.port));
        let sum = |value: fn(&PortSampleRow) -> u64| of_port().map(value).sum::<u64>();
        assert_eq!(of_port().count(), 14);
        assert_eq!(sum(|row| row.tx_bytes), port.tx_bytes);
        assert_eq!(sum(|row| row.tx_packets), port.tx_packets);
        assert_eq!(sum(|row| row.drops), port.drops);
        assert_eq!(sum(|row| row.drop_bytes), port.drop_bytes);
        assert_eq!(sum(|row| row.paused_ps), port.paused_ps);
        assert!(port.drop_bytes <= port.drops * 1048 && port.drop_bytes >= port.drops * 60);
        dropped += port.drops;
    }
    assert!(dropped > 100);
    assert!(rows.iter().any(|row| row.queue_bytes > 10_000));
    assert!(rows.iter().all(|row| row.queue_bytes <= 30_000 + 2 * 1048));
}

/// With losses, bytes that arrive are kept or sent again. In the end the application has all bytes
/// that were sent, with any recovery, even if a stop comes during a recovery.
#[test]
fn what_was_sent_before_a_stop_is_delivered_whatever_is_lost() {
    let lossy = ["switch.hop=none", "buffer.size=30kB"];
    for (scheme, recovery) in [
        ("dctcp", &["transport.recovery=go-back-n", "transport.timeout=100us"][..]),
        ("dctcp", &["transport.recovery=selective-repeat", "transport.timeout=100us"]),
        ("dctcp", &["transport.recovery=perfect"]),
        ("tcp-newreno", &["tcp.min_rto=100us"]),
    ] {
        let scheme = format!("scheme={scheme}");
        let sets = [&[scheme.as_str()], &lossy[..], recovery].concat();
        let recovery = format!("{scheme} {recovery:?}");
        let mut run = open(SCENARIO, &sets);
        let (rows, _) = series(&mut run);
        assert_eq!(run.progress().flows_finished, 3, "{recovery}");
        let received: u64 = total(&rows, |row| row.received_bytes).values().sum();
        let delivered: u64 = total(&rows, |row| row.delivered_bytes).values().sum();
        assert_eq!(received, delivered, "{recovery}");
        assert_eq!(received, run.simulation().endless_acked().iter().sum::<u64>(), "{recovery}");
        assert!(received as f64 > 20.0 * FULL, "{recovery}: {received}");
        let dropped: u64 = run.ports().iter().map(|port| port.drops).sum();
        assert!(dropped > 0, "{recovery}");
    }
}

/// A flow that has sent all of its bytes ends before its stop.
#[test]
fn a_flow_with_a_size_ends_with_its_last_byte() {
    let mut run = open(SCENARIO, &["scheme=bfc", "traffic.0.bytes=100kB"]);
    let (rows, _) = series(&mut run);
    assert_eq!(run.progress().flows_finished, 3);
    assert_eq!(total(&rows, |row| row.delivered_bytes).values().sum::<u64>(), 300_000);
    let last = rows.iter().map(|row| row.time_ps).max();
    assert!(last.is_some_and(|last| last < 500_000_000), "{last:?}");
}

/// A flow that stops before it could send ends at once.
#[test]
fn a_flow_that_sent_nothing_ends_with_nothing() {
    let text = SCENARIO.replace("200us", "1ps") + "start = \"5us\"\n";
    let mut run = open(&text, &["scheme=bfc", "traffic.0.senders=4-15"]);
    let (rows, _) = series(&mut run);
    assert_eq!(run.progress().flows_finished, 12);
    assert!(rows.iter().all(|row| row.received_bytes % 1000 == 0 && row.received_bytes <= 1000));
}

#[test]
fn stops_are_the_same_however_it_is_cut_and_on_any_threads() {
    let background = "[[traffic]]\nkind = \"open-loop\"\nload = 0.3\nstop = \"300us\"\n";
    let text = SCENARIO.to_owned() + "start = \"13us\"\n" + background;
    for scheme in
        ["bfc", "dctcp", "irn-dcqcn", "hpcc-pfc", "tcp-newreno", "pfabric", "sfqcodel", "xcp"]
    {
        let outcome = |threads, parts: &str| {
            let scheme = format!("scheme={scheme}");
            let sets = [scheme.as_str(), parts, "traffic.0.interval=47us", "run.drain=2ms"];
            let mut run = open_on(threads, &text, &sets);
            let (mut flows, mut ports) = (Vec::new(), Vec::new());
            while run.step().unwrap_or_else(|message| panic!("{message}")) {
                flows.append(&mut run.rows().flow_series);
                ports.append(&mut run.rows().port_samples);
            }
            (run.digest(), run.summary().json(), flows, ports)
        };
        let whole = outcome(Threads::ONE, "run.partitions=1");
        assert!(whole.2.len() > 1000 && !whole.3.is_empty());
        for (parts, threads) in [(2, Threads::ONE), (3, Threads::up_to(2)), (4, Threads::ONE)] {
            let cut = format!("run.partitions={parts}");
            assert!(outcome(threads, &cut) == whole, "{scheme} {cut} {threads:?}");
        }
    }
}
