//! Properties that hold for all networks, flows and prices.

use crate::common::{converge, path, rates, whole};
use proptest::prelude::*;
use xoff_alloc::{Allocator, Config, FlowId, LinkId, Normalizer, Optimizer, Precision, Utility};

/// A network and its flows: capacities over 15 orders of magnitude, including failed links.
#[derive(Clone, Debug)]
struct Case {
    capacities: Vec<f64>,
    flows: Vec<(Vec<u32>, f64)>,
}

fn capacity() -> impl Strategy<Value = f64> {
    prop_oneof![
        1 => Just(0.0),
        8 => (-3.0..12.0).prop_map(libm::exp10),
        3 => Just(40.0),
    ]
}

/// Paths over any links in any order.
fn flow(links: usize) -> impl Strategy<Value = (Vec<u32>, f64)> {
    let all: Vec<u32> = (0..links as u32).collect();
    (proptest::sample::subsequence(all, 1..=links.min(6)).prop_shuffle(), 0.01..100.0)
}

fn case() -> impl Strategy<Value = Case> {
    proptest::collection::vec(capacity(), 1..12).prop_flat_map(|capacities| {
        proptest::collection::vec(flow(capacities.len()), 1..40)
            .prop_map(move |flows| Case { capacities: capacities.clone(), flows })
    })
}

fn config() -> impl Strategy<Value = Config> {
    let optimizer = prop_oneof![
        3 => Just(Optimizer::Ned),
        1 => Just(Optimizer::Gradient),
        1 => Just(Optimizer::FastWeightedGradient),
        1 => Just(Optimizer::NewtonLike { interval: 2 }),
        1 => Just(Optimizer::Newton),
    ];
    let utility = prop_oneof![
        3 => Just(Utility::Log),
        1 => (0.5..2.0).prop_map(Utility::AlphaFair),
    ];
    let price = prop_oneof![Just(1.0), Just(0.0), Just(1e-12), Just(1e12)];
    let gamma = 0.01..3.0;
    (optimizer, utility, price, gamma, any::<bool>()).prop_map(
        |(optimizer, utility, initial_price, gamma, single)| {
            let has_single = matches!(optimizer, Optimizer::Ned | Optimizer::Gradient);
            let precision =
                if single && has_single { Precision::Single } else { Precision::Double };
            Config { optimizer, precision, gamma, utility, initial_price, ..Config::default() }
        },
    )
}

fn build(case: &Case, config: Config) -> (Allocator, Vec<FlowId>) {
    let mut allocator = Allocator::new(&case.capacities, config).unwrap();
    let flows = case
        .flows
        .iter()
        .map(|(links, weight)| allocator.add_flow(&path(links), *weight).unwrap())
        .collect();
    (allocator, flows)
}

/// Sums of normalised rates per link.
fn loads(case: &Case, rates: &[f64]) -> Vec<f64> {
    let mut loads = vec![0.0; case.capacities.len()];
    for ((links, _), rate) in case.flows.iter().zip(rates) {
        links.iter().for_each(|&link| loads[link as usize] += rate);
    }
    loads
}

/// Tolerance: single precision may exceed a capacity by its rounding.
const ROUNDING: f64 = 1e-6;

proptest! {
    #[test]
    fn f_norm_exceeds_no_capacity(
        case in case(),
        config in config(),
        printed in any::<bool>(),
        iterations in 1..30,
    ) {
        let normalizer = if printed { Normalizer::FlowAsPrinted } else { Normalizer::Flow };
        let (mut allocator, flows) = build(&case, Config { normalizer, ..config });
        for _ in 0..iterations {
            allocator.iterate();
            let rates = rates(&allocator, &flows);
            prop_assert!(rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0), "{:?}", rates);
            for (link, load) in loads(&case, &rates).into_iter().enumerate() {
                let usable = allocator.usable(LinkId(link as u32)).unwrap();
                prop_assert!(
                    load <= usable * (1.0 + ROUNDING),
                    "link {link} carries {load} of {usable}"
                );
            }
            for link in 0..case.capacities.len() {
                let price = allocator.price(LinkId(link as u32)).unwrap();
                prop_assert!(price.is_finite() && price >= 0.0, "link {link} costs {price}");
            }
        }
    }

    #[test]
    fn f_norm_scales_down_only_unless_as_printed(case in case(), config in config()) {
        let (mut down, flows) = build(&case, config);
        let (mut printed, _) =
            build(&case, Config { normalizer: Normalizer::FlowAsPrinted, ..config });
        down.iterate();
        printed.iterate();
        for &flow in &flows {
            let raw = down.raw_rate(flow).unwrap();
            prop_assert!(down.rate(flow).unwrap() <= raw);
            let up = printed.rate(flow).unwrap();
            prop_assert!(up >= down.rate(flow).unwrap() * (1.0 - 1e-5), "{up}");
        }
    }

    #[test]
    fn u_norm_fills_the_most_congested_link_and_keeps_relative_sizes(
        case in case(),
        config in config(),
    ) {
        let config = Config { normalizer: Normalizer::Uniform, ..config };
        let error = if config.precision == Precision::Single { 1e-5 } else { 1e-12 };
        let (mut allocator, flows) = build(&case, config);
        allocator.iterate();
        let rates = rates(&allocator, &flows);
        let raw: Vec<f64> = flows.iter().map(|&flow| allocator.raw_rate(flow).unwrap()).collect();
        let fullest = loads(&case, &rates)
            .into_iter()
            .enumerate()
            .filter(|(_, load)| *load > 0.0)
            .map(|(link, load)| load / allocator.usable(LinkId(link as u32)).unwrap())
            .fold(0.0, f64::max);
        // There is nothing to scale if every flow is blocked, or if prices are so high that rates
        // underflow.
        prop_assume!(raw.iter().any(|&rate| rate > 1e-9));
        prop_assert!((fullest - 1.0).abs() < error, "the fullest link is at {fullest}");
        let factor = rates.iter().sum::<f64>() / raw.iter().sum::<f64>();
        for (rate, raw) in rates.iter().zip(raw) {
            prop_assert!((rate - raw * factor).abs() <= raw * factor * 1e-5);
        }
    }

    #[test]
    fn the_history_of_flows_does_not_matter(
        (case, order) in case().prop_flat_map(|case| {
            let steps = case.flows.len();
            (Just(case), proptest::collection::vec((0..steps, 0..4_u32), 0..60))
        }),
    ) {
        // Capacities of one magnitude, all different: the price of a full link whose optimal price
        // is zero falls too slowly for the number of iterations.
        let uneven = |(link, c): (usize, &f64)| {
            if *c == 0.0 { 0.0 } else { 10.0 + c % 30.0 + 0.37 * (link * link) as f64 }
        };
        let capacities: Vec<f64> = case.capacities.iter().enumerate().map(uneven).collect();
        let case = Case { capacities, ..case };
        let config = Config { gamma: 0.3, ..whole() };
        let mut churned = Allocator::new(&case.capacities, config).unwrap();
        let mut present: Vec<Option<FlowId>> = vec![None; case.flows.len()];
        for (index, iterations) in order {
            let (links, weight) = &case.flows[index];
            match present[index].take() {
                Some(flow) => churned.remove_flow(flow).unwrap(),
                None => present[index] = Some(churned.add_flow(&path(links), *weight).unwrap()),
            }
            (0..iterations).for_each(|_| churned.iterate());
        }
        let mut fresh = Allocator::new(&case.capacities, config).unwrap();
        let pairs: Vec<(FlowId, FlowId)> = present
            .iter()
            .zip(&case.flows)
            .filter_map(|(old, (links, weight))| {
                Some(((*old)?, fresh.add_flow(&path(links), *weight).unwrap()))
            })
            .collect();
        converge(&mut churned, 20_000);
        converge(&mut fresh, 20_000);
        for (old, new) in pairs {
            let (old, new) = (churned.rate(old).unwrap(), fresh.rate(new).unwrap());
            prop_assert!((old - new).abs() <= 1e-4 * new, "{old} after churn, {new} afresh");
        }
    }
}
