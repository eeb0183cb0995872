//! Two data centres: loads, windows, memory, and partitions.

use crate::common::{finish, open, open_on, over_hosts, run};
use xoff_run::Run;
use xoff_sim::Threads;

/// Flows within both data centres, and a few between them.
const BOTH: &str = r#"
scheme = "bfc"
network = { topology = "two-dc" }
two_dc = { leaves = 2, spines = 2, hosts_per_leaf = 4 }
run = { warmup = "0us", measure = "600us", drain = "3ms" }
[[traffic]]
kind = "open-loop"
load = 0.3
senders = "0-7"
receivers = "0-7"
stop = "600us"
[[traffic]]
kind = "open-loop"
load = 0.3
senders = "8-15"
receivers = "8-15"
stop = "600us"
[[traffic]]
kind = "elephants"
count = 4
senders = "0-7"
receivers = "8-15"
"#;

#[test]
fn results_depend_neither_on_the_cut_nor_on_threads() {
    for scheme in ["bfc", "hpcc", "dcqcn-rdma15"] {
        let pfc = if scheme == "bfc" { "run.grid=10us" } else { "buffer.gateway_size=28MB" };
        let rtt = if scheme == "hpcc" { "transport.base_rtt_of=pair" } else { "run.grid=10us" };
        let outcome = |threads, partitions: &str| {
            let scheme = format!("scheme={scheme}");
            let overrides = [scheme.as_str(), partitions, pfc, rtt];
            let mut run = open_on(threads, BOTH, &overrides);
            let rows = finish(&mut run);
            assert!(rows.len() > 100, "{}", rows.len());
            (run.digest(), rows, run.summary().json())
        };
        let whole = outcome(Threads::ONE, "run.partitions=1");
        for partitions in ["run.partitions=2", "run.partitions=4"] {
            let two = Threads { count: 2, ..Threads::ONE };
            assert!(whole == outcome(Threads::ONE, partitions), "{scheme} {partitions}");
            assert!(whole == outcome(two, partitions), "{scheme} {partitions}, two threads");
        }
    }
}

/// Two partitions are the two data centres, joined by a link of 200 us.
#[test]
fn each_data_centre_is_a_part() {
    let run = open(BOTH, &["run.partitions=2"]);
    for partition in run.simulation().partitions() {
        let nics: Vec<u32> = partition.hosts().nics().iter().map(|nic| nic.host.0).collect();
        assert!(nics == [0, 1, 2, 3, 4, 5, 6, 7] || nics == [8, 9, 10, 11, 12, 13, 14, 15]);
        // Two leaves, two spines, a gateway.
        assert_eq!(partition.switches().len(), 5);
    }
}

/// Two endless flows with windows of a bandwidth-delay product into one host of their data centre.
const WINDOWS: &str = r#"
scheme = "pfc"
network = { topology = "two-dc" }
buffer = { gateway_size = "28MB" }
transport = { window = "bdp" }
run = { warmup = "200us", measure = "300us", monitor = "0" }
[[traffic]]
kind = "elephants"
count = 2
senders = "16-63"
receivers = "0"
"#;

fn queue(run: &Run) -> u64 {
    run.simulation().monitors()[0].bytes.max()
}

/// Two windows of the flows' own base RTT exceed the path by one window, which waits at the last
/// queue. With windows of the longest path, only PFC limits it.
#[test]
fn a_window_is_that_of_the_flows_own_path() {
    let (pair, _) = run(WINDOWS, &["transport.base_rtt_of=pair"]);
    // 8.32 us at 100 Gb/s, with headers 109 KB; the path holds a little less than that.
    let own_bdp = 109_000;
    assert!((own_bdp..own_bdp * 11 / 10).contains(&queue(&pair)), "{}", queue(&pair));
    let (longest, _) = run(WINDOWS, &[]);
    assert!(queue(&longest) > 5 * own_bdp, "{}", queue(&longest));
}

/// A window of its own base RTT is just enough for a flow to the other data centre, too.
#[test]
fn a_flow_between_data_centres_fills_its_link() {
    let overrides = [
        "transport.base_rtt_of=pair",
        "run.warmup=1ms",
        "run.measure=1ms",
        "traffic.0.count=1",
        "traffic.0.receivers=\"64\"",
    ];
    let (alone, _) = run(WINDOWS, &overrides);
    let found = alone.simulation().endless_flows();
    let gbps = found[0].acked as f64 * 8.0 / 1e-3 / 1e9;
    let share = 1000.0 / 1048.0;
    assert!((gbps / (100.0 * share) - 1.0).abs() < 0.01, "{gbps}");
}

/// The link between the gateways carries its capacity, and the results report it.
#[test]
fn four_flows_fill_the_interconnect() {
    let overrides = [
        "scheme=bfc",
        "traffic.0.count=8",
        "traffic.0.senders=0-63",
        "traffic.0.receivers=64-127",
        "run.warmup=2ms",
        "run.measure=1ms",
        "transport.window=unlimited",
    ];
    let (full, _) = run(WINDOWS, &overrides);
    let share = *full.summary().utilisation.by_link.get("gateway-gateway").unwrap();
    // Full one way; acknowledgements of 60 bytes per 1048 take the other.
    let expected = f64::midpoint(1.0, 60.0 / 1048.0);
    assert!((share - expected).abs() < 0.01, "{share}");
    assert_eq!(over_hosts(&full, |stats| stats.retransmitted), 0);
}

#[test]
fn pfc_needs_room_for_what_a_long_link_holds() {
    let text = WINDOWS.replace("buffer = { gateway_size = \"28MB\" }\n", "");
    let Err(problems) = Run::open(&text, "test.toml", &[], Threads::ONE) else {
        panic!("a gateway of 12 MB is accepted");
    };
    let said = problems.to_string();
    // Eight links of 100 Gb/s and 1 us to spines, and one of 200 Gb/s and 200 us.
    let way_out = "PFC's reserves and headrooms take 15336864B of a buffer of 12MB at gateway:0, \
                   15004096B of it for the link to gateway:1 (200Gbps, 200us): set \
                   buffer.gateway_size = \"28MB\" or more";
    assert!(said.contains(way_out), "{said}");
    open(&text, &["buffer.gateway_size=28MB"]);
    let small = ["buffer.gateway_size=28MB", "buffer.size=400KB"].map(String::from);
    let Err(problems) = Run::open(&text, "test.toml", &small, Threads::ONE) else {
        panic!("a leaf of 400 KB is accepted");
    };
    let said = problems.to_string();
    assert!(said.contains("of a buffer of 400KB at leaf:0, 41596B of it for the link"), "{said}");
}
