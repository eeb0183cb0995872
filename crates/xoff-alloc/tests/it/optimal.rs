//! Compares converged rates with the optimum from an independent convex solver and with the
//! optimality conditions.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus,
    SupportedConeT::{ExponentialConeT, NonnegativeConeT},
};
use xoff_alloc::{Allocator, Config, FlowId, LinkId, Normalizer, Utility};

use crate::common::{converge, path, whole};

/// A small random number generator (SplitMix64), so that all runs use the same networks.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A random network and its flows.
struct Case {
    capacities: Vec<f64>,
    flows: Vec<(Vec<u32>, f64)>,
}

impl Case {
    /// Up to 24 links of 1 to 40 units, up to 48 flows over one to five of them.
    fn random(random: &mut Random) -> Self {
        let links = 1 + random.below(24);
        let capacities = (0..links).map(|_| 1.0 + 39.0 * random.unit()).collect();
        let flows = (0..=random.below(48))
            .map(|_| {
                let mut all: Vec<u32> = (0..links as u32).collect();
                let length = 1 + random.below(links.min(5)) as usize;
                for place in 0..length {
                    let left = all.len() - place;
                    all.swap(place, place + random.below(left as u64) as usize);
                }
                all.truncate(length);
                (all, (4.0 * random.unit() - 2.0).exp())
            })
            .collect();
        Self { capacities, flows }
    }

    fn allocator(&self, config: Config) -> (Allocator, Vec<FlowId>) {
        let mut allocator = Allocator::new(&self.capacities, config).unwrap();
        let add =
            |(links, weight): &(Vec<u32>, f64)| allocator.add_flow(&path(links), *weight).unwrap();
        let flows = self.flows.iter().map(add).collect();
        (allocator, flows)
    }

    /// The rates that maximise the sum of `w log x`.
    ///
    /// In some cases the solver stops early, when steps get too small for its arithmetic, and
    /// reports it. These cases depend on the unit of rates, so other units are tried until the
    /// solver succeeds.
    fn solve(&self) -> Vec<f64> {
        let units = [10.0, 1.0, 3.0, 30.0, 100.0, 0.3, 0.1, 5.0, 20.0, 50.0, 2.0, 7.0, 15.0, 40.0];
        let solved = units.iter().find_map(|&unit| self.solve_in(unit));
        solved.expect("the solver succeeds in some unit")
    }

    /// The same with rates in this unit; `None` if the solver does not succeed.
    ///
    /// The variables are rates x and their logarithms t. The objective is to minimise the sum of
    /// `-w t` such that loads are within capacities and each (t, 1, x) is in the exponential cone.
    fn solve_in(&self, unit: f64) -> Option<Vec<f64>> {
        let (flows, links) = (self.flows.len(), self.capacities.len());
        let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut put = |row: usize, column: usize, value: f64| {
            rows.push(row);
            columns.push(column);
            values.push(value);
        };
        let mut right: Vec<f64> = self.capacities.iter().map(|capacity| capacity / unit).collect();
        let mut cost = vec![0.0; flows];
        for (flow, (path, weight)) in self.flows.iter().enumerate() {
            path.iter().for_each(|&link| put(link as usize, flow, 1.0));
            let cone = links + 3 * flow;
            put(cone, flows + flow, -1.0);
            put(cone + 2, flow, -1.0);
            right.extend([0.0, 1.0, 0.0]);
            cost.push(-weight);
        }
        let matrix =
            CscMatrix::new_from_triplets(links + 3 * flows, 2 * flows, rows, columns, values);
        let quadratic = CscMatrix::zeros((2 * flows, 2 * flows));
        let mut cones = vec![NonnegativeConeT(links)];
        cones.extend(vec![ExponentialConeT(); flows]);
        let mut solver =
            DefaultSolver::new(&quadratic, &cost, &matrix, &right, &cones, tight()).unwrap();
        solver.solve();
        let rates = solver.solution.x[..flows].iter().map(|rate| rate * unit).collect();
        (solver.solution.status == SolverStatus::Solved).then_some(rates)
    }
}

fn tight() -> DefaultSettings<f64> {
    DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-12)
        .tol_gap_rel(1e-12)
        .tol_feas(1e-13)
        .iterative_refinement_reltol(1e-16)
        .iterative_refinement_abstol(1e-16)
        .iterative_refinement_max_iter(50)
        .static_regularization_proportional(0.0)
        .build()
        .unwrap()
}

#[test]
fn converged_rates_match_a_convex_solver() {
    let mut random = Random(1);
    for number in 0..1000 {
        let case = Case::random(&mut random);
        let (mut allocator, flows) =
            case.allocator(Config { normalizer: Normalizer::None, ..whole() });
        converge(&mut allocator, 10_000);
        for (&flow, best) in flows.iter().zip(case.solve()) {
            let off = (allocator.rate(flow).unwrap() / best - 1.0).abs();
            assert!(off < 1e-6, "network {number}: {flow} is off by {off:e}");
        }
    }
}

#[test]
fn converged_rates_meet_the_optimality_conditions_for_any_alpha() {
    // The rate update ensures that marginal utility equals price. Two conditions remain: no link is
    // overloaded, and no link with spare capacity has a price.
    for alpha in [0.5, 0.8, 2.0, 3.0] {
        let mut random = Random(2);
        for number in 0..100 {
            let case = Case::random(&mut random);
            let config = Config {
                normalizer: Normalizer::None,
                utility: Utility::AlphaFair(alpha),
                gamma: 0.3,
                ..whole()
            };
            let (mut allocator, _) = case.allocator(config);
            converge(&mut allocator, 50_000);
            for link in (0..case.capacities.len() as u32).map(LinkId) {
                let price = allocator.price(link).unwrap();
                let excess = allocator.load(link).unwrap() / allocator.usable(link).unwrap() - 1.0;
                let is_used = allocator.load(link).unwrap() > 0.0;
                assert!(excess < 1e-6, "alpha {alpha}, network {number}: {link} at {excess:e}");
                assert!(
                    excess > -1e-6 || price < 1e-9 || !is_used,
                    "alpha {alpha}, network {number}: {link} costs {price}, is at {excess:e}"
                );
            }
        }
    }
}

/// Number of the first test's networks that have not converged after `iterations`.
fn unsettled(gamma: f64, iterations: u32) -> usize {
    let mut random = Random(1);
    let settles = |case: Case| {
        let (mut allocator, _) = case.allocator(Config { gamma, ..whole() });
        converge(&mut allocator, iterations) < iterations
    };
    (0..200).filter(|_| !settles(Case::random(&mut random))).count()
}

#[test]
fn a_large_gamma_oscillates_if_flows_have_several_bottlenecks() {
    // If n links of a path share a price, NED's step along it is n times too long: gamma times a
    // flow's number of bottlenecks must stay below 2.
    assert_eq!(unsettled(0.2, 20_000), 0);
    assert_eq!(unsettled(0.4, 10_000), 0);
    assert!(unsettled(1.5, 2_000) > 20);
}
