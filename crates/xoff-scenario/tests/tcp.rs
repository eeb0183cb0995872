//! TCP against closed forms and what its RFCs say, over whole networks.

mod common;

use common::{over_hosts, over_switches, run};

/// A full packet and an acknowledgement on a link of 10 Gb/s (ps), and a link's delay.
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

/// Each acknowledgement lets two packets go, so each round trip has twice as many as the one before.
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

/// The trunk has half the hosts' rate and its queue holds one packet: the third of three is dropped, and
/// nothing behind it says so. The timeout runs from the second one's acknowledgement.
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
