//! DCTCP with TCP's window as ns-3 has it (`TcpDctcp` over `TcpLinuxReno`, release 3.37).
//!
//! It differs from `dctcp_tcp.rs` in what RFC 8257 leaves open. A mark cuts the window by the
//! estimate of the windows before this one, and a loss by the same factor. The first estimate
//! follows the first window. The window grows by one packet for as many acknowledged packets as it
//! holds whole ones. Use it with `tcp.reduction = "prr"`, which spreads a cut over a round trip.

use xoff_core::knobs;
use xoff_core::knobs::Checked;

use super::window::CongestionWindow;
use super::{Ack, CongestionControl, ControlSettings, Loss, Path, Start, checks};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// DCTCP as ns-3 has it.
    pub struct Ns3DctcpConfig in "ns3_dctcp" {
        /// Gain g of the moving average of the marked fraction.
        gain: f64 = 0.0625,
        /// Estimated fraction of marked packets when a flow begins.
        initial_alpha: f64 = 1.0,
    }
}

impl ControlSettings for Ns3DctcpConfig {
    fn check(&self) -> Checked {
        checks::positive_share("gain", self.gain)?;
        checks::share("initial_alpha", self.initial_alpha)
    }

    fn reacts_to_marks(&self, _tcp: &TcpConfig) -> bool {
        true
    }

    fn has_tcp_window(&self) -> bool {
        true
    }

    fn tells_window(&self) -> bool {
        true
    }

    fn needs_loss_reports(&self) -> bool {
        true
    }
}

impl Start for Ns3DctcpConfig {
    type Control = Ns3Dctcp;

    fn start(&self, path: &Path, tcp: &TcpConfig) -> (Ns3Dctcp, Pace) {
        let window = CongestionWindow::start(tcp, path);
        let control = Ns3Dctcp {
            window,
            counted: 0,
            gain: self.gain,
            alpha: self.initial_alpha,
            observed_until: None,
            acked: 0,
            marked: 0,
            cut_until: None,
        };
        (control, window.pace(path))
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct Ns3Dctcp {
    window: CongestionWindow,
    /// Packets acknowledged in congestion avoidance since the window last grew (`m_cWndCnt`).
    counted: u64,
    gain: f64,
    /// The estimated fraction of marked packets.
    alpha: f64,
    /// The byte whose acknowledgement ends the observed window (`m_nextSeq`).
    observed_until: Option<u64>,
    /// Packets acknowledged in that window, and the marked ones among them.
    acked: u64,
    marked: u64,
    /// Marks up to this byte belong to a window that was already cut.
    cut_until: Option<u64>,
}

impl Ns3Dctcp {
    /// `PktsAcked`: updates the estimate once a window has been acknowledged.
    fn observe(&mut self, ack: &Ack<'_>, packets: u64) {
        self.acked += packets;
        self.marked += if ack.marked && ack.acked > 0 { packets } else { 0 };
        if ack.seq < *self.observed_until.get_or_insert(ack.snd_nxt) {
            return;
        }
        let share = if self.acked > 0 { self.marked as f64 / self.acked as f64 } else { 0.0 };
        self.alpha = (1.0 - self.gain) * self.alpha + self.gain * share;
        self.observed_until = Some(ack.snd_nxt);
        self.acked = 0;
        self.marked = 0;
    }

    /// `IncreaseWindow` of `TcpLinuxReno`.
    fn grow(&mut self, path: &Path, packets: u64) {
        if self.window.bytes < self.window.threshold {
            let grown = self.window.bytes + packets * path.payload;
            self.window.bytes = grown.min(self.window.threshold);
            return;
        }
        let whole = (self.window.bytes / path.payload).max(1);
        // A cut may leave more counted than the window now holds. They count once.
        if self.counted >= whole {
            self.counted = 0;
            self.window.bytes += path.payload;
        }
        self.counted += packets;
        self.window.bytes += self.counted / whole * path.payload;
        self.counted %= whole;
    }

    /// `GetSsThresh`: "static_cast<uint32_t>((1 - m_alpha / 2.0) * tcb->m_cWnd)". During a
    /// reduction that is the window in use, which follows what is in flight.
    fn reduced(&self, window: u64) -> u64 {
        ((1.0 - self.alpha / 2.0) * window as f64) as u64
    }
}

impl CongestionControl for Ns3Dctcp {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        let is_cut = self.cut_until.is_some_and(|until| ack.seq <= until);
        if ack.marked && ack.acked > 0 && !is_cut {
            // A mark during a reduction by marks cuts nothing, so this is one by losses.
            let window = if ack.recovering { pace.window } else { self.window.bytes };
            self.window.threshold = self.reduced(window);
            self.window.bytes = self.window.threshold;
            self.cut_until = Some(ack.snd_nxt);
            self.observe(ack, ack.acked / path.payload);
        } else {
            let packets = ack.acked.div_ceil(path.payload);
            self.observe(ack, packets.max(1));
            if ack.acked > 0 && !ack.recovering {
                self.grow(path, packets);
            }
        }
        *pace = self.window.pace(path);
    }

    fn on_loss(&mut self, path: &Path, _loss: &Loss, pace: &mut Pace) {
        self.window.threshold = self.reduced(self.window.bytes);
        self.window.bytes = self.window.threshold;
        *pace = self.window.pace(path);
    }

    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        if !loss.again {
            self.window.threshold = self.reduced(pace.window);
        }
        // A timeout ends the state that a mark began: the next mark cuts again.
        self.cut_until = None;
        self.window.bytes = path.payload;
        *pace = self.window.pace(path);
    }

    fn window_bytes(&self) -> u64 {
        self.window.bytes
    }

    fn reopen(&mut self, path: &Path, bytes: u64, pace: &mut Pace) {
        self.window.open(path, bytes);
        self.counted = 0;
        *pace = self.window.pace(path);
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::tests::{Driver, PATH};
    use super::*;

    fn flow(packets: u32) -> Driver<Ns3Dctcp> {
        let tcp = TcpConfig { initial_window_packets: packets, ..TcpConfig::default() };
        let (control, pace) = Ns3DctcpConfig::default().start(&PATH, &tcp);
        Driver::new(control, pace)
    }

    /// The cut comes before the estimate of the same acknowledgement: alpha is still 1.
    #[test]
    fn the_first_mark_halves_the_window() {
        let mut driver = flow(20);
        driver.packet(true);
        assert_eq!(driver.packets(), 10);
    }

    #[test]
    fn the_estimate_follows_whole_windows() {
        let mut driver = flow(20);
        // Sent before the first acknowledgement: 20 packets.
        (0..19).for_each(|_| driver.packet(false));
        assert_eq!(driver.control.alpha, 1.0);
        driver.packet(false);
        assert_eq!(driver.control.alpha, 0.9375);
    }

    #[test]
    fn the_window_grows_once_per_whole_packets() {
        let mut driver = flow(20);
        driver.packet(true);
        driver.control.window.bytes = 4_700;
        driver.control.window.threshold = 4_700;
        driver.control.cut_until = None;
        driver.control.counted = 0;
        (0..4).for_each(|_| driver.control.grow(&PATH, 1));
        assert_eq!(driver.control.window.bytes, 5_700);
    }

    /// An acknowledgement counts all packets that it acknowledges: 5 of 20 are marked.
    #[test]
    fn a_marked_acknowledgement_counts_all_its_packets() {
        let (mut control, mut pace) = Ns3DctcpConfig::default().start(&PATH, &TcpConfig::default());
        for (seq, acked, marked) in [(5_000, 5_000, true), (20_000, 15_000, false)] {
            let ack = Ack { seq, acked, marked, snd_nxt: 20_000, ..Ack::default() };
            control.on_ack(&PATH, &ack, &mut pace);
        }
        assert_eq!(control.alpha, 1.0 - control.gain + control.gain * 5.0 / 20.0);
    }
}
