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
