//! Invariants hold in every preset, and checks change no result.

use crate::common::{for_fast_links, open};
use xoff_core::invariant::{Part, Recent};
use xoff_core::{FlowId, NodeId};
use xoff_run::Run;
use xoff_scenario::presets;

/// Flows in all directions, and incasts that fill queues and cause pauses and losses.
fn scenario(scheme: &str) -> String {
    format!(
        "scheme = \"{scheme}\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"30us\"\ndrain = \"1ms\"\n\
         [[traffic]]\nkind = \"open-loop\"\nload = 0.6\nstop = \"30us\"\n\
         [[traffic]]\nkind = \"incast\"\ndegree = 40\nbytes = \"2MB\"\nperiod = \"20us\"\n\
         stop = \"30us\"\n"
    )
}

fn finish(mut run: Run, what: &str) -> u64 {
    while run.step().unwrap_or_else(|message| panic!("{what}: {message}")) {}
    assert_eq!(run.simulation().violation(), None, "{what}");
    run.digest()
}

#[test]
fn invariants_hold_in_every_preset_and_checks_change_nothing() {
    for (scheme, _) in presets() {
        let sets = for_fast_links(&scheme);
        let plain = finish(open(&scenario(&scheme), sets), &scheme);
        for checks in ["run.partitions=1", "run.partitions=3"] {
            let sets = [sets, &["run.check_invariants=true", checks]].concat();
            let run = open(&scenario(&scheme), &sets);
            assert_eq!(plain, finish(run, &format!("{scheme} {checks}")), "{scheme}: digest");
        }
    }
}

/// The pauses that a slow host sends to its switch pass its own queues by, also while the switch
/// pauses these.
#[test]
fn a_paused_host_may_pause_its_switch() {
    let flows: String = [(0, 1), (1, 0), (2, 0), (2, 1)]
        .map(|(src, dst)| format!("[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = {dst}\n"))
        .concat();
    let text = format!(
        "scheme = \"pfc\"\n[network]\ntopology = \"star\"\n[star]\nhosts = 3\ndelay = \"5us\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"1ms\"\ndrain = \"0us\"\ngrid = \"1us\"\n\
         check_invariants = true\n\
         [buffer]\nsize = \"1MB\"\n[nic]\nreceive_rate = \"40Gbps\"\nreceive_xoff = \"4KB\"\n\
         receive_xon = \"2KB\"\n{flows}"
    );
    let mut run = open(&text, &[]);
    while run.step().unwrap_or_else(|message| panic!("{message}")) {}
    assert_eq!(run.simulation().violation(), None);
    for nic in &run.simulation().partitions()[0].hosts().nics()[..2] {
        assert!(nic.paused_time().pauses() > 0, "the switch does not pause the host");
    }
}

/// Two flows to one host, which fill a switch until it pauses the ports that send.
fn congested(sets: &[&str]) -> Run {
    let text = "scheme = \"pfc\"\n\
         [network]\ntopology = \"leaf-spine\"\n\
         [leaf_spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"60us\"\ndrain = \"1ms\"\ncheck_invariants = true\n\
         [buffer]\nsize = \"200KB\"\n\
         [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 3\n\
         [[traffic]]\nkind = \"long\"\nsrc = 2\ndst = 3\n";
    let mut run = open(text, sets);
    for _ in 0..3 {
        run.step().unwrap_or_else(|message| panic!("{message}"));
    }
    run
}

fn recent(run: &Run, part: Part) -> String {
    let Recent { of, events } = run.simulation().recent_events(part);
    format!("{of}\n{}", events.join("\n"))
}

fn port(node: u32, number: u16) -> Part {
    Part::port(number).of(Part::node(NodeId(node)))
}

/// The end of a report.
fn last(report: &str, lines: usize) -> String {
    let all: Vec<_> = report.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[test]
fn recent_events_are_those_of_a_part() {
    let run = congested(&[]);
    let data = |byte: u32| {
        format!("Data packet of flow 1 from host 2 to host 3, byte {byte}, 1048 bytes, queue 0")
    };
    let ack = |byte: u32, queue: u8| {
        format!("Ack packet of flow 1 from host 3 to host 2, byte {byte}, 60 bytes, queue {queue}")
    };
    let (to_2, to_3) = ("switch leaf:1, port 0 to 2", "switch leaf:1, port 1 to 3");
    let of_port = recent(&run, port(5, 0));
    assert!(
        of_port.starts_with(&format!("{to_2}\n")) && of_port.lines().count() == 17,
        "{of_port}"
    );
    let expected = [
        format!("29.819840us  arrived at {to_2}: {}", data(194_000)),
        format!("29.903360us  sent by {to_2}: {}", ack(165_000, 0)),
        format!("29.903680us  arrived at {to_2}: {}", data(195_000)),
        format!("29.987520us  arrived at {to_2}: {}", data(196_000)),
    ];
    assert_eq!(last(&of_port, 4), expected.join("\n"));
    let of_flow = recent(&run, Part::flow(FlowId(1)));
    assert!(of_flow.starts_with("flow 1\n"), "{of_flow}");
    let expected = [
        format!("29.904640us  arrived at host 3, port 0 to leaf:1: {}", data(170_000)),
        format!("29.904640us  sent by host 3, port 0 to leaf:1: {}", ack(171_000, 255)),
        format!("29.987520us  arrived at {to_2}: {}", data(196_000)),
        format!("29.987520us  joined a queue of {to_3}: {}", data(196_000)),
        format!("29.994560us  sent by {to_3}: {}", data(177_000)),
    ];
    assert_eq!(last(&of_flow, 5), expected.join("\n"));
    assert_eq!(recent(&run, Part::queue(1).of(port(5, 0))), format!("{to_2}, queue 1\n"));
    assert_eq!(recent(&run, Part::default()), "\n");
}

#[test]
fn recent_events_do_not_depend_on_the_partitions() {
    let nodes = (0..7).map(|node| Part::node(NodeId(node)));
    let ports = (4..7).flat_map(|node| (0..2).map(move |number| port(node, number)));
    let flows = (0..2).map(|flow| Part::flow(FlowId(flow)));
    let parts: Vec<_> = nodes.chain(ports).chain(flows).collect();
    let events = |partitions: &str| {
        let run = congested(&["run.grid=1us", partitions]);
        parts.iter().map(|&part| recent(&run, part)).collect::<Vec<_>>()
    };
    let uncut = events("run.partitions=1");
    assert!(uncut.iter().any(|text| text.lines().count() == 17), "no part has 16 events");
    for partitions in ["run.partitions=2", "run.partitions=3"] {
        assert_eq!(uncut, events(partitions), "{partitions}");
    }
}

#[test]
fn a_dropped_packet_is_a_recent_event() {
    let mut run = open(&scenario("pfabric"), &["run.check_invariants=true"]);
    let mut dropped = 0;
    for _ in 0..3 {
        run.step().unwrap_or_else(|message| panic!("{message}"));
        let ports = (128..136).flat_map(|node| (0..32).map(move |number| port(node, number)));
        let events = ports.map(|part| recent(&run, part)).collect::<String>();
        dropped += events.matches("us  dropped that had arrived at switch ").count();
    }
    assert!(dropped > 0, "no dropped packet is listed");
}
