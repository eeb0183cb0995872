//! DCTCP as in htsim (Broadcom/csg-htsim, `sim/dctcp.cpp` over `sim/tcp.cpp`): windows of whole
//! bytes, and a cut at each update of the estimate while it is above zero, even if no packet of
//! that window was marked. RFC 8257 §3.3 cuts only after a mark; see `dctcp_tcp.rs`.
//!
//! That host puts as many packets into its NIC as the window allows, and a later cut does not take
//! them back. Here the NIC takes a packet when it sends it, so the window never falls below what
//! it has already allowed.
//!
//! Not modelled: htsim's own NewReno. The recovery finds losses; then the window is halved.

use xoff_core::knobs;
use xoff_core::knobs::Checked;

use super::{Ack, CongestionControl, ControlSettings, Loss, Path, Start};
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
        if !(self.gain > 0.0 && self.gain <= 1.0) {
            return Err(("gain", "gain must be above 0 and at most 1".into()));
        }
        Ok(())
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
    cwnd: u64,
    ssthresh: u64,
    /// Acknowledgements since the last update, and those with an echo.
    seen: u64,
    marked: u64,
    /// The window at the last update, which ends the next one.
    past_cwnd: u64,
    /// The byte up to which the window has allowed to send.
    allowed: u64,
}

impl DctcpHtsim {
    /// A new flow's state and pace.
    #[must_use]
    pub fn start(config: &DctcpHtsimConfig, tcp: &TcpConfig, path: &Path) -> (Self, Pace) {
        let mut control = Self {
            gain: config.gain,
            alpha: 0.0,
            cwnd: u64::from(tcp.initial_window_packets) * path.payload,
            ssthresh: match tcp.initial_ssthresh.0 {
                0 => u64::MAX,
                bytes => bytes,
            },
            seen: 0,
            marked: 0,
            past_cwnd: 2 * path.payload,
            allowed: 0,
        };
        let pace = if tcp.handshake {
            Pace { rate: path.line_rate, window: path.payload }
        } else {
            control.allow(path, 0)
        };
        (control, pace)
    }

    /// Counts an acknowledgement. After a window of them the estimate is updated, and the window
    /// cut.
    fn observe(&mut self, path: &Path, marked: bool) {
        self.seen += 1;
        if marked {
            self.marked += 1;
            self.ssthresh = self.ssthresh.min(self.cwnd);
        }
        if self.seen * path.payload < self.past_cwnd {
            return;
        }
        let share = self.marked as f64 / self.seen as f64;
        self.alpha = (1.0 - self.gain) * self.alpha + self.gain * share;
        (self.seen, self.marked) = (0, 0);
        if self.alpha > 0.0 {
            let left = self.cwnd as f64 * (1.0 - self.alpha / 2.0);
            self.cwnd = (left as u64).max(path.payload);
            self.ssthresh = self.cwnd;
        }
        self.past_cwnd = self.cwnd;
    }

    /// Grows the window after an acknowledgement of new data, by what the window leaves unused, up
    /// to a packet.
    fn grow(&mut self, path: &Path, seq: u64) {
        let Some(unused) = (seq + self.cwnd).checked_sub(self.allowed) else { return };
        let unused = unused.min(path.payload);
        self.cwnd += if self.cwnd < self.ssthresh {
            unused.min(self.ssthresh - self.cwnd)
        } else {
            unused * path.payload / self.cwnd
        };
    }

    /// The window of whole packets from `seq` on.
    fn allow(&mut self, path: &Path, seq: u64) -> Pace {
        let whole = self.cwnd / path.payload * path.payload;
        self.allowed = self.allowed.max(seq + whole);
        Pace { rate: path.line_rate, window: (self.allowed - seq).min(path.window) }
    }

    /// The window after a loss, which takes back what an earlier one has allowed.
    fn restart(&mut self, path: &Path, cwnd: u64, pace: &mut Pace) {
        (self.seen, self.marked) = (0, 0);
        self.past_cwnd = self.cwnd;
        self.cwnd = cwnd;
        self.allowed = 0;
        pace.window = cwnd.min(path.window);
    }
}

impl CongestionControl for DctcpHtsim {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.observe(path, ack.marked);
        // The answer to the first packet of a connection acknowledges no data.
        if !ack.recovering && (ack.acked > 0 || ack.seq == 0) {
            self.grow(path, ack.seq);
        }
        *pace = self.allow(path, ack.seq);
    }

    fn on_loss(&mut self, path: &Path, _loss: &Loss, pace: &mut Pace) {
        self.ssthresh = (self.cwnd / 2).max(2 * path.payload);
        self.restart(path, self.ssthresh, pace);
    }

    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        if !loss.again {
            self.ssthresh = (self.cwnd / 2).max(2 * path.payload);
        }
        self.restart(path, path.payload, pace);
    }

    fn reopen(&mut self, path: &Path, bytes: u64, pace: &mut Pace) {
        self.cwnd = bytes.max(1).next_multiple_of(path.payload);
        self.ssthresh = self.cwnd;
        self.allowed = 0;
        pace.window = self.cwnd.min(path.window);
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
        assert_eq!((control.cwnd, pace.window), (15_000, 15_000));
        control.on_ack(&PATH, &ack(6, true), &mut pace);
        // No update yet: congestion avoidance adds 1000 x 1000 / 15000.
        assert_eq!((control.ssthresh, control.cwnd), (15_000, 15_066));
    }

    #[test]
    fn each_update_cuts_while_the_estimate_is_above_zero() {
        let (mut control, mut pace) = flow(10);
        control.on_ack(&PATH, &ack(1, true), &mut pace);
        control.on_ack(&PATH, &ack(2, false), &mut pace);
        // The first update is after two packets: alpha = 1/16 x 1/2.
        assert_eq!(control.alpha, 1.0 / 32.0);
        let cut = (10_100.0 * (1.0 - 1.0 / 64.0)) as u64;
        assert_eq!((control.ssthresh, control.past_cwnd), (cut, cut));
        let window = control.cwnd;
        (3..=12).for_each(|packet| control.on_ack(&PATH, &ack(packet, false), &mut pace));
        assert_eq!(control.alpha, 1.0 / 32.0 * 15.0 / 16.0);
        assert!(control.cwnd < window + 800, "nine packets grew it, and it was cut again");
    }

    /// What was allowed goes out even if the window has been cut since.
    #[test]
    fn a_cut_takes_nothing_back() {
        let (mut control, mut pace) = flow(10);
        control.alpha = 1.0;
        control.on_ack(&PATH, &ack(1, true), &mut pace);
        control.on_ack(&PATH, &ack(2, true), &mut pace);
        assert!(control.cwnd < 6_000);
        let allowed = 11_000;
        assert_eq!(pace.window, allowed - 2_000);
    }
}
