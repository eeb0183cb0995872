//! Settings of an allocator.

use xoff_core::choices;

use crate::error::Error;
use crate::real::{Range, Real};
use crate::utility::Utility;

/// The rule that updates prices: "the key differentiator among different algorithms to solve NUM"
/// (§2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Optimizer {
    /// Newton-Exact-Diagonal, the paper's own rule (Algorithm 1).
    #[default]
    Ned,
    /// Gradient projection: moves prices by the over-allocation alone (Appendix B).
    Gradient,
    /// Fast Weighted Gradient: accelerated, with an upper bound on the flows' sensitivity to
    /// prices.
    FastWeightedGradient,
    /// Newton-like: uses the sensitivity measured so far, averaged over intervals.
    NewtonLike {
        /// Iterations per interval.
        interval: u32,
    },
    /// Newton's method with the full Hessian. Its cost is cubic in the number of links.
    Newton,
}

choices! {
    /// Name of an optimiser.
    pub enum OptimizerKind {
        /// Newton-Exact-Diagonal (§2, Algorithm 1).
        Ned = "ned",
        /// Gradient projection (Appendix B).
        Gradient = "gradient",
        /// Fast Weighted Gradient (§5.4).
        FastWeightedGradient = "fast-weighted-gradient",
        /// Newton's method with a measured diagonal (Appendix B).
        NewtonLike = "newton-like",
        /// Newton's method with the full Hessian (Appendix B), for small networks.
        Newton = "newton",
    }
}

impl OptimizerKind {
    /// Returns the optimiser of this name. `interval` is the measurement interval of Newton-like,
    /// in iterations.
    #[must_use]
    pub fn with_interval(self, interval: u32) -> Optimizer {
        match self {
            Self::Ned => Optimizer::Ned,
            Self::Gradient => Optimizer::Gradient,
            Self::FastWeightedGradient => Optimizer::FastWeightedGradient,
            Self::NewtonLike => Optimizer::NewtonLike { interval },
            Self::Newton => Optimizer::Newton,
        }
    }
}

choices! {
    /// Floating-point precision of the rates.
    pub enum Precision {
        /// Double precision.
        Double = "double",
        /// The -RT form of NED and Gradient: single precision and an approximate reciprocal (§5.4).
        Single = "single",
    }
}

choices! {
    /// Normalisation of rates that exceed link capacities (§3).
    pub enum Normalizer {
        /// F-NORM, scaling down only: divides each flow's rate by the ratio of load to capacity of
        /// its most over-allocated link, if that exceeds 1.
        Flow = "f-norm",
        /// F-NORM as printed in equation 6: also scales up where all links of a flow have spare
        /// capacity.
        FlowAsPrinted = "f-norm-as-printed",
        /// U-NORM: scales all flows by one factor that puts the most congested link at its capacity
        /// (equation 5).
        Uniform = "u-norm",
        /// No normalisation: the optimiser's rates.
        None = "none",
    }
}

/// Settings of an allocator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The rule that updates prices.
    pub optimizer: Optimizer,
    /// Floating-point precision of the rates.
    pub precision: Precision,
    /// Step size of the price update: gamma of the rule. The paper uses 0.4 for NED (§5.3) and
    /// calls [0.2, 1.5] similar. Gradient's gamma has a unit, price per rate, and must be small.
    pub gamma: f64,
    /// Utility function of the flows.
    pub utility: Utility,
    /// Normalisation of rates that exceed link capacities.
    pub normalizer: Normalizer,
    /// A rate is reported again when it differs from the last report by more than this fraction.
    /// The same fraction of each link's capacity is left free (§5.3.2).
    pub threshold: f64,
    /// Initial price of each link: "link prices are all set to 1" (§2).
    pub initial_price: f64,
    /// Upper bound on a flow's rate before normalisation, as a multiple of the smallest capacity on
    /// its path. Without it, a flow with a price of zero would take an infinite rate. The bound
    /// does not affect the optimum, where no rate exceeds a capacity. It must exceed 1 for the
    /// price of a link with a single flow to rise from zero; from zero the price rises fastest with
    /// 2.
    pub rate_bound: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            optimizer: Optimizer::Ned,
            precision: Precision::Double,
            gamma: 0.4,
            utility: Utility::Log,
            normalizer: Normalizer::Flow,
            threshold: 0.01,
            initial_price: 1.0,
            rate_bound: 2.0,
        }
    }
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let rules = [
            (
                "gamma",
                self.gamma,
                self.gamma > 0.0 && self.gamma <= self.range().most_price,
                "above 0, finite, and within the precision",
            ),
            (
                "threshold",
                self.threshold,
                (0.0..1.0).contains(&self.threshold),
                "from 0 to below 1",
            ),
            (
                "initial_price",
                self.initial_price,
                (0.0..=self.range().most_price).contains(&self.initial_price),
                "at least 0, finite, and within the precision",
            ),
            (
                "rate_bound",
                self.rate_bound,
                self.rate_bound.is_finite() && self.rate_bound >= 1.0,
                "at least 1 and finite",
            ),
        ];
        for (name, value, holds, expected) in rules {
            if !holds {
                return Err(Error::Setting { name, value, expected });
            }
        }
        self.utility.check()?;
        let (least, most) = self.capacities();
        if least > most {
            return Err(Error::Setting {
                name: "alpha",
                value: self.utility.alpha(),
                expected: "smaller: with this `rate_bound`, no capacity gives prices within the \
                           range of the precision",
            });
        }
        match (self.optimizer, self.precision) {
            (Optimizer::NewtonLike { interval: 0 }, _) => {
                Err(Error::Setting { name: "interval", value: 0.0, expected: "at least 1" })
            }
            (Optimizer::Ned | Optimizer::Gradient, _) | (_, Precision::Double) => Ok(()),
            (_, Precision::Single) => Err(Error::NoSingleForm),
        }
    }

    /// Checks that a weight is positive and within the range of the precision.
    pub(crate) fn check_weight(&self, weight: f64) -> Result<(), Error> {
        let least = self.range().least_weight;
        let most = 1.0 / least;
        if (least..=most).contains(&weight) {
            Ok(())
        } else {
            Err(Error::Weight { weight, least, most })
        }
    }

    /// The smallest and the largest valid capacity. A price is about w / capacity^alpha, and both
    /// ends must be within the range of the precision.
    pub(crate) fn capacities(&self) -> (f64, f64) {
        let power = self.range().least_power;
        let root = libm::pow(power, 1.0 / self.utility.alpha()).max(power);
        (root, 1.0 / (root * self.rate_bound))
    }

    /// The range of numbers that the precision can represent.
    pub(crate) fn range(&self) -> Range {
        match self.precision {
            Precision::Double => f64::RANGE,
            Precision::Single => f32::RANGE,
        }
    }
}
