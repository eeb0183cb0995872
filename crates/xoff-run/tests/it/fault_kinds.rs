//! Every kind of fault under every preset.

use crate::common::{finish, for_fast_links, open, run, without_priorities};
use xoff_core::knobs::Knob;
use xoff_core::seam::Seam;
use xoff_net::arch::Switch;
use xoff_run::Run;
use xoff_scenario::presets;
use xoff_sim::Threads;
use xoff_sim::faults::{FaultConfig, FaultKind};

const SCENARIO: &str = r#"
name = "faults"
scheme = "bfc"
leaf_spine = { leaves = 8, spines = 4, hosts_per_leaf = 4 }
run = { warmup = "0us", measure = "300us", drain = "200ms" }
[[traffic]]
kind = "open-loop"
sizes = "hadoop"
load = 0.3
load_on = "hosts"
stop = "200us"
[[traffic]]
kind = "incast"
degree = 10
bytes = "300KB"
period = "150us"
stop = "200us"
"#;

fn fault(kind: FaultKind) -> String {
    let settings = match kind {
        FaultKind::LinkDown => "link = \"leaf:1,spine:2\"\ndetection = \"20us\"\n",
        FaultKind::Flap => {
            "link = \"leaf:1,spine:2\"\nperiod = \"40us\"\ndown = \"20us\"\ndetection = \"10us\"\n"
        }
        FaultKind::SwitchDown => "switch = \"spine:1\"\ndetection = \"20us\"\n",
        FaultKind::HostDown => "host = \"5\"\n",
        FaultKind::Loss => "link = \"leaf:0,spine:0\"\ndirection = \"there\"\nshare = 0.05\n",
        FaultKind::BitErrors => "ratio = 1e-7\n",
        // No packet is lost, so no composition needs to refuse it.
        FaultKind::Degrade => "link = \"leaf:1,spine:2\"\nrate = \"10Gbps\"\n",
    };
    format!("[[fault]]\nkind = {}\nat = \"50us\"\nuntil = \"250us\"\n{settings}", kind.show())
}

/// Opens a scenario, and follows what its refusals say. The last refusal if that does not help.
pub(crate) fn opened(scheme: &str, fault: &str, threads: usize) -> Result<Run, String> {
    let mut text = format!("{SCENARIO}{fault}");
    let mut sets: Vec<String> = for_fast_links(scheme).iter().map(|&set| set.into()).collect();
    sets.push(format!("scheme={scheme}"));
    for _ in 0..3 {
        let said = match Run::open(&text, "test.toml", &sets, Threads::up_to(threads)) {
            Ok(run) => return Ok(run),
            Err(problems) => problems.to_string(),
        };
        if said.contains("set transport.timeout = \"10ms\"") {
            sets.push("transport.timeout=500us".into());
        } else if said.contains("set keep_pauses = true") {
            text += "keep_pauses = true\n";
        } else if said.contains("priority") {
            text = without_priorities(&text);
        } else {
            return Err(said);
        }
    }
    panic!("{scheme}: its refusals do not say what helps with\n{fault}")
}

/// Why presets cannot have a fault.
pub(crate) const REFUSALS: [&str; 5] = [
    // Perfect recovery hears of the drops of switches only.
    "no switch reports losses of a link",
    // Both directions of a flow must choose the same of several paths.
    "symmetric_ecmp = true cannot be combined with [[fault]]",
    // Instants in phases, and departures of other simulators.
    "requires a scenario without [[fault]]",
    "a switch would keep pauses of a link that is down",
    "the host of an allocator is on spine:1, so the switch cannot go down",
];

/// A run with a fault ends, delivers all or says what is missing, and does not depend on threads.
#[test]
fn every_fault_under_every_preset_ends_or_is_refused_with_the_reason() {
    let mut refused = Vec::new();
    // Each preset and each kind of fault gets every number of threads, but not every pair of them.
    let mut several = [2, 3, 8].into_iter().cycle();
    for (scheme, _) in presets() {
        for kind in FaultConfig::kinds() {
            let mut digests = Vec::new();
            for threads in [1].into_iter().chain(several.next()) {
                match opened(&scheme, &fault(kind), threads) {
                    Ok(mut run) => {
                        let rows = finish(&mut run);
                        assert!(!rows.is_empty(), "{scheme} {kind:?}");
                        let progress = run.progress();
                        let left = progress.flows_started - progress.flows_finished;
                        assert_eq!(left, 0, "{scheme} {kind:?}: {left} flows have not ended");
                        digests.push(run.digest());
                    }
                    Err(said) => {
                        let is_known = REFUSALS.iter().any(|known| said.contains(known));
                        assert!(is_known, "{scheme} {kind:?}:\n{said}");
                        refused.push(scheme.clone());
                    }
                }
            }
            digests.dedup();
            assert!(digests.len() < 2, "{scheme} {kind:?} depends on threads");
        }
    }
    refused.dedup();
    let of_switches = ["bfc-strawman", "bfc-flow-id", "hpcc-pfc", "hpcc-pfc-dqa", "hpcc-pfc-sfq"];
    let of_paths = ["expresspass"];
    let of_htsim = ["htsim-ndp", "htsim-eqds", "htsim-dctcp", "htsim-tcp", "htsim-swift"];
    let expected = [&of_switches[..], &of_paths, &of_htsim, &["flowtune"]].concat();
    assert_eq!(refused, expected);
}

/// Fifteen senders to host 0. The spine that dies holds packets for it, has paused senders' leaves,
/// and is paused by host 0's leaf.
#[test]
fn a_switch_that_dies_in_an_incast_leaves_no_pause() {
    let text = r#"
scheme = "bfc"
leaf_spine = { leaves = 4, spines = 2, hosts_per_leaf = 5, host_rate = "100Gbps" }
run = { warmup = "0us", measure = "1ms", drain = "100ms" }
transport = { timeout = "5ms" }
[[traffic]]
kind = "incast"
victims = "0"
senders = "5-19"
degree = 15
bytes = "15MB"
period = "10ms"
[[fault]]
kind = "switch-down"
switch = "spine:1"
at = "200us"
until = "600us"
detection = "50us"
"#;
    for scheme in ["bfc", "pfc", "sfc"] {
        let mut run = open(text, &[&format!("scheme={scheme}")]);
        let mut paused_at_death = 0;
        let mut rows = Vec::new();
        loop {
            let more = run.step().unwrap_or_else(|message| panic!("{scheme}: {message}"));
            rows.append(&mut run.rows().flows);
            if run.progress().sim_ps == 200_000_000 {
                paused_at_death = pauses(&run);
            }
            if !more {
                break;
            }
        }
        assert_eq!(rows.len(), 15, "{scheme}");
        assert_eq!(pauses(&run), 0, "{scheme}");
        assert!(scheme == "sfc" || paused_at_death > 0, "{scheme}: nothing was paused");
    }
}

/// Queues that switches hold paused at their neighbours, or that are paused.
pub(crate) fn pauses(run: &Run) -> u32 {
    let partitions = run.simulation().partitions().iter();
    let switches = partitions.flat_map(|part| part.switches()).map(|(_, switch)| switch);
    let paused = |switch: &xoff_net::arch::AnySwitch| -> u32 {
        let egress = switch.egress().iter().map(|port| port.paused().count_ones());
        let ingress = (0..switch.egress().len() as u16).map(|port| switch.holds_paused(port));
        egress.sum::<u32>() + ingress.map(|mask| mask.count_ones()).sum::<u32>()
    };
    switches.map(paused).sum()
}

/// In one direction, a link drops everything and no switch notices: flows that need it are
/// unfinished, and the run ends with its drain.
#[test]
fn a_silent_drop_is_reported_by_its_unfinished_flows() {
    let fault = "[[fault]]\nkind = \"loss\"\nlink = \"leaf:1,spine:2\"\nshare = 1.0\n\
                 direction = \"back\"\n";
    let text = format!("{SCENARIO}{fault}");
    let sets = ["scheme=irn", "run.drain=2ms"];
    let (run, rows) = run(&text, &sets);
    let progress = run.progress();
    let left = progress.flows_started - progress.flows_finished;
    assert!(left > 0 && !rows.is_empty());
    let warnings = run.summary().warnings;
    let has = |part: &str| warnings.iter().any(|warning| warning.contains(part));
    assert!(has("did not finish within the drain time"), "{warnings:?}");
    assert!(has(" bytes acknowledged, "), "{warnings:?}");
    assert!(has("([[fault]]): spine:2,leaf:1 from 0ps to the end"), "{warnings:?}");
}

/// A run that waits for longer than its watchdog names the link, whether it loses packets of one
/// direction or of both.
#[test]
fn a_stuck_run_names_the_link_that_loses_everything() {
    for direction in ["back", "both"] {
        let fault = format!(
            "[[fault]]\nkind = \"loss\"\nlink = \"leaf:1,spine:2\"\nshare = 1.0\n\
             direction = \"{direction}\"\nkeep_pauses = true\n"
        );
        let sets =
            ["scheme=dctcp", "transport.timeout=500us", "run.watchdog=2ms", "run.drain=50ms"];
        let mut run = open(&format!("{SCENARIO}{fault}"), &sets);
        let said = loop {
            match run.step() {
                Ok(more) => assert!(more, "the run ended"),
                Err(message) => break message,
            }
        };
        let names = |link: &str| said.contains(&format!("([[fault]]): {link} from 0ps to the end"));
        assert!(names("leaf:1,spine:2") || names("spine:2,leaf:1"), "{said}");
    }
}
