//! Small forms of the stress cases: every preset on every shape either runs to its end or is
//! refused with a reason.

use xoff_run::Run;
use xoff_run::bench::stress::{FACTORS, shapes};
use xoff_run::bench::{Size, scenario};
use xoff_scenario::presets;
use xoff_sim::Threads;

use crate::common::finish;

fn open(case: &str) -> Result<Run, String> {
    let text = scenario(case, Size::Small).unwrap_or_else(|| panic!("{case} has no scenario"));
    Run::open(&text, case, &[], Threads::ONE).map_err(|problems| problems.to_string())
}

/// Why presets refuse shapes: parts of the reasons.
const REFUSALS: [&str; 6] = [
    // No shared buffer whose size could change.
    "is not used because",
    // A preset for labelled incasts.
    "no traffic is labelled",
    // Four pipelines, and a gateway with two ports.
    "does not divide the 2 ports",
    // Pauses of DeTail and CaPFC that begin too late for large packets or long links.
    "loses packets",
    // Presets for one data centre.
    "symmetric_ecmp = true cannot be combined",
    "must be within one data centre",
];

#[test]
fn every_preset_runs_every_shape_or_says_why_not() {
    let mut runs = 0;
    for (preset, _) in presets() {
        for (shape, _) in shapes() {
            let case = format!("{preset}-{shape}-x1");
            match open(&case) {
                Ok(mut run) => {
                    finish(&mut run);
                    assert!(run.progress().packet_hops > 300, "{case} has hardly a packet");
                    runs += 1;
                }
                Err(why) => {
                    assert!(REFUSALS.iter().any(|part| why.contains(part)), "{case}: {why}");
                }
            }
        }
    }
    assert!(10 * runs >= 9 * presets().len() * shapes().len(), "only {runs} cases run");
}

#[test]
fn only_the_dimension_of_a_shape_grows() {
    for (shape, dimension) in shapes() {
        let texts = FACTORS.map(|factor| {
            let case = format!("ideal-fq-{shape}-x{factor}");
            scenario(&case, Size::Full).unwrap_or_else(|| panic!("{case} has no scenario"))
        });
        let lines = texts.each_ref().map(|text| text.lines().count());
        assert!(lines.iter().all(|&count| count == lines[0]), "{dimension}: {texts:?}");
        assert!(texts[0] != texts[1] && texts[1] != texts[2], "{dimension}: {texts:?}");
    }
}

#[test]
fn an_unknown_stress_case_has_no_scenario() {
    for case in ["bfc-queue-x7", "bfc-queue", "bfc-cue-x1", "bfg-queue-x1", "-x1", "x1"] {
        assert!(scenario(case, Size::Full).is_none(), "{case}");
    }
}
