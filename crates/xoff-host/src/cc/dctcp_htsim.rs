//! DCTCP as in htsim (Broadcom/csg-htsim, `sim/dctcp.cpp` over `sim/tcp.cpp`): windows of whole
//! bytes, and a cut at each update of the estimate while it is above zero, even if no packet of
//! that window was marked. RFC 8257 §3.3 cuts only after a mark; see `dctcp_tcp.rs`.
//!
//! Its window is that of htsim's TCP (`htsim_window.rs`). A loss halves it, as without DCTCP.

use xoff_core::knobs;
use xoff_core::knobs::Checked;

use super::htsim_window::HtsimWindow;
use super::{Ack, CongestionControl, ControlSettings, Loss, Path, Start, checks};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// DCTCP as in htsim. `tcp.initial_ssthresh` ends its slow start (htsim: 100 packets).
    pub struct DctcpHtsimConfig in "dctcp_htsim" {
        /// Gain of the moving average of the marked fraction.
        gain: f64 = 0.0625,
    }
}

impl ControlSettings for DctcpHtsimConfig {
    fn check(&self) -> Checked {
        checks::positive_share("gain", self.gain)
    }

    fn reacts_to_marks(&self, _tcp: &TcpConfig) -> bool {
        true
    }

    fn has_tcp_window(&self) -> bool {
        true
    }

    fn needs_loss_reports(&self) -> bool {
        true
    }
}

impl Start for DctcpHtsimConfig {
    type Control = DctcpHtsim;

    fn start(&self, path: &Path, tcp: &TcpConfig) -> (DctcpHtsim, Pace) {
        DctcpHtsim::start(self, tcp, path)
    }
}

/// The state of one flow, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct DctcpHtsim {
    gain: f64,
    alpha: f64,
    window: HtsimWindow,
    /// Acknowledgements since the last update, and those with an echo.
    seen: u64,
    marked: u64,
    /// The window at the last update, which ends the next one.
    past_cwnd: u64,
}

impl DctcpHtsim {
    /// A new flow's state and pace.
    #[must_use]
    pub fn start(config: &DctcpHtsimConfig, tcp: &TcpConfig, path: &Path) -> (Self, Pace) {
        let (window, pace) = HtsimWindow::start(tcp, path);
        let past_cwnd = 2 * path.payload;
        (Self { gain: config.gain, alpha: 0.0, window, seen: 0, marked: 0, past_cwnd }, pace)
    }

    /// Counts an acknowledgement. After a window of them the estimate is updated, and the window
    /// cut.
    fn observe(&mut self, path: &Path, marked: bool) {
        self.seen += 1;
        if marked {
            self.marked += 1;
            self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd);
        }
        if self.seen * path.payload < self.past_cwnd {
            return;
        }
        let share = self.marked as f64 / self.seen as f64;
        self.alpha = (1.0 - self.gain) * self.alpha + self.gain * share;
        (self.seen, self.marked) = (0, 0);
        if self.alpha > 0.0 {
            let left = self.window.cwnd as f64 * (1.0 - self.alpha / 2.0);
            self.window.cwnd = (left as u64).max(path.payload);
            self.window.ssthresh = self.window.cwnd;
        }
        self.past_cwnd = self.window.cwnd;
    }

    /// A loss begins a new observation.
    fn forget(&mut self) {
        (self.seen, self.marked) = (0, 0);
        self.past_cwnd = self.window.cwnd;
    }
}

impl CongestionControl for DctcpHtsim {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.observe(path, ack.marked);
        self.window.on_ack(path, ack, pace);
    }

    fn on_loss(&mut self, path: &Path, _loss: &Loss, pace: &mut Pace) {
        self.forget();
        self.window.halve(path, pace);
    }

    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        self.forget();
        self.window.collapse(path, loss, pace);
    }

    fn reopen(&mut self, path: &Path, bytes: u64, pace: &mut Pace) {
        self.window.reopen(path, bytes, pace);
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::tests::PATH;
    use super::*;

    fn flow(packets: u32) -> (DctcpHtsim, Pace) {
        let tcp = TcpConfig { initial_window_packets: packets, ..TcpConfig::default() };
        DctcpHtsim::start(&DctcpHtsimConfig::default(), &tcp, &PATH)
    }

    fn ack(packets: u64, marked: bool) -> Ack<'static> {
        let payload = PATH.payload;
        Ack { seq: packets * payload, acked: payload, marked, ..Ack::default() }
    }

    #[test]
    fn slow_start_adds_a_packet_per_acknowledgement_until_the_first_mark() {
        let (mut control, mut pace) = flow(10);
        assert_eq!(pace.window, 10_000);
        (1..=5).for_each(|packet| control.on_ack(&PATH, &ack(packet, false), &mut pace));
        assert_eq!((control.window.cwnd, pace.window), (15_000, 15_000));
        control.on_ack(&PATH, &ack(6, true), &mut pace);
        // No update yet: congestion avoidance adds 1000 x 1000 / 15000.
        assert_eq!((control.window.ssthresh, control.window.cwnd), (15_000, 15_066));
    }

    #[test]
    fn each_update_cuts_while_the_estimate_is_above_zero() {
        let (mut control, mut pace) = flow(10);
        control.on_ack(&PATH, &ack(1, true), &mut pace);
        control.on_ack(&PATH, &ack(2, false), &mut pace);
        // The first update is after two packets: alpha = 1/16 x 1/2.
        assert_eq!(control.alpha, 1.0 / 32.0);
        let cut = (10_100.0 * (1.0 - 1.0 / 64.0)) as u64;
        assert_eq!((control.window.ssthresh, control.past_cwnd), (cut, cut));
        let before = control.window.cwnd;
        (3..=12).for_each(|packet| control.on_ack(&PATH, &ack(packet, false), &mut pace));
        assert_eq!(control.alpha, 1.0 / 32.0 * 15.0 / 16.0);
        assert!(control.window.cwnd < before + 800, "nine packets grew it, and it was cut again");
    }

    /// What was allowed goes out even if the window has been cut since.
    #[test]
    fn a_cut_takes_nothing_back() {
        let (mut control, mut pace) = flow(10);
        control.alpha = 1.0;
        control.on_ack(&PATH, &ack(1, true), &mut pace);
        control.on_ack(&PATH, &ack(2, true), &mut pace);
        assert!(control.window.cwnd < 6_000);
        let allowed = 11_000;
        assert_eq!(pace.window, allowed - 2_000);
    }

    /// After a mark, both kinds of losses begin an observation as long as the window before them.
    #[test]
    fn a_loss_begins_a_new_observation() {
        for times_out in [false, true] {
            let (mut control, mut pace) = flow(10);
            control.on_ack(&PATH, &ack(1, true), &mut pace);
            assert_eq!((control.seen, control.marked, control.past_cwnd), (1, 1, 2_000));
            let loss = Loss { now: 0, flight: 9_000, again: false };
            match times_out {
                false => control.on_loss(&PATH, &loss, &mut pace),
                true => control.on_timeout(&PATH, &loss, &mut pace),
            }
            assert_eq!((control.seen, control.marked, control.past_cwnd), (0, 0, 10_100));
            let left = if times_out { 1_000 } else { 5_050 };
            assert_eq!((control.window.cwnd, control.window.ssthresh), (left, 5_050));
        }
    }
}
