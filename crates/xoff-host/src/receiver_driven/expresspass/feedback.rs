//! The rate of a flow's credits: credit feedback control, as in the authors' simulator
//! (kaist-ina/ns2-xpass, xpass.cc).
//!
//! Algorithm 1 of the paper (§3.2) differs. There w becomes (w + w_max) / 2, not w + 0.05; the rate
//! grows to (1 - w) rate + w max (1 + target_loss), not (1 - w) rate + w max; and the loss that is
//! allowed is a constant 10 %, not 0.125 (1 - rate / max).

use super::ExpressPassConfig;

/// The state of one flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// The credit rate, as a fraction of the maximum on the receiver's link.
    share: f64,
    /// The fraction of the gap to the maximum that a round trip without congestion closes (w).
    weight: f64,
    /// True if the last round trip had no congestion.
    widens: bool,
    /// Credits since the last update whose fate is known, and the lost ones among them.
    observed: u64,
    lost: u64,
    /// Time of the last update of the rate (ps).
    updated_ps: u64,
}

impl Feedback {
    /// Creates the state of a new flow of `packets`.
    #[must_use]
    pub fn new(config: &ExpressPassConfig, packets: u64, now: u64) -> Self {
        let small = packets.min(u64::from(config.small_flow)) as f64 / f64::from(config.small_flow);
        Self {
            share: config.alpha * small,
            weight: config.initial_weight,
            widens: false,
            observed: 0,
            lost: 0,
            updated_ps: now,
        }
    }

    /// The credit rate, as a fraction of the maximum.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }

    /// Records a data packet and the `lost` credits before its credit.
    pub fn on_data(&mut self, lost: u64) {
        self.observed += lost + 1;
        self.lost += lost;
    }

    /// Updates the rate if a round trip of `rtt` (ps) is over. At the maximum rate there is one
    /// credit every `period` (ps).
    pub fn update(&mut self, config: &ExpressPassConfig, now: u64, rtt: u64, period: u64) {
        let elapsed = now - self.updated_ps;
        if rtt == 0 || elapsed < rtt || self.observed == 0 {
            return;
        }
        let loss = self.lost as f64 / self.observed as f64;
        let allowed = (1.0 - self.share) * config.target_loss;
        // One credit per round trip.
        let least = (period as f64 / rtt as f64).min(1.0);
        if loss > allowed {
            let arrived = (self.observed - self.lost) as f64 * period as f64 / elapsed as f64;
            self.share = (arrived * (1.0 + allowed)).min(self.share);
            self.weight = (self.weight / 2.0).max(config.min_weight);
            self.widens = false;
        } else {
            if self.widens {
                self.weight = (self.weight + config.weight_step).min(config.max_weight);
            }
            self.widens = true;
            self.share = self.weight + (1.0 - self.weight) * self.share;
        }
        self.share = self.share.clamp(least, 1.0);
        (self.observed, self.lost, self.updated_ps) = (0, 0, now);
    }
}
