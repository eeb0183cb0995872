//! TCP compared with closed forms and its RFCs, in whole networks.

use crate::common::{open, over_hosts, over_switches, received_bytes, run};
use xoff_net::arch::Switch;

/// Time of a full packet and an acknowledgement on a link of 10 Gb/s (ps), and a link's delay.
const PACKET: u64 = 1048 * 800;
const ACK: u64 = 60 * 800;
const DELAY: u64 = 5_000_000;

const STAR: &str = "[network]\ntopology = \"star\"\n[star]\nrate = \"10Gbps\"\ndelay = \"5us\"\n";

/// A packet over two links and its acknowledgement back.
const ROUND_TRIP: u64 = 2 * PACKET + 2 * ACK + 4 * DELAY;

fn one_flow(scheme: &str, network: &str, dst: u32, packets: u64) -> String {
    format!(
        "scheme = \"{scheme}\"\n{network}[run]\nwarmup = \"0us\"\nmeasure = \"1ms\"\n\
         [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = {dst}\nbytes = \"{packets}000B\"\n"
    )
}

/// Each acknowledgement releases two packets, so each round trip has twice the packets of the one
/// before.
#[test]
fn slow_start_doubles_every_round_trip() {
    for (first, rounds) in [(1, 1), (1, 4), (2, 3), (3, 3), (10, 1)] {
        let last = first << (rounds - 1);
        let packets = (first << rounds) - first;
        let text = one_flow("tcp-newreno", STAR, 1, packets);
        let (_, rows) = run(&text, &[&format!("tcp.initial_window_packets={first}")]);
        assert_eq!(rows[0].fct_ps, rounds * ROUND_TRIP + (last - 1) * PACKET, "{first} {rounds}");
    }
}

/// From the threshold on, each round trip has one packet more than the one before.
#[test]
fn congestion_avoidance_adds_a_packet_every_round_trip() {
    let overrides = ["tcp.initial_window_packets=4", "tcp.initial_ssthresh=4000B"];
    for rounds in 1..10 {
        let packets = 4 * rounds + rounds * (rounds - 1) / 2;
        let (_, rows) = run(&one_flow("tcp-newreno", STAR, 1, packets), &overrides);
        assert_eq!(rows[0].fct_ps, rounds * ROUND_TRIP + (4 + rounds - 2) * PACKET, "{rounds}");
    }
}

/// The trunk has half the hosts' rate and its queue holds one packet. The third of three packets is
/// dropped, and no later packet reveals that. The timeout runs from the second one's
/// acknowledgement.
#[test]
fn the_loss_of_a_flows_last_packet_costs_exactly_one_timeout() {
    let network = "[network]\ntopology = \"dumbbell\"\n[dumbbell]\nhost_rate = \"10Gbps\"\n\
                   trunk_rate = \"5Gbps\"\nhost_delay = \"5us\"\ntrunk_delay = \"5us\"\n";
    let text = one_flow("tcp-newreno", network, 2, 3);
    let alone = 4 * PACKET + 4 * ACK + 6 * DELAY;
    for (min_rto, timeout) in [("1ms", 1_000_000_000), ("100us", 100_000_000)] {
        let overrides = [format!("tcp.min_rto={min_rto}"), "buffer.size=1048B".into()];
        let (run, rows) = run(&text, &overrides.each_ref().map(String::as_str));
        let second = alone + 2 * PACKET;
        assert_eq!(rows[0].fct_ps, second + timeout + alone, "{min_rto}");
        assert_eq!(over_hosts(&run, |stats| stats.timeouts), 1);
        assert_eq!(over_hosts(&run, |stats| stats.retransmitted), 1);
        assert_eq!(over_switches(&run, |switch| switch.stats().drops), 1);
    }
}

/// Twelve hosts send to one at once: many packets are dropped, some of them twice. Each flow ends,
/// and its packets arrived, except those dropped.
#[test]
fn an_incast_with_drops_delivers_every_byte() {
    for scheme in ["tcp-newreno", "tcp-cubic", "tcp-dctcp"] {
        let text = format!(
            "scheme = \"{scheme}\"\n{STAR}[run]\nwarmup = \"0us\"\nmeasure = \"1ms\"\n\
             drain = \"1s\"\n\
             [[traffic]]\nkind = \"incast\"\nvictims = \"0\"\ndegree = 12\nbytes = \"2.4MB\"\n\
             events = 1\n"
        );
        let (run, rows) = run(
            &text,
            &["buffer.size=20kB", "ecn.kmin=10kB", "ecn.kmax=10kB"]
                [..if scheme == "tcp-dctcp" { 3 } else { 1 }],
        );
        assert_eq!(rows.len(), 12, "{scheme}");
        let drops = over_switches(&run, |switch| switch.stats().drops);
        let repeated = over_hosts(&run, |stats| stats.retransmitted);
        assert!(drops > 50, "{scheme} dropped {drops}");
        assert_eq!(received_bytes(&run) / 1000, 2400 + repeated - drops, "{scheme}");
        assert!(repeated >= drops, "{scheme}");
    }
}

/// A retransmission that is lost again waits for the timeout, which other losses do not postpone.
/// The application never stalls for much longer than a timeout and its double.
#[test]
fn other_losses_do_not_put_a_timeout_off() {
    let text = format!(
        "scheme = \"tcp-newreno\"\n{STAR}[run]\nwarmup = \"0us\"\nmeasure = \"200ms\"\n\
         drain = \"0us\"\nflow_series = \"100us\"\n\
         [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 1\n\
         [[fault]]\nkind = \"loss\"\nlink = \"all\"\nshare = 0.02\n"
    );
    let mut run = open(&text, &[]);
    let (mut still, mut longest, mut last) = (0, 0, 0);
    while run.step().unwrap_or_else(|message| panic!("{message}")) {
        for row in run.rows().flow_series.drain(..) {
            still = if row.delivered_bytes == 0 { still + 1 } else { 0 };
            longest = longest.max(still);
            last = row.time_ps;
        }
    }
    assert!(last > 190_000_000_000, "it was followed to the end");
    assert!(over_hosts(&run, |stats| stats.timeouts) > 5, "retransmissions were lost");
    assert!(longest < 40, "nothing was delivered for {longest} intervals of 100 us");
}

/// Two flows without an end through one port, with a little other traffic or none. Returns their
/// shares of the link in 100 ms, and the bytes in the switch at each step of the grid.
fn shares(scheme: &str, overrides: &[&str], others: bool) -> ([f64; 2], Vec<u64>) {
    let flow = |src: u32, class: &str| {
        format!("[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = 0\nclass = \"{class}\"\n")
    };
    let background =
        "[[traffic]]\nkind = \"open-loop\"\nload = 0.05\nload_on = \"hosts\"\nclass = \"c\"\n";
    let text = format!(
        "scheme = \"{scheme}\"\n{STAR}[run]\nwarmup = \"20ms\"\nmeasure = \"100ms\"\n\
         drain = \"0us\"\n{}{}{}",
        flow(1, "a"),
        flow(2, "b"),
        if others { background } else { "" },
    );
    let mut run = open(&text, overrides);
    let mut held = Vec::new();
    while run.step().unwrap_or_else(|message| panic!("{message}")) {
        let samples = run.rows().samples.drain(..);
        held.extend(samples.filter(|row| row.time_ps > 20_000_000_000).map(|row| row.bytes));
    }
    let most = 10e9 / 8.0 * 0.1 * 1000.0 / 1048.0;
    let acked = run.simulation().endless_acked();
    ([acked[0] as f64 / most, acked[1] as f64 / most], held)
}

/// Jain's index of two flows is nearly 1, and together they use the rest of the link. Without other
/// traffic, tail drop may lock one of two equal flows out: phase effects (Floyd and Jacobson,
/// 1991).
#[test]
fn two_flows_share_a_bottleneck_fairly() {
    for scheme in ["tcp-newreno", "tcp-cubic", "tcp-dctcp"] {
        let ([one, other], _) = shares(scheme, &["buffer.size=100kB"], true);
        let jain = (one + other).powi(2) / 2.0 / (one * one + other * other);
        assert!(jain > 0.98, "{scheme}: {one} and {other} of the link");
        assert!(one + other > 0.92, "{scheme}: {one} and {other} of the link");
    }
}

/// N synchronised flows have a queue of up to K + N packets (DCTCP §3.3). A queue that never runs
/// dry keeps the link busy.
#[test]
fn dctcp_holds_its_queue_at_the_threshold() {
    let threshold = 40_000;
    let overrides = ["ecn.kmin=40kB", "ecn.kmax=40kB"];
    let ([one, other], held) = shares("tcp-dctcp", &overrides, false);
    let (least, most) = (held.iter().min().unwrap(), held.iter().max().unwrap());
    assert!(*most <= threshold + 4 * 1048, "{most} B");
    assert!(*least > 0 && one + other > 0.999, "{one} {other} {least}");
}
