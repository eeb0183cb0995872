//! The allocator's settings, as scenario files and Python name them.

use xoff_alloc::{Config, Error, Normalizer, Optimizer, Precision, Utility};

xoff_core::choices! {
    /// Rules that move prices.
    pub enum OptimizerKind {
        /// Newton-Exact-Diagonal, Flowtune's own.
        Ned = "ned",
        /// Gradient projection.
        Gradient = "gradient",
        /// Fast Weighted Gradient Method.
        Fgm = "fgm",
        /// Newton-like: with measured reactions.
        NewtonLike = "newton-like",
        /// Newton's method with the whole Hessian.
        Newton = "newton",
    }
}

xoff_core::choices! {
    /// The numbers that rates are computed in.
    pub enum PrecisionKind {
        /// Double precision.
        Double = "double",
        /// Single precision with approximated reciprocals: the -RT form of NED and Gradient.
        Single = "single",
    }
}

xoff_core::choices! {
    /// What is done with rates that exceed capacities.
    pub enum NormalizerKind {
        /// F-NORM that scales down only.
        Flow = "flow",
        /// F-NORM as equation 6 prints it: also up.
        FlowAsPrinted = "flow-as-printed",
        /// U-NORM: all flows by one factor.
        Uniform = "uniform",
        /// Nothing.
        None = "none",
    }
}

xoff_core::knobs! {
    /// An allocator of rates.
    pub struct AllocatorConfig in "allocator" {
        /// The rule that moves prices.
        optimizer: OptimizerKind = OptimizerKind::Ned,
        /// The numbers that rates are computed in.
        precision: PrecisionKind = PrecisionKind::Double,
        /// How far the rule moves a price (§5.3: 0.4 for NED). Gradient's has units, price over rate.
        gamma: f64 = 0.4,
        /// Iterations over which Newton-like measures; no other rule reads it.
        interval: u32 = 10,
        /// Utilities are alpha-fair: 1 is proportional fairness, and the larger it is, the nearer
        /// rates come to max-min fairness.
        alpha: f64 = 1.0,
        /// What is done with rates that exceed capacities.
        normalizer: NormalizerKind = NormalizerKind::Flow,
        /// Rates are reported when they change by more than this share, and that share of capacities
        /// is left free (§5.3.2).
        threshold: f64 = 0.01,
        /// The price of every link at the start (§2).
        initial_price: f64 = 1.0,
        /// No flow takes more than this many times the smallest capacity of its path before rates
        /// are normalised.
        rate_bound: f64 = 2.0,
    }
}

impl AllocatorConfig {
    /// The settings as the allocator takes them.
    #[must_use]
    pub fn config(&self) -> Config {
        Config {
            optimizer: match self.optimizer {
                OptimizerKind::Ned => Optimizer::Ned,
                OptimizerKind::Gradient => Optimizer::Gradient,
                OptimizerKind::Fgm => Optimizer::FastWeightedGradient,
                OptimizerKind::NewtonLike => Optimizer::NewtonLike { interval: self.interval },
                OptimizerKind::Newton => Optimizer::Newton,
            },
            precision: match self.precision {
                PrecisionKind::Double => Precision::Double,
                PrecisionKind::Single => Precision::Single,
            },
            gamma: self.gamma,
            utility: if self.alpha == 1.0 { Utility::Log } else { Utility::AlphaFair(self.alpha) },
            normalizer: match self.normalizer {
                NormalizerKind::Flow => Normalizer::Flow,
                NormalizerKind::FlowAsPrinted => Normalizer::FlowAsPrinted,
                NormalizerKind::Uniform => Normalizer::Uniform,
                NormalizerKind::None => Normalizer::None,
            },
            threshold: self.threshold,
            initial_price: self.initial_price,
            rate_bound: self.rate_bound,
        }
    }

    /// Checks the settings together.
    ///
    /// # Errors
    /// What the allocator says of them.
    pub fn check(&self) -> Result<(), Error> {
        xoff_alloc::Allocator::new(&[], self.config()).map(drop)
    }
}
