//! The allocator's settings, with their names in scenario files and in Python.

use xoff_alloc::{Config, Error, Normalizer, OptimizerKind, Precision, Utility};
use xoff_core::knobs::{Effect, Knob as _, because};

xoff_core::knobs! {
    /// The rate allocator.
    pub struct AllocatorConfig in "allocator" {
        /// The rule that updates prices.
        optimizer: OptimizerKind = OptimizerKind::Ned,
        /// Floating-point precision of the rates.
        precision: Precision = Precision::Double,
        /// Step size of the price update (§5.3: 0.4 for NED). Gradient's has a unit: price per
        /// rate.
        gamma: f64 = 0.4,
        /// Iterations per measurement interval of Newton-like; other rules ignore it.
        interval: u32 = 10 => [Effect::Unless(|allocator| {
            let optimizer = allocator.optimizer;
            because(
                optimizer != OptimizerKind::NewtonLike,
                &format!("optimizer = {}", optimizer.show()),
            )
        })],
        /// Alpha of the alpha-fair utility: 1 is proportional fairness; larger values approach
        /// max-min fairness.
        alpha: f64 = 1.0,
        /// Normalisation of rates that exceed link capacities.
        normalizer: Normalizer = Normalizer::Flow,
        /// Relative change at which a rate is reported again, and fraction of each link's capacity
        /// that is left free (§5.3.2).
        threshold: f64 = 0.01,
        /// Initial price of every link (§2).
        initial_price: f64 = 1.0,
        /// Upper bound on a rate before normalisation, as a multiple of the smallest capacity on
        /// its path.
        rate_bound: f64 = 2.0,
    }
}

impl AllocatorConfig {
    /// The settings as the allocator's type.
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
    /// The allocator's error.
    pub fn check(&self) -> Result<(), Error> {
        xoff_alloc::Allocator::new(&[], self.config()).map(drop)
    }
}
