//! Properties of the allocator in cases with known answers.

use crate::common::{assert_near, converge, path, rates, whole};
use xoff_alloc::{Allocator, Config, Error, LinkId, Normalizer, Optimizer, Precision, Utility};

#[test]
fn one_iteration_of_ned_is_algorithm_1() {
    let mut allocator =
        Allocator::new(&[10.0, 10.0], Config { normalizer: Normalizer::None, ..whole() }).unwrap();
    // Prices are 1: rates are w over the number of links.
    let long = allocator.add_flow(&path(&[0, 1]), 3.0).unwrap();
    let short = allocator.add_flow(&path(&[1]), 12.0).unwrap();
    assert_eq!(rates(&allocator, &[long, short]), [1.5, 10.0]);
    allocator.iterate();
    assert_eq!(allocator.raw_rate(short), Some(12.0));
    // Link 1: G = 1.5 + 12 - 10, H = -(3/4 + 12). Link 0: 1 - 0.4 * 8.5 / 0.75 is negative.
    assert_eq!(allocator.price(LinkId(0)), Ok(0.0));
    assert_near(allocator.price(LinkId(1)).unwrap(), 1.0 + 0.4 * 3.5 / 12.75, 1e-15);
}

#[test]
fn equal_flows_share_a_link_by_their_weights() {
    for utility in [Utility::Log, Utility::AlphaFair(0.5), Utility::AlphaFair(2.0)] {
        let mut allocator = Allocator::new(&[40.0], Config { utility, ..whole() }).unwrap();
        let flows = [1.0, 2.0, 5.0].map(|w| allocator.add_flow(&path(&[0]), w).unwrap());
        converge(&mut allocator, 1000);
        let shares = [1.0, 2.0, 5.0_f64].map(|w| w.powf(1.0 / utility.alpha()));
        for (flow, share) in flows.iter().zip(shares) {
            let fair = 40.0 * share / shares.iter().sum::<f64>();
            assert_near(allocator.rate(*flow).unwrap(), fair, 1e-9);
        }
    }
}

#[test]
fn a_long_flow_gets_its_theoretical_share_of_a_line_of_links() {
    // Flow 0 over all n links, one flow over each. U' = x^-alpha: n prices add up for flow 0, so
    // x0^-alpha = n x1^-alpha and x0 + x1 = c.
    for (links, alpha) in [(2, 1.0), (3, 1.0), (3, 2.0), (4, 0.7)] {
        let config = Config { utility: Utility::AlphaFair(alpha), ..whole() };
        let mut allocator = Allocator::new(&vec![10.0; links], config).unwrap();
        let all: Vec<u32> = (0..links as u32).collect();
        let long = allocator.add_flow(&path(&all), 1.0).unwrap();
        for &link in &all {
            allocator.add_flow(&path(&[link]), 1.0).unwrap();
        }
        converge(&mut allocator, 2000);
        let fair = 10.0 / (1.0 + (links as f64).powf(1.0 / alpha));
        assert_near(allocator.rate(long).unwrap(), fair, 1e-9);
    }
}

#[test]
fn every_rule_finds_the_optimum() {
    let rules = [
        (Optimizer::Ned, 0.4),
        (Optimizer::Gradient, 0.002),
        (Optimizer::FastWeightedGradient, 1.0),
        (Optimizer::NewtonLike { interval: 4 }, 0.4),
        (Optimizer::Newton, 0.4),
    ];
    for (optimizer, gamma) in rules {
        let config = Config { optimizer, gamma, normalizer: Normalizer::None, ..whole() };
        let mut allocator = Allocator::new(&[10.0, 20.0, 40.0], config).unwrap();
        let long = allocator.add_flow(&path(&[0, 1, 2]), 1.0).unwrap();
        let other = allocator.add_flow(&path(&[1]), 1.0).unwrap();
        allocator.add_flow(&path(&[0]), 1.0).unwrap();
        converge(&mut allocator, 20_000);
        // x + y = 10, x + z = 20, 1/x = 1/y + 1/z: x is a root of 3x^2 - 60x + 200.
        let fair = 10.0 - 10.0 / 3_f64.sqrt();
        let off = (allocator.rate(long).unwrap() / fair - 1.0).abs();
        assert!(off < 1e-6, "{optimizer:?}: {:?} for {fair}", allocator.rate(long));
        assert_near(allocator.rate(other).unwrap(), 20.0 - fair, 1e-6);
    }
}

#[test]
fn single_precision_is_as_accurate_as_its_reciprocal() {
    for (optimizer, gamma) in [(Optimizer::Ned, 0.4), (Optimizer::Gradient, 0.002)] {
        let config = Config { optimizer, gamma, precision: Precision::Single, ..whole() };
        let mut allocator = Allocator::new(&[10.0, 10.0], config).unwrap();
        let long = allocator.add_flow(&path(&[0, 1]), 1.0).unwrap();
        for link in 0..2 {
            allocator.add_flow(&path(&[link]), 1.0).unwrap();
        }
        (0..5_000).for_each(|_| allocator.iterate());
        assert_near(allocator.rate(long).unwrap(), 10.0 / 3.0, 2e-5);
    }
}

#[test]
fn a_failed_link_stops_its_flows_only() {
    let mut allocator = Allocator::new(&[10.0, 10.0], whole()).unwrap();
    let both = allocator.add_flow(&path(&[0, 1]), 1.0).unwrap();
    let first = allocator.add_flow(&path(&[0]), 1.0).unwrap();
    converge(&mut allocator, 1000);
    assert_near(allocator.rate(both).unwrap(), 5.0, 1e-9);

    allocator.set_capacity(LinkId(1), 0.0).unwrap();
    converge(&mut allocator, 1000);
    assert_eq!(allocator.rate(both), Some(0.0));
    assert_near(allocator.rate(first).unwrap(), 10.0, 1e-9);
    let late = allocator.add_flow(&path(&[1]), 1.0).unwrap();
    assert_eq!(allocator.rate(late), Some(0.0));
    allocator.remove_flow(late).unwrap();

    allocator.set_capacity(LinkId(1), 2.0).unwrap();
    converge(&mut allocator, 1000);
    assert_near(allocator.rate(both).unwrap(), 2.0, 1e-9);
    assert_near(allocator.rate(first).unwrap(), 8.0, 1e-9);
}

#[test]
fn reserve_and_threshold_are_left_free() {
    let mut allocator = Allocator::new(&[10.0], Config::default()).unwrap();
    let flow = allocator.add_flow(&path(&[0]), 1.0).unwrap();
    converge(&mut allocator, 1000);
    assert_near(allocator.rate(flow).unwrap(), 9.9, 1e-9);
    allocator.reserve(LinkId(0), 4.0).unwrap();
    converge(&mut allocator, 1000);
    assert_near(allocator.rate(flow).unwrap(), 5.94, 1e-9);
    allocator.reserve(LinkId(0), 11.0).unwrap();
    allocator.iterate();
    assert_eq!(allocator.rate(flow), Some(0.0));
    allocator.reserve(LinkId(0), 0.0).unwrap();
    converge(&mut allocator, 1000);
    assert_near(allocator.rate(flow).unwrap(), 9.9, 1e-9);
}

#[test]
fn changed_rates_are_reported_once() {
    let mut allocator = Allocator::new(&[10.0], Config::default()).unwrap();
    let first = allocator.add_flow(&path(&[0]), 1.0).unwrap();
    converge(&mut allocator, 1000);
    assert_eq!(allocator.changed_rates().map(|(flow, _)| flow).collect::<Vec<_>>(), [first]);
    allocator.iterate();
    assert_eq!(allocator.changed_rates().count(), 0);
    let second = allocator.add_flow(&path(&[0]), 1.0).unwrap();
    converge(&mut allocator, 1000);
    let told: Vec<_> = allocator.changed_rates().collect();
    assert_eq!(told.iter().map(|told| told.0).collect::<Vec<_>>(), [first, second]);
    told.iter().for_each(|told| assert_near(told.1, 4.95, 1e-9));
    allocator.remove_flow(first).unwrap();
    converge(&mut allocator, 1000);
    let told: Vec<_> = allocator.changed_rates().collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].0, second);
}

#[test]
fn prices_of_links_without_flows_stay() {
    let mut allocator = Allocator::new(&[10.0, 10.0], whole()).unwrap();
    allocator.iterate();
    assert_eq!(allocator.price(LinkId(0)), Ok(1.0));
    let flow = allocator.add_flow(&path(&[0]), 1.0).unwrap();
    converge(&mut allocator, 1000);
    allocator.remove_flow(flow).unwrap();
    allocator.iterate();
    assert_near(allocator.price(LinkId(0)).unwrap(), 0.1, 1e-9);
    assert_eq!(allocator.price(LinkId(1)), Ok(1.0));
}

#[test]
fn u_norm_scales_all_alike_and_f_norm_as_printed_also_up() {
    let run = |normalizer| {
        let mut allocator = Allocator::new(&[1.0, 8.0], Config { normalizer, ..whole() }).unwrap();
        let flows =
            [&[0][..], &[0], &[1]].map(|links| allocator.add_flow(&path(links), 1.0).unwrap());
        allocator.iterate();
        rates(&allocator, &flows)
    };
    // Prices are 1, so each flow takes 1: link 0 has twice its capacity, link 1 an eighth.
    assert_eq!(run(Normalizer::None), [1.0, 1.0, 1.0]);
    assert_eq!(run(Normalizer::Uniform), [0.5, 0.5, 0.5]);
    assert_eq!(run(Normalizer::Flow), [0.5, 0.5, 1.0]);
    assert_eq!(run(Normalizer::FlowAsPrinted), [0.5, 0.5, 8.0]);
}

#[test]
fn a_path_may_be_long() {
    let mut allocator = Allocator::new(&[5.0; 100], whole()).unwrap();
    let all: Vec<u32> = (0..100).collect();
    let flow = allocator.add_flow(&path(&all), 1.0).unwrap();
    (0..50).for_each(|_| allocator.iterate());
    assert!(allocator.rate(flow).unwrap() <= 5.0);
    assert_eq!(allocator.path(flow).unwrap().count(), 100);
}

#[test]
fn invalid_calls_are_rejected_without_effect() {
    let mut allocator = Allocator::new(&[10.0], Config::default()).unwrap();
    let refused = |result: Result<_, Error>, text: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
    };
    refused(allocator.add_flow(&[], 1.0), "no link");
    refused(allocator.add_flow(&path(&[1]), 1.0), "there is no link 1; the network has 1 links");
    refused(allocator.add_flow(&path(&[0, 0]), 1.0), "link 0 is in the path twice");
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        refused(allocator.add_flow(&path(&[0]), weight), &format!("weight is {weight}"));
    }
    assert_eq!(allocator.flow_count(), 0);
    let flow = allocator.add_flow(&path(&[0]), 1.0).unwrap();
    allocator.remove_flow(flow).unwrap();
    let again = allocator.add_flow(&path(&[0]), 1.0).unwrap();
    assert_eq!(again.slot(), flow.slot());
    assert_eq!(allocator.remove_flow(flow), Err(Error::UnknownFlow { flow }));
    assert_eq!(allocator.rate(flow), None);
    assert!(allocator.rate(again).is_some());
    for capacity in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
        let message = allocator.set_capacity(LinkId(0), capacity).unwrap_err().to_string();
        assert!(message.contains("capacity of link 0"), "{message}");
        assert!(Allocator::new(&[capacity], Config::default()).is_err());
    }
    for amount in [-1.0, f64::NAN, f64::INFINITY] {
        let message = allocator.reserve(LinkId(0), amount).unwrap_err().to_string();
        assert!(message.contains("reserved on link 0"), "{message}");
    }
    assert!(allocator.price(LinkId(1)).is_err());
}

#[test]
fn bad_settings_are_refused() {
    let base = Config::default();
    let bad = [
        (Config { gamma: 0.0, ..base }, "gamma"),
        (Config { gamma: f64::NAN, ..base }, "gamma"),
        (Config { gamma: 1e201, ..base }, "within the precision"),
        (Config { gamma: 1e28, precision: Precision::Single, ..base }, "within the precision"),
        (Config { threshold: 1.0, ..base }, "threshold"),
        (Config { threshold: -0.1, ..base }, "threshold"),
        (Config { initial_price: -1.0, ..base }, "initial_price"),
        (Config { initial_price: f64::INFINITY, ..base }, "initial_price"),
        (Config { rate_bound: 0.5, ..base }, "rate_bound"),
        (Config { utility: Utility::AlphaFair(0.0), ..base }, "`alpha` is 0;"),
        (Config { utility: Utility::AlphaFair(1e308), ..base }, "`alpha` is 1"),
        (Config { rate_bound: 1e300, ..base }, "`rate_bound` 1e300"),
        (Config { optimizer: Optimizer::NewtonLike { interval: 0 }, ..base }, "interval"),
        (Config { optimizer: Optimizer::Newton, precision: Precision::Single, ..base }, "single"),
    ];
    for (config, name) in bad {
        let message = Allocator::new(&[1.0], config).unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
    }
    // 1e12 squared is a price outside the range of single precision.
    let squared = Config { utility: Utility::AlphaFair(4.0), precision: Precision::Single, ..base };
    let message = Allocator::new(&[1e12], squared).unwrap_err().to_string();
    assert!(message.contains("capacity of link 0") && message.contains("`alpha` 4"), "{message}");
}

#[test]
fn a_million_flows_share_a_link() {
    for precision in [Precision::Double, Precision::Single] {
        let mut allocator = Allocator::new(&[40.0], Config { precision, ..whole() }).unwrap();
        let flows: Vec<_> =
            (0..1_000_000).map(|_| allocator.add_flow(&path(&[0]), 1.0).unwrap()).collect();
        // At a price of 1 the million flows take a million Gb/s.
        (0..5).for_each(|_| allocator.iterate());
        let total: f64 = rates(&allocator, &flows).iter().sum();
        assert!(total <= 40.0 * (1.0 + 1e-6), "{total}");
        assert_near(total, 40.0, 1e-4);
    }
}
