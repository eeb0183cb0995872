//! TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015,
//! Algorithm 1): a rate that follows the gradient of the RTT.
//!
//! The form is that of the HPCC simulator (alibaba-edu/High-Precision-Congestion-Control,
//! `rdma-hw.cc`). The paper updates the rate for each segment of 16 to 64 KB; here each round trip
//! is one. Increases below the low threshold count towards hyperactive increase, too.

use xoff_core::knobs::Checked;
use xoff_core::{BitRate, Bytes, Ps, knobs};

use super::{Ack, CongestionControl, ControlSettings, Path, Start, checks};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// TIMELY. Defaults: the HPCC simulator's, with the increments of its run.py at 100 Gb/s.
    pub struct TimelyConfig in "timely" {
        /// Weight of a new difference of RTTs in the moving average (alpha).
        gain: f64 = 0.875,
        /// Factor of decreases (beta).
        beta: f64 = 0.8,
        /// RTT below which the rate grows, whatever the gradient (T_low).
        low: Ps = Ps::from_us(50),
        /// RTT above which the rate falls, whatever the gradient (T_high).
        high: Ps = Ps::from_us(500),
        /// RTT by which the gradient is normalised (minRTT).
        min_rtt: Ps = Ps::from_us(20),
        /// Increase of the rate per round trip (delta).
        additive_increase: BitRate = BitRate(100_000_000),
        /// The same after `steps_before_hyper` increases in a row (N delta, with N = 5).
        hyper_increase: BitRate = BitRate(500_000_000),
        /// Increases in a row after which the rate grows faster.
        steps_before_hyper: u32 = 5,
        /// Minimum rate.
        min_rate: BitRate = BitRate::from_gbps(1),
        /// Bytes of the timestamp in each packet.
        timestamp: Bytes = Bytes(8),
    }
}

const PRESET: &str = r#"# TIMELY over PFC: a rate from the gradient of the RTT (SIGCOMM 2015)
[switch]
scheduler = "fifo"
hop = "pfc"
ecn = false
[transport]
congestion = "timely"
window = "unlimited"
"#;

impl ControlSettings for TimelyConfig {
    fn check(&self) -> Checked {
        for (wrong, key, message) in [
            (
                !(self.gain > 0.0 && self.gain <= 1.0),
                "gain",
                "gain must be above 0 and at most 1: it is a share of an average",
            ),
            (!(self.beta > 0.0 && self.beta <= 1.0), "beta", "beta must be above 0 and at most 1"),
            (self.low > self.high, "low", "low must be at most timely.high"),
            (self.min_rtt.0 == 0, "min_rtt", "min_rtt must be above 0"),
            (
                self.additive_increase.0 == 0,
                "additive_increase",
                "additive_increase must be above 0: no rate would grow",
            ),
            (
                self.hyper_increase.0 == 0,
                "hyper_increase",
                "hyper_increase must be above 0: no rate would grow after some steps",
            ),
            (
                self.min_rate.0 == 0,
                "min_rate",
                "min_rate must be above 0: a steep gradient leaves only the minimum",
            ),
        ] {
            if wrong {
                return Err((key, message.into()));
            }
        }
        checks::header("timestamp", self.timestamp)
    }

    fn preset(&self) -> Option<&'static str> {
        Some(PRESET)
    }

    fn sets_rate(&self) -> bool {
        true
    }

    fn min_rate(&self) -> Option<(&'static str, BitRate)> {
        Some((Self::SECTION, self.min_rate))
    }

    fn needs_one_path(&self) -> Option<&'static str> {
        Some("hosts follow the RTT of one path")
    }

    fn header_bytes(&self) -> Option<u64> {
        Some(self.timestamp.0)
    }
}

impl Start for TimelyConfig {
    type Control = Timely;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (Timely, Pace) {
        let control = Timely {
            gain: self.gain,
            beta: self.beta,
            low: nanoseconds(self.low.0),
            high: nanoseconds(self.high.0),
            min_rtt: nanoseconds(self.min_rtt.0),
            increases: [self.additive_increase.0, self.hyper_increase.0],
            steps_before_hyper: self.steps_before_hyper,
            min_rate: self.min_rate.0,
            round_end: 0,
            last_rtt: 0.0,
            difference: 0.0,
            steps: 0,
        };
        (control, path.pace(path.line_rate))
    }
}

/// The state of one flow. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Timely {
    gain: f64,
    beta: f64,
    low: f64,
    high: f64,
    min_rtt: f64,
    /// Additive and hyperactive increase (bit/s).
    increases: [u64; 2],
    steps_before_hyper: u32,
    min_rate: u64,
    /// End of what was sent when the rate was last updated.
    round_end: u64,
    last_rtt: f64,
    /// Moving average of the difference of successive RTTs (rtt_diff).
    difference: f64,
    /// Increases in a row.
    steps: u32,
}

impl Timely {
    /// The factor of a decrease; none if the rate grows.
    fn decrease(&self, rtt: f64) -> Option<f64> {
        // "normalized_gradient = rtt_diff / minRTT" (Algorithm 1).
        let gradient = self.difference / self.min_rtt;
        if rtt < self.low {
            None
        } else if rtt > self.high {
            // "rate <- rate (1 - beta (1 - T_high / new_rtt))".
            Some(1.0 - self.beta * (1.0 - self.high / rtt))
        } else if gradient <= 0.0 {
            None
        } else {
            // "rate <- rate (1 - beta normalized_gradient)".
            Some((1.0 - self.beta * gradient).max(0.0))
        }
    }

    fn update(&mut self, path: &Path, rtt: f64, pace: &mut Pace) {
        // "rtt_diff = (1 - alpha) rtt_diff + alpha new_rtt_diff".
        self.difference = (1.0 - self.gain) * self.difference + self.gain * (rtt - self.last_rtt);
        let rate = match self.decrease(rtt) {
            Some(factor) => {
                self.steps = 0;
                ((pace.rate as f64 * factor) as u64).max(self.min_rate)
            }
            None => {
                let hyper = self.steps >= self.steps_before_hyper;
                self.steps = self.steps.saturating_add(1);
                pace.rate.saturating_add(self.increases[usize::from(hyper)]).min(path.line_rate)
            }
        };
        *pace = path.pace(rate);
    }
}

impl CongestionControl for Timely {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        if ack.seq <= self.round_end {
            return;
        }
        let rtt = nanoseconds(ack.rtt);
        if self.round_end > 0 {
            self.update(path, rtt, pace);
        }
        if ack.snd_nxt > self.round_end {
            self.round_end = ack.snd_nxt;
            self.last_rtt = rtt;
        }
    }
}

fn nanoseconds(ps: u64) -> f64 {
    ps as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::super::PATH;
    use super::*;

    /// The rates (Mb/s) after acknowledgements that each end a round, with these RTTs (us).
    fn rates(config: &TimelyConfig, rtts: &[u64]) -> Vec<u64> {
        let (mut control, mut pace) = config.start(&PATH, &TcpConfig::default());
        pace.rate = 50_000_000_000;
        let rounds = (1..).zip(rtts).map(|(round, &us)| {
            let seq = round * 100_000;
            let rtt = us * 1_000_000;
            let ack = Ack { seq, acked: 1000, snd_nxt: seq + 1, rtt, ..Ack::default() };
            control.on_ack(&PATH, &ack, &mut pace);
            pace.rate / 1_000_000
        });
        rounds.collect()
    }

    #[test]
    fn rates_grow_below_the_low_threshold_and_faster_after_five_times() {
        let found = rates(&TimelyConfig::default(), &[20, 21, 30, 40, 49, 10, 20, 20]);
        assert_eq!(found, [50_000, 50_100, 50_200, 50_300, 50_400, 50_500, 51_000, 51_500]);
    }

    #[test]
    fn a_falling_rtt_between_the_thresholds_lets_the_rate_grow() {
        assert_eq!(rates(&TimelyConfig::default(), &[100, 90])[1], 50_100);
    }

    /// The average is 0.875 x 8 us, the gradient that over 20 us, the rate falls by 0.8 of it.
    #[test]
    fn a_rising_rtt_cuts_the_rate_by_the_gradient() {
        assert_eq!(rates(&TimelyConfig::default(), &[100, 108])[1], 36_000);
        // A gradient above 1.25 leaves the minimum.
        assert_eq!(rates(&TimelyConfig::default(), &[100, 300])[1], 1_000);
    }

    #[test]
    fn above_the_high_threshold_the_rate_falls_whatever_the_gradient() {
        assert_eq!(rates(&TimelyConfig::default(), &[2_000, 1_000])[1], 30_000);
    }

    #[test]
    fn a_round_trip_has_one_update() {
        let (mut control, mut pace) = TimelyConfig::default().start(&PATH, &TcpConfig::default());
        pace.rate = 1_000_000_000;
        let ack = |seq, snd_nxt| Ack { seq, snd_nxt, rtt: 10_000_000, ..Ack::default() };
        for seq in 1..=250 {
            control.on_ack(&PATH, &ack(seq * 1_000, (seq + 99) * 1_000), &mut pace);
        }
        // The first round trip ends at 100 KB, the second at 200 KB.
        assert_eq!(pace.rate, 1_200_000_000);
    }

    #[test]
    fn settings_without_sense_are_refused() {
        let wrong = |change: fn(&mut TimelyConfig)| {
            let mut config = TimelyConfig::default();
            change(&mut config);
            config.check().unwrap_err().0
        };
        assert_eq!(wrong(|timely| timely.gain = 0.0), "gain");
        assert_eq!(wrong(|timely| timely.beta = 1.5), "beta");
        assert_eq!(wrong(|timely| timely.low = Ps::from_us(600)), "low");
        assert_eq!(wrong(|timely| timely.min_rtt = Ps(0)), "min_rtt");
        assert_eq!(wrong(|timely| timely.additive_increase = BitRate(0)), "additive_increase");
        assert_eq!(wrong(|timely| timely.hyper_increase = BitRate(0)), "hyper_increase");
        assert_eq!(wrong(|timely| timely.min_rate = BitRate(0)), "min_rate");
    }

    /// The thresholds themselves are between them, and a flat RTT is no rising one.
    #[test]
    fn at_its_bounds_the_gradient_decides() {
        for (rtts, rate) in [([42, 50], 36_000), ([492, 500], 36_000), ([100, 100], 50_100)] {
            assert_eq!(rates(&TimelyConfig::default(), &rtts)[1], rate, "{rtts:?}");
        }
    }
}
