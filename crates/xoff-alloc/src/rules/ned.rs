//! Newton-Exact-Diagonal (§2, Algorithm 1): moves each price by the over-allocation divided by the
//! flows' sensitivity to the link's own price. The sensitivity is computed from utilities, not
//! measured.
//!
//! The text also prints the rule as `p + gamma G / H`, with the other sign of H. Since H is
//! negative, Algorithm 1's form is the one that converges.

use super::Demand;
use crate::real::Real;

/// "Price update. Given updated rates x = x(p), update the price of each link: p <- max(0, p -
/// gamma H^-1 G)" (equation 4), where G is the link's load minus its capacity and H the sum of its
/// flows' dx/dp. Here [`Demand::slope`] is -H.
///
/// The paper does not define the update of a link without flows, where H is zero. Here its price
/// stays unchanged: it is the best guess for the next flow. The start requires this too, since
/// "link prices are all set to 1" before there are flows.
pub(super) fn update<R: Real>(gamma: f64, prices: &mut [R], demand: &Demand, usable: &[f64]) {
    for (link, price) in prices.iter_mut().enumerate() {
        if demand.users[link] > 0 {
            *price = next(gamma, *price, demand.load[link] - usable[link], demand.slope[link]);
        }
    }
}

/// The next price of a link with flows.
pub(crate) fn next<R: Real>(gamma: f64, price: R, over_allocation: f64, slope: f64) -> R {
    if slope > 0.0 {
        (price + R::of(gamma * over_allocation / slope)).at_least(R::ZERO)
    } else {
        // The price is so high that all rates underflow: it can only fall.
        R::ZERO
    }
}
