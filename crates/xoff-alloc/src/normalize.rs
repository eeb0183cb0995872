//! Scales rates so that no link exceeds its capacity (§3).

use crate::flows::Flows;
use crate::real::Real;

/// "The ratio of the link's allocation to its capacity, r" of each link. A link without load has
/// ratio zero, whatever its capacity.
pub(crate) fn ratios<R: Real>(load: &[f64], usable: &[f64], out: &mut [R]) {
    for ((out, &load), &usable) in out.iter_mut().zip(load).zip(usable) {
        // Rounding a ratio down would let the rates on the link exceed its capacity by the same
        // amount.
        *out = R::of(if load > 0.0 { load / usable } else { 0.0 });
    }
}

/// F-NORM: "per-flow normalization scales each flow by the factor of its most congested link"
/// (equation 6), which "guarantees the rates through the link are at most the link capacity".
///
/// With `least` 0, as printed, a flow is scaled *up* if its most congested link has spare capacity.
/// With `least` 1 it is only scaled down.
pub(crate) fn by_flow<R: Real>(rates: &[R], ratio: &[R], flows: &Flows, least: R, out: &mut [R]) {
    for slot in flows.ids().iter() {
        let path = flows.path(slot);
        let most = path.iter().fold(least, |most, &link| most.at_least(ratio[link as usize]));
        let rate = rates[slot];
        out[slot] = if most > least && rate > R::ZERO { rate * most.reciprocal() } else { rate };
    }
}

/// U-NORM: "scales the rates of all flows by a factor such that the most congested link will
/// operate at its capacity" (equation 5), up or down.
pub(crate) fn uniformly<R: Real>(rates: &[R], ratio: &[R], out: &mut [R]) {
    let most = ratio.iter().fold(R::ZERO, |most, &ratio| most.at_least(ratio));
    let factor = if most > R::ZERO { most.reciprocal() } else { R::ONE };
    rates.iter().zip(out).for_each(|(&rate, out)| *out = rate * factor);
}
