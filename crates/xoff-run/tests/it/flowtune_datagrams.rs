//! Flowtune's messages in the datagrams of real hosts: the same rates as with connections, and what
//! the protocol promises under losses, restarts and silence.

use std::collections::BTreeMap;

use xoff_core::HostId;
use xoff_run::Run;
use xoff_sim::flowtune::FlowtuneCounts;
use xoff_sim::{FlowRow, Threads};

use crate::common::{finish, open, run};

const US: u64 = 1_000_000;

/// Two racks of four under two spines, with the paper's round trips.
const FABRIC: &str = "scheme = \"flowtune\"\n\
                      [flowtune]\ncontrol = \"udp\"\n\
                      [leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
                      host_rate = \"10Gbps\"\nspine_rate = \"10Gbps\"\n\
                      host_delay = \"3500ns\"\nspine_delay = \"2us\"\n\
                      [run]\nwarmup = \"0us\"\nmeasure = \"5ms\"\n";

const LOADED: &str = "[[traffic]]\nkind = \"open-loop\"\nsizes = \"hadoop\"\nload = 0.5\n\
                      load_on = \"hosts\"\nstop = \"1ms\"\n";

/// Endless flows from servers of one rack to the servers of the other one.
fn endless() -> String {
    let pairs = [(0, 4), (0, 5), (1, 4), (2, 6), (2, 3), (3, 7), (7, 0), (6, 0), (5, 1)];
    let flow = |(src, dst)| {
        format!("[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = {dst}\nbytes = \"0B\"\n")
    };
    pairs.map(flow).concat()
}

fn counts(run: &Run) -> FlowtuneCounts {
    run.simulation().flowtune().expect("there is an allocator")
}

/// The rates of all flows (bit/s).
fn rates(run: &Run) -> BTreeMap<(HostId, HostId), u64> {
    let partitions = run.simulation().partitions().iter();
    let flows = partitions.flat_map(|part| part.hosts().alive()).filter(|flow| !flow.open);
    flows.map(|flow| ((flow.start.src, flow.start.dst), flow.pace.rate)).collect()
}

fn run_until(run: &mut Run, time: u64) {
    while run.progress().sim_ps < time {
        run.step().unwrap();
    }
}

/// Both transports of messages lead to the same rates. A message says more than 1 % of change.
#[test]
fn rates_are_those_of_connections() {
    let text = FABRIC.to_owned() + &endless();
    let settled = |control: &str| {
        let mut run = open(&text, &[&format!("flowtune.control={control}")]);
        finish(&mut run);
        rates(&run)
    };
    let (udp, tcp) = (settled("udp"), settled("tcp"));
    assert_eq!(udp.len(), 9);
    for (flow, rate) in udp {
        let difference = rate as f64 / tcp[&flow] as f64 - 1.0;
        assert!(difference.abs() < 0.02, "{flow:?}: {rate}, not {}", tcp[&flow]);
    }
}

/// A flowlet costs a report of its start and one of its end, in frames with 66 bytes of headers,
/// and each of these at least one answer.
#[test]
fn datagrams_have_their_bytes_on_the_wire() {
    let flow = "[[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 4\nbytes = \"1MB\"\n";
    let (run, rows) = run(&(FABRIC.to_owned() + flow), &[]);
    assert_eq!(rows.len(), 1);
    let FlowtuneCounts { allocators, agents, streams: [to, from, between] } = counts(&run);
    assert_eq!((agents.flowlets, allocators.flowlets, between.packets), (1, 1, 0));
    for stream in [to, from] {
        assert_eq!(stream.messages, stream.packets);
        assert_eq!((stream.repeated, stream.timeouts, stream.ack_wire_bytes), (0, 0, 0));
        assert_eq!(stream.wire_bytes, stream.message_bytes + 66 * stream.packets);
        // Eight servers say hello (56 B) and report once (72 B, 10 B more with a start); then the
        // one with a flow reports, and gets rates or their renewal every 25 us of the 0.85 ms.
        assert!((20..120).contains(&stream.packets), "{stream:?}");
    }
    assert_eq!((allocators.refused, agents.refused), (0, 0));
}

/// Control datagrams are lost: rates still converge, as on the way to real hosts. With many losses,
/// rates also expire for a while, so each flow must have its rate at some time, not at the end.
#[test]
fn rates_converge_whatever_is_lost() {
    let text = FABRIC.to_owned() + &endless();
    let start = |loss: &str| {
        let set = [&format!("flowtune.message_loss={loss}"), "run.measure=20ms"];
        open(&text, &set.map(|set| set as &str))
    };
    let mut run = start("0");
    finish(&mut run);
    let clean = rates(&run);
    for loss in ["0.1", "0.3", "0.5"] {
        let mut run = start(loss);
        run_until(&mut run, 10_000 * US);
        let mut missing = clean.clone();
        while run.step().unwrap() {
            for (flow, rate) in rates(&run) {
                missing.retain(|&other, &mut clean| {
                    other != flow || (rate as f64 / clean as f64 - 1.0).abs() >= 0.02
                });
            }
        }
        assert!(missing.is_empty(), "{loss}: never at {missing:?}");
        let [to, from, _] = counts(&run).streams;
        for stream in [to, from] {
            let lost = stream.lost as f64 / stream.packets as f64;
            let wanted: f64 = loss.parse().unwrap();
            assert!((lost / wanted - 1.0).abs() < 0.2, "{lost} of {wanted}");
        }
    }
}

/// All flows end, however much is lost.
#[test]
fn flows_end_whatever_is_lost() {
    let text = FABRIC.replace("5ms", "1ms") + LOADED;
    for loss in ["0", "0.1", "0.5", "0.95"] {
        let (run, rows) = run(&text, &[&format!("flowtune.message_loss={loss}")]);
        assert_eq!(rows.len() as u64, run.progress().flows_started, "{loss}");
        let slowest = rows.iter().map(FlowRow::slowdown).fold(0.0, f64::max);
        assert!(slowest < 50.0, "{loss}: {slowest}");
    }
}

/// The allocator stops: rates expire after their lifetime, and TCP continues. It restarts without
/// any state: resets tell servers so. They connect and report their flowlets again.
#[test]
fn a_restarted_allocator_gets_all_flowlets_again() {
    let text = FABRIC.to_owned() + &endless();
    let mut run = open(&text, &["flowtune.stop_at=1ms", "flowtune.resume_at=2ms"]);
    run_until(&mut run, 1000 * US);
    let before = rates(&run);
    // Paths are full, so a flow under its own control is not at its allocated rate.
    run_until(&mut run, 1900 * US);
    let agents = counts(&run).agents;
    assert_eq!((agents.expiries, agents.fallbacks), (7, 9), "{agents:?}");
    run_until(&mut run, 4900 * US);
    let counts = counts(&run);
    assert_eq!(counts.agents.flowlets, 9);
    assert_eq!(counts.allocators.flowlets, 18);
    for (flow, rate) in rates(&run) {
        let difference = rate as f64 / before[&flow] as f64 - 1.0;
        assert!(difference.abs() < 0.02, "{flow:?}: {rate}, not {}", before[&flow]);
    }
}

/// Content travels between partitions outside its packets.
#[test]
fn results_do_not_depend_on_partitions() {
    let text = FABRIC.replace("5ms", "1ms") + LOADED;
    let faults =
        ["flowtune.message_loss=0.1", "flowtune.stop_at=300us", "flowtune.resume_at=500us"];
    let digest = |parts: u32| {
        let parts = format!("run.partitions={parts}");
        let sets: Vec<&str> = faults.iter().copied().chain([parts.as_str()]).collect();
        let mut run = open(&text, &sets);
        let rows = finish(&mut run);
        let FlowtuneCounts { allocators, agents, streams } = counts(&run);
        (run.simulation().digest(), rows.len(), allocators, agents, streams)
    };
    let alone = digest(1);
    assert_eq!([2, 3].map(digest), [alone; 2]);
}

/// Each pod has an allocator. They tell each other of flowlets between pods in connections.
#[test]
fn allocators_of_pods_keep_connections_among_themselves() {
    let text = "scheme = \"flowtune\"\n\
                [flowtune]\ncontrol = \"udp\"\nallocators = \"per-pod\"\n\
                [network]\ntopology = \"fat-tree\"\n\
                [fat_tree]\nk = 4\n\
                [run]\nwarmup = \"0us\"\nmeasure = \"3ms\"\n\
                [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 15\nbytes = \"1MB\"\n";
    let (run, rows) = run(text, &[]);
    assert_eq!(rows.len(), 1);
    let [to, from, between] = counts(&run).streams;
    assert!(to.packets > 0 && from.packets > 0, "{to:?} {from:?}");
    assert!((2..10).contains(&between.messages), "{between:?}");
    assert!(between.ack_wire_bytes > 0, "{between:?}");
}

/// Settings that datagrams cannot have, or that have no effect on them.
#[test]
fn settings_that_datagrams_cannot_have_are_refused() {
    let refusals = [
        ("flowtune.min_rto=25us", "is not used because flowtune.control = \"udp\""),
        ("flowtune.max_rto=40us", "is not used because flowtune.control = \"udp\""),
        ("flowtune.start_before_allocation=false", "a flow whose report is lost would wait"),
        ("flowtune.lifetime=100500ns", "must be a whole number of them, not 100500ns"),
        ("flowtune.iteration=500ns", "so it must be at least 1us, not 500ns"),
        ("frame.payload=70B", "cannot hold a datagram with one flowlet"),
    ];
    for (set, reason) in refusals {
        let text = FABRIC.to_owned() + &endless();
        let problems = Run::open(&text, "test.toml", &[set.to_owned()], Threads::ONE).err();
        let problems = problems.unwrap_or_else(|| panic!("{set} is accepted")).to_string();
        assert!(problems.contains(reason), "{set}: {problems}");
    }
}
