//! The optimal rates, by "a separate instance of NED until it converged" (§5.4).

use xoff_alloc::{Allocator, Config, Error, FlowId, LinkId, Normalizer, Optimizer, Precision};

/// Says how far an allocator is from the optimum.
#[derive(Debug, Default)]
pub(crate) struct Residual {
    /// The prices that the rates of the last iteration come from.
    prices: Vec<f64>,
}

impl Residual {
    /// Iterates once, and returns how far the rates that come of it are from the optimum: the most
    /// that a link's load exceeds its capacity, or what flows pay for capacity that nobody uses,
    /// each as a share. Both are zero at the optimum and only there (the conditions of Karush, Kuhn
    /// and Tucker).
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

/// An allocator that is run to convergence, for the same flows as the one under study. It starts
/// from the optimum of the flows before: that is near, and where it starts does not matter to
/// where it ends.
pub(crate) struct Optimum {
    pub(crate) allocator: Allocator,
    residual: Residual,
    tolerance: f64,
    most_iterations: u32,
}

impl Optimum {
    /// With the utility and the headroom of `config`.
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

    /// Iterates until the residual is within the tolerance; tells whether it came there.
    pub(crate) fn solve(&mut self) -> Result<bool, Error> {
        for _ in 0..self.most_iterations {
            if self.residual.iterate(&mut self.allocator)? <= self.tolerance {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The rates of these flows together, none of which exceeds a capacity.
    pub(crate) fn total(&self, flows: impl Iterator<Item = FlowId>) -> f64 {
        flows.filter_map(|flow| self.allocator.rate(flow)).sum()
    }
}
