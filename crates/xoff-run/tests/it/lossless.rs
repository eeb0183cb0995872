//! Properties of hop-by-hop flow control: nothing is lost, nothing stays paused, and a lost pause
//! or resume frame heals. If packets are lost, every flow still gets all of its bytes.

use crate::common::{bfc_stats, finish, open, over_hosts, over_switches, received_bytes, run};
use xoff_net::arch::Switch;
use xoff_run::Run;
use xoff_sim::FlowRow;

const FLOWS: usize = 100;
const BYTES: u64 = 20_000_000;

/// One 100-to-1 incast of 20 MB in all on BFC's fabric of 128 hosts.
fn incast(scheme: &str) -> String {
    format!(
        "scheme = \"{scheme}\"\n[run]\nwarmup = \"0us\"\nmeasure = \"5ms\"\n\
         [[traffic]]\nkind = \"incast\"\nperiod = \"1s\"\n"
    )
}

/// The same on top of flows between all hosts, so that acknowledgements meet full queues too.
fn incast_and_more(scheme: &str) -> String {
    let background = "[[traffic]]\nkind = \"open-loop\"\nsizes = \"google\"\nload = 0.8\n\
                      stop = \"300us\"\nclass = \"background\"\n";
    let text = incast(scheme).replace("period = \"1s\"", "period = \"50us\"\nstop = \"300us\"");
    text + background
}

fn assert_all_arrived(run: &Run, rows: &[FlowRow], scheme: &str) {
    assert_eq!(rows.len(), FLOWS, "{scheme}: flows that finished");
    assert_eq!(rows.iter().map(|row| row.size_bytes).sum::<u64>(), BYTES);
    assert_eq!(received_bytes(run), BYTES, "{scheme}: bytes received");
    let again = over_hosts(run, |stats| stats.retransmitted + stats.repeated_acks);
    assert_eq!(again, 0, "{scheme}: sent again");
    assert_eq!(over_switches(run, |switch| switch.stats().drops), 0, "{scheme}: drops");
}

/// No packet is left anywhere, and no port waits for a resume.
fn assert_at_rest(run: &Run, scheme: &str) {
    for partition in run.simulation().partitions() {
        assert!(partition.fabric().packets.is_empty(), "{scheme}: packets are left");
        assert!(partition.hosts().nics().iter().all(|nic| nic.paused() == 0), "{scheme}: a NIC");
        for (node, switch) in partition.switches() {
            assert_eq!(switch.used_bytes(), 0, "{scheme}: bytes left in switch {node}");
            for (number, port) in switch.egress().iter().enumerate() {
                let held = switch.holds_paused(number as u16);
                assert_eq!((port.paused(), held), (0, 0), "{scheme}: switch {node} port {number}");
                assert_eq!(port.total_bytes(), 0, "{scheme}: switch {node} port {number}");
            }
        }
    }
}

#[test]
fn pfc_loses_nothing_in_a_100_to_1_incast_with_the_papers_buffer() {
    for scheme in ["pfc", "dctcp", "dcqcn", "dcqcn-rdma15", "hpcc"] {
        let (run, rows) = run(&incast(scheme), &[]);
        assert_all_arrived(&run, &rows, scheme);
        assert_at_rest(&run, scheme);
        let pauses = over_switches(&run, |switch| switch.stats().pauses);
        assert!(scheme != "pfc" || pauses > 0, "nothing was ever paused");
    }
}

/// Without PFC the same incast loses packets, so the test above can fail.
#[test]
fn without_pfc_the_same_incast_drops() {
    let (run, _) = run(&incast("pfc"), &["switch.hop=\"none\"", "run.drain=\"0us\""]);
    assert!(over_switches(&run, |switch| switch.stats().drops) > 1000);
}

#[test]
fn bfc_loses_nothing_and_every_pause_is_resumed() {
    for scheme in ["bfc", "bfc-128", "bfc-stochastic", "bfc-single", "bfc-tofino"] {
        let (run, rows) = run(&incast(scheme), &[]);
        assert_all_arrived(&run, &rows, scheme);
        assert_at_rest(&run, scheme);
        let stats = bfc_stats(&run);
        assert!(stats.frames.pauses > 100, "{scheme}: {stats:?}");
        assert_eq!(stats.frames.pauses, stats.frames.resumes, "{scheme}: {stats:?}");
    }
}

#[test]
fn lost_pauses_and_resumes_heal_by_the_bitmap() {
    for loss in ["0.02", "0.2"] {
        let loss = format!("faults.control_loss={loss}");
        let (run, rows) = run(&incast("bfc"), &[&loss]);
        assert!(over_switches(&run, |switch| switch.stats().control_lost) > 10, "{loss}");
        assert_eq!(rows.len(), FLOWS, "{loss}");
        assert_eq!(over_hosts(&run, |stats| stats.timeouts), 0, "{loss}: not by timeouts");
        assert_eq!(over_switches(&run, |switch| switch.stats().drops), 0, "{loss}");
    }
}

/// The bitmap heals the loss: without a refresh a lost resume holds its queue until the end.
#[test]
fn without_the_bitmap_a_lost_resume_is_forever_and_the_run_says_where() {
    let mut run = open(
        &incast("bfc"),
        &["faults.control_loss=0.2", "bfc.refresh_period=\"10s\"", "run.watchdog=\"2ms\""],
    );
    let stuck = loop {
        match run.step() {
            Ok(more) => assert!(more, "the run ended"),
            Err(message) => break message,
        }
    };
    for part in ["the run is stuck", "flow ", "host ", "NIC queue ", "switch ", "port ", "paused"] {
        assert!(stuck.contains(part), "{part:?} is missing:\n{stuck}");
    }
}

#[test]
fn perfect_recovery_sends_each_dropped_packet_once_more() {
    for text in [incast("hpcc-pfc"), incast_and_more("hpcc-pfc")] {
        let (run, rows) = run(&text, &["buffer.size=\"500KB\""]);
        let drops = over_switches(&run, |switch| switch.stats().drops);
        assert!(drops > 100, "{drops}");
        let again = over_hosts(&run, |stats| stats.retransmitted + stats.repeated_acks);
        assert_eq!(again, drops);
        assert_eq!(rows.len() as u64, run.progress().flows_started);
        assert_at_rest(&run, "hpcc-pfc");
    }
}

/// Selective repeat as in IRN, with switches that drop.
const LOSSY_IRN: [&str; 4] = [
    "switch.hop=\"none\"",
    "buffer.size=\"500KB\"",
    "transport.recovery=\"selective-repeat\"",
    "transport.timeout=\"320us\"",
];

#[test]
fn every_byte_gets_through_a_small_buffer() {
    let lossy = ["switch.hop=\"none\"", "transport.timeout=\"1ms\"", "buffer.size=\"500KB\""];
    let cases = [
        ("pfc", &lossy[..], incast("pfc")),
        ("dctcp", &lossy[..], incast_and_more("dctcp")),
        ("pfc", &LOSSY_IRN[..], incast("pfc")),
        ("dctcp", &LOSSY_IRN[..], incast_and_more("dctcp")),
        ("hpcc", &LOSSY_IRN[..], incast_and_more("hpcc")),
        ("bfc", &["buffer.size=\"200KB\"", "run.drain=\"1s\""][..], incast("bfc")),
    ];
    for (scheme, overrides, text) in cases {
        let mut run = open(&text, overrides);
        let rows = finish(&mut run);
        assert!(over_switches(&run, |switch| switch.stats().drops) > 100, "{scheme}");
        let started = run.progress().flows_started;
        assert_eq!(rows.len() as u64, started, "{scheme}: flows that finished");
        let sizes: u64 = rows.iter().map(|row| row.size_bytes).sum();
        assert!(received_bytes(&run) >= sizes, "{scheme}");
    }
}

/// Selective repeat keeps packets that go-back-N discards: it sends little more than was dropped.
#[test]
fn selective_repeat_sends_again_little_more_than_was_dropped() {
    let repeats_per_drop = |overrides: &[&str]| {
        let (run, _) = run(&incast("hpcc"), overrides);
        let drops = over_switches(&run, |switch| switch.stats().drops);
        assert!(drops > 100, "{drops}");
        over_hosts(&run, |stats| stats.retransmitted) as f64 / drops as f64
    };
    let go_back_n = ["switch.hop=\"none\"", "buffer.size=\"500KB\"", "transport.timeout=\"320us\""];
    let (kept, thrown) = (repeats_per_drop(&LOSSY_IRN), repeats_per_drop(&go_back_n));
    assert!(kept < 1.1 && thrown > 1.2, "{kept} {thrown}");
}
