//! Measurements compared with values that are known.

use crate::common::{finish, open, over_hosts, over_switches, run};
use xoff_net::arch::Switch;

/// Two endless flows to one of four hosts.
const OVERLOAD: &str = r#"
scheme = "pfc"
network = { topology = "star" }
star = { hosts = 4 }
run = { warmup = "200us", measure = "450us" }
[[traffic]]
kind = "long"
src = 1
dst = 0
[[traffic]]
kind = "long"
src = 2
dst = 0
"#;

#[test]
fn a_receivers_throughput_is_its_share_of_the_link() {
    let (run, _) = run(OVERLOAD, &[]);
    let throughput = run.simulation().throughput();
    assert_eq!(throughput.interval().0, 100_000_000);
    // Four whole intervals of the one host that receives.
    assert_eq!(throughput.distribution().count(), 4);
    let frame = &run.simulation().setup().hosts.frame;
    let share = frame.payload.0 as f64 / (frame.payload.0 + frame.header.0) as f64;
    let mean = throughput.distribution().mean();
    assert!((mean / (100e9 * share) - 1.0).abs() < 2e-3, "{mean}");
}

#[test]
fn watermarks_are_above_samples_and_depend_on_no_cut() {
    let background = r#"
scheme = "dctcp"
run = { warmup = "20us", measure = "100us" }
[[traffic]]
kind = "incast"
degree = 20
bytes = "2MB"
period = "100us"
"#;
    let maxima = |partitions: &str| {
        let mut run = open(background, &[partitions]);
        let mut samples = Vec::new();
        while run.step().unwrap() {
            samples.append(&mut run.rows().samples);
        }
        let found = run.simulation().watermarks();
        let sampled = samples.iter().map(|row| row.bytes).max().unwrap();
        assert!(found.run_max() >= found.measured_max() && found.measured_max() > sampled);
        assert_eq!(found.measured().count(), 10 * 16);
        (found.run_max(), found.measured_max(), found.measured().cdf())
    };
    assert_eq!(maxima("run.partitions=1"), maxima("run.partitions=4"));
}

#[test]
fn ports_know_their_pauses_and_drops() {
    let (run, _) = run(OVERLOAD, &["buffer.size=200kB"]);
    let ports = run.simulation().ports();
    // Only the two senders are paused, and only from the switch.
    let paused: Vec<u32> =
        ports.iter().filter(|port| port.pauses > 0).map(|port| port.node).collect();
    assert_eq!(paused, [1, 2]);
    assert!(ports.iter().all(|port| (port.pauses > 0) == (port.paused_ps > 0)));

    let all = ["scheme=dctcp", "switch.hop=none", "buffer.size=20kB", "run.warmup=0us"];
    let mut run = open(OVERLOAD, &all);
    finish(&mut run);
    let dropped: Vec<(u32, u64)> = run
        .simulation()
        .ports()
        .iter()
        .map(|port| (port.peer, port.drops))
        .filter(|port| port.1 > 0)
        .collect();
    let drops = over_switches(&run, |switch| switch.stats().drops);
    assert!(drops > 0);
    assert_eq!(dropped, [(0, drops)]);
    // Data only: two flows without an end, with answers in the other direction.
    let ports = run.simulation().ports();
    let sent: u64 = ports.iter().filter(|port| port.node < 4).map(|port| port.tx_bytes).sum();
    let bytes = drops * 1048;
    let dropped = run.summary().dropped;
    assert_eq!((dropped.packets, dropped.bytes), (drops, bytes));
    assert_eq!(dropped.bps, bytes as f64 * 8.0 / 450e-6);
    assert_eq!(dropped.hosts_sent_bytes, sent);
}

/// PFC stops senders through the fabric: each port's paused time adds up over its samples, and a
/// leaf's uplink holds bytes only while it is paused.
#[test]
fn samples_of_ports_show_pauses() {
    let fabric = "leaf_spine = { leaves = 3, hosts_per_leaf = 2, spines = 1 }";
    let scenario = OVERLOAD
        .replace("\"star\"", "\"leaf-spine\"")
        .replace("star = { hosts = 4 }", fabric)
        .replace("src = 1", "src = 4");
    let mut run = open(&scenario, &["buffer.size=200kB", "run.port_samples=10us"]);
    let mut rows = Vec::new();
    while run.step().unwrap() {
        rows.append(&mut run.rows().port_samples);
    }
    rows.append(&mut run.rows().port_samples);
    let samples = |node, port| rows.iter().filter(move |row| (row.node, row.port) == (node, port));
    for port in run.ports() {
        let of_port = || samples(port.node, port.port);
        assert_eq!(of_port().map(|row| row.paused_ps).sum::<u64>(), port.paused_ps);
        assert!(of_port().all(|row| row.held_bytes <= row.queue_bytes));
        assert!(port.paused_ps > 0 || of_port().all(|row| row.held_bytes == 0));
    }
    let (leaf, uplink) = (7, 2);
    assert!(samples(leaf, uplink).any(|row| row.held_bytes > 10_000));
}

/// Two flows without an end share a link in halves, and each is reported separately.
#[test]
fn flows_without_end_are_told_apart() {
    let (run, _) = run(OVERLOAD, &[]);
    let found = run.simulation().endless_flows();
    let half = 50e9 * 1000.0 / 1048.0;
    assert_eq!(found.len(), 2);
    for flow in &found {
        let rate = flow.acked as f64 * 8.0 / 450e-6;
        assert!((rate / half - 1.0).abs() < 0.02, "{rate}");
    }
    let sum: u64 = found.iter().map(|flow| flow.acked).sum();
    assert_eq!(run.simulation().endless_acked(), [sum]);
}

/// Bytes of two flows beyond a receiver's link wait at that link under Ideal-FQ: one
/// bandwidth-delay product.
#[test]
fn packets_wait_where_they_are_said_to() {
    let (run, _) = run(OVERLOAD, &["scheme=ideal-fq"]);
    let backlog = run.simulation().backlog();
    let found: Vec<(&str, f64)> = backlog.means().collect();
    let [("leaf-host", bytes)] = found[..] else { panic!("{found:?}") };
    let base_rtt_ps = run.simulation().setup().hosts.base_rtt as f64;
    let product = base_rtt_ps * 1e-12 * 100e9 / 8.0 * 1.048;
    assert!((bytes / product - 1.0).abs() < 0.1, "{bytes} of {product}");
}

/// Under a load that a network can carry, about the same number of flows is active sooner and
/// later. Under a load beyond that, their number grows.
#[test]
fn an_overload_shows_in_the_flows_under_way() {
    let growth = |load: &str| {
        let text = "scheme = \"dctcp\"\nnetwork = { topology = \"star\" }\n\
                    run = { warmup = \"1ms\", measure = \"4ms\", drain = \"10us\", \
                    flows = \"none\" }\n\
                    [[traffic]]\nkind = \"open-loop\"\narrivals = \"poisson\"\nreceivers = \"0\"\n\
                    load_on = \"receivers\"\n";
        let (run, _) = run(text, &[load]);
        let found = run.simulation().outstanding();
        found.end as f64 / found.middle.max(1) as f64
    };
    let (stable, unstable) = (growth("traffic.0.load=0.5"), growth("traffic.0.load=1.3"));
    assert!(unstable > 1.5 && unstable > 2.0 * stable, "{stable} {unstable}");
}

/// Shares are of all data packets sent, including retransmissions.
#[test]
fn shares_of_packets_are_of_those_sent() {
    let lossy = ["scheme=hpcc-pfc", "run.warmup=0us"];
    let text = OVERLOAD
        .replace("star = { hosts = 4 }", "star = { hosts = 4 }\nbuffer = { size = \"50KB\" }");
    let (run, _) = run(&text, &lossy);
    let packets = run.summary().packets;
    let acknowledged = packets.acknowledged as f64;
    let retransmitted = over_hosts(&run, |stats| stats.retransmitted) as f64;
    let drops = over_switches(&run, |switch| switch.stats().drops) as f64;
    assert!(drops > 0.0 && retransmitted > 0.0);
    let sent = acknowledged + retransmitted;
    assert!((packets.retransmitted_share - retransmitted / sent).abs() < 1e-9);
    assert!((packets.dropped_share - drops / sent).abs() < 1e-9);
    let acked = run.simulation().endless_acked()[0] as f64;
    assert!((acknowledged / (acked / 1000.0) - 1.0).abs() < 0.1);
}

/// Acknowledgements of host 1 to host 0 wait with the data of three hosts, and are lost with it.
#[test]
fn lost_acknowledgements_are_not_retransmitted_data() {
    let flow = |(src, dst)| {
        format!("[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = {dst}\nbytes = \"100KB\"\n")
    };
    let flows = [(1, 0), (2, 0), (3, 0), (0, 1)].map(flow).concat();
    let text = format!(
        "scheme = \"hpcc-pfc\"\nnetwork.topology = \"star\"\nstar.hosts = 4\nbuffer.size = \
         \"20KB\"\n[run]\nwarmup = \"0us\"\nmeasure = \"1ms\"\ncapture = \"all\"\n{flows}"
    );
    let mut run = open(&text, &[]);
    run.step().unwrap();
    // What was sent before is not recorded, though a capture was under way.
    run.record_sends();
    assert!(run.take_sends().is_empty());
    let mut run = open(&text, &[]);
    run.record_sends();
    let rows = finish(&mut run);
    let sends = run.take_sends();
    let data = sends.iter().filter(|sent| sent.node < 4 && sent.kind == "Data").count() as u64;
    assert_eq!(rows.len(), 4);
    let retransmitted = run.summary().retransmitted_packets;
    assert_eq!(retransmitted, data - 4 * 100);
    let drops = over_switches(&run, |switch| switch.stats().drops);
    assert!(0 < retransmitted && retransmitted < drops, "{retransmitted} of {drops}");
}
