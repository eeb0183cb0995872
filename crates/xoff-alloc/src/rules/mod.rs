//! Rules that update prices: "the key differentiator among different algorithms to solve NUM" (§2).

mod gradient;
mod ned;
mod newton;
mod newton_like;
mod weighted_gradient;

use crate::config::{Config, Optimizer};
use crate::flows::Flows;
use crate::real::Real;
use crate::utility::Utility;

use newton_like::NewtonLike;
use weighted_gradient::WeightedGradient;

/// Sums of the rate update for each link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demand {
    /// Sum of the rates of the link's flows.
    pub(crate) load: Vec<f64>,
    /// Decrease of that sum per unit of price: `-H`.
    pub(crate) slope: Vec<f64>,
    /// Number of active flows on the link.
    pub(crate) users: Vec<u32>,
}

/// The flows themselves, for rules that need more than sums per link.
pub(crate) struct Senders<'a, R> {
    pub(crate) flows: &'a Flows,
    pub(crate) utility: Utility,
    /// By flow: the weight, or zero if the flow is inactive.
    pub(crate) weight: &'a [R],
    /// By flow: the lower bound on its price.
    pub(crate) floor: &'a [R],
    /// By flow: the decrease of its rate per unit of price.
    pub(crate) slope: &'a [R],
}

/// A rule and its state between iterations.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    gamma: f64,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Ned,
    Gradient,
    WeightedGradient(WeightedGradient),
    NewtonLike(NewtonLike),
    Newton,
}

impl Rule {
    pub(crate) fn new(config: &Config, links: usize) -> Self {
        let kind = match config.optimizer {
            Optimizer::Ned => Kind::Ned,
            Optimizer::Gradient => Kind::Gradient,
            Optimizer::FastWeightedGradient => {
                Kind::WeightedGradient(WeightedGradient::new(links, config.initial_price))
            }
            Optimizer::NewtonLike { interval } => {
                Kind::NewtonLike(NewtonLike::new(links, interval))
            }
            Optimizer::Newton => Kind::Newton,
        };
        Self { gamma: config.gamma, kind }
    }

    /// Updates prices. The price of a link without active flows stays unchanged.
    pub(crate) fn update<R: Real>(
        &mut self,
        prices: &mut [R],
        demand: &Demand,
        usable: &[f64],
        senders: &Senders<'_, R>,
    ) {
        let gamma = self.gamma;
        match &mut self.kind {
            Kind::Ned => ned::update(gamma, prices, demand, usable),
            Kind::Gradient => gradient::update(gamma, prices, demand, usable),
            Kind::WeightedGradient(state) => state.update(gamma, prices, demand, usable, senders),
            Kind::NewtonLike(state) => state.update(gamma, prices, demand, usable),
            Kind::Newton => newton::update(gamma, prices, demand, usable, senders),
        }
    }
}
