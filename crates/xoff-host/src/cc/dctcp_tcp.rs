//! DCTCP with TCP's window (RFC 8257; Alizadeh et al., SIGCOMM 2010): NewReno, with cuts by half
//! the fraction of marked packets. `dctcp.rs` is another simulator's rate form.
//!
//! Each packet has its own acknowledgement with that packet's mark, so the receiver needs none of
//! the states of §3.2. The fraction of packets replaces RFC 8257's fraction of bytes.

use xoff_core::knobs;
use xoff_core::knobs::Checked;

use super::newreno::NewReno;
use super::{Ack, CongestionControl, ControlSettings, Loss, Path, Start, checks};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

knobs! {
    /// DCTCP with TCP's window.
    pub struct DctcpTcpConfig in "dctcp_tcp" {
        /// Gain g of the moving average of the marked fraction (RFC 8257: 1/16).
        gain: f64 = 0.0625,
        /// Estimated fraction of marked packets when a flow begins: 1 halves the window at the
        /// first mark (RFC 8257 §3.3), 0 ignores it (ns-2's DCTCP, of DCTCP's and pFabric's
        /// authors: `ecnhat_alpha_ 0.0`).
        initial_alpha: f64 = 1.0,
    }
}

impl ControlSettings for DctcpTcpConfig {
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

    fn grows_as_reno(&self) -> bool {
        true
    }

    fn reduces_flight(&self) -> bool {
        true
    }

    fn tells_window(&self) -> bool {
        true
    }

    fn needs_loss_reports(&self) -> bool {
        true
    }
}

impl Start for DctcpTcpConfig {
    type Control = DctcpTcp;

    fn start(&self, path: &Path, tcp: &TcpConfig) -> (DctcpTcp, Pace) {
        DctcpTcp::start(self, tcp, path)
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct DctcpTcp {
    reno: NewReno,
    gain: f64,
    /// "DCTCP.Alpha": the estimated fraction of marked packets.
    alpha: f64,
    /// "DCTCP.WindowEnd": the byte whose acknowledgement ends the observation window.
    window_end: u64,
    /// Packets acknowledged in the window, and the marked ones among them.
    packets: u64,
    marked: u64,
    /// Marks up to this byte belong to a window that was already cut.
    cut_until: u64,
}

impl DctcpTcp {
    /// A new flow's state and pace.
    #[must_use]
    pub fn start(config: &DctcpTcpConfig, tcp: &TcpConfig, path: &Path) -> (Self, Pace) {
        let (reno, pace) = NewReno::start(tcp, path);
        let control = Self {
            reno,
            gain: config.gain,
            alpha: config.initial_alpha,
            window_end: 0,
            packets: 0,
            marked: 0,
            cut_until: 0,
        };
        (control, pace)
    }

    /// Updates the congestion estimate of §3.3.
    fn observe(&mut self, ack: &Ack<'_>) {
        self.packets += 1;
        self.marked += u64::from(ack.marked);
        if ack.seq <= self.window_end {
            return;
        }
        // M = DCTCP.BytesMarked / DCTCP.BytesAcked, DCTCP.Alpha = DCTCP.Alpha (1 - g) + g M.
        let share = self.marked as f64 / self.packets as f64;
        self.alpha = self.alpha * (1.0 - self.gain) + self.gain * share;
        self.window_end = ack.snd_nxt;
        self.packets = 0;
        self.marked = 0;
    }
}

impl CongestionControl for DctcpTcp {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.observe(ack);
        if !ack.marked {
            self.reno.on_ack(path, ack, pace);
            return;
        }
        // RFC 3168 §6.1.2: a mark allows no growth, and one cut per window. During a recovery the
        // window has already been cut.
        if ack.recovering || ack.seq <= self.cut_until {
            return;
        }
        // "cwnd = cwnd * (1 - DCTCP.Alpha / 2)" (§3.3). It ends slow start.
        let left = self.reno.window.bytes as f64 * (1.0 - self.alpha / 2.0);
        self.reno.reduce_to(path, left as u64);
        self.cut_until = ack.snd_nxt;
        *pace = self.reno.window.pace(path);
    }

    /// Losses are handled as in conventional TCP (§3.5).
    fn on_loss(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        self.reno.on_loss(path, loss, pace);
    }

    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        self.reno.on_timeout(path, loss, pace);
    }

    fn window_bytes(&self) -> u64 {
        self.reno.window.bytes
    }

    /// DCTCP.Alpha and the observation window stay.
    fn reopen(&mut self, path: &Path, bytes: u64, pace: &mut Pace) {
        self.reno.reopen(path, bytes, pace);
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::tests::{Driver, PATH};
    use super::*;

    fn flow(packets: u32, threshold_packets: u64) -> Driver<DctcpTcp> {
        start(&DctcpTcpConfig::default(), packets, threshold_packets)
    }

    fn start(config: &DctcpTcpConfig, packets: u32, threshold_packets: u64) -> Driver<DctcpTcp> {
        let tcp = TcpConfig {
            initial_window_packets: packets,
            initial_ssthresh: xoff_core::Bytes(threshold_packets * PATH.payload),
            ..TcpConfig::default()
        };
        let (control, pace) = DctcpTcp::start(config, &tcp, &PATH);
        Driver::new(control, pace)
    }

    /// alpha_n = (1 - g) alpha_(n-1) + g F, with a fraction F that differs from window to window.
    #[test]
    fn alpha_is_a_moving_average_of_the_marked_fraction() {
        let mut driver = flow(64, 1);
        let mut alpha = 15.0 / 16.0;
        driver.packet(false);
        for round in 0..50 {
            let (mut marked, mut packets) = (0, 0);
            let end = driver.control.window_end;
            while driver.control.window_end == end {
                let mark = packets % 4 < round % 5;
                driver.packet(mark);
                (marked, packets) = (marked + u32::from(mark), packets + 1);
            }
            alpha = alpha * 15.0 / 16.0 + f64::from(marked) / f64::from(packets) / 16.0;
            assert!((driver.control.alpha - alpha).abs() < 1e-12, "{round}");
        }
    }

    #[test]
    fn a_mark_cuts_by_half_of_alpha_once_a_window_and_ends_slow_start() {
        let mut driver = flow(40, 0);
        driver.packet(false);
        assert_eq!(driver.packets(), 41);
        let end = driver.control.cut_until;
        driver.packet(true);
        // alpha is 15/16: 41 packets become 41 (1 - 15/32).
        assert_eq!(driver.pace.window, 41_000 * 17 / 32 / 1000 * 1000);
        assert!(driver.control.cut_until > end);
        let window = driver.packets();
        // Marks in the rest of that window change nothing, and slow start is over.
        (0..30).for_each(|_| driver.packet(true));
        assert_eq!(driver.packets(), window);
        (0..window).for_each(|_| driver.packet(false));
        assert!(driver.packets() <= window + 1);
    }

    /// Marks raise alpha from the first finished window on.
    #[test]
    fn with_an_alpha_of_zero_the_first_mark_only_ends_slow_start() {
        let config = DctcpTcpConfig { initial_alpha: 0.0, ..DctcpTcpConfig::default() };
        let mut driver = start(&config, 40, 0);
        driver.packet(false);
        driver.packet(true);
        assert_eq!((driver.packets(), driver.control.alpha), (41, 0.0));
        driver.packet(false);
        assert_eq!(driver.packets(), 41);
        driver.marked_round();
        driver.marked_round();
        assert!(driver.control.alpha > 0.0 && driver.packets() < 41);
    }

    /// As an allocator's rate does: the window is set, and the next mark still cuts by the learnt
    /// alpha.
    #[test]
    fn reopening_the_window_keeps_alpha() {
        let mut driver = flow(20, 1);
        (0..1000).for_each(|_| driver.packet(false));
        let alpha = driver.control.alpha;
        assert!(alpha < 0.5, "{alpha}");
        driver.control.reopen(&PATH, 59_001, &mut driver.pace);
        assert_eq!((driver.packets(), driver.control.alpha), (60, alpha));
        // In congestion avoidance one acknowledgement adds no packet.
        driver.packet(false);
        assert_eq!(driver.packets(), 60);
        let alpha = driver.control.alpha;
        driver.packet(true);
        assert_eq!(driver.packets(), (60.0 * (1.0 - alpha / 2.0)) as u64);
    }

    /// With every packet marked, alpha approaches 1 and the window its minimum.
    #[test]
    fn no_window_falls_below_two_packets() {
        let mut driver = flow(100, 1);
        (0..100).for_each(|_| driver.marked_round());
        assert_eq!((driver.packets(), driver.pace.window), (2, 2000));
        assert!(driver.control.alpha > 0.99);
    }
}
