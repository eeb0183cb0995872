//! Every benchmark case is there, runs, and runs the same twice.

mod common;

use common::run;
use xoff_scenario::bench::{bench, scenario};
use xoff_scenario::bench_cases;

#[test]
fn every_case_runs_the_same_twice() {
    assert!(bench_cases().len() >= 4);
    for case in bench_cases() {
        let text = scenario(&case, "20us").unwrap_or_else(|| panic!("{case} has no scenario"));
        let [first, again] = [(); 2].map(|()| run(&text, &[]).0);
        assert!(first.progress().flows_finished > 100, "{case}: {:?}", first.progress());
        assert_eq!(first.digest(), again.digest(), "{case}");
    }
}

#[test]
fn the_cases_of_the_speed_targets_are_there() {
    for case in ["dctcp-hadoop-128", "bfc-hadoop-128", "dctcp-google-128", "bfc-google-128"] {
        assert!(bench_cases().iter().any(|known| known == case), "{case}");
    }
}

#[test]
fn an_unknown_case_is_refused_by_name() {
    assert!(scenario("bfc-gogle-128", "20us").is_none());
    let message = bench("bfc-gogle-128", 1).unwrap_err();
    assert!(message.contains("bfc-gogle-128") && message.contains("bfc-google-128"), "{message}");
}
