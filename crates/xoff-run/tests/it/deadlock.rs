//! Pauses that form cycles: that they do where routes turn down and up again, that a run which
//! they stop says so, and that it goes on where they are left out (BFC App. B).

use crate::common::{bfc_stats, finish, open, open_on, over_switches, run};
use xoff_net::arch::Switch;
use xoff_run::Run;
use xoff_scenario::Memory;
use xoff_sim::Threads;

/// Two spines, and two links that are down. Leaf 0 (hosts 0 to 7) reaches leaf 1 (8 to 15) only
/// through spine 1, a third leaf and spine 0. With the packets between leaves 2 and 3 this closes a
/// cycle in each direction: spine 0, leaf 2, spine 1, leaf 3.
const NETWORK: &str = r#"
leaf_spine = { leaves = 4, spines = 2, hosts_per_leaf = 8 }
run = { warmup = "0us", measure = "1ms", drain = "200ms", watchdog = "20ms" }
[[fault]]
kind = "link-down"
link = "leaf:0,spine:0"
detection = "0us"
[[fault]]
kind = "link-down"
link = "leaf:1,spine:1"
detection = "0us"
"#;

/// Each host of leaf `src` sends to two hosts of leaf `dst`.
fn many(src: u32, dst: u32) -> String {
    (0..8)
        .map(|number| {
            let (from, to) = (8 * src + number, 8 * dst + number % 2);
            format!("[[traffic]]\nkind = \"long\"\nsrc = {from}\ndst = {to}\nbytes = \"2MB\"\n")
        })
        .collect()
}

/// Traffic along both cycles that exceeds the capacity of the links.
fn around(scheme: &str) -> String {
    let pairs = [(0, 1), (1, 0), (2, 3), (3, 2)];
    let flows: String = pairs.map(|(src, dst)| many(src, dst)).concat();
    format!("scheme = \"{scheme}\"\n{NETWORK}{flows}")
}

const FLOWS: usize = 32;

fn stuck(mut run: Run) -> String {
    loop {
        match run.step() {
            Ok(more) => assert!(more, "the run ended"),
            Err(message) => break message,
        }
    }
}

#[test]
fn pfc_hangs_where_routes_turn_down_and_up_and_the_run_names_the_cycle() {
    let said = stuck(open(&around("pfc"), &[]));
    let cycle = ": 4 egress ports wait for each other in cycles. A shortest cycle: ";
    for part in [
        "the run is stuck: at ".to_owned(),
        format!("a deadlock{cycle}leaf:2 -> spine:0 -> leaf:3 -> spine:1 -> leaf:2"),
        format!("a deadlock{cycle}leaf:2 -> spine:1 -> leaf:3 -> spine:0 -> leaf:2"),
    ] {
        assert!(said.contains(&part), "{part:?} is missing:\n{said}");
    }
}

/// A run that is stuck for another reason names no cycle.
#[test]
fn without_a_cycle_none_is_named() {
    let text = around("bfc");
    let sets = ["faults.control_loss=0.2", "bfc.refresh_period=10s", "transport.timeout=10s"];
    let said = stuck(open(&text, &[&sets[..], &["switch.elide=bounces"]].concat()));
    assert!(said.contains("the run is stuck") && !said.contains("a deadlock"), "{said}");
}

/// Nothing waits in any switch, and nothing is paused.
fn at_rest(run: &Run) {
    for (node, switch) in run.simulation().partitions().iter().flat_map(|part| part.switches()) {
        for (number, port) in switch.egress().iter().enumerate() {
            let left = (port.total_bytes(), port.paused(), switch.holds_paused(number as u16));
            assert_eq!(left, (0, 0, 0), "switch {node} port {number}");
        }
    }
}

/// Pairs without backpressure, and their packets, from the summary.
fn elided(run: &Run) -> (usize, u64) {
    let elision = run.summary().elision.expect("pairs without backpressure");
    (elision.pairs, elision.packets)
}

/// With either table the network drains. The pairs of the cycles are the only places where packets
/// bounce here. Half of the flows bounce, with each of their packets. Only these packets may be
/// lost.
#[test]
fn it_drains_where_the_bounces_pause_nobody() {
    let outcome = |elide: &str| {
        let (run, rows) = run(&around("pfc"), &[elide]);
        assert_eq!(rows.len(), FLOWS);
        at_rest(&run);
        assert!(over_switches(&run, |switch| switch.stats().pauses) > 0);
        (elided(&run), run.digest(), over_switches(&run, |switch| switch.stats().drops))
    };
    let [cycles, bounces] = ["switch.elide=cycles", "switch.elide=bounces"].map(outcome);
    assert_eq!((cycles.0.0, bounces.0.0), (4, 16));
    assert_eq!((cycles.0.1, cycles.1), (bounces.0.1, bounces.1));
    assert!(cycles.0.1 >= 16 * 2_000 && cycles.2 > 0, "{cycles:?}");
}

/// A millisecond (ps).
const MS: u64 = 1_000_000_000;

/// The watchdog of switches breaks the cycles, by dropping or by sending the packets that wait in
/// them, and senders repeat what is lost.
#[test]
fn a_watchdog_of_pfc_breaks_deadlocks() {
    let sets = |action: &str, parts: usize| {
        [
            format!("pfc.watchdog={action}"),
            "pfc.watchdog_detection=1ms".into(),
            "pfc.watchdog_restoration=1ms".into(),
            "transport.timeout=5ms".into(),
            format!("run.partitions={parts}"),
        ]
    };
    for action in ["drop", "forward"] {
        let outcome = |parts: usize| {
            let sets = sets(action, parts);
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            let mut run = open_on(Threads::up_to(parts), &around("pfc"), &sets);
            let rows = finish(&mut run);
            let stuck = std::mem::take(&mut run.rows().stuck_queues);
            assert_eq!(rows.len(), FLOWS, "{action}");
            at_rest(&run);
            let found = run.summary().pfc.watchdog.expect("a watchdog");
            let drops = over_switches(&run, |switch| switch.stats().drops);
            assert!(found.stuck_queues >= 2, "{action} {found:?}");
            assert_eq!(stuck.len() as u64, found.stuck_queues);
            for row in &stuck {
                // A port of a spine or of leaf 2 or 3, which detects at once and is restored at
                // the earliest after the time for it.
                assert!(row.node >= 34 && row.released_ps - row.paused_ps >= MS, "{row:?}");
                assert!(row.restored_ps - row.released_ps >= MS, "{row:?}");
            }
            assert!(found.dropped_packets <= drops && drops > 0, "{action} {found:?}");
            assert_eq!(found.dropped_packets > 0, action == "drop", "{action} {found:?}");
            (run.digest(), run.summary().json(), rows, stuck)
        };
        let whole = outcome(1);
        assert!([2, 3].iter().all(|&parts| outcome(parts) == whole), "{action}");
    }
}

/// Pauses of a loaded network end long before the watchdog looks.
#[test]
fn a_watchdog_changes_nothing_without_a_deadlock() {
    let text = around("pfc");
    let text = text.split("[[fault]]").next().unwrap_or_default().to_owned() + &many(0, 1);
    let timeout = "transport.timeout=10ms";
    let sets = [timeout, "pfc.watchdog=drop", "pfc.watchdog_detection=5ms"];
    let (watched, rows) = run(&text, &sets);
    assert!(over_switches(&watched, |switch| switch.stats().pauses) > 0 && rows.len() == 8);
    assert_eq!(watched.digest(), run(&text, &[timeout]).0.digest());
    assert_eq!(watched.summary().pfc.watchdog.map(|found| found.stuck_queues), Some(0));
}

#[test]
fn a_watchdog_that_cannot_be_is_refused() {
    for (sets, said) in [
        (&["pfc.watchdog_detection=1ms"][..], "pfc.watchdog = \"off\""),
        (&["pfc.watchdog=drop", "pfc.watchdog_detection=0ps"], "must be more than zero"),
        (&["pfc.watchdog=drop", "switch.elide=cycles"], "pfc.watchdog breaks deadlocks"),
        (&["pfc.watchdog=drop"], "waits for them without limit: set transport.timeout = \"10ms\""),
    ] {
        let sets: Vec<String> = sets.iter().map(|&set| set.into()).collect();
        let problems = Run::open(&around("pfc"), "test.toml", &sets, Threads::ONE).err();
        let problems = problems.expect("it is accepted").to_string();
        assert!(problems.contains(said), "{said}:\n{problems}");
    }
}

#[test]
fn a_table_does_not_depend_on_how_the_network_is_cut() {
    let outcome = |threads, parts: &str| {
        let mut run = open_on(threads, &around("pfc"), &["switch.elide=cycles", parts]);
        let rows = finish(&mut run);
        (run.digest(), run.summary().json(), rows)
    };
    let whole = outcome(Threads::ONE, "run.partitions=1");
    for (parts, count) in [(2, 1), (3, 3)] {
        let threads = Threads { count, jitter: Some((7, 30)), ..Threads::ONE };
        assert!(outcome(threads, &format!("run.partitions={parts}")) == whole, "{parts} parts");
    }
}

/// In a Clos network with routes that go up and then down no pair closes a cycle. A table of cycles
/// is empty, a table of the rule is never used, and neither changes the results.
#[test]
fn tables_change_nothing_where_no_packet_bounces() {
    let text = around("pfc").replace("[[fault]]", "[[nothing]]");
    let text: String = text.split("[[nothing]]").next().unwrap_or_default().to_owned();
    let flows: String = [(0, 1), (2, 3)].map(|(src, dst)| many(src, dst)).concat();
    for scheme in ["pfc", "bfc"] {
        let digest = |elide: &str| {
            let sets = [format!("scheme={scheme}"), format!("switch.elide={elide}")];
            run(&format!("{text}{flows}"), &[&sets[0], &sets[1]]).0.digest()
        };
        let plain = digest("none");
        assert_eq!([digest("cycles"), digest("bounces")], [plain, plain], "{scheme}");
    }
}

#[test]
fn check_names_cycles_and_pairs() {
    let check = |sets: &[&str], any_link| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_string()).collect();
        xoff_run::backpressure(&around("pfc"), "test.toml", &sets, any_link, Memory::of_machine())
            .unwrap()
    };
    let text = check(&[], false).unwrap();
    for line in [
        "# Backpressure of PFC: 48 egress ports of switches. ",
        "#   at the start: ",
        " edges, cycles in 2 places\n",
        "#     4 ports, such as leaf:2 -> spine:0 -> leaf:3 -> spine:1 -> leaf:2\n",
        "#   without backpressure for 4 pairs of ports there are no cycles; set \
         switch.elide = \"cycles\" or ",
        "#     leaf:2, from spine:0 to spine:1\n",
    ] {
        assert!(text.contains(line), "{line:?} is missing:\n{text}");
    }
    let done = check(&["switch.elide=bounces"], false).unwrap();
    assert!(done.contains("; switch.elide leaves out enough pairs"), "{done}");
    let any = check(&[], true).unwrap();
    assert!(any.contains("with any one link between switches down: "), "{any}");
    assert_eq!(check(&["scheme=dctcp", "switch.hop=none"], false), None);
    assert!(check(&["scheme=bfc"], false).is_some_and(|text| text.contains("of BFC")));
}

/// BFC also deadlocks if there is a cycle: "BFC is deadlock-free if G(V, E) does not contain any
/// cycles" (App. B, theorem 1). With one queue per port all flows wait for each other; with 31 most
/// do not share a queue.
#[test]
fn bfc_hangs_in_a_cycle_of_queues_and_drains_without() {
    let single = ["bfc.assignment=single", "transport.timeout=1s"];
    let said = stuck(open(&around("bfc"), &single));
    assert!(said.contains("a deadlock: 4 egress ports wait for each other in cycles."), "{said}");
    assert!(said.contains("leaf:2 -> spine:0 -> leaf:3 -> spine:1 -> leaf:2"), "{said}");
    let sets = [&single[..1], &["switch.elide=cycles"]].concat();
    let (run, rows) = run(&around("bfc"), &sets);
    assert_eq!(rows.len(), FLOWS);
    at_rest(&run);
    assert!(bfc_stats(&run).frames.pauses > 0);
}

/// Flows between all hosts of a fabric with four spines. One link goes down, and switches notice
/// after a while. Packets on the way to the spine then return through another leaf.
const FAILS: &str = r#"
leaf_spine = { leaves = 4, spines = 4, hosts_per_leaf = 8 }
run = { warmup = "0us", measure = "1ms", drain = "200ms" }
[[traffic]]
kind = "open-loop"
arrivals = "poisson"
load = 0.7
stop = "1ms"
[[fault]]
kind = "link-down"
link = "leaf:0,spine:0"
at = "400us"
until = "700us"
detection = "50us"
"#;

/// "Usually the fraction of such packets is small (< 0.002%)" (App. B): only packets in flight
/// while switches change their routes bounce. The link loses packets but no switch does. When it is
/// back, both ends agree on their pauses again, and in the end nothing is paused.
#[test]
fn few_packets_bounce_when_one_link_fails() {
    let (pfc, bfc) = (&["pfc.threshold=0.005"][..], &[][..]);
    for (scheme, more, elide) in [
        ("pfc", pfc, "none"),
        ("pfc", pfc, "bounces"),
        ("bfc", bfc, "none"),
        ("bfc", bfc, "bounces"),
    ] {
        let (text, elide) =
            (format!("scheme = \"{scheme}\"\n{FAILS}"), format!("switch.elide={elide}"));
        let (run, rows) =
            run(&text, &[&[elide.as_str(), "transport.timeout=200us"], more].concat());
        let progress = run.progress();
        assert_eq!(progress.flows_started, progress.flows_finished, "{scheme} {elide}");
        assert!(rows.len() > 500, "{scheme}: {} flows", rows.len());
        assert_eq!(over_switches(&run, |switch| switch.stats().drops), 0, "{scheme} {elide}");
        assert!(over_switches(&run, |switch| switch.stats().pauses) > 100, "{scheme} {elide}");
        assert!(run.ports().iter().any(|port| port.drops > 0), "{scheme}: the link lost nothing");
        at_rest(&run);
        if elide == "switch.elide=bounces" {
            let (pairs, packets) = elided(&run);
            assert_eq!(pairs, 4 * 4 * 4);
            assert!((1..200).contains(&packets), "{scheme}: {packets}");
        }
    }
}

#[test]
fn what_cannot_be_left_out_is_refused() {
    for (sets, said) in [
        (&["scheme=ideal-fq", "switch.elide=cycles"][..], "has no backpressure to leave out"),
        (&["scheme=sfc", "switch.elide=bounces"], "switch.hop = \"sfc\" has no backpressure"),
        (
            &["scheme=bfc", "bfc.backpressure=none", "switch.elide=cycles"],
            "leaves out pauses by counters",
        ),
        (
            &["scheme=bfc", "network.topology=dumbbell", "switch.elide=bounces"],
            "needs layers, but a link joins leaf:0 and leaf:1, which are of one layer: set elide = \
             \"cycles\"",
        ),
    ] {
        let text = "run = { warmup = \"0us\", measure = \"20us\" }\n[[traffic]]\nkind = \"long\"\n\
                    src = 0\ndst = 2\nbytes = \"1MB\"\n";
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_string()).collect();
        let Err(problems) = Run::open(text, "test.toml", &sets, Threads::ONE) else {
            panic!("{sets:?} is accepted");
        };
        assert!(problems.to_string().contains(said), "{said}:\n{problems}");
    }
}
