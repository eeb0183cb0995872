//! BFC's variants: pauses of flows (§3.3.2), the strawman (§3.2), labelled incasts (App. A.7), and
//! its queues without pauses (§6.4).

use crate::common::{bfc_stats, over_hosts, over_switches, received_bytes, run};
use xoff_net::arch::Switch;
use xoff_net::hop::AnyHop;
use xoff_run::Run;
use xoff_sim::FlowRow;

/// The time of a flow of `bytes` at 100 Gb/s, in full frames (ps).
fn at_line_rate(bytes: u64) -> f64 {
    bytes as f64 * 1048.0 / 1000.0 * 80.0
}

fn fct(rows: &[FlowRow], class: u16) -> f64 {
    let row = rows.iter().find(|row| row.class == class).expect("a flow of this class has ended");
    row.fct_ps as f64
}

/// A 100-to-1 incast of 20 MB on BFC's fabric.
const INCAST: &str = "[run]\nwarmup = \"0us\"\nmeasure = \"5ms\"\n\
                      [[traffic]]\nkind = \"incast\"\nperiod = \"1s\"\n";

/// No flow and no queue is paused anywhere.
fn assert_all_released(run: &Run, scheme: &str) {
    for partition in run.simulation().partitions() {
        assert!(partition.fabric().packets.is_empty(), "{scheme}: packets are left");
        let released = |nic: &xoff_host::nic::Nic| nic.paused() == 0 && nic.held_flows() == 0;
        assert!(partition.hosts().nics().iter().all(released), "{scheme}: a NIC waits");
        for (node, switch) in partition.switches() {
            assert!(
                switch.egress().iter().all(|port| port.paused() == 0),
                "{scheme}: {node} waits"
            );
            if let Some(AnyHop::BfcFlows(bfc)) = switch.hop() {
                assert_eq!(bfc.paused_flows(), 0, "{scheme}: {node} holds flows");
            }
        }
    }
}

#[test]
fn no_variant_loses_anything_and_every_pause_is_resumed() {
    for (scheme, label) in [
        ("bfc-flow-id", "traffic.0.labelled=false"),
        ("bfc-strawman", "traffic.0.labelled=false"),
        ("bfc-incast-label", "traffic.0.labelled=true"),
    ] {
        let (run, rows) = run(INCAST, &[&format!("scheme={scheme}"), label]);
        assert_eq!((rows.len(), received_bytes(&run)), (100, 20_000_000), "{scheme}");
        assert_eq!(over_hosts(&run, |stats| stats.retransmitted), 0, "{scheme}");
        assert_eq!(over_switches(&run, |switch| switch.stats().drops), 0, "{scheme}");
        assert_all_released(&run, scheme);
        let frames = bfc_stats(&run).frames;
        assert!(frames.pauses > 20 && frames.pauses == frames.resumes, "{scheme}: {frames:?}");
        assert_eq!(frames.refreshes == 0, scheme == "bfc-flow-id", "{scheme}: {frames:?}");
    }
}

/// Host 0 sends to a host with nine other senders, and to an idle host. Its NIC has one queue for
/// both flows: a pause of the queue holds both, a pause of the flow holds only the first.
#[test]
fn a_flow_that_is_paused_itself_holds_no_other_of_its_queue() {
    let scenario = "network = { topology = \"star\" }\nstar = { hosts = 12 }\n\
                    [run]\nwarmup = \"0us\"\nmeasure = \"5ms\"\n\
                    [[traffic]]\nkind = \"incast\"\nvictims = \"11\"\nsenders = \"0-9\"\n\
                    degree = 10\n\
                    bytes = \"10MB\"\nperiod = \"1s\"\n\
                    [[traffic]]\nkind = \"incast\"\nvictims = \"10\"\nsenders = \"0\"\ndegree = 1\n\
                    bytes = \"1MB\"\nperiod = \"1s\"\nclass = \"idle\"\n";
    let of_idle = |backpressure: &str| {
        let backpressure = format!("bfc.backpressure={backpressure}");
        let overrides = ["scheme=bfc", "bfc.queues=2", backpressure.as_str()];
        let (_, rows) = run(scenario, &overrides);
        fct(&rows, 1) / at_line_rate(1_000_000)
    };
    let (queues, flows) = (of_idle("queues"), of_idle("flows"));
    // The two flows share the NIC's link while the first is allowed to send.
    assert!(flows < 1.3, "{flows} times as long as alone");
    assert!(queues > 4.0, "{queues} times as long as alone");
}

/// "allowing the scheduler to share the link between incast and non-incast traffic more fairly"
/// (App. A.7): next to ten flows of an incast a flow has half of the link, not an eleventh.
#[test]
fn a_labelled_incast_is_one_flow_to_the_scheduler() {
    let scenario = "network = { topology = \"star\" }\nstar = { hosts = 12 }\n\
                    [run]\nwarmup = \"0us\"\nmeasure = \"10ms\"\n\
                    [[traffic]]\nkind = \"incast\"\nvictims = \"11\"\nsenders = \"1-10\"\n\
                    degree = 10\n\
                    bytes = \"40MB\"\nperiod = \"1s\"\n\
                    [[traffic]]\nkind = \"incast\"\nvictims = \"11\"\nsenders = \"0\"\ndegree = 1\n\
                    bytes = \"2MB\"\nperiod = \"1s\"\nclass = \"other\"\n";
    let share = |scheme: &str, labelled: bool| {
        let overrides = [format!("scheme={scheme}"), format!("traffic.0.labelled={labelled}")];
        let (_, rows) = run(scenario, &overrides.each_ref().map(String::as_str));
        at_line_rate(2_000_000) / fct(&rows, 1)
    };
    let (labelled, fair) = (share("bfc-incast-label", true), share("bfc", false));
    // Every second turn, with one in five missed: its sender is twice as fast as its queue drains,
    // so pauses let it run dry for 0.2 of the time (App. C, x = 2).
    assert!((labelled - 0.5 * 0.8).abs() < 0.02, "{labelled}");
    assert!((fair - 1.0 / 11.0).abs() < 0.01, "{fair}");
}

/// HPCC over BFC's queues: nothing is paused, and assigned flows have separate queues. HPCC still
/// sees the bytes of the whole port, so it sends no more than with one queue.
#[test]
fn queues_without_backpressure_pause_nobody() {
    let scenario = "network = { topology = \"star\" }\nstar = { hosts = 12 }\n\
                    [run]\nwarmup = \"0us\"\nmeasure = \"2ms\"\n\
                    [[traffic]]\nkind = \"incast\"\nvictims = \"11\"\nsenders = \"0-9\"\n\
                    degree = 10\n\
                    bytes = \"10MB\"\nperiod = \"1s\"\n";
    let mut queues = Vec::new();
    for scheme in ["hpcc-pfc", "hpcc-pfc-sfq", "hpcc-pfc-dqa"] {
        let (run, rows) = run(scenario, &[&format!("scheme={scheme}")]);
        assert_eq!(rows.len(), 10, "{scheme}");
        assert_eq!(over_switches(&run, |switch| switch.stats().pauses), 0, "{scheme}");
        assert!(run.simulation().partitions()[0].hosts().nics()[0].paused_time().pauses() == 0);
        queues.push(run.simulation().buffer().mean());
        let stats = bfc_stats(&run).assignment;
        match scheme {
            "hpcc-pfc" => assert_eq!(stats.assignments, 0),
            "hpcc-pfc-sfq" => assert!(stats.collisions > 0, "{stats:?}"),
            // Ten flows, 32 queues, 3200 entries.
            _ => assert!(stats.assignments > 0 && stats.collisions == 0, "{stats:?}"),
        }
    }
    assert!(queues.iter().all(|mean| (mean / queues[0] - 1.0).abs() < 0.3), "{queues:?}");
}

/// Frames in the summary: 64 B each, and a small share of all bytes sent even if every sender is
/// paused.
#[test]
fn frames_are_few_bytes() {
    let (run, _) = run(INCAST, &["scheme=bfc"]);
    let frames = bfc_stats(&run).frames;
    let bfc = run.summary().bfc.expect("BFC's queues");
    assert_eq!(bfc.frame_bytes, frames.all() * 64);
    assert!(bfc.frame_bytes_share > 0.0 && bfc.frame_bytes_share < 0.03, "{bfc:?}");
}
