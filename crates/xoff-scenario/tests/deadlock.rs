//! Pauses that go round in circles: that they do where routes turn down and up again, that a run which
//! they stop says so, and that it goes on where they are left out (BFC App. B).

mod common;

use common::{finish, open, open_on, over_switches, run};
use xoff_scenario::Run;
use xoff_sim::Threads;

/// Two spines, and two links that are down. Leaf 0 (hosts 0 to 7) reaches leaf 1 (8 to 15) by spine 1, a
/// third leaf and spine 0 only. With what leaves 2 and 3 send each other this closes a circle in each
/// direction: spine 0, leaf 2, spine 1, leaf 3.
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

/// All around the circles, more than the links can take.
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
fn pfc_hangs_where_routes_turn_down_and_up_and_the_run_names_the_circle() {
    let said = stuck(open(&around("pfc"), &[]));
    let circle = ": 4 egress ports wait for each other in circles. A shortest one: ";
    for part in [
        "the run is stuck: at ".to_owned(),
        format!("a deadlock{circle}leaf:2 -> spine:0 -> leaf:3 -> spine:1 -> leaf:2"),
        format!("a deadlock{circle}leaf:2 -> spine:1 -> leaf:3 -> spine:0 -> leaf:2"),
    ] {
        assert!(said.contains(&part), "{part:?} is missing:\n{said}");
    }
}

/// A run that is stuck for another reason names no circle.
#[test]
fn without_a_circle_none_is_named() {
    let text = around("bfc");
    let sets = ["faults.control_loss=0.2", "bfc.refresh_period=10s", "transport.timeout=10s"];
    let said = stuck(open(&text, &[&sets[..], &["switch.elide=bounces"]].concat()));
    assert!(said.contains("the run is stuck") && !said.contains("a deadlock"), "{said}");
}

/// All that was sent arrives, and nothing stays paused.
fn drains(run: &Run, rows: usize) {
    assert_eq!(rows, FLOWS);
    for (node, switch) in run.simulation().partitions().iter().flat_map(|part| part.switches()) {
        for (number, port) in xoff_net::arch::Switch::egress(switch).iter().enumerate() {
            assert_eq!((port.total_bytes(), port.paused()), (0, 0), "switch {node} port {number}");
        }
    }
}

fn summary(run: &Run, name: &str) -> String {
    let text = run.summary();
    let rest = text.split(&format!("\"{name}\": ")).nth(1).unwrap_or_default();
    rest.split('}').next().unwrap_or_default().to_owned()
}

/// With either table it drains: the pairs of the cycles are the only ones where packets bounce here.
/// These packets are the only ones that may be lost.
#[test]
fn it_drains_where_the_bounces_pause_nobody() {
    for (elide, pairs) in [("cycles", 4), ("bounces", 16)] {
        let set = format!("switch.elide={elide}");
        let (run, rows) = run(&around("pfc"), &[&set]);
        drains(&run, rows.len());
        let found = summary(&run, "elision");
        assert!(found.starts_with(&format!("{{\"pairs\": {pairs}, \"packets\": ")), "{found}");
        // Half of the flows bounce, each packet once; some are sent again.
        let packets: u64 =
            found.split("packets\": ").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
        let drops = over_switches(&run, |switch| switch.stats().drops);
        println!("{found} drops {drops}");
        assert!(packets >= 16 * 2_000, "{found}");
        assert!(over_switches(&run, |switch| switch.stats().pauses) > 0);
    }
}

#[test]
fn a_table_does_not_depend_on_how_the_network_is_cut() {
    let outcome = |threads, parts: &str| {
        let mut run = open_on(threads, &around("pfc"), &["switch.elide=cycles", parts]);
        let rows = finish(&mut run);
        (run.digest(), run.summary(), rows)
    };
    let whole = outcome(Threads::ONE, "run.partitions=1");
    for (parts, count) in [(2, 1), (3, 3)] {
        let threads = Threads { count, jitter: Some((7, 30)) };
        assert!(outcome(threads, &format!("run.partitions={parts}")) == whole, "{parts} parts");
    }
}

/// In a Clos network whose routes go up and then down no pair closes a cycle: a table of cycles is empty,
/// and a table of the rule is never used. Nothing is different with them.
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
        xoff_scenario::backpressure(&around("pfc"), "test.toml", &sets, any_link).unwrap()
    };
    let text = check(&[], false).unwrap();
    println!("{text}");
    for line in [
        "# Backpressure of PFC: 48 egress ports of switches; ",
        "#   from the start on: ",
        " edges, cycles in 2 places\n",
        "#     4 ports, such as leaf:2 -> spine:0 -> leaf:3 -> spine:1 -> leaf:2\n",
        "#   without backpressure for 4 pairs of ports there is none; switch.elide = \"cycles\" or ",
        "#     leaf:2, from spine:0 to spine:1\n",
    ] {
        assert!(text.contains(line), "{line:?} is missing:\n{text}");
    }
    let done = check(&["switch.elide=bounces"], false).unwrap();
    assert!(done.contains("; switch.elide leaves out as much as is needed"), "{done}");
    let any = check(&[], true).unwrap();
    println!("{any}");
    assert!(any.contains("with any one link between switches down: "), "{any}");
    assert_eq!(check(&["scheme=dctcp", "switch.hop=none"], false), None);
    assert!(check(&["scheme=bfc"], false).is_some_and(|text| text.contains("of BFC")));
}
