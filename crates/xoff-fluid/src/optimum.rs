//! The optimal rates, from "a separate instance of NED until it converged" (§5.4).

use xoff_alloc::{Allocator, Config, Error, FlowId, LinkId, Normalizer, Optimizer, Precision};

/// Measures an allocator's distance from the optimum.
#[derive(Debug, Default)]
pub(crate) struct Residual {
    /// The prices behind the rates of the last iteration.
    prices: Vec<f64>,
}

impl Residual {
    /// Iterates once and returns the distance of the resulting rates from the optimum. It is the
    /// maximum of two relative values: the excess of a link's load over its capacity, and the
    /// flows' payments for unused capacity. Both are zero exactly at the optimum (the
    /// Karush-Kuhn-Tucker conditions).
    pub(crate) fn iterate(&mut self, allocator: &mut Allocator) -> Result<f64, Error> {
        let links = || (0..allocator.link_count() as u32).map(LinkId);
        self.prices.clear();
        for link in links() {
            self.prices.push(allocator.price(link)?);
        }
        allocator.iterate();
        let (mut over, mut paid, mut idle) = (0.0_f64, 0.0, 0.0);
        for (link, price) in (0..).map(LinkId).zip(&self.prices) {
            let (load, usable) = (allocator.load(link)?, allocator.usable(link)?);
            if load > 0.0 {
                over = over.max(load / usable - 1.0);
                paid += price * load;
                idle += price * (usable - load).max(0.0);
            }
        }
        Ok(if paid > 0.0 { over.max(idle / paid) } else { over })
    }
}

/// An allocator that is run to convergence for the flows under study. It starts from the previous
/// optimum, which is close; the starting point does not affect the result.
pub(crate) struct Optimum {
    pub(crate) allocator: Allocator,
    residual: Residual,
    tolerance: f64,
    most_iterations: u32,
}

impl Optimum {
    /// Uses the utility and the threshold of `config`.
    pub(crate) fn new(
        capacities: &[f64],
        config: &Config,
        tolerance: f64,
        most_iterations: u32,
    ) -> Result<Self, Error> {
        let config = Config {
            optimizer: Optimizer::Ned,
            precision: Precision::Double,
            gamma: Config::default().gamma,
            normalizer: Normalizer::Flow,
            ..*config
        };
        let allocator = Allocator::new(capacities, config)?;
        Ok(Self { allocator, residual: Residual::default(), tolerance, most_iterations })
    }

    /// Iterates until the residual is within the tolerance; returns false if it does not get there.
    pub(crate) fn solve(&mut self) -> Result<bool, Error> {
        for _ in 0..self.most_iterations {
            if self.residual.iterate(&mut self.allocator)? <= self.tolerance {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The total rate of these flows. No rate exceeds a capacity.
    pub(crate) fn total(&self, flows: impl Iterator<Item = FlowId>) -> f64 {
        flows.filter_map(|flow| self.allocator.rate(flow)).sum()
    }
}
