//! DCTCP (Alizadeh et al., SIGCOMM 2010) in the rate form of the HPCC simulator, which the BFC
//! paper used. The window is the BDP scaled by rate / line rate, and packets are paced at the rate.

use xoff_core::knobs::{Checked, Effect, because};
use xoff_core::{BitRate, choices, knobs};

use super::{Ack, CongestionControl, ControlSettings, Path, Start, checks};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

choices! {
    /// Start of a flow.
    pub enum DctcpStart {
        /// At line rate with a window of one BDP (BFC §6.2.1).
        LineRate = "line-rate",
        /// With a small window that doubles every RTT until the first mark (BFC App. A.6).
        SlowStart = "slow-start",
    }
}

knobs! {
    /// DCTCP.
    pub struct DctcpConfig in "dctcp" {
        /// Gain g of the moving average of the marked fraction (DCTCP paper: 1/16).
        gain: f64 = 0.0625,
        /// Increase of the rate per RTT without marks. 0: derived, one full payload per base RTT.
        additive_increase: BitRate = BitRate(0),
        /// Minimum rate (the HPCC simulator's run.py: 1 Gb/s).
        min_rate: BitRate = BitRate::from_gbps(1),
        /// Start of a flow.
        start: DctcpStart = DctcpStart::LineRate,
        /// Initial window with slow start, in packets (BFC App. A.6: 10).
        initial_window_packets: u32 = 10 => [Effect::Unless(|dctcp| because(
            dctcp.start == DctcpStart::LineRate,
            "dctcp.start = \"line-rate\"",
        ))],
    }
}

impl ControlSettings for DctcpConfig {
    fn check(&self) -> Checked {
        if self.initial_window_packets == 0 {
            let message = "initial_window_packets must be at least 1";
            return Err(("initial_window_packets", message.into()));
        }
        checks::positive_share("gain", self.gain)
    }

    fn reacts_to_marks(&self, _tcp: &TcpConfig) -> bool {
        true
    }

    fn sets_rate(&self) -> bool {
        true
    }

    fn min_rate(&self) -> Option<(&'static str, BitRate)> {
        Some((Self::SECTION, self.min_rate))
    }

    /// The derived step and the initial window of slow start depend on it.
    fn uses_base_rtt(&self) -> bool {
        self.additive_increase.0 == 0 || self.start == DctcpStart::SlowStart
    }
}

impl Start for DctcpConfig {
    type Control = Dctcp;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (Dctcp, Pace) {
        Dctcp::start(self, path)
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    alpha: f64,
    gain: f64,
    increase: u64,
    min_rate: u64,
    /// End of the batch of packets that the current estimate of the marked fraction covers.
    batch_end: u64,
    batch_packets: u64,
    batch_marked: u64,
    /// After a cut, the byte whose acknowledgement allows the next cut.
    cut_until: Option<u64>,
    slow_start: bool,
}

impl Dctcp {
    /// A new flow's state and pace.
    #[must_use]
    pub fn start(config: &DctcpConfig, path: &Path) -> (Self, Pace) {
        let derived = path.payload * 8 * 1_000_000_000_000 / path.base_rtt.max(1);
        let slow_start = config.start == DctcpStart::SlowStart;
        let control = Self {
            alpha: 1.0,
            gain: config.gain,
            increase: if config.additive_increase.0 > 0 {
                config.additive_increase.0
            } else {
                derived
            },
            min_rate: config.min_rate.0,
            batch_end: 0,
            batch_packets: 0,
            batch_marked: 0,
            cut_until: None,
            slow_start,
        };
        let rate = if slow_start {
            let window = u64::from(config.initial_window_packets) * path.payload;
            rate_of_window(path, window).min(path.line_rate)
        } else {
            path.line_rate
        };
        (control, path.pace(rate))
    }

    /// Updates alpha with the marked fraction of the finished batch, once per RTT.
    fn end_batch(&mut self, path: &Path, ack: &Ack<'_>) {
        if self.batch_end == 0 {
            self.batch_packets = ack.snd_nxt / path.payload + 1;
        } else {
            let fraction = (self.batch_marked as f64 / self.batch_packets as f64).min(1.0);
            // "alpha <- (1 - g) alpha + g F" (DCTCP §3.1).
            self.alpha = (1.0 - self.gain) * self.alpha + self.gain * fraction;
            self.batch_marked = 0;
            // In 32 bits, as in the HPCC simulator, where `snd_nxt` may be behind.
            let left = ack.snd_nxt.wrapping_sub(ack.seq) / path.payload + 1;
            self.batch_packets = u64::from(left as u32);
        }
        self.batch_end = ack.snd_nxt;
    }
}

/// The rate that sends a window per base RTT.
fn rate_of_window(path: &Path, window: u64) -> u64 {
    (u128::from(window) * u128::from(path.line_rate) / u128::from(path.bdp.max(1))) as u64
}

impl CongestionControl for Dctcp {
    #[inline(always)]
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.batch_marked += u64::from(ack.marked);
        let round_over = ack.seq > self.batch_end;
        if round_over {
            self.end_batch(path, ack);
        }
        if self.cut_until.is_some_and(|until| ack.seq > until) {
            self.cut_until = None;
        }
        let mut rate = pace.rate;
        if ack.marked && self.cut_until.is_none() {
            // "cwnd <- cwnd x (1 - alpha / 2)" at most once a window (DCTCP §3.1).
            rate = ((rate as f64 * (1.0 - self.alpha / 2.0)) as u64).max(self.min_rate);
            self.cut_until = Some(ack.snd_nxt);
            self.slow_start = false;
        }
        if self.slow_start {
            rate += rate_of_window(path, ack.acked);
        } else if round_over && self.cut_until.is_none() {
            rate += self.increase;
        }
        rate = rate.min(path.line_rate);
        self.slow_start &= rate < path.line_rate;
        if rate != pace.rate {
            *pace = path.pace(rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::PATH;
    use super::*;

    fn ack(seq: u64, snd_nxt: u64, marked: bool) -> Ack<'static> {
        Ack { seq, acked: 1000, snd_nxt, marked, ..Ack::default() }
    }

    #[test]
    fn the_first_mark_halves_and_the_next_waits_for_a_round() {
        let (mut control, mut pace) = Dctcp::start(&DctcpConfig::default(), &PATH);
        assert_eq!((pace.rate, pace.window), (100_000_000_000, 100_000));
        control.on_ack(&PATH, &ack(1000, 100_000, true), &mut pace);
        assert_eq!((pace.rate, pace.window), (50_000_000_000, 50_000));
        control.on_ack(&PATH, &ack(2000, 100_000, true), &mut pace);
        assert_eq!(pace.rate, 50_000_000_000);
        // The round ends with 2 of 101 packets marked: alpha = 15/16 + 2/101/16. The rate is no
        // longer within the window of a cut and grows by 1000 B in 8 us.
        control.on_ack(&PATH, &ack(101_000, 150_000, false), &mut pace);
        assert!((control.alpha - (0.9375 + 2.0 / 101.0 / 16.0)).abs() < 1e-12);
        assert_eq!(pace.rate, 51_000_000_000);
    }

    #[test]
    fn slow_start_doubles_each_round_until_the_first_mark() {
        let config = DctcpConfig { start: DctcpStart::SlowStart, ..DctcpConfig::default() };
        let (mut control, mut pace) = Dctcp::start(&config, &PATH);
        assert_eq!(pace.window, 10_000);
        for packet in 1..=10 {
            control.on_ack(&PATH, &ack(packet * 1000, 20_000, false), &mut pace);
        }
        assert_eq!(pace.window, 20_000);
        control.on_ack(&PATH, &ack(11_000, 20_000, true), &mut pace);
        assert!(pace.window < 20_000 && !control.slow_start);
    }

    #[test]
    fn no_rate_falls_below_the_minimum() {
        let (mut control, mut pace) = Dctcp::start(&DctcpConfig::default(), &PATH);
        for round in 1..100 {
            control.on_ack(&PATH, &ack(round * 200_000, round * 200_000 + 100, true), &mut pace);
        }
        assert_eq!(pace.rate, 1_000_000_000);
    }
}
