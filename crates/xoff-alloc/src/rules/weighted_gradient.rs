//! Fast Weighted Gradient (FGM): Beck, Nedic, Ozdaglar and Teboulle, "An O(1/k) Gradient Method for
//! Network Resource Allocation Problems" (2014). According to the paper it "uses a crude upper
//! bound on the convexity of the utility function as a proxy for H" (§7).
//!
//! Rates are bounded, so a flow's rate decreases by at most some `d` per unit of price: its slope
//! at the bound ([`Config::rate_bound`](crate::Config::rate_bound)), which for `w log x` is
//! `bound^2 / w`. A link's step size is the reciprocal of the sum, over its flows, of `d` times the
//! number of links on the flow's path. With this size a step never overshoots, whatever the prices.
//! Steps start from an extrapolation of the last two prices (Nesterov's momentum), so that the
//! error decreases with the square of the number of iterations. gamma scales the step; the method's
//! own value is 1, and its proofs hold for values up to 1.
//!
//! As with the other rules, prices and momentum carry over when flows come and go.

use super::{Demand, Senders};
use crate::real::Real;

#[derive(Clone, Debug)]
pub(super) struct WeightedGradient {
    /// The prices without momentum.
    plain: Vec<f64>,
    /// The momentum sequence: `t` of the method.
    momentum: f64,
    /// By link: the largest decrease of its load per unit of all prices.
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
            // A price cannot be negative.
            *price = R::of(ahead.max(0.0));
        }
    }

    fn bound_slopes<R: Real>(&mut self, senders: &Senders<'_, R>) {
        self.bound.fill(0.0);
        let (utility, flows) = (senders.utility, senders.flows);
        for slot in flows.ids().iter() {
            let (weight, floor) = (senders.weight[slot].get(), senders.floor[slot].get());
            let path = flows.path(slot);
            let steepest = utility.rate(weight, floor) / (utility.alpha() * floor);
            for &link in path {
                self.bound[link as usize] += path.len() as f64 * steepest;
            }
        }
    }
}
