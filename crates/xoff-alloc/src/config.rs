//! How an allocator works.

use xoff_core::choices;

use crate::error::Error;
use crate::real::{Range, Real};
use crate::utility::Utility;

/// How prices are changed; the key differentiator among algorithms that solve NUM (§2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Optimizer {
    /// Newton-Exact-Diagonal, the paper's own (Algorithm 1).
    #[default]
    Ned,
    /// Gradient projection: by the over-allocation alone (Appendix B).
    Gradient,
    /// Fast Weighted Gradient: accelerated, by an upper bound on how much flows can react.
    FastWeightedGradient,
    /// Newton-like: by the reaction measured so far, averaged over intervals.
    NewtonLike {
        /// How many iterations an interval has.
        interval: u32,
    },
    /// Newton's method with the whole Hessian: of cubic cost in the number of links.
    Newton,
}

choices! {
    /// The names of optimisers.
    pub enum OptimizerKind {
        /// Newton-Exact-Diagonal (§2, Algorithm 1).
        Ned = "ned",
        /// Gradient projection (Appendix B).
        Gradient = "gradient",
        /// Fast Weighted Gradient (§5.4).
        FastWeightedGradient = "fast-weighted-gradient",
        /// Newton's method with a measured diagonal (Appendix B).
        NewtonLike = "newton-like",
        /// Newton's method with the whole Hessian (Appendix B): for small networks.
        Newton = "newton",
    }
}

impl OptimizerKind {
    /// The optimiser of this name; Newton-like measures over so many iterations.
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
    /// The numbers rates are computed in.
    pub enum Precision {
        /// Double precision.
        Double = "double",
        /// The -RT form of NED and Gradient: single precision and an approximated reciprocal (§5.4).
        Single = "single",
    }
}

choices! {
    /// What is done with rates that exceed capacities (§3).
    pub enum Normalizer {
        /// F-NORM that scales down only: each flow by its most over-allocated link, if one is.
        Flow = "f-norm",
        /// F-NORM as equation 6 prints it: also up, where all links of a flow have capacity to spare.
        FlowAsPrinted = "f-norm-as-printed",
        /// U-NORM: all flows by one factor, so that the most congested link is at its capacity (equation
        /// 5).
        Uniform = "u-norm",
        /// Rates as the optimiser leaves them.
        None = "none",
    }
}

/// The settings of an allocator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How prices are changed.
    pub optimizer: Optimizer,
    /// The numbers rates are computed in.
    pub precision: Precision,
    /// How far a price is moved: gamma of the rule. 0.4 is the paper's for NED (§5.3), which calls
    /// [0.2, 1.5] similar. Gradient's has units, price over rate, and must be small.
    pub gamma: f64,
    /// What a rate is worth to a flow.
    pub utility: Utility,
    /// What is done with rates that exceed capacities.
    pub normalizer: Normalizer,
    /// A rate is reported again when it differs by more than this share of what was reported, and
    /// that share of each link's capacity is left free (§5.3.2).
    pub threshold: f64,
    /// The price of each link when the allocator starts: "link prices are all set to 1" (§2).
    pub initial_price: f64,
    /// A flow that pays nothing would take an infinite rate. No flow takes more than this many times
    /// the smallest capacity of its path before rates are normalised, whatever it pays. It has no
    /// part in an optimum, where no rate exceeds a capacity. It has to be above 1 for the price of
    /// a link with one flow to rise from zero; from zero it rises fastest with 2.
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
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let rules = [
            ("gamma", self.gamma, positive(self.gamma), "above 0 and finite"),
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
                expected: "smaller: with it and this `rate_bound`, no capacity has prices that \
                           the precision can hold",
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

    /// A weight must be a positive number that the precision can work with.
    pub(crate) fn check_weight(&self, weight: f64) -> Result<(), Error> {
        let least = self.range().least_weight;
        let most = 1.0 / least;
        if (least..=most).contains(&weight) {
            Ok(())
        } else {
            Err(Error::Weight { weight, least, most })
        }
    }

    /// The smallest and the largest capacity. A price is about w / capacity^alpha: both ends must be
    /// numbers of the precision.
    pub(crate) fn capacities(&self) -> (f64, f64) {
        let power = self.range().least_power;
        let root = libm::pow(power, 1.0 / self.utility.alpha()).max(power);
        (root, 1.0 / (root * self.rate_bound))
    }

    /// What the precision can hold.
    pub(crate) fn range(&self) -> Range {
        match self.precision {
            Precision::Double => f64::RANGE,
            Precision::Single => f32::RANGE,
        }
    }
}
