//! Whole runs.

use @NAME@ as _;
use xoff_run::Run;
use xoff_sim::{FlowRow, Threads};

const SCENARIO: &str = r#"
scheme = "@NAME@"
[run]
warmup = "0us"
measure = "40us"
drain = "1ms"
"#;

const RANDOM: &str = "[[traffic]]\nkind = \"open-loop\"\nload = 0.6\nstop = \"40us\"\n";

const INCAST: &str = "[[traffic]]\nkind = \"incast\"\ndegree = 16\nbytes = \"8MB\"\n\
                      period = \"1ms\"\nstop = \"40us\"\n";

/// Its digest and a row for each flow.
fn run(traffic: &str, overrides: &[&str], threads: Threads) -> (u64, Vec<FlowRow>) {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    let text = format!("{SCENARIO}{traffic}");
    let mut run = Run::open(&text, "test.toml", &overrides, threads)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let mut rows = Vec::new();
    loop {
        let more = run.step().unwrap_or_else(|message| panic!("{message}"));
        rows.append(&mut run.rows().flows);
        if !more {
            return (run.digest(), rows);
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_results() {
    let (one, flows) = run(RANDOM, &[], Threads::ONE);
    assert!(!flows.is_empty());
    assert_eq!(run(RANDOM, &[], Threads::up_to(2)).0, one);
}

#[test]
fn settings_have_an_effect() {
    let overrides = ["@NAME@.decrease=0.9"];
    assert_ne!(run(INCAST, &[], Threads::ONE).0, run(INCAST, &overrides, Threads::ONE).0);
}
