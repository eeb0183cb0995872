//! The effective scenario is a scenario itself, and a complete one.

use crate::common::{for_fast_links, open, over_hosts, over_switches, run};
use xoff_net::arch::Switch;

/// A short scenario of a scheme, which does not wait for timeouts of tens of milliseconds.
fn scenario(scheme: &str) -> String {
    format!(
        "scheme = \"{scheme}\"\n[run]\nwarmup = \"0us\"\nmeasure = \"20us\"\ndrain = \"1ms\"\n\
         [[traffic]]\nkind = \"open-loop\"\nload = 0.5\n\
         [[traffic]]\nkind = \"incast\"\ndegree = 4\nbytes = \"8kB\"\nperiod = \"1s\"\n"
    )
}

#[test]
fn every_presets_effective_scenario_reads_back_and_runs_the_same() {
    for (scheme, _) in xoff_scenario::presets() {
        let (first, _) = run(&scenario(&scheme), for_fast_links(&scheme));
        let (again, _) = run(first.effective(), &[]);
        assert_eq!(again.effective(), first.effective(), "{scheme}");
        assert_eq!(again.digest(), first.digest(), "{scheme}");
    }
}

#[test]
fn what_has_no_effect_is_left_out() {
    assert!(!open(&scenario("pfc"), &[]).effective().contains("\nalpha = "));
    assert!(!open(&scenario("ideal-fq"), &[]).effective().contains("\nsize = "));
    assert!(open(&scenario("bfc"), &[]).effective().contains("\nalpha = 1.0"));
}

/// Go-back-N's timeout of the `bfc` preset would send what perfect recovery has not lost.
#[test]
fn perfect_recovery_has_no_timeout() {
    let perfect = "transport.recovery=\"perfect\"";
    let overrides = [perfect, "buffer.size=\"100KB\""];
    let incast = "[[traffic]]\nkind = \"incast\"\nbytes = \"2MB\"\nperiod = \"1s\"\n";
    let (run, rows) = run(&(scenario("bfc") + incast), &overrides);
    assert!(rows.len() > 100);
    assert!(over_switches(&run, |switch| switch.stats().drops) > 0);
    assert_eq!(over_hosts(&run, |stats| stats.timeouts), 0);
    assert!(!run.effective().contains("\ntimeout = "));
    let overrides = [perfect, "transport.timeout=\"1ms\""].map(String::from);
    let problems =
        xoff_scenario::Run::open(&scenario("bfc"), "test.toml", &overrides, xoff_sim::Threads::ONE)
            .err();
    assert!(problems.unwrap().to_string().contains("\"timeout\" in [transport] is not used"));
}
