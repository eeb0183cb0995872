//! Runs on a torus: pauses that close cycles around its rings, and the same runs without those
//! cycles.

use crate::common::{finish, open, open_on, over_switches, run};
use xoff_net::arch::Switch;
use xoff_scenario::Memory;
use xoff_sim::Threads;

const SWITCHES_IN_RING: u32 = 5;

/// Two rings of five switches. Each host of the first ring sends to the switch after the next one,
/// so every link of the ring is offered twice its rate.
fn around(scheme: &str) -> String {
    let network = r#"
network = { topology = "torus" }
torus = { rows = 2, columns = 5, hosts_per_switch = 1 }
run = { warmup = "0us", measure = "1ms", drain = "100ms", watchdog = "20ms" }
"#;
    let flow = |src: u32| {
        let dst = (src + 2) % SWITCHES_IN_RING;
        format!("[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = {dst}\nbytes = \"4MB\"\n")
    };
    let flows: String = (0..SWITCHES_IN_RING).map(flow).collect();
    format!("scheme = \"{scheme}\"\n{network}{flows}")
}

/// A threshold that a ring of switches reaches before their hosts slow down.
const PAUSES_EARLY: &str = "pfc.threshold=0.001";

#[test]
fn pfc_hangs_around_a_ring_and_the_run_names_the_cycle() {
    let mut run = open(&around("pfc"), &[PAUSES_EARLY]);
    let said = loop {
        match run.step() {
            Ok(more) => assert!(more, "the run ended"),
            Err(message) => break message,
        }
    };
    let cycle = "leaf:0 -> leaf:1 -> leaf:2 -> leaf:3 -> leaf:4 -> leaf:0";
    assert!(said.contains("a deadlock: 5 egress ports") && said.contains(cycle), "{said}");
}

/// Hosts of the second ring send to their neighbours, which the deadlock of the first one leaves
/// alone. The run names the cycle and its flows, and no flow that goes on.
#[test]
fn a_deadlock_that_leaves_other_flows_alone_is_named() {
    let other = "[[traffic]]\nkind = \"long\"\nsrc = 5\ndst = 6\n";
    let said = [1, 3].map(|threads| {
        let text = around("pfc") + other;
        let mut run = open_on(Threads::up_to(threads), &text, &[PAUSES_EARLY]);
        loop {
            match run.step() {
                Ok(more) => assert!(more, "the run ended"),
                Err(message) => break message,
            }
        }
    });
    let cycle = "leaf:0 -> leaf:1 -> leaf:2 -> leaf:3 -> leaf:4 -> leaf:0";
    assert!(
        said[0].contains("stuck in part: at 40ms paused queues have not moved since 20ms"),
        "{said:?}"
    );
    assert!(said[0].contains("a deadlock: 5 egress ports") && said[0].contains(cycle), "{said:?}");
    assert!(said[0].contains("packets of 5 flows") && !said[0].contains("from host 5"), "{said:?}");
    assert_eq!(said[0], said[1]);
}

#[test]
fn it_drains_where_the_turns_of_cycles_pause_nobody() {
    let (run, rows) =
        run(&around("pfc"), &[PAUSES_EARLY, "switch.elide=cycles", "transport.timeout=500us"]);
    assert_eq!(rows.len() as u32, SWITCHES_IN_RING);
    assert!(over_switches(&run, |switch| switch.stats().pauses) > 0);
}

#[test]
fn check_names_the_cycles() {
    let report = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_string()).collect();
        let text = around("pfc");
        xoff_run::backpressure(&text, "test.toml", &sets, false, Memory::of_machine()).unwrap()
    };
    let text = report(&[]).unwrap();
    assert!(
        text.contains("edges, cycles") && text.contains("; set switch.elide = \"cycles\":"),
        "{text}"
    );
    let elided = report(&["switch.elide=cycles"]).unwrap();
    assert!(elided.contains("switch.elide leaves out enough pairs"), "{elided}");
}

/// Each ring of eight carries 8 links of uniform traffic (Dally and Towles, §5.2.1): a load of 1.
/// The hosts could send twice as much.
#[test]
fn a_load_of_1_on_the_core_is_what_uniform_traffic_can_fill() {
    let text = r#"
scheme = "ideal-fq"
network = { topology = "torus" }
torus = { rows = 2, columns = 8, hosts_per_switch = 2 }
run = { warmup = "50us", measure = "200us", drain = "10ms" }
[[traffic]]
kind = "open-loop"
arrivals = "poisson"
sizes = "hadoop"
stop = "250us"
load = 0.5
"#;
    let mut run = open(text, &[]);
    assert!(run.effective().contains("core_capacity = 1600Gbps"), "{}", run.effective());
    assert!(run.effective().contains("host_capacity = 3200Gbps"), "{}", run.effective());
    let rows = finish(&mut run);
    let progress = run.progress();
    assert!(rows.len() > 100 && progress.flows_started == progress.flows_finished);
}
