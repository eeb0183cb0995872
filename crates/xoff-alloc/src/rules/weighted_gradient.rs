//! Fast Weighted Gradient (FGM): Beck, Nedic, Ozdaglar and Teboulle, "An O(1/k) Gradient Method for
//! Network Resource Allocation Problems" (2014), of which the paper says that it "uses a crude upper
//! bound on the convexity of the utility function as a proxy for H" (§7).
//!
//! Rates are bounded, so a flow's rate falls by no more than some `d` for a unit more of price: its
//! slope at the bound ([`Config::rate_bound`](crate::Config::rate_bound)), which for `w log x` is
//! `bound^2 / w`. A link's step is one over the sum, over its flows, of `d` times the number of links
//! of their path: with it a step never overshoots, whatever prices are. Steps start from where the
//! last two prices point (Nesterov's momentum), which makes the error fall with the square of the
//! number of iterations. gamma scales the step; 1 is the method's own, and all that is proven is for
//! up to 1.
//!
//! As with the other rules, prices and momentum go on when flows come and go.

use super::{Demand, Senders};
use crate::real::Real;

#[derive(Clone, Debug)]
pub(super) struct WeightedGradient {
    /// The prices before momentum was added.
    plain: Vec<f64>,
    /// How much of a step is gone again: `t` of the method.
    momentum: f64,
    /// By link: the most its load can fall for a unit more of all prices.
    bound: Vec<f64>,
}

impl WeightedGradient {
    pub(super) fn new(links: usize, price: f64) -> Self {
        Self { plain: vec![price; links], momentum: 1.0, bound: vec![0.0; links] }
    }

    pub(super) fn update<R: Real>(
        &mut self,
        gamma: f64,
        prices: &mut [R],
        demand: &Demand,
        usable: &[f64],
        senders: &Senders<'_, R>,
    ) {
        self.bound_slopes(senders);
        let next = f64::midpoint(1.0, (1.0 + 4.0 * self.momentum * self.momentum).sqrt());
        let carry = (self.momentum - 1.0) / next;
        self.momentum = next;
        for (link, price) in prices.iter_mut().enumerate() {
            if demand.users[link] == 0 {
                continue;
            }
            let step = gamma * (demand.load[link] - usable[link]) / self.bound[link];
            let plain = (price.get() + step).max(0.0);
            let ahead = plain + carry * (plain - self.plain[link]);
            self.plain[link] = plain;
            // A price below zero is no price.
            *price = R::of(ahead.max(0.0));
        }
    }

    fn bound_slopes<R: Real>(&mut self, senders: &Senders<'_, R>) {
        self.bound.fill(0.0);
        let (utility, flows) = (senders.utility, senders.flows);
        for slot in 0..flows.slots() {
            let (weight, floor) = (senders.weight[slot].get(), senders.floor[slot].get());
            let path = flows.path(slot);
            let steepest = utility.rate(weight, floor) / (utility.alpha() * floor);
            for &link in path {
                self.bound[link as usize] += path.len() as f64 * steepest;
            }
        }
    }
}
