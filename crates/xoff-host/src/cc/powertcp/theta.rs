//! Theta-PowerTCP (Algorithm 2 of the PowerTCP paper): PowerTCP without support of switches. The
//! power of the path follows from the RTT and its gradient.
//!
//! A queue of q behind a link of b adds q / b to the RTT (theta). So the gradient of theta plus 1
//! is the current over b, and theta over tau is the voltage over the bandwidth-delay product, if
//! the bottleneck is busy. Acknowledgements carry no INT, and data packets no header of its own.

use xoff_core::knobs::Checked;
use xoff_core::{BitRate, knobs};

use super::super::{Ack, CongestionControl, ControlSettings, Path, Start};
use super::{Law, check_law};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// Theta-PowerTCP: PowerTCP from round-trip times.
    pub struct ThetaPowerTcpConfig in "theta_powertcp" {
        /// Weight of a new window in the moving average (gamma; the authors' kernel module: 0.9;
        /// their simulator: 0.7).
        gamma: f64 = 0.9,
        /// Expected number of flows that share a host's link (N). Each update adds beta = host
        /// bandwidth x tau / N to the window. The authors' kernel module: 10. Their simulator adds
        /// 150 Mb/s to the rate: N = 166.7 at 25 Gb/s.
        expected_flows: f64 = 10.0,
        /// Normalised power at which a flow keeps its window, except beta (Algorithm 2: 1; the
        /// authors' simulator: 1.05).
        target_power: f64 = 1.0,
        /// Minimum current, which is 1 + the gradient of the RTT (the authors' simulator: 0.5). 0:
        /// none, as printed in Algorithm 2.
        min_current: f64 = 0.5,
        /// Minimum rate (the authors' simulator: MIN_RATE 100 Mb/s).
        min_rate: BitRate = BitRate(100_000_000),
    }
}

/// Each flow has the base RTT of its own path. With that of the longest path, a flow on a shorter
/// one would not see a queue as long as the difference. The authors' simulator measures it.
const PRESET: &str = r#"# Theta-PowerTCP over PFC: windows from the RTT and its gradient (NSDI 2022)
[switch]
scheduler = "fifo"
hop = "pfc"
ecn = false
[transport]
congestion = "theta-powertcp"
window = "bdp"
window_follows_rate = true
base_rtt_of = "pair"
"#;

impl ControlSettings for ThetaPowerTcpConfig {
    fn check(&self) -> Checked {
        check_law(self.gamma, self.expected_flows, self.target_power, self.min_current)
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

    fn scales_window(&self) -> Option<&'static str> {
        Some("theta-PowerTCP")
    }

    fn uses_base_rtt(&self) -> bool {
        true
    }

    fn needs_one_path(&self) -> Option<&'static str> {
        Some("theta-PowerTCP follows the RTT of one path")
    }
}

impl Start for ThetaPowerTcpConfig {
    type Control = ThetaPowerTcp;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (ThetaPowerTcp, Pace) {
        let control = ThetaPowerTcp {
            law: Law::new(self.gamma, self.expected_flows, self.target_power, self.min_rate, path),
            min_current: self.min_current,
            last: None,
            round_end: 0,
            updated: false,
        };
        (control, path.pace(path.line_rate))
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct ThetaPowerTcp {
    law: Law,
    min_current: f64,
    /// Time of the previous acknowledgement and its RTT (ps).
    last: Option<(u64, u64)>,
    /// End of what was sent when the window was last updated (lastUpdated).
    round_end: u64,
    /// True if the last acknowledgement set the rate.
    updated: bool,
}

impl ThetaPowerTcp {
    /// Algorithm 2, NormPower. Returns false if there is nothing to compare with.
    fn measure(&mut self, path: &Path, now: u64, rtt: u64) -> bool {
        let Some((before, previous)) = self.last else {
            self.last = Some((now, rtt));
            return false;
        };
        let dt = now - before;
        if dt > 0 {
            let gradient = (rtt as f64 - previous as f64) / dt as f64;
            let current = (gradient + 1.0).max(self.min_current);
            self.law.smooth(path, current * rtt as f64 / path.base_rtt as f64, dt);
            self.last = Some((now, rtt));
        }
        true
    }
}

impl CongestionControl for ThetaPowerTcp {
    /// Every acknowledgement updates the power, but one per round trip the window: "ack.seq <
    /// lastUpdated" (Algorithm 2, UpdateWindow). So the packet of that acknowledgement was sent
    /// with the present window, and cwnd_old is cwnd.
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        let measured = self.measure(path, ack.now, ack.rtt);
        self.updated = measured && ack.seq > self.round_end;
        if self.updated {
            *pace = path.pace(self.law.rate(path, pace.rate, pace.rate));
        }
        if self.updated || self.round_end == 0 {
            self.round_end = self.round_end.max(ack.snd_nxt);
        }
    }

    fn rebases_pacing(&self) -> bool {
        self.updated
    }
}

#[cfg(test)]
mod tests;
