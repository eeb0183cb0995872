//! Series of numbers, one per step, all kept: they are few.

/// A series of values and its statistics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series(Vec<f64>);

impl Series {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values in order of insertion.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// The mean; `None` without values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum::<f64>() / self.0.len() as f64)
    }

    /// The smallest value not exceeded by a fraction `quantile` of all values: 0 gives the smallest
    /// value and 1 the largest. `None` without values.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (quantile * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied()
    }

    /// The fraction of values for which `holds` is true; `None` without values.
    pub fn share(&self, holds: impl Fn(f64) -> bool) -> Option<f64> {
        let counted = self.0.iter().filter(|&&value| holds(value)).count();
        (!self.0.is_empty()).then(|| counted as f64 / self.0.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_of_the_series() {
        let mut series = Series::default();
        assert_eq!(
            (series.mean(), series.quantile(0.5), series.share(|_| true)),
            (None, None, None)
        );
        (1..=100).rev().for_each(|value| series.add(f64::from(value)));
        let found = [0.0, 0.01, 0.5, 0.99, 1.0].map(|quantile| series.quantile(quantile).unwrap());
        assert_eq!(found, [1.0, 1.0, 50.0, 99.0, 100.0]);
        assert_eq!((series.mean(), series.share(|value| value > 90.0)), (Some(50.5), Some(0.1)));
    }
}
