//! Number of iterations until rates are fair again.

use xoff_alloc::{Allocator, Config, FlowId, Normalizer};

use crate::common::{converge, path, whole};

/// Iterations until all rates are within 1 % of fair.
fn iterations_to_fair(allocator: &mut Allocator, flows: &[FlowId], capacity: f64) -> u32 {
    let fair = capacity / flows.len() as f64;
    for iteration in 1..200 {
        allocator.iterate();
        let is_fair = |&flow: &FlowId| (allocator.rate(flow).unwrap() / fair - 1.0).abs() < 0.01;
        if flows.iter().all(is_fair) {
            return iteration;
        }
    }
    panic!("{} flows are not at {fair} after 200 iterations", flows.len());
}

/// Iterations after one of N flows of a bottleneck has arrived, and after one has left.
fn after_a_change(count: usize, config: Config) -> (u32, u32) {
    let mut allocator = Allocator::new(&[40.0, 10.0, 40.0], config).unwrap();
    let mut flows: Vec<FlowId> =
        (0..count).map(|_| allocator.add_flow(&path(&[0, 1, 2]), 1.0).unwrap()).collect();
    converge(&mut allocator, 5000);
    flows.push(allocator.add_flow(&path(&[0, 1, 2]), 1.0).unwrap());
    let came = iterations_to_fair(&mut allocator, &flows, 10.0);
    converge(&mut allocator, 5000);
    allocator.remove_flow(flows.pop().unwrap()).unwrap();
    (came, iterations_to_fair(&mut allocator, &flows, 10.0))
}

#[test]
fn arrivals_converge_at_once_and_departures_in_a_few_iterations() {
    for count in [1, 2, 5, 10, 50, 200] {
        let (came, went) = after_a_change(count, whole());
        // Prices are too low for one more flow: all flows are scaled down alike.
        assert_eq!(came, 1, "{count} flows and one more");
        assert!(went <= 8, "{count} flows and one less: {went} iterations");
        let printed = Config { normalizer: Normalizer::FlowAsPrinted, ..whole() };
        assert_eq!(after_a_change(count, printed), (1, 1));
    }
}

#[test]
fn without_normalisation_both_need_a_few_iterations() {
    for count in [2, 5, 10, 50] {
        let config = Config { normalizer: Normalizer::None, ..whole() };
        let (came, went) = after_a_change(count, config);
        assert!(came <= 10 && went <= 8, "{count} flows: {came}, {went}");
    }
}
