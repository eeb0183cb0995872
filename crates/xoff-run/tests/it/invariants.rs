//! Invariants hold in every preset, and checks change no result.

use crate::common::{for_fast_links, open};
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
