//! Gradient projection (Appendix B): moves prices by the over-allocation alone, `p <- p + gamma G`.
//!
//! "Gradient's shortcoming is that it doesn't know how sensitive flows are to a price change, so it
//! must update prices very gently": gamma must be small, and its limit depends on capacities and on
//! the number of flows per link.

use super::Demand;
use crate::real::Real;

pub(super) fn update<R: Real>(gamma: f64, prices: &mut [R], demand: &Demand, usable: &[f64]) {
    for (link, price) in prices.iter_mut().enumerate() {
        if demand.users[link] > 0 {
            let over_allocation = demand.load[link] - usable[link];
            *price = (*price + R::of(gamma * over_allocation)).at_least(R::ZERO);
        }
    }
}
