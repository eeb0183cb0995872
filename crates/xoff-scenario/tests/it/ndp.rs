//! NDP from end to end: trimming and pulls, and headers that find no room.

use crate::common::{over_hosts, over_switches, received_bytes, run};
use xoff_net::arch::Switch;
use xoff_scenario::Run;
use xoff_sim::FlowRow;

/// An incast of `bytes` in total to one host of BFC's fabric.
fn incast(degree: u32, bytes: u64) -> String {
    format!(
        "scheme = \"ndp\"\n[run]\nwarmup = \"0us\"\nmeasure = \"100us\"\n\
         [[traffic]]\nkind = \"incast\"\ndegree = {degree}\nbytes = \"{bytes}B\"\nperiod = \"1s\"\n"
    )
}

struct Counts {
    drops: u64,
    control_drops: u64,
    trimmed: u64,
    returned: u64,
    retransmitted: u64,
    timeouts: u64,
    received_bytes: u64,
}

fn counts(run: &Run) -> Counts {
    Counts {
        drops: over_switches(run, |switch| switch.stats().drops),
        control_drops: over_switches(run, |switch| switch.stats().control_drops),
        trimmed: over_switches(run, |switch| switch.stats().trimmed),
        returned: over_switches(run, |switch| switch.stats().returned),
        retransmitted: over_hosts(run, |stats| stats.retransmitted),
        timeouts: over_hosts(run, |stats| stats.timeouts),
        received_bytes: received_bytes(run),
    }
}

fn assert_at_rest(run: &Run) {
    for partition in run.simulation().partitions() {
        for (node, switch) in partition.switches() {
            assert_eq!(switch.used_bytes(), 0, "bytes left in switch {node}");
            assert!(switch.egress().iter().all(|port| port.total_bytes() == 0), "switch {node}");
        }
    }
}

/// The payload on the receiver's link until the last byte of all flows arrived, as a share of its
/// capacity in that time.
fn share_of_link(rows: &[FlowRow]) -> f64 {
    let packets: u64 = rows.iter().map(|row| row.size_bytes.div_ceil(1000)).sum();
    let last = rows.iter().map(|row| row.rx_fct_ps).max().unwrap_or(0);
    (packets * 83_840) as f64 / last as f64
}

/// Every trimmed packet is sent once more, and no others: no payload arrives twice, no timeout is
/// needed, and pulls keep the receiver's link busy.
#[test]
fn an_incast_is_trimmed_and_pulled_at_the_receivers_rate() {
    for (degree, bytes) in [(20, 20_000), (20, 4_000_000), (100, 20_000_000)] {
        let (run, rows) = run(&incast(degree, bytes), &[]);
        let counts = counts(&run);
        assert_eq!(rows.len() as u32, degree);
        assert!(counts.trimmed > 0, "{degree} {bytes}");
        assert_eq!((counts.drops, counts.control_drops, counts.timeouts), (0, 0, 0));
        assert_eq!(counts.retransmitted, counts.trimmed);
        assert_eq!(counts.received_bytes, bytes);
        assert_at_rest(&run);
        let share = share_of_link(&rows);
        assert!(bytes < 1_000_000 || share > 0.95, "{degree} senders: {share}");
    }
}

/// A message takes the receiver's time for its own length, not for a full packet. A hundred short
/// messages, nearly all pulled, need little more than one and a half round trips.
#[test]
fn messages_below_one_packet_are_pulled_by_their_bytes() {
    // A queue of one packet, so that nearly all packets are trimmed.
    let overrides = ["buffer.size=\"1048B\"", "trim.trim_arriving=1.0"];
    let time = |bytes: u64| {
        let (run, rows) = run(&incast(100, 100 * bytes), &overrides);
        assert!(counts(&run).trimmed >= 80, "{}", counts(&run).trimmed);
        let last = rows.iter().map(|row| row.rx_fct_ps).max().unwrap_or(0);
        last - 12_000_000
    };
    let (short, full) = (time(200), time(1000));
    assert!(full > 80 * 83_840, "{full}");
    assert!(short < 100 * (248 + 64 + 60) * 80, "{short}");
}

/// Headers that find no room return to their senders, which wait for pulls or send again.
#[test]
fn headers_that_find_no_room_are_returned_and_sent_again() {
    let (run, rows) = run(&incast(100, 2_000_000), &["trim.header_queue=\"2KB\""]);
    let counts = counts(&run);
    assert_eq!(rows.len(), 100);
    assert!(counts.returned > 1000, "{}", counts.returned);
    assert_eq!(counts.received_bytes, 2_000_000);
    assert_at_rest(&run);
}

/// Without that, timeouts recover lost headers, acknowledgements and pulls.
#[test]
fn timeouts_make_good_what_the_control_queue_loses() {
    let overrides = [
        "trim.header_queue=\"500B\"",
        "trim.return_to_sender=false",
        "transport.timeout=\"200us\"",
        "run.drain=\"1s\"",
    ];
    let both = incast(100, 2_000_000)
        + "[[traffic]]\nkind = \"incast\"\ndegree = 100\nbytes = \"1MB\"\nperiod = \"1s\"\n\
           class = \"more\"\n[[traffic]]\nkind = \"open-loop\"\nsizes = \"google\"\nload = 0.8\n\
           stop = \"100us\"\nclass = \"background\"\n";
    let (run, rows) = run(&both, &overrides);
    let counts = counts(&run);
    assert_eq!(rows.len() as u64, run.progress().flows_started);
    assert!(counts.drops > 1000 && counts.control_drops > 0 && counts.timeouts > 0);
    assert_eq!(counts.returned, 0);
    assert_at_rest(&run);
}

/// Two long flows to one host end together, and together they fill its link.
#[test]
fn two_flows_share_their_receiver() {
    let flow = |src: u32, class: &str| {
        format!(
            "[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = 0\nbytes = \"2MB\"\n\
             class = \"{class}\"\n"
        )
    };
    let text = "scheme = \"ndp\"\n[network]\ntopology = \"star\"\n\
                [run]\nwarmup = \"0us\"\nmeasure = \"1ms\"\n"
        .to_string()
        + &flow(1, "a")
        + &flow(2, "b");
    let (_, rows) = run(&text, &[]);
    let apart = rows[0].fct_ps.abs_diff(rows[1].fct_ps);
    assert!(apart < 20 * 83_840, "{apart} ps apart");
    assert!(share_of_link(&rows) > 0.97, "{}", share_of_link(&rows));
}
