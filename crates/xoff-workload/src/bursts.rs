//! Poisson arrivals with a rate that alternates between two values.

use xoff_core::{Ps, Rng};

/// The rate over time: each period starts with a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bursts {
    /// Arrivals per picosecond outside bursts.
    pub(crate) rate: f64,
    /// Arrivals per picosecond in a burst.
    pub(crate) burst_rate: f64,
    /// Duration of a burst (ps), less than `period`.
    pub(crate) burst: u64,
    /// Time from the start of one burst to the next (ps).
    pub(crate) period: u64,
}

impl Bursts {
    /// Mean number of arrivals per period.
    pub(crate) fn in_period(&self) -> f64 {
        self.burst_rate * self.burst as f64 + self.rate * (self.period - self.burst) as f64
    }

    /// The next arrival after `now`, relative to the start of a period. The integral of the rate
    /// between two arrivals is an exponential number of mean 1. Rounded to the nearest picosecond.
    pub(crate) fn next(&self, now: Ps, rng: &mut Rng) -> Ps {
        let mut left = rng.exponential();
        let whole = (left / self.in_period()).floor();
        left -= whole * self.in_period();
        // Saturates at the end of time.
        let mut now = now.0.saturating_add((whole * self.period as f64) as u64);
        loop {
            let phase = now % self.period;
            let (rate, until) = if phase < self.burst {
                (self.burst_rate, self.burst)
            } else {
                (self.rate, self.period)
            };
            let here = rate * (until - phase) as f64;
            if left < here || now == u64::MAX {
                return Ps(now.saturating_add((left / rate).round() as u64));
            }
            left -= here;
            now = now.saturating_add(until - phase);
        }
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::rng::Purpose;

    use super::*;

    const MS: u64 = 1_000_000_000;

    fn arrivals(bursts: Bursts, until: u64) -> Vec<u64> {
        let mut rng = Rng::stream(1, Purpose::Traffic, 0);
        let mut now = Ps(0);
        std::iter::from_fn(|| {
            now = bursts.next(now, &mut rng);
            (now.0 < until).then_some(now.0)
        })
        .collect()
    }

    /// 5 ms at 10 000/s and 45 ms at 500/s: the counts of both, and their variances, match a
    /// Poisson process.
    #[test]
    fn both_rates_are_as_asked_for() {
        let bursts = Bursts { rate: 5e-10, burst_rate: 1e-8, burst: 5 * MS, period: 50 * MS };
        assert!((bursts.in_period() - 72.5).abs() < 1e-9);
        let mut counts = vec![[0.0; 2]; 4000];
        for time in arrivals(bursts, 4000 * bursts.period) {
            let outside = usize::from(time % bursts.period >= bursts.burst);
            counts[(time / bursts.period) as usize][outside] += 1.0;
        }
        for (kind, expected) in [(0, 50.0), (1, 22.5)] {
            let mean = counts.iter().map(|count| count[kind]).sum::<f64>() / 4000.0;
            let square = counts.iter().map(|count| (count[kind] - mean) * (count[kind] - mean));
            let variance = square.sum::<f64>() / 4000.0;
            assert!((mean / expected - 1.0).abs() < 0.01, "{kind}: {mean}");
            assert!((variance / expected - 1.0).abs() < 0.08, "{kind}: {variance}");
        }
    }

    #[test]
    fn a_rate_of_zero_has_no_arrivals() {
        let silent = Bursts { rate: 0.0, burst_rate: 1e-8, burst: MS, period: 50 * MS };
        let found = arrivals(silent, 5000 * MS);
        assert!(found.len() > 800 && found.iter().all(|time| time % silent.period <= MS));
        let steady = Bursts { rate: 1e-8, burst_rate: 0.0, burst: 0, period: 50 * MS };
        let found = arrivals(steady, 5000 * MS).len() as f64;
        assert!((found / 50_000.0 - 1.0).abs() < 0.02, "{found}");
    }

    #[test]
    fn rare_arrivals_take_no_time_to_draw_and_end_with_time() {
        let rare = Bursts { rate: 1e-30, burst_rate: 0.0, burst: 0, period: 1 };
        assert!(arrivals(rare, u64::MAX).is_empty());
    }
}
