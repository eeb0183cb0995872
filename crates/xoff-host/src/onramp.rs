//! A flow control at the sender that holds packets back by the one-way delay of those before:
//! in the manner of OnRamp (Liu et al., NSDI 2021).
//!
//! What is published of it: packets are held at the sender while the one-way delay exceeds a
//! threshold; doing that alone "has queue oscillations and the possibility of under-utilization in
//! the presence of feedback delay", and a smoothing "tunes the gain factor when there are more flows"
//! (both as "SFC" quotes it, §2.3.1). The exact smoothing is not public. Here a pause subtracts what
//! was paused since the acknowledged packet left, which the delay cannot show yet, and the rest is
//! multiplied by a gain that falls with the number of flows sharing the link.

use std::collections::VecDeque;

use xoff_core::{Ps, knobs};

use crate::cc::Path;

knobs! {
    /// Flow control by one-way delay, in the manner of OnRamp.
    pub struct OnRampConfig in "onramp" {
        /// A one-way delay above this holds packets back; 0: the base RTT, twice the delay without
        /// queues (not published for these networks).
        threshold: Ps = Ps(0),
        /// The least gain; it is 1 for a flow alone and falls as 1 / flows (choice of this
        /// implementation: half of what is missing is made up for at each acknowledgement).
        gain_min: f64 = 0.5,
    }
}

/// Weight of the newest sample in the mean time between acknowledgements.
const SPACING_WEIGHT: f64 = 0.125;

/// A flow's state.
#[derive(Clone, Debug, Default)]
pub struct OnRamp {
    /// All pauses so far, one after the other (ps).
    total: u64,
    /// When each pause was decided, and the total with it: those that packets in flight may not have
    /// met (ps).
    history: VecDeque<(u64, u64)>,
    /// The total before the first of them.
    before: u64,
    last_ack: u64,
    /// Mean time between acknowledgements (ps).
    spacing: f64,
}

impl OnRamp {
    /// An acknowledgement of a packet sent at `sent`, which took `delay` to the receiver (ps): until
    /// when the flow now pauses, given that it pauses until `paused_until` already.
    pub fn on_ack(
        &mut self,
        config: &OnRampConfig,
        path: &Path,
        now: u64,
        (sent, delay): (u64, u64),
        paused_until: u64,
    ) -> u64 {
        let gain = self.gain(config, path, now);
        let threshold = if config.threshold.0 == 0 { path.base_rtt } else { config.threshold.0 };
        let unseen = self.total - self.total_at(sent);
        let missing = delay.saturating_sub(threshold + unseen);
        let pause = (gain * missing as f64) as u64;
        if pause == 0 {
            return paused_until;
        }
        self.total += pause;
        self.history.push_back((now, self.total));
        paused_until.max(now) + pause
    }

    /// All pauses that had been decided at `time`. Acknowledgements come in the order in which their
    /// packets were sent, so what is older is needed no more.
    fn total_at(&mut self, time: u64) -> u64 {
        while let Some(&(decided, total)) = self.history.front()
            && decided <= time
        {
            self.before = total;
            self.history.pop_front();
        }
        self.before
    }

    /// The gain for as many flows as share the link: a link at its rate that serves them in turn
    /// acknowledges one of them once a round.
    fn gain(&mut self, config: &OnRampConfig, path: &Path, now: u64) -> f64 {
        let spacing = (now - self.last_ack) as f64;
        let first = self.last_ack == 0;
        self.last_ack = now;
        if first {
            return 1.0;
        }
        self.spacing += SPACING_WEIGHT * (spacing - self.spacing);
        let packet_ps = path.payload as f64 * 8e12 / path.line_rate as f64;
        (packet_ps / self.spacing).clamp(config.gain_min, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Path = Path {
        line_rate: 100_000_000_000,
        base_rtt: 10_000_000,
        bdp: 125_000,
        window: u64::MAX,
        window_follows_rate: false,
        payload: 1000,
    };

    #[test]
    fn a_delay_is_made_up_for_once() {
        let config = OnRampConfig { gain_min: 1.0, ..OnRampConfig::default() };
        let mut flow = OnRamp::default();
        let mut ack =
            |now, sent, delay, until| flow.on_ack(&config, &PATH, now, (sent, delay), until);
        // Below the threshold of one base RTT nothing is held back.
        assert_eq!(ack(20_000_000, 5_000_000, 10_000_000, 0), 0);
        assert_eq!(ack(30_000_000, 6_000_000, 17_000_000, 0), 37_000_000);
        // This packet had left before, and says nothing that is not made up for.
        assert_eq!(ack(31_000_000, 7_000_000, 17_000_000, 37_000_000), 37_000_000);
        // This one met a queue that grew by another 2 us.
        assert_eq!(ack(32_000_000, 8_000_000, 19_000_000, 37_000_000), 39_000_000);
        // What left after the pause and is late again, is late for another reason.
        assert_eq!(ack(60_000_000, 40_000_000, 13_000_000, 39_000_000), 63_000_000);
    }

    #[test]
    fn the_gain_falls_with_the_number_of_flows() {
        let config = OnRampConfig { gain_min: 0.25, ..OnRampConfig::default() };
        let gain_of = |flows: u64| {
            let mut flow = OnRamp::default();
            (1..200).map(|round| flow.gain(&config, &PATH, round * flows * 80_000)).last().unwrap()
        };
        assert!((gain_of(1) - 1.0).abs() < 1e-6);
        assert!((gain_of(2) - 0.5).abs() < 1e-6);
        assert!((gain_of(63) - 0.25).abs() < 1e-6);
    }
}
