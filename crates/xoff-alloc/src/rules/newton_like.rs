//! The Newton-like method: Athuraliya and Low, "Optimization Flow Control with Newton-like
//! Algorithm" (2000). Like NED it divides by how strongly flows react to a link's price, but it
//! "estimates how sensitive flows are to price changes, by observing how price changes impact network
//! throughput" (Appendix B).
//!
//! A link sees its load only. Prices stay for an interval, over which the load is averaged; then the
//! reaction is the change of the average since the last interval over the change of the price. Where
//! that says nothing (the price did not move) or is absurd (load rose with the price, because other
//! prices fell or flows came), the last estimate stays. The first is load over price: what flows of
//! `log x` that pay only here would show.

use super::Demand;
use crate::real::Real;

/// A change of price below this share of the price measures noise.
const LEAST_CHANGE: f64 = 1e-9;

#[derive(Clone, Debug)]
pub(super) struct NewtonLike {
    interval: u32,
    /// Iterations of this interval so far.
    elapsed: u32,
    links: Vec<Measured>,
}

/// What one link has seen.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// Sum of the loads of this interval.
    sum: f64,
    /// Average load and price of the last interval.
    last: Option<(f64, f64)>,
    /// By how much load falls for a unit more of price.
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
    /// Takes in an interval, and says how strongly flows seem to react.
    fn estimate(&mut self, load: f64, price: f64) -> f64 {
        if let Some((last_load, last_price)) = self.last {
            let change = price - last_price;
            let slope = (last_load - load) / change;
            if change.abs() > LEAST_CHANGE * price && slope.is_finite() && slope > 0.0 {
                self.slope = Some(slope);
            }
        }
        self.last = Some((load, price));
        // At a price of zero nothing is known: a step of one unit of price for the whole load.
        let first = if price > 0.0 { load / price } else { load };
        self.slope.unwrap_or(first).max(f64::MIN_POSITIVE)
    }
}
