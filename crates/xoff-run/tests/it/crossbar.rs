//! Properties of switches with a crossbar (DeTail): flow control prevents loss at any load, delays
//! add up as in the paper, and priorities are strict.

use crate::common::{
    finish, open, over_hosts, over_switches, received_bytes, run, without_priorities,
};
use xoff_net::arch::Switch;
use xoff_run::Run;

/// Gigabit links of DeTail §6.1 and §7.1: 1.6 us of propagation, 5 us of transceivers.
const FABRIC: &str = "[leaf_spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 6\n\
                      host_rate = \"1Gbps\"\nspine_rate = \"1Gbps\"\nhost_delay = \"6600ns\"\n\
                      spine_delay = \"6600ns\"\n[run]\nwarmup = \"0us\"\nmeasure = \"3ms\"\n";
const STAR: &str = "[network]\ntopology = \"star\"\n[star]\nhosts = 20\nrate = \"1Gbps\"\n\
                    delay = \"6600ns\"\n[run]\nwarmup = \"0us\"\nmeasure = \"3ms\"\n";
const TREE: &str = "[network]\ntopology = \"fat-tree\"\n[fat_tree]\nk = 4\nhost_rate = \"1Gbps\"\n\
                    aggregation_rate = \"1Gbps\"\ncore_rate = \"1Gbps\"\nhost_delay = \"6600ns\"\n\
                    aggregation_delay = \"6600ns\"\ncore_delay = \"6600ns\"\n[run]\n\
                    warmup = \"0us\"\n\
                    measure = \"3ms\"\n";

/// Flows between all hosts, and bursts of others at a lower priority to one of them.
fn bursts(scheme: &str, network: &str, load: f64, degree: u32, bytes: &str) -> String {
    format!(
        "scheme = \"{scheme}\"\n{network}\n\
         [[traffic]]\nkind = \"open-loop\"\nsizes = \"google\"\nload_on = \"hosts\"\n\
         load = {load}\nstop = \"3ms\"\n\
         [[traffic]]\nkind = \"incast\"\ndegree = {degree}\nbytes = \"{bytes}\"\nperiod = \"1ms\"\n\
         stop = \"3ms\"\npriority = 3\n\
         [[traffic]]\nkind = \"incast\"\ndegree = {degree}\nbytes = \"{bytes}\"\nperiod = \"1ms\"\n\
         stop = \"3ms\"\npriority = 7\n"
    )
}

fn drops(run: &Run) -> u64 {
    over_switches(run, |switch| switch.stats().drops)
}

/// No port waits for a resume, except for one still on its way, or for a packet sent twice, when
/// the last flow ends. Returns whether the network is empty.
fn is_at_rest(run: &Run, what: &str) -> bool {
    let partitions = run.simulation().partitions();
    if partitions.iter().any(|partition| !partition.fabric().packets.is_empty()) {
        return false;
    }
    for partition in partitions {
        assert!(partition.hosts().nics().iter().all(|nic| nic.paused() == 0), "{what}: a NIC");
        for (node, switch) in partition.switches() {
            assert_eq!(switch.used_bytes(), 0, "{what}: bytes left in switch {node}");
            for (number, port) in switch.egress().iter().enumerate() {
                let held = switch.holds_paused(number as u16);
                assert_eq!((port.paused(), held), (0, 0), "{what}: switch {node} port {number}");
            }
        }
    }
    true
}

#[test]
fn with_flow_control_nothing_is_lost_at_any_load() {
    let all = "tcp.initial_window_packets=200";
    let click = ["pause.generation_delay=48us", "pause.outstanding=6000B", "crossbar.classes=2"];
    let (mut pauses, mut at_rest) = (0, 0);
    for (seed, (network, load, degree, bytes)) in (1..).zip([
        (STAR, 0.3, 15, "1MB"),
        (STAR, 0.95, 19, "400KB"),
        (FABRIC, 0.9, 20, "2MB"),
        (FABRIC, 0.5, 23, "300KB"),
        (TREE, 0.8, 12, "1MB"),
    ]) {
        for (scheme, more) in [
            ("detail-fc", &[][..]),
            ("detail-fc", &[all]),
            ("detail-pfc", &[all]),
            ("detail", &[]),
            ("detail", &[all, "pause.xoff=0B", "pause.xon=0B"]),
            ("detail-fc", &[all, "crossbar.classes=8", "pause.xoff=20KB"]),
            ("detail-pfc", &[&click[..], &["pause.xoff=0B", "pause.xon=0B", all]].concat()),
        ] {
            let seed = format!("seed={seed}");
            let overrides = [more, &["run.drain=5s", &seed]].concat();
            let text = bursts(scheme, network, load, degree, bytes);
            let classes = more.iter().any(|setting| setting.starts_with("crossbar.classes"));
            let one_class = scheme == "detail-fc" && !classes;
            let text = if one_class { without_priorities(&text) } else { text };
            let mut run = open(&text, &overrides);
            let rows = finish(&mut run);
            let what = format!("{scheme} {overrides:?} {network}");
            assert_eq!(rows.len() as u64, run.progress().flows_started, "{what}");
            assert_eq!(drops(&run), 0, "{what}");
            at_rest += u32::from(is_at_rest(&run, &what));
            pauses += over_switches(&run, |switch| switch.stats().pauses);
        }
    }
    assert!(pauses > 1000 && at_rest > 10, "{pauses} {at_rest}");
}

/// Pauses end after 65 535 quanta. Pauses that last longer are renewed in time.
#[test]
fn long_pauses_are_renewed() {
    let text = without_priorities(&bursts("detail-fc", STAR, 0.1, 19, "20MB"));
    let overrides =
        ["tcp.initial_window_packets=1000", "run.drain=5s", "tcp.min_rto=1s", "tcp.initial_rto=1s"];
    let (run, rows) = run(&text, &overrides);
    assert_eq!(rows.len() as u64, run.progress().flows_started);
    assert_eq!(drops(&run), 0);
    is_at_rest(&run, "long pauses");
}

/// Without flow control the same bursts fill queues, but every flow completes. The dropped packets
/// are counted at the ports whose ingress or egress is full.
#[test]
fn without_flow_control_full_queues_drop_and_tcp_recovers() {
    for (scheme, overflow) in [
        ("detail-baseline", "hold"),
        ("detail-baseline", "drop"),
        ("detail-priority", "hold"),
        ("detail-priority", "drop"),
        ("detail-priority", "push-out"),
        ("detail-priority", "partition"),
    ] {
        let overflow = format!("crossbar.egress_overflow={overflow}");
        let overrides =
            ["crossbar.ingress_size=20KB", "crossbar.egress_size=20KB", "run.drain=5s", &overflow];
        let text = bursts(scheme, FABRIC, 0.9, 20, "2MB");
        let one_class = scheme == "detail-baseline";
        let text = if one_class { without_priorities(&text) } else { text };
        let (run, rows) = run(&text, &overrides);
        assert!(drops(&run) > 100, "{scheme} {overflow}");
        let at_ports = over_switches(&run, |switch| {
            switch.egress().iter().map(|port| port.drops().packets).sum::<u64>()
        });
        assert_eq!(at_ports, drops(&run), "{scheme} {overflow}");
        assert!(over_hosts(&run, |stats| stats.timeouts) > 0, "{scheme}");
        assert_eq!(rows.len() as u64, run.progress().flows_started, "{scheme}");
        let sizes: u64 = rows.iter().map(|row| row.size_bytes).sum();
        assert!(received_bytes(&run) >= sizes, "{scheme}");
        is_at_rest(&run, scheme);
    }
}

/// DeTail §7.1: 12.24 us of transmission, 3.06 us in the crossbar, 1.6 us and 5 us on the link, and
/// 3.1 us in the forwarding engine make 25 us per switch.
#[test]
fn a_switch_takes_25_us() {
    let one = "[[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 20\nbytes = \"1460B\"\n";
    for scheme in ["detail-baseline", "detail"] {
        let (_, rows) = run(&format!("scheme = \"{scheme}\"\n{FABRIC}{one}"), &[]);
        // A NIC and three switches on the path, and the acknowledgement of 84 B on the way back.
        let there = 12_240_000 + 6_600_000 + 3 * 25_000_000;
        let ack = 84 * 8_000;
        let back = ack + 6_600_000 + 3 * (3_100_000 + ack / 4 + ack + 6_600_000);
        assert_eq!(rows[0].fct_ps, there + back, "{scheme}");
    }
}

/// The least important class fills all queues of a path, which does not affect the most important
/// one.
#[test]
fn important_packets_do_not_wait_for_others() {
    let slowest = |scheme: &str| {
        let text = format!(
            "scheme = \"{scheme}\"\n{STAR}\
             [[traffic]]\nkind = \"incast\"\ndegree = 15\nbytes = \"3MB\"\nperiod = \"1s\"\n\
             priority = 7\nclass = \"low\"\n\
             [[traffic]]\nkind = \"open-loop\"\nsizes = \"google\"\nload_on = \"hosts\"\n\
             load = 0.05\nstop = \"3ms\"\n\
             class = \"high\"\n"
        );
        let text = if scheme == "detail-fc" { without_priorities(&text) } else { text };
        let (run, rows) = run(&text, &["run.drain=5s", "tcp.initial_window_packets=100"]);
        let high = rows.iter().filter(|row| row.size_bytes < 1460 && row.class == 1);
        (high.map(|row| row.fct_ps).max().unwrap_or(0), drops(&run))
    };
    let (with, lost) = slowest("detail-pfc");
    let (without, _) = slowest("detail-fc");
    assert_eq!(lost, 0);
    assert!(with < 400_000_000 && without > 5 * with, "{with} {without}");
}
