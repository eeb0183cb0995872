//! Newton's method with the full Hessian (Appendix B): `p <- p - gamma G H^-1`. It models the
//! effect of a link's price on all other links, and its cost is cubic in the number of links. It
//! serves for comparison on small networks.
//!
//! Prices cannot be negative. Only links with a positive or rising price take part (Bertsekas'
//! projected Newton method); a link with spare capacity and a price of zero keeps it.

use super::{Demand, Senders};
use crate::real::Real;

/// Added to the diagonal, as a fraction of it. Links that carry the same flows make the Hessian
/// singular, since only the sum of their prices matters.
const RIDGE: f64 = 1e-10;

pub(super) fn update<R: Real>(
    gamma: f64,
    prices: &mut [R],
    demand: &Demand,
    usable: &[f64],
    senders: &Senders<'_, R>,
) {
    let over_allocation = |link: usize| demand.load[link] - usable[link];
    let active: Vec<usize> = (0..prices.len())
        .filter(|&link| demand.slope[link] > 0.0)
        .filter(|&link| prices[link] > R::ZERO || over_allocation(link) > 0.0)
        .collect();
    let mut matrix = hessian(prices.len(), &active, senders);
    let mut step: Vec<f64> = active.iter().map(|&link| over_allocation(link)).collect();
    solve(&mut matrix, &mut step);
    for (&link, step) in active.iter().zip(step) {
        let moved = prices[link].get() + gamma * step;
        // Where flows barely react to prices the Hessian is nearly singular; steps that overflow
        // are not taken.
        if moved.is_finite() {
            prices[link] = R::of(moved.max(0.0));
        }
    }
}

/// The negated Hessian over the active links, row by row: the decrease of one link's load per unit
/// of another link's price.
fn hessian<R: Real>(links: usize, active: &[usize], senders: &Senders<'_, R>) -> Vec<f64> {
    let size = active.len();
    let mut place = vec![None; links];
    active.iter().enumerate().for_each(|(index, &link)| place[link] = Some(index));
    let mut matrix = vec![0.0; size * size];
    for slot in senders.flows.ids().iter() {
        let path = senders.flows.path(slot);
        let own = || path.iter().filter_map(|&link| place[link as usize]);
        for row in own() {
            own().for_each(|column| matrix[row * size + column] += senders.slope[slot].get());
        }
    }
    (0..size).for_each(|index| matrix[index * size + index] *= 1.0 + RIDGE);
    matrix
}

/// Solves `matrix * x = right` for a symmetric positive definite matrix by Cholesky's method; the
/// result overwrites `right`.
fn solve(matrix: &mut [f64], right: &mut [f64]) {
    let size = right.len();
    for column in 0..size {
        let diagonal = matrix[column * size + column].sqrt();
        for row in column..size {
            matrix[row * size + column] /= diagonal;
        }
        for row in column + 1..size {
            let factor = matrix[row * size + column];
            for other in column + 1..=row {
                matrix[row * size + other] -= factor * matrix[other * size + column];
            }
        }
    }
    for row in 0..size {
        let known: f64 = (0..row).map(|column| matrix[row * size + column] * right[column]).sum();
        right[row] = (right[row] - known) / matrix[row * size + row];
    }
    for row in (0..size).rev() {
        let below = row + 1..size;
        let known: f64 = below.map(|column| matrix[column * size + row] * right[column]).sum();
        right[row] = (right[row] - known) / matrix[row * size + row];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cholesky_solves() {
        let mut matrix = vec![4.0, 2.0, 2.0, 2.0, 5.0, 3.0, 2.0, 3.0, 6.0];
        // The product with (1, -2, 3).
        let mut right = vec![6.0, 1.0, 14.0];
        solve(&mut matrix, &mut right);
        for (found, expected) in right.iter().zip([1.0, -2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{right:?}");
        }
    }
}
