//! The Newton-like method: Athuraliya and Low, "Optimization Flow Control with Newton-like
//! Algorithm" (2000). Like NED it divides by the flows' sensitivity to a link's price, but it
//! "estimates how sensitive flows are to price changes, by observing how price changes impact
//! network throughput" (Appendix B).
//!
//! A link observes only its own load. Prices stay constant for an interval over which the load is
//! averaged. The sensitivity is then the change of the average since the last interval divided by
//! the change of the price. The last estimate is kept if the price did not move, or if load rose
//! with the price because other prices fell or flows arrived. The first estimate is load over
//! price, which is exact for flows of `log x` that pay at this link only.

use super::Demand;
use crate::real::Real;

/// Relative price changes below this measure only noise.
const LEAST_CHANGE: f64 = 1e-9;

#[derive(Clone, Debug)]
pub(super) struct NewtonLike {
    interval: u32,
    /// Iterations of this interval so far.
    elapsed: u32,
    links: Vec<Measured>,
}

/// Measurements of one link.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// Sum of the loads in this interval.
    sum: f64,
    /// Average load and price of the last interval.
    last: Option<(f64, f64)>,
    /// Decrease of the load per unit of price.
    slope: Option<f64>,
}

impl NewtonLike {
    pub(super) fn new(links: usize, interval: u32) -> Self {
        Self { interval, elapsed: 0, links: vec![Measured::default(); links] }
    }

    pub(super) fn update<R: Real>(
        &mut self,
        gamma: f64,
        prices: &mut [R],
        demand: &Demand,
        usable: &[f64],
    ) {
        self.elapsed += 1;
        for (link, measured) in self.links.iter_mut().enumerate() {
            measured.sum += demand.load[link];
        }
        if self.elapsed < self.interval {
            return;
        }
        self.elapsed = 0;
        for (link, measured) in self.links.iter_mut().enumerate() {
            let load = std::mem::take(&mut measured.sum) / f64::from(self.interval);
            if demand.users[link] > 0 {
                let price = prices[link].get();
                let slope = measured.estimate(load, price);
                let step = gamma * (load - usable[link]) / slope;
                prices[link] = R::of((price + step).max(0.0));
            }
        }
    }
}

impl Measured {
    /// Adds an interval's measurement and returns the estimated sensitivity.
    fn estimate(&mut self, load: f64, price: f64) -> f64 {
        if let Some((last_load, last_price)) = self.last {
            let change = price - last_price;
            let slope = (last_load - load) / change;
            if change.abs() > LEAST_CHANGE * price && slope.is_finite() && slope > 0.0 {
                self.slope = Some(slope);
            }
        }
        self.last = Some((load, price));
        // At a price of zero there is no estimate: one unit of price for the whole load.
        let first = if price > 0.0 { load / price } else { load };
        self.slope.unwrap_or(first).max(f64::MIN_POSITIVE)
    }
}
