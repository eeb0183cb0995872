//! Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
//! Datacenter", SIGCOMM 2020): a window that keeps the delay of the fabric near a target.
//!
//! §3.5 adds a fixed delay per hop to the target, because longer paths have more propagation and
//! serialisation. [`Path::base_rtt`] is that sum, computed exactly, so the target is the base RTT
//! plus an allowance for queues. The preset sets `transport.base_rtt_of = "pair"`: each flow scales
//! its target with its own path.
//!
//! The paper gives few values. `ai`, `beta`, `max_mdf`, `fs_*` and `retx_reset_threshold` are those
//! of htsim (Broadcom/csg-htsim, `sim/swift.cpp`), which marks most of them as guesses. `queueing`,
//! `initial_cwnd` and `max_cwnd` are this model's own; their comments say why.
//!
//! Not modelled: the endpoint window (§3.3). Hosts have no processing delay, so that window would
//! never be the smaller one, and the fabric delay is the whole round trip. Coalesced
//! acknowledgements (§3.6): each packet has its own.

use xoff_core::knobs::{Checked, Effect, because};
use xoff_core::{Ps, knobs, math};

use super::{Ack, CongestionControl, ControlSettings, Loss, Path, Start};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// Swift. Windows are in packets.
    pub struct SwiftConfig in "swift" {
        /// Additive increment: packets per round trip (ai; htsim: 1).
        ai: f64 = 1.0,
        /// Multiplicative decrease per relative excess of the delay over the target (beta; htsim:
        /// 0.8).
        beta: f64 = 0.8,
        /// Maximum share of the window that one decrease removes (max_mdf; htsim: 0.5).
        max_mdf: f64 = 0.5,
        /// Queueing delay that the base target allows on top of the base RTT. 0: one base RTT of
        /// the longest path. The bottleneck then stays busy even when all windows halve: the base
        /// target is the least "required to provide 100% utilization" (§3.5).
        queueing: Ps = Ps(0),
        /// Maximum addition to the target for small windows, in multiples of `queueing` (fs_range;
        /// htsim: 5 base targets, which are 10 times the default of `queueing`). 0: no flow-based
        /// scaling.
        fs_range: f64 = 10.0,
        /// Windows up to this one get the whole addition (fs_min_cwnd; htsim: 0.1).
        fs_min_cwnd: f64 = 0.1 => [Effect::Unless(without_scaling)],
        /// Windows from this one up get none of it (fs_max_cwnd; htsim: 100).
        fs_max_cwnd: f64 = 100.0 => [Effect::Unless(without_scaling)],
        /// Initial window. 0: one bandwidth-delay product, rounded up to whole packets. The paper's
        /// flows are long-lived, so that it "has little effect" there (§3.2).
        initial_cwnd: f64 = 0.0,
        /// Minimum window (§3.4: 0.001). Below 1 a flow sends one packet per RTT / window.
        min_cwnd: f64 = 0.001,
        /// Maximum window. 0: what a flow at line rate has in flight with its round trips at the
        /// base target. The paper has "a ceiling value" without a number (§3.3, footnote 3).
        max_cwnd: f64 = 0.0,
        /// Keep the window in whole bytes, and scale the target by the whole packets in it (htsim).
        whole_bytes: bool = false,
        /// Least time between two decreases, and the RTT of pacing: the smoothed RTT, as in TCP
        /// (htsim). Otherwise the last measured one.
        smoothed_rtt: bool = false,
        /// Number of consecutive timeouts after which the window falls to its minimum
        /// (RETX_RESET_THRESHOLD; htsim: 5).
        retx_reset_threshold: u32 = 5,
    }
}

fn without_scaling(swift: &SwiftConfig) -> Option<String> {
    because(swift.fs_range == 0.0, "swift.fs_range = 0.0")
}

const PRESET: &str = r#"# Swift: a window with a target for the delay, over tail drop (SIGCOMM 2020)
[switch]
scheduler = "fifo"
hop = "none"
ecn = false
[transport]
congestion = "swift"
window = "unlimited"
base_rtt_of = "pair"
recovery = "sack"
[run]
# Long enough for several timeouts, and for flows that send a packet per thousand round trips.
drain = "200ms"
watchdog = "2s"
"#;

impl ControlSettings for SwiftConfig {
    fn check(&self) -> Checked {
        for (wrong, key, message) in [
            (self.ai == 0.0, "ai", "ai must be above 0: no window would grow"),
            (self.beta == 0.0, "beta", "beta must be above 0: no delay would shrink a window"),
            (
                !(self.max_mdf > 0.0 && self.max_mdf < 1.0),
                "max_mdf",
                "max_mdf must be above 0 and below 1: it is the share of the window that a \
                 decrease may remove",
            ),
            (
                !(self.fs_min_cwnd > 0.0 && self.fs_min_cwnd < self.fs_max_cwnd),
                "fs_min_cwnd",
                "fs_min_cwnd must be above 0 and below fs_max_cwnd",
            ),
            (
                !(self.min_cwnd > 0.0 && self.min_cwnd <= 1.0),
                "min_cwnd",
                "min_cwnd must be above 0 and at most 1",
            ),
            (
                self.max_cwnd != 0.0 && self.max_cwnd < 1.0,
                "max_cwnd",
                "max_cwnd must be at least 1, or 0 for the window of the base target",
            ),
            (
                self.retx_reset_threshold == 0,
                "retx_reset_threshold",
                "retx_reset_threshold must be at least 1",
            ),
        ] {
            if wrong {
                return Err((key, message.into()));
            }
        }
        Ok(())
    }

    fn preset(&self) -> Option<&'static str> {
        Some(PRESET)
    }

    /// Without `transport.pacing` windows below one packet act as one packet, as in the paper's
    /// comparison "w/o cwnd < 1" (Table 3).
    fn sets_own_window(&self) -> bool {
        true
    }

    fn needs_loss_reports(&self) -> bool {
        true
    }

    fn needs_one_path(&self) -> Option<&'static str> {
        Some("hosts follow the delay of one path")
    }

    fn uses_base_rtt(&self) -> bool {
        true
    }

    fn derives_from_base_rtt(&self) -> bool {
        self.queueing.0 == 0
    }

    fn derive(&mut self, base_rtt: Ps) -> Vec<(&'static str, Ps)> {
        if self.queueing.0 == 0 {
            self.queueing = base_rtt;
        }
        vec![("swift_queueing", self.queueing)]
    }
}

impl Start for SwiftConfig {
    type Control = Swift;

    fn start(&self, path: &Path, _tcp: &TcpConfig) -> (Swift, Pace) {
        Swift::start(self, path)
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct Swift {
    /// In packets; below 1, the share of round trips with a packet.
    cwnd: f64,
    /// The last measured round-trip time, or the smoothed one (ps).
    rtt: u64,
    smoothed_rtt: bool,
    /// The payload of a packet if windows are whole bytes, otherwise 0.
    whole_bytes_of: f64,
    /// t_last_decrease (ps).
    last_decrease: u64,
    /// retransmit_cnt: timeouts since the last acknowledgement.
    timeouts: u32,
    retx_reset_threshold: u32,
    ai: f64,
    beta: f64,
    /// Least share of the window that a decrease leaves: 1 - max_mdf.
    least_left: f64,
    min_cwnd: f64,
    max_cwnd: f64,
    target: Target,
}

/// Target delay (ps), without and with flow-based scaling.
#[derive(Clone, Copy, Debug)]
struct Target {
    base: f64,
    fs_range: f64,
    /// alpha and beta of §3.5.
    fs_alpha: f64,
    fs_beta: f64,
}

impl Target {
    /// "alpha = fs_range / (1 / sqrt(fs_min_cwnd) - 1 / sqrt(fs_max_cwnd)), beta = -alpha /
    /// sqrt(fs_max_cwnd)" (§3.5).
    fn new(config: &SwiftConfig, path: &Path) -> Self {
        let queueing = config.queueing.0 as f64;
        let fs_range = config.fs_range * queueing;
        let at_min = 1.0 / math::sqrt(config.fs_min_cwnd);
        let at_max = 1.0 / math::sqrt(config.fs_max_cwnd);
        let fs_alpha = fs_range / (at_min - at_max);
        Self {
            base: path.base_rtt as f64 + queueing,
            fs_range,
            fs_alpha,
            fs_beta: -fs_alpha * at_max,
        }
    }

    /// "t = base_target + #hops x h + max(0, min(alpha / sqrt(fcwnd) + beta, fs_range))" (§3.5).
    fn at(&self, cwnd: f64) -> f64 {
        let scaled = self.fs_alpha / math::sqrt(cwnd) + self.fs_beta;
        self.base + scaled.min(self.fs_range).max(0.0)
    }
}

impl Swift {
    /// A new flow's state and pace.
    #[must_use]
    pub fn start(config: &SwiftConfig, path: &Path) -> (Self, Pace) {
        let target = Target::new(config, path);
        let bdp = path.bdp.div_ceil(path.payload).max(1) as f64;
        let given = |value: f64, otherwise: f64| if value == 0.0 { otherwise } else { value };
        let ceiling = bdp * target.base / path.base_rtt.max(1) as f64;
        let max_cwnd = given(config.max_cwnd, ceiling);
        let control = Self {
            cwnd: given(config.initial_cwnd, bdp).clamp(config.min_cwnd, max_cwnd),
            rtt: if config.smoothed_rtt { 0 } else { path.base_rtt },
            smoothed_rtt: config.smoothed_rtt,
            whole_bytes_of: if config.whole_bytes { path.payload as f64 } else { 0.0 },
            last_decrease: 0,
            timeouts: 0,
            retx_reset_threshold: config.retx_reset_threshold,
            ai: config.ai,
            beta: config.beta,
            least_left: 1.0 - config.max_mdf,
            min_cwnd: config.min_cwnd,
            max_cwnd,
            target,
        };
        (control, control.pace(path))
    }

    /// The target delay (ps).
    fn target_delay(&self) -> f64 {
        if self.whole_bytes_of == 0.0 {
            return self.target.at(self.cwnd);
        }
        // The comparison is between whole picoseconds, too.
        self.target.at(self.cwnd.floor()).floor()
    }

    /// Measures a round trip. Returns the least time since the last decrease that allows another
    /// one (ps): with a smoothed RTT, its value before this sample, as in htsim.
    fn measure(&mut self, rtt: u64) -> u64 {
        let before = self.rtt;
        if !self.smoothed_rtt {
            self.rtt = rtt;
            return rtt;
        }
        self.rtt = if before == 0 { rtt } else { 7 * before / 8 + rtt / 8 };
        before
    }

    /// Lines 7 to 11 of Algorithm 1.
    fn increase(&mut self, acked: f64) {
        let per_packet = if self.cwnd >= 1.0 { self.ai / self.cwnd } else { self.ai };
        self.set(self.cwnd + per_packet * acked);
    }

    /// Reduces the window to a share, if "now - t_last_decrease >= rtt": "Enforces MD once every
    /// RTT" (line 3).
    ///
    /// Line 27 updates t_last_decrease whenever "cwnd <= cwnd_prev". Literally that includes each
    /// acknowledgement that may not decrease the window, so that under congestion nothing would.
    /// Here only decreases count, even where the window is already at its minimum; htsim counts
    /// only decreases that lower the window.
    fn decrease(&mut self, now: u64, left: f64, interval: u64) {
        if now.saturating_sub(self.last_decrease) >= interval {
            let before = self.cwnd;
            self.set(self.cwnd * left);
            if self.whole_bytes_of == 0.0 || self.cwnd < before {
                self.last_decrease = now;
            }
        }
    }

    /// "clamp(min_cwnd, cwnd, max_cwnd)": "Enforce lower/upper bounds".
    fn set(&mut self, cwnd: f64) {
        let cwnd = match self.whole_bytes_of {
            0.0 => cwnd,
            // The rounding of a whole number of bytes that was divided must not lose one of them.
            payload => (cwnd * payload + 1e-6).floor() / payload,
        };
        self.cwnd = cwnd.clamp(self.min_cwnd, self.max_cwnd);
    }

    /// Whole packets at line rate, since §3.4 does not pace larger windows; below one packet, "an
    /// inter-packet delay of RTT / cwnd". Bounded by the transport's window, as by a receiver's
    /// window.
    fn pace(&self, path: &Path) -> Pace {
        let window = (self.cwnd as u64).max(1) * path.payload;
        let rate = if self.cwnd < 1.0 {
            let bits = (path.full_packet * 8) as f64;
            let rate = bits * 1e12 * self.cwnd / self.rtt.max(1) as f64;
            (rate as u64).clamp(1, path.line_rate)
        } else {
            path.line_rate
        };
        Pace { rate, window: window.min(path.window) }
    }
}

impl CongestionControl for Swift {
    /// "On Receiving ACK", with "instantaneous delay as opposed to minimum or low-pass filtered
    /// delay" (§3.2).
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.timeouts = 0;
        let interval = self.measure(ack.rtt);
        let (delay, target) = (ack.rtt as f64, self.target_delay());
        if delay < target {
            self.increase(ack.acked as f64 / path.payload as f64);
        } else {
            // "max(1 - beta (delay - target_delay) / delay, 1 - max_mdf) x cwnd".
            let left = 1.0 - self.beta * (delay - target) / delay;
            self.decrease(ack.now, left.max(self.least_left), interval);
        }
        *pace = self.pace(path);
    }

    /// "On Fast Recovery". The acknowledgement that follows sets the pace.
    fn on_loss(&mut self, _path: &Path, loss: &Loss, _pace: &mut Pace) {
        self.timeouts = 0;
        self.decrease(loss.now, self.least_left, self.rtt);
    }

    /// "On Retransmit Timeout".
    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        self.timeouts += 1;
        if self.timeouts >= self.retx_reset_threshold {
            self.cwnd = self.min_cwnd;
            self.last_decrease = loss.now;
        } else {
            self.decrease(loss.now, self.least_left, self.rtt);
        }
        *pace = self.pace(path);
    }

    /// The delay between packets counts from the last packet, not from the acknowledgement.
    fn rebases_pacing(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[path = "swift_tests.rs"]
mod tests;
