//! The allocator's settings, as scenario files and Python name them.

use xoff_alloc::{Config, Error, Normalizer, OptimizerKind, Precision, Utility};
use xoff_core::knobs::{Effect, Knob as _, because};

xoff_core::knobs! {
    /// An allocator of rates.
    pub struct AllocatorConfig in "allocator" {
        /// The rule that moves prices.
        optimizer: OptimizerKind = OptimizerKind::Ned,
        /// The numbers that rates are computed in.
        precision: Precision = Precision::Double,
        /// How far the rule moves a price (§5.3: 0.4 for NED). Gradient's has units, price over rate.
        gamma: f64 = 0.4,
        /// Iterations over which Newton-like measures; no other rule reads it.
        interval: u32 = 10 => [Effect::Unless(|allocator| {
            let optimizer = allocator.optimizer;
            because(
                optimizer != OptimizerKind::NewtonLike,
                &format!("optimizer = {}", optimizer.show()),
            )
        })],
        /// Utilities are alpha-fair: 1 is proportional fairness, and the larger it is, the nearer
        /// rates come to max-min fairness.
        alpha: f64 = 1.0,
        /// What is done with rates that exceed capacities.
        normalizer: Normalizer = Normalizer::Flow,
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
            optimizer: self.optimizer.with_interval(self.interval),
            precision: self.precision,
            gamma: self.gamma,
            utility: if self.alpha == 1.0 { Utility::Log } else { Utility::AlphaFair(self.alpha) },
            normalizer: self.normalizer,
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
