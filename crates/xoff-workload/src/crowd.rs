//! The number of flows, estimated before any is drawn.

use xoff_core::{BitRate, Ps};

/// Flows of a source. Only the magnitude of the numbers matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowd {
    /// Flows that start together, or do not end: all are present at some instant.
    pub together: f64,
    /// Further flows that start per second.
    pub per_second: f64,
    /// The number of all flows; infinite if only the end of the run limits it.
    pub in_all: f64,
    /// The mean size of flows with an end.
    pub mean_bytes: f64,
    /// Whether flows wait for each other, for example if they take the sender's link one after
    /// another.
    pub waits: bool,
    /// Start of arrivals.
    pub start: Ps,
    /// End of arrivals; 0 is the end of the run.
    pub stop: Ps,
}

impl Crowd {
    /// For `flows` flows, all together.
    #[must_use]
    pub fn of(flows: f64) -> Self {
        Self { together: flows, in_all: flows, ..Self::arriving(0.0, 0.0) }
    }

    /// For arrivals at this rate, without an end.
    #[must_use]
    pub fn arriving(per_second: f64, mean_bytes: f64) -> Self {
        Self {
            together: 0.0,
            per_second,
            in_all: f64::INFINITY,
            mean_bytes,
            waits: false,
            start: Ps(0),
            stop: Ps(0),
        }
    }

    /// The same, from `start` to `stop` only.
    #[must_use]
    pub fn between(self, start: Ps, stop: Ps) -> Self {
        Self { start, stop, ..self }
    }

    /// The number of arrivals one after another in a run.
    fn arrivals(&self, run: Ps) -> f64 {
        let stop = if self.stop == Ps(0) { run } else { self.stop.min(run) };
        let time = Ps(stop.0.saturating_sub(self.start.0));
        (self.per_second * time.seconds()).min(self.in_all)
    }

    /// The number of flows in a run.
    #[must_use]
    pub fn flows(&self, run: Ps) -> f64 {
        (self.together + self.arrivals(run)).min(self.in_all)
    }

    /// The number of flows present at one time: the flows of an instant, of a step that is drawn
    /// ahead, and the share `excess` of all flows, which the network cannot carry by the end of a
    /// run.
    #[must_use]
    pub fn at_once(&self, step: Ps, run: Ps, excess: f64) -> f64 {
        let left = self.arrivals(run) * if self.waits { 1.0 } else { excess };
        let ahead = self.per_second * step.seconds();
        (self.together + ahead.max(left)).min(self.in_all)
    }

    /// Bits that these flows offer in a run.
    fn bits(&self, run: Ps) -> f64 {
        if self.waits { 0.0 } else { self.arrivals(run) * self.mean_bytes * 8.0 }
    }
}

/// The share of the offered bits of all `crowds` that hosts with this total capacity cannot receive
/// in a run.
#[must_use]
pub fn excess(crowds: &[Crowd], hosts: BitRate, run: Ps) -> f64 {
    let offered: f64 = crowds.iter().map(|crowd| crowd.bits(run)).sum();
    let taken = hosts.0 as f64 * run.seconds();
    if offered > taken { 1.0 - taken / offered } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_counted_for_a_step_or_for_what_is_left_over() {
        let (step, run) = (Ps::from_us(10), Ps::from_us(1_000));
        let gbps = BitRate::from_gbps;
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
        // 8 Mb each, 1e5 per second: 800 Gb/s.
        let crowd = Crowd::arriving(1e5, 1e6);
        near(excess(&[crowd], gbps(800), run), 0.0);
        near(crowd.at_once(step, run, 0.0), 1.0);
        near(excess(&[crowd, crowd], gbps(400), run), 0.75);
        let half = crowd.between(Ps::from_us(500), Ps(0));
        near(excess(&[half, half], gbps(400), run), 0.5);
        near(half.between(Ps(0), Ps::from_us(100)).at_once(step, run, 0.5), 5.0);
        near(crowd.at_once(step, run, 0.75), 75.0);
        near(crowd.flows(run), 100.0);
        let few = Crowd { in_all: 20.0, ..crowd };
        near(few.flows(run), 20.0);
        near(few.at_once(step, run, 0.75), 15.0);
        assert_eq!(Crowd::of(7.0).at_once(step, run, 1.0), 7.0);
        assert_eq!(excess(&[Crowd::of(7.0)], gbps(1), run), 0.0);
    }
}
