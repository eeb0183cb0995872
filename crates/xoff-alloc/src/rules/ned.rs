//! Newton-Exact-Diagonal (§2, Algorithm 1): prices move by the over-allocation over how strongly
//! flows react to the link's own price, which is computed from utilities and not measured.
//!
//! The text also prints the rule as `p + gamma G / H`, which has the other sign of H; it is
//! Algorithm 1's that converges, since H is negative.

use super::Demand;
use crate::real::Real;

/// "Price update. Given updated rates x = x(p), update the price of each link:
/// p <- max(0, p - gamma H^-1 G)" (equation 4), where G is the link's load less its capacity and H
/// the sum of its flows' dx/dp: here [`Demand::slope`] is -H.
///
/// The paper does not say what becomes of a link without flows, where H is zero: its price stays as
/// it is. It is the best guess for the flow that comes next, and as "link prices are all set to 1"
/// at the start, before any flow, so it must be.
pub(super) fn update<R: Real>(gamma: f64, prices: &mut [R], demand: &Demand, usable: &[f64]) {
    for (link, price) in prices.iter_mut().enumerate() {
        if demand.users[link] > 0 {
            *price = next(gamma, *price, demand.load[link] - usable[link], demand.slope[link]);
        }
    }
}

/// The next price of a link that has flows.
pub(crate) fn next<R: Real>(gamma: f64, price: R, over_allocation: f64, slope: f64) -> R {
    if slope > 0.0 {
        (price + R::of(gamma * over_allocation / slope)).at_least(R::ZERO)
    } else {
        // The price is so high that all rates are too small for a number: it can but fall.
        R::ZERO
    }
}
