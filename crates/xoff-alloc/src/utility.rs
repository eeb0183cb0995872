//! Utility of a rate to a flow.
//!
//! "NED admits any utility function U(x) that is strictly concave, differentiable, and
//! monotonically increasing" (§2). An iteration needs only two values of it: the rate at which the
//! slope of U equals the flow's price, and the decrease of that rate per unit of price.

use crate::error::Error;
use crate::real::Real;

/// The utility of all flows of an allocator; a flow's weight multiplies it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Utility {
    /// `w log x`: weighted proportional fairness.
    Log,
    /// `w x^(1-alpha) / (1-alpha)`. A larger alpha favours small rates more. 1 is
    /// [`Log`](Self::Log), 2 is close to TCP's utility, and large alphas approach max-min fairness.
    AlphaFair(f64),
}

impl Utility {
    /// The exponent of the slope: `U'(x) = w x^-alpha`.
    #[must_use]
    pub fn alpha(self) -> f64 {
        match self {
            Self::Log => 1.0,
            Self::AlphaFair(alpha) => alpha,
        }
    }

    /// The marginal utility of a rate: `U'(x)`.
    #[must_use]
    pub fn marginal(self, weight: f64, rate: f64) -> f64 {
        match self {
            Self::Log => weight / rate,
            Self::AlphaFair(alpha) => weight * libm::pow(rate, -alpha),
        }
    }

    /// The utility of a rate: `U(x)`.
    #[must_use]
    pub fn value(self, weight: f64, rate: f64) -> f64 {
        match self {
            Self::AlphaFair(alpha) if alpha != 1.0 => {
                weight * libm::pow(rate, 1.0 - alpha) / (1.0 - alpha)
            }
            _ => weight * libm::log(rate),
        }
    }

    /// The optimal rate at this price per unit of rate.
    #[must_use]
    pub fn rate(self, weight: f64, price: f64) -> f64 {
        match self {
            Self::Log => weight / price,
            Self::AlphaFair(alpha) => libm::pow(weight / price, 1.0 / alpha),
        }
    }

    pub(crate) fn check(self) -> Result<(), Error> {
        match self.alpha() {
            alpha if alpha.is_finite() && alpha > 0.0 => Ok(()),
            value => Err(Error::Setting { name: "alpha", value, expected: "above 0 and finite" }),
        }
    }
}

/// A flow's response to a price: its rate, and the decrease of the rate per unit of price.
pub(crate) trait Response<R> {
    fn answer(&self, weight: R, price: R) -> (R, R);
}

/// "If U(x) = w log x, then x = w / sum p" (§2); its derivative is `-x / p`.
pub(crate) struct LogResponse;

impl<R: Real> Response<R> for LogResponse {
    fn answer(&self, weight: R, price: R) -> (R, R) {
        let inverse = price.reciprocal();
        let rate = weight * inverse;
        (rate, rate * inverse)
    }
}

/// `x = (w / p)^(1/alpha)`; its derivative is `-x / (alpha p)`.
pub(crate) struct PowerResponse<R> {
    inverse_alpha: R,
}

impl<R: Real> PowerResponse<R> {
    pub(crate) fn new(alpha: f64) -> Self {
        Self { inverse_alpha: R::of(1.0 / alpha) }
    }
}

impl<R: Real> Response<R> for PowerResponse<R> {
    fn answer(&self, weight: R, price: R) -> (R, R) {
        let inverse = price.reciprocal();
        let rate = (weight * inverse).power(self.inverse_alpha);
        (rate, rate * inverse * self.inverse_alpha)
    }
}
