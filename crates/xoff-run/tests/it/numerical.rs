//! Scenarios of the numerical engines: rejected settings, and effective scenarios that run.

use xoff_run::{AnyRun, NumericalRun, open};
use xoff_scenario::Memory;
use xoff_scenario::diagnostic::Problems;
use xoff_sim::Threads;

const FLUID: &str = "engine = \"fluid\"\n\
    [leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
    [fluid]\nwarmup = \"100us\"\nmeasure = \"500us\"\n\
    [[traffic]]\nkind = \"open-loop\"\nload = 0.5\nload_on = \"hosts\"\n";

const CONVERGENCE: &str =
    "engine = \"convergence\"\n[convergence]\nnetworks = 3\niterations = 100\n";

fn check(text: &str, file: &str, overrides: &[String]) -> Result<String, Problems> {
    xoff_run::check(text, file, overrides, Memory::of_machine())
}

fn numerical(text: &str, overrides: &[&str]) -> Box<NumericalRun> {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    match open(text, "test.toml", &overrides, Threads::ONE).map_err(|problems| problems.to_string())
    {
        Ok(AnyRun::Numerical(run)) => run,
        Ok(AnyRun::Packets(_)) => panic!("a run with packets"),
        Err(problems) => panic!("{problems}"),
    }
}

fn done(mut run: Box<NumericalRun>) -> (u64, String) {
    while run.step().unwrap() {}
    (run.digest(), run.summary().json())
}

#[test]
fn an_effective_scenario_gives_the_same_run() {
    for text in [FLUID, CONVERGENCE] {
        let effective =
            check(text, "test.toml", &[]).map_err(|problems| problems.to_string()).unwrap();
        assert_eq!(done(numerical(text, &[])), done(numerical(&effective, &[])), "{effective}");
    }
}

#[test]
fn the_seed_and_the_allocator_matter() {
    let digest = |text, set: &str| done(numerical(text, &[set])).0;
    for (text, gamma) in [(FLUID, "allocator.gamma=0.5"), (CONVERGENCE, "allocator.gamma=0.5")] {
        let first = digest(text, "seed=1");
        assert_eq!(first, done(numerical(text, &[])).0);
        assert_ne!(first, digest(text, "seed=2"));
        assert_ne!(first, digest(text, gamma));
    }
}

#[test]
fn what_has_no_sense_is_refused_at_its_place() {
    for (text, setting, said) in [
        (FLUID, "engine=fluids", "expected one of packets, fluid, convergence"),
        (FLUID, "fluid.stepp=1us", "unknown key \"stepp\""),
        (FLUID, "fluid.step=0us", "step must be more than zero"),
        (FLUID, "fluid.measure=0us", "measure must be more than zero"),
        (FLUID, "fluid.measure=10000000s", "warmup and measure must be at most 106 days together"),
        (FLUID, "fluid.step=501us", "step must be at most measure = 500us: it is 501us"),
        (FLUID, "fluid.tolerance=0.1", "not used because optimum_every = 0"),
        (FLUID, "allocator.gamma=0", "setting `gamma` is 0; it must be above 0"),
        (FLUID, "allocator.threshold=1", "it must be from 0 to below 1"),
        (FLUID, "allocator.interval=5", "not used because optimizer = \"ned\""),
        (
            FLUID,
            "allocator.optimizer=adam",
            "expected one of ned, gradient, fast-weighted-gradient",
        ),
        (FLUID, "scheme=bfc", "nothing in this scenario reads it"),
        (FLUID, "pfc.threshold=0.1", "nothing in this scenario reads it"),
        (FLUID, "network.rounding=1ns-down", "engine = \"fluid\""),
        (FLUID, "network.instants=as-set", "engine = \"fluid\""),
        (FLUID, "convergence.links=3", "nothing in this scenario reads it"),
        (CONVERGENCE, "convergence.links=0", "links is 0; it must be at least 1"),
        (CONVERGENCE, "convergence.tolerance=0", "tolerance is 0"),
        (
            CONVERGENCE,
            "allocator.normalizer=u-norm",
            "convergence measures rates before normalisation",
        ),
        (CONVERGENCE, "network.topology=star", "nothing in this scenario reads it"),
    ] {
        let refused = check(text, "test.toml", &[setting.into()]);
        let said_now = refused.expect_err(setting).to_string();
        assert!(said_now.contains(said) && said_now.contains("--set"), "{setting}:\n{said_now}");
    }
    let both = ["fluid.iterate=on-change".into(), "fluid.rates=converged".into()];
    let said = check(FLUID, "test.toml", &both).expect_err("a step for each iteration").to_string();
    assert!(said.contains("iterate periodically"), "{said}");
}

/// What only packets have of traffic: flows that stop, labels, and paths that a file gives.
#[test]
fn traffic_that_needs_packets_is_refused_at_its_place() {
    let folder = std::env::temp_dir().join(format!("xoff-fluid-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let paths = "src,dst,size_bytes,start_ps,data_path,ack_path\n0,5,1000,0,1,0\n";
    std::fs::write(folder.join("paths.csv"), paths).unwrap();
    let file = folder.join("test.toml").display().to_string();
    for (traffic, said) in [
        ("staggered\"", "flows that stop need packets"),
        ("incast\"\ndegree = 3\nlabelled = true", "labelled = true has"),
        ("list\"\nfile = \"paths.csv\"", "columns data_path,ack_path have no effect"),
    ] {
        let text = format!("{FLUID}[[traffic]]\nkind = \"{traffic}\n");
        let refused = check(&text, &file, &[]).expect_err(traffic).to_string();
        assert!(refused.contains(said) && refused.contains("test.toml:14:"), "{refused}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn sections_of_the_numerical_engines_mean_nothing_to_packets() {
    let text = "scheme = \"bfc\"\n[[traffic]]\nkind = \"open-loop\"\n";
    for section in ["fluid.step=1us", "allocator.gamma=1", "convergence.links=3"] {
        let said = check(text, "test.toml", &[section.into()]).expect_err(section).to_string();
        assert!(said.contains("nothing in this scenario reads it"), "{said}");
    }
    let named = check(text, "test.toml", &["engine=packets".into()]);
    assert_eq!(
        named.map_err(|p| p.to_string()),
        check(text, "test.toml", &[]).map_err(|p| p.to_string())
    );
}
