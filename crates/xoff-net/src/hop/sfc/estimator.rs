//! The incast estimator: bytes that a rack sends to one receiver, measured at the rack's own
//! switch.

use xoff_core::math;

/// The filter of one receiver.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    bytes: f64,
    at_ps: u64,
}

/// A low-pass filter for each receiver: "tracks the number of bytes seen in the last tau time,
/// where the moving time window is approximated by exponential decaying" (SFC §3.4).
#[derive(Debug)]
pub(super) struct IncastEstimator {
    tau_ps: f64,
    /// Bytes that the receiver's link carries in tau.
    drained: f64,
    seen: Vec<Seen>,
}

impl IncastEstimator {
    /// With no bytes seen. The receivers' links have `rate` bit/s.
    #[must_use]
    pub(super) fn new(tau_ps: u64, rate: u64, receivers: usize) -> Self {
        let drained = tau_ps as f64 * rate as f64 / 8e12;
        Self { tau_ps: tau_ps as f64, drained, seen: vec![Seen::default(); receivers] }
    }

    /// A packet to a receiver passes. Returns the depth of its queue if no other rack sent to it
    /// (bytes; "estimate the remote queue depth by simply subtracting tau * port_speed").
    pub(super) fn on_packet(&mut self, now: u64, receiver: u32, bytes: u16) -> u64 {
        let seen = &mut self.seen[receiver as usize];
        let passed = (now - seen.at_ps) as f64;
        seen.bytes = seen.bytes * math::exp(-passed / self.tau_ps) + f64::from(bytes);
        seen.at_ps = now;
        (seen.bytes - self.drained).max(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RATE: u64 = 100_000_000_000;
    const TAU: u64 = 10_000_000;

    #[test]
    fn one_sender_at_line_rate_is_no_incast() {
        let mut estimator = IncastEstimator::new(TAU, RATE, 2);
        let estimates = (0..5_000).map(|k| estimator.on_packet(k * 83_840, 1, 1048));
        // The window holds the link's bytes in tau, and at most one packet more.
        assert!(estimates.max().unwrap() <= 1048);
    }

    proptest! {
        /// "It may underestimate the remote queue depth and does not overestimate" (§3.4). Compared
        /// with the queue of a link that has carried only this traffic since the start, the
        /// estimate is at most one packet deeper.
        #[test]
        fn the_estimate_never_exceeds_the_queue(
            gaps in prop::collection::vec(0u64..200_000, 1..2_000),
        ) {
            let mut estimator = IncastEstimator::new(TAU, RATE, 1);
            let (mut now, mut queue) = (0u64, 0f64);
            for gap in gaps {
                now += gap;
                queue = (queue - gap as f64 / 80.0).max(0.0) + 1048.0;
                let estimate = estimator.on_packet(now, 0, 1048);
                prop_assert!(estimate as f64 <= queue + 1048.0, "{} {}", estimate, queue);
            }
        }
    }

    /// 1000 packets at once are 1 048 000 B, and the link drains 125 000 B in tau. Of what is as
    /// old as tau, 1 / e counts.
    #[test]
    fn a_burst_is_the_queue_that_it_makes() {
        let mut estimator = IncastEstimator::new(TAU, RATE, 1);
        let mut burst = (0..1000).map(|_| estimator.on_packet(0, 0, 1048));
        assert_eq!(burst.nth(118), Some(0));
        assert_eq!(burst.next(), Some(120 * 1048 - 125_000));
        assert_eq!(burst.last(), Some(1_048_000 - 125_000));
        let left = 1_048_000.0 * (-1.0f64).exp() + 1048.0 - 125_000.0;
        assert!(estimator.on_packet(TAU, 0, 1048).abs_diff(left as u64) <= 1);
    }
}
