//! Convergence in random networks.

use xoff_alloc::OptimizerKind;
use xoff_fluid::config::AllocatorConfig;
use xoff_fluid::{Convergence, ConvergenceConfig};

fn study(optimizer: OptimizerKind, gamma: f64, interval: u32) -> Convergence {
    let allocator = AllocatorConfig {
        optimizer,
        gamma,
        interval,
        threshold: 0.0,
        ..AllocatorConfig::default()
    };
    let config =
        ConvergenceConfig { networks: 20, iterations: 1000, ..ConvergenceConfig::default() };
    let mut study = Convergence::new(1, allocator, config);
    while study.step().unwrap() {}
    assert_eq!((study.unsolved(), study.iterations().len()), (0, 20));
    study
}

fn converged(study: &Convergence) -> f64 {
    study.iterations().share(f64::is_finite).unwrap()
}

#[test]
fn ned_converges_and_faster_than_gradient() {
    for gamma in [0.2, 0.4] {
        let ned = study(OptimizerKind::Ned, gamma, 1);
        assert_eq!(converged(&ned), 1.0, "{gamma}");
    }
    let median = |study: &Convergence| study.iterations().quantile(0.5).unwrap();
    let ned = median(&study(OptimizerKind::Ned, 0.4, 1));
    for gamma in [0.0003, 0.001, 0.003, 0.01] {
        assert!(ned < median(&study(OptimizerKind::Gradient, gamma, 1)), "{gamma}");
    }
}

#[test]
fn gradient_with_a_large_gamma_does_not_converge() {
    let study = study(OptimizerKind::Gradient, 0.1, 1);
    assert!(converged(&study) < 0.5);
    assert!(study.final_error().quantile(0.5).unwrap() > 0.1);
}

#[test]
fn rows_cover_all_networks_by_iteration() {
    let study = study(OptimizerKind::Ned, 0.4, 1);
    let rows = study.rows();
    assert_eq!((rows.len(), rows[0].iteration, rows[999].iteration), (1000, 1, 1000));
    assert_eq!((rows[0].within, rows[999].within), (0.0, 1.0));
    assert!(rows.iter().all(|row| row.error_p50 <= row.error_p90));
    let last = study.iterations().quantile(1.0).unwrap() as usize;
    assert!(rows[last - 2].within < 1.0 && rows[last - 1].within == 1.0, "one is in at {last}");
}

#[test]
fn errors_name_the_invalid_setting() {
    let good = ConvergenceConfig::default();
    assert_eq!(good.check(), Ok(()));
    for (config, key) in [
        (ConvergenceConfig { networks: 0, ..good.clone() }, "networks"),
        (ConvergenceConfig { links: 0, ..good.clone() }, "links"),
        (ConvergenceConfig { most_hops: 21, ..good.clone() }, "most_hops"),
        (ConvergenceConfig { least_capacity: 0.0, ..good.clone() }, "least_capacity"),
        (ConvergenceConfig { least_capacity: 50.0, ..good.clone() }, "least_capacity"),
        (ConvergenceConfig { tolerance: 0.0, ..good.clone() }, "tolerance"),
    ] {
        assert_eq!(config.check().unwrap_err().0, key);
    }
}
