//! Helpers of the allocator's tests.

use xoff_alloc::{Allocator, Config, FlowId, LinkId};

/// Settings that allocate the whole capacity, so that closed forms need no factor.
pub(crate) fn whole() -> Config {
    Config { threshold: 0.0, ..Config::default() }
}

/// Links by index.
pub(crate) fn path(links: &[u32]) -> Vec<LinkId> {
    links.iter().copied().map(LinkId).collect()
}

/// Iterations without a change that prove convergence: more than any rule waits between two
/// changes.
const QUIET: u32 = 20;

/// Iterates until no price moves, at most `most` times. Returns the number of iterations.
pub(crate) fn converge(allocator: &mut Allocator, most: u32) -> u32 {
    let prices = |it: &Allocator| -> Vec<f64> {
        (0..it.link_count()).map(|link| it.price(LinkId(link as u32)).unwrap()).collect()
    };
    let (mut last, mut quiet) = (prices(allocator), 0);
    for iteration in 1..=most {
        allocator.iterate();
        let now = prices(allocator);
        let moved = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-13 * a.max(*b);
        quiet = if now.iter().zip(&last).any(moved) { 0 } else { quiet + 1 };
        if quiet == QUIET {
            return iteration;
        }
        last = now;
    }
    most
}

/// Normalised rates of flows.
pub(crate) fn rates(allocator: &Allocator, flows: &[FlowId]) -> Vec<f64> {
    flows.iter().map(|&flow| allocator.rate(flow).unwrap()).collect()
}

/// Asserts that two numbers agree within a relative error.
#[track_caller]
pub(crate) fn assert_near(found: f64, expected: f64, error: f64) {
    let off = (found - expected).abs() / expected.abs().max(f64::MIN_POSITIVE);
    assert!(off <= error, "{found} is not {expected}: off by {off:e}");
}
