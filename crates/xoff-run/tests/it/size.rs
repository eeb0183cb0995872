//! Scenarios too large for memory are refused before they allocate it, and events that cannot
//! happen before the run waits for them.

use xoff_core::Bytes;
use xoff_core::knobs::{Field, Knob};
use xoff_core::seam::Seam;
use xoff_net::topo::TopologyConfig;
use xoff_run::{Run, check};
use xoff_scenario::{Memory, Resources};
use xoff_sim::Threads;
use xoff_workload::TrafficConfig;

const LOAD: &str = "scheme = \"ideal-fq\"\n\
    [[traffic]]\nkind = \"open-loop\"\nload = 0.5\nload_on = \"hosts\"\n";

/// Much less than a test may use, and enough for any of the small networks here.
const LITTLE: Bytes = Bytes(300_000_000);

fn checked(text: &str, sets: &[String]) -> Result<String, String> {
    check(text, "test.toml", sets, Memory::given(LITTLE)).map_err(|problems| problems.to_string())
}

fn refused(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    checked(text, &sets).expect_err("it is accepted")
}

#[test]
fn networks_that_do_not_fit_are_refused_at_the_setting_that_makes_them_large() {
    let all = u32::MAX;
    for (topology, key) in [
        ("leaf-spine", "leaf_spine.leaves"),
        ("leaf-spine", "leaf_spine.spines"),
        ("leaf-spine", "leaf_spine.hosts_per_leaf"),
        ("leaf-spine", "leaf_spine.links"),
        ("star", "star.hosts"),
        ("dumbbell", "dumbbell.side_hosts"),
        ("two-dc", "two_dc.leaves"),
        ("fat-tree", "fat_tree.hosts_per_edge"),
        ("fat-tree", "fat_tree.k"),
        ("torus", "torus.rows"),
        ("torus", "torus.hosts_per_switch"),
    ] {
        let set = format!("{key}={all}");
        let text = refused(LOAD, &[&format!("network.topology={topology}"), &set]);
        assert!(text.contains(&set) && text.contains("--set:1"), "{set}:\n{text}");
    }
}

#[test]
fn the_estimate_is_shown_with_the_limit_and_what_to_do() {
    let text = refused(LOAD, &["leaf_spine.leaves=2000", "leaf_spine.spines=2000"]);
    for said in [
        "needs about 1.7 GB of memory, for a network of 32000 hosts, 4000 switches and 4032000 \
         links",
        "the limit is 300 MB (--max-memory)",
        "help: make the network smaller: leaf_spine.leaves, leaf_spine.spines",
    ] {
        assert!(text.contains(said), "{said}:\n{text}");
    }
    let sets = ["star.hosts=60000", "network.topology=star", "scheme=bfc", "traffic.0.load=0.001"];
    let text = refused(LOAD, &sets);
    assert!(text.contains("of it for queues, tables and counters of 120000 ports"), "{text}");
    let resources = Resources { threads: Threads::ONE, memory: Memory::given(Bytes(1_000_000)) };
    assert!(Run::open(LOAD, "test.toml", &[], resources).is_err());
    let sets = ["run.monitor=\"0-127\"".into(), "run.link_delays=true".into()];
    assert!(checked(LOAD, &sets).is_ok());
}

#[test]
fn flows_that_do_not_fit_are_refused_at_their_source() {
    for traffic in [
        "kind = \"incast\"\ndegree = 100\nperiod = \"1ps\"",
        "kind = \"incast\"\ndegree = 100\nperiod = \"10ns\"",
        "kind = \"incast\"\ndegree = 4294967295\nbytes = \"100GB\"",
        "kind = \"incast\"\ndegree = 100\nperiod = \"1us\"\nspread = \"1s\"",
        "kind = \"elephants\"\ncount = 4294967295",
        "kind = \"queries\"\nrate = 1e9",
        "kind = \"successive\"\nflows = 65535",
    ] {
        let scenario = format!("{LOAD}[[traffic]]\n{traffic}\n");
        let text = refused(&scenario, &[]);
        let said = text.contains("flows of one source at a time; the limit")
            && text.contains("test.toml:6");
        assert!(said, "{traffic}:\n{text}");
    }
}

#[test]
fn studies_without_packets_that_do_not_fit_are_refused() {
    let convergence = "engine = \"convergence\"\n";
    let fluid = "engine = \"fluid\"\n[[traffic]]\nkind = \"open-loop\"\nload_on = \"hosts\"\n";
    for (text, sets) in [
        (convergence, &["convergence.iterations=4294967295"][..]),
        (convergence, &["convergence.links=4294967295"]),
        (convergence, &["convergence.flows=4294967295"]),
        (convergence, &["convergence.links=20000", "allocator.optimizer=newton"]),
        (fluid, &["leaf_spine.leaves=4294967295"]),
        (fluid, &["fluid.step=1ps"]),
        (fluid, &["leaf_spine.leaves=200", "allocator.optimizer=newton"]),
    ] {
        let said = refused(text, sets);
        assert!(said.contains("--max-memory") || said.contains("too many"), "{sets:?}:\n{said}");
        assert!(said.contains("--set"), "{sets:?}:\n{said}");
    }
}

/// With steps at changes, the time between steps has no effect, and the number of steps is that of
/// arrivals and ends.
#[test]
fn steps_at_changes_are_as_many_as_there_are_changes() {
    let fluid = "engine = \"fluid\"\n[fluid]\niterate = \"on-change\"\n\
                 [[traffic]]\nkind = \"open-loop\"\nload_on = \"hosts\"\n";
    let said = refused(fluid, &["fluid.measure=3000000s"]);
    assert!(said.contains("make fluid.measure shorter") && !said.contains("fluid.step"), "{said}");
    // As many steps of 10 us would not fit.
    let few = ["fluid.measure=3000000s", "traffic.0.load=1e-10"].map(String::from);
    checked(fluid, &few).unwrap();
}

/// The number of a source has 16 bits.
#[test]
fn sources_have_numbers_of_their_own() {
    let text = "scheme = \"bfc\"\n".to_owned() + &"[[traffic]]\nkind = \"long\"\n".repeat(65_536);
    let said = checked(&text, &[]).unwrap_err();
    let expected = "65536 [[traffic]] entries are too many: there may be 65535";
    assert!(said.contains(expected) && said.contains("test.toml:131072:"), "{said}");
}

/// Every number among the settings at its limits: a scenario or an error, but no panic and no
/// excess of memory. What takes long holds up the tests.
fn sweep(text: &str, section: &str, settings: &[Field], sets: &[&str]) {
    let numbers = settings.iter().filter(|setting| setting.default.parse::<u64>().is_ok());
    for Field { name: key, .. } in numbers {
        for value in [0, 1, 127, 65_535, 65_536, 4_294_967_295, u64::MAX / 2, u64::MAX] {
            let mut all: Vec<String> = sets.iter().map(ToString::to_string).collect();
            all.push(format!("{section}.{key}={value}"));
            let error = checked(text, &all).err().unwrap_or_default();
            assert!(!error.contains("panicked"), "{all:?}:\n{error}");
        }
    }
}

#[test]
fn no_number_of_a_topology_is_too_much_to_check() {
    for kind in TopologyConfig::kinds() {
        let topology = format!("network.topology={}", kind.show());
        for section in TopologyConfig::sections(kind) {
            sweep(LOAD, section.name, &section.fields, &[&topology]);
        }
    }
}

#[test]
fn no_number_of_a_source_is_too_much_to_check() {
    for kind in TrafficConfig::kinds() {
        let text = format!("scheme = \"ideal-fq\"\n[[traffic]]\nkind = {}\n", kind.show());
        for section in TrafficConfig::sections(kind) {
            sweep(&text, "traffic.0", &section.fields, &["run.measure=100us"]);
        }
    }
}

#[test]
fn a_run_without_flows_is_refused_with_the_reason() {
    for (sets, said, place) in [
        (&["traffic.0.load=1e-300"][..], "would start after the end of time", "load"),
        (
            &["traffic.0.start=10s"],
            "would start at 10s, and the measured time ends at 9ms",
            "start",
        ),
        (&["traffic.0.stop=1ps"], "would start after its stop", "stop"),
        (&["leaf_spine.host_rate=1bps"], "the measured time ends at 9ms", "[[traffic]]"),
    ] {
        let text = refused(LOAD, sets);
        assert!(text.contains("no flow of this source starts"), "{sets:?}:\n{text}");
        assert!(text.contains(said) && text.contains(place), "{sets:?}:\n{text}");
    }
    let fluid = "engine = \"fluid\"\n[[traffic]]\nkind = \"open-loop\"\nload_on = \"hosts\"\n";
    assert!(refused(fluid, &["traffic.0.start=10s"]).contains("no flow of this source starts"));
}

/// A source that starts in the drain may meet measured flows there. A source that starts after it
/// is off.
#[test]
fn a_source_beside_others_may_be_off_but_not_by_chance() {
    let two = format!("{LOAD}[[traffic]]\nkind = \"long\"\n");
    for (start, is_off) in [("0s", false), ("500us", false), ("20ms", false), ("1s", true)] {
        let effective = checked(&two, &[format!("traffic.1.start={start}")]).unwrap();
        let said = "traffic.1.first_flow = after the end of the run (59ms): no flow of this source";
        assert_eq!(effective.contains(said), is_off, "{start}");
    }
    let text = refused(&two, &["traffic.0.load=1e-13"]);
    assert!(text.contains(", and the run ends at 59ms"), "{text}");
    assert!(refused(&two, &["traffic.0.stop=1ps"]).contains("no flow of this source starts"));
}

#[test]
fn an_incast_says_when_its_senders_take_turns() {
    let text = "scheme = \"ideal-fq\"\n[[traffic]]\nkind = \"incast\"\ndegree = 100\n";
    let effective = checked(text, &["leaf_spine.leaves=1".into()]).unwrap();
    assert!(effective.contains("traffic.0.senders = 15 (degree is 100: they take turns)"));
    assert!(!checked(text, &[]).unwrap().contains("take turns"));
}
