//! NewReno (RFC 5681, RFC 6582): slow start, then one packet more per round trip, and half after a
//! loss. The recovery detects lost packets and decides the end of a recovery (RFC 6675).
//!
//! With `tcp.ecn` a mark acts as a loss, at most once per window (RFC 3168). Each packet has its
//! own acknowledgement with that packet's mark, so no flags have to persist until the sender has
//! seen them (ECE, CWR).

use xoff_core::knobs;

use super::window::CongestionWindow;
use super::{Ack, CongestionControl, ControlSettings, Loss, Path, Start};
use crate::cc::Pace;
use crate::tcp::{Halved, Increase, Shrink, TcpConfig};

knobs! {
    /// NewReno: its settings are those of section `tcp`.
    pub struct NewRenoConfig;
}

impl ControlSettings for NewRenoConfig {
    fn reacts_to_marks(&self, tcp: &TcpConfig) -> bool {
        tcp.ecn
    }

    fn marks_setting(&self) -> (&'static str, &'static str) {
        ("tcp", "ecn")
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

    fn halves_window(&self) -> bool {
        true
    }

    fn shrinks_in_recovery(&self) -> bool {
        true
    }

    fn needs_loss_reports(&self) -> bool {
        true
    }
}

impl Start for NewRenoConfig {
    type Control = NewReno;

    fn start(&self, path: &Path, tcp: &TcpConfig) -> (NewReno, Pace) {
        NewReno::start(tcp, path)
    }
}

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct NewReno {
    pub(super) window: CongestionWindow,
    /// Bytes acknowledged in congestion avoidance since the window last grew.
    counted: u64,
    /// True if marks cut the window.
    uses_ecn: bool,
    increase: Increase,
    /// True if a loss halves the window and not what is in flight.
    halves_window: bool,
    /// Marks up to this byte belong to a window that was already cut.
    cut_until: Option<u64>,
}

impl NewReno {
    /// A new flow's state and pace.
    #[must_use]
    pub fn start(config: &TcpConfig, path: &Path) -> (Self, Pace) {
        let window = CongestionWindow::start(config, path);
        let own = Self {
            uses_ecn: config.ecn,
            increase: config.increase,
            halves_window: config.halved == Halved::Window,
            ..Self::with(window)
        };
        (own, window.pace(path))
    }

    /// A new flow that starts with this window.
    pub(super) fn with(window: CongestionWindow) -> Self {
        Self {
            window,
            counted: 0,
            uses_ecn: false,
            increase: Increase::PerWindow,
            halves_window: false,
            cut_until: None,
        }
    }

    /// Grows the window after an acknowledgement.
    pub(super) fn grow(&mut self, path: &Path, ack: &Ack<'_>) {
        if !self.window.may_grow(ack) || self.window.slow_start(path, ack) {
            return;
        }
        if self.increase == Increase::PerAck {
            // "cwnd += SMSS*SMSS/cwnd", and 1 byte if that is 0 (RFC 5681 §3.1, eq. 3).
            self.window.bytes += (path.payload * path.payload / self.window.bytes).max(1);
            return;
        }
        if self.increase == Increase::PerAckExact {
            // The remainder of one acknowledgement counts at the next.
            let (payload, window) = (path.payload, self.window.bytes);
            self.counted += payload * payload;
            self.window.bytes += self.counted / window;
            self.counted %= window;
            return;
        }
        // Once a window of bytes has been acknowledged, the window grows by one packet (RFC 5681
        // §3.1, RFC 3465 §2.1).
        self.counted += ack.acked;
        if self.counted >= self.window.bytes {
            self.counted -= self.window.bytes;
            self.window.bytes += path.payload;
        }
    }

    /// "The TCP source halves the congestion window 'cwnd' and reduces the slow start threshold
    /// 'ssthresh'. [...] TCP should not react to congestion indications more than once every window
    /// of data", nor "increase the congestion window in response to" one (RFC 3168 §6.1.2). During
    /// a recovery the window has already been cut.
    fn on_mark(&mut self, path: &Path, ack: &Ack<'_>) {
        if !ack.recovering && self.cut_until.is_none_or(|cut| ack.seq > cut) {
            self.reduce_to(path, self.window.bytes / 2);
            self.cut_until = Some(ack.snd_nxt);
        }
    }

    /// Cuts the window to `bytes`.
    pub(super) fn reduce_to(&mut self, path: &Path, bytes: u64) {
        self.window.reduce_to(path, bytes);
        self.counted = 0;
    }
}

impl CongestionControl for NewReno {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        if ack.marked && self.uses_ecn {
            self.on_mark(path, ack);
        } else {
            self.grow(path, ack);
        }
        *pace = self.window.pace(path);
    }

    fn on_loss(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        if self.halves_window {
            let half = self.window.halve_threshold(path);
            self.window.bytes = half.max(path.payload);
            self.counted = 0;
        } else {
            // "ssthresh = max (FlightSize / 2, 2*SMSS)" (RFC 5681 §3.1, eq. 4).
            self.reduce_to(path, loss.flight / 2);
        }
        *pace = self.window.pace(path);
    }

    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        if self.halves_window {
            // Also after a timeout of the same packet.
            self.window.halve_threshold(path);
        }
        let again = loss.again || self.halves_window;
        self.window.collapse(path, loss.flight / 2, again);
        self.counted = 0;
        *pace = self.window.pace(path);
    }

    fn window_bytes(&self) -> u64 {
        self.window.bytes
    }

    fn shrink(&mut self, path: &Path, shrink: Shrink) {
        self.window.bytes = shrink.of(self.window.bytes).max(path.payload);
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

    fn flow(packets: u32, ecn: bool) -> Driver<NewReno> {
        let config = TcpConfig { initial_window_packets: packets, ecn, ..TcpConfig::default() };
        let (control, pace) = NewReno::start(&config, &PATH);
        Driver::new(control, pace)
    }

    /// RFC 3168 §6.1.2.
    #[test]
    fn a_mark_halves_once_a_window_and_ends_slow_start() {
        let mut driver = flow(40, true);
        driver.packet(false);
        assert_eq!(driver.packets(), 41);
        driver.packet(true);
        assert_eq!(driver.pace.window, 20_000, "41 packets are cut to 20.5");
        // The rest of the marked window: no cut and no growth.
        (0..40).for_each(|_| driver.packet(true));
        assert_eq!(driver.packets(), 20);
        // The first packet after it is marked as well: it belongs to another window.
        driver.packet(true);
        assert_eq!(driver.packets(), 10);
        (0..10).for_each(|_| driver.packet(false));
        assert!(driver.packets() <= 11, "congestion avoidance");
    }

    /// If packets are reordered, the first acknowledgement may acknowledge none in order.
    #[test]
    fn a_mark_counts_before_the_first_byte_is_acknowledged() {
        let Driver { mut control, mut pace, .. } = flow(40, true);
        let ack = Ack { marked: true, seq: 0, snd_nxt: 40_000, ..Ack::default() };
        control.on_ack(&PATH, &ack, &mut pace);
        assert_eq!(pace.window, 20_000);
        control.on_ack(&PATH, &ack, &mut pace);
        assert_eq!(pace.window, 20_000, "once a window");
    }

    #[test]
    fn no_mark_cuts_below_two_packets() {
        let mut driver = flow(40, true);
        (0..100).for_each(|_| driver.marked_round());
        assert_eq!(driver.pace.window, 2 * PATH.payload);
    }

    #[test]
    fn without_ecn_a_mark_means_nothing() {
        let mut driver = flow(40, false);
        driver.packet(true);
        assert_eq!(driver.packets(), 41);
    }

    /// ns-2's arithmetic: cwnd += 1/cwnd without rounding, and half of the window with its
    /// fraction.
    #[test]
    fn the_window_grows_and_halves_as_in_ns2() {
        let config = TcpConfig {
            initial_ssthresh: xoff_core::Bytes(1),
            increase: Increase::PerAckExact,
            halved: Halved::Window,
            ..TcpConfig::default()
        };
        let (control, pace) = NewReno::start(&config, &PATH);
        let mut driver = Driver::new(control, pace);
        let mut expected = 10.0;
        for _ in 0..100 {
            driver.packet(false);
            expected += 1.0 / expected;
        }
        let bytes = driver.control.window.bytes;
        assert!((bytes as f64 - 1000.0 * expected).abs() < 2.0, "{bytes} B, not {expected}");
        let loss = Loss { now: 0, flight: 3000, again: false };
        driver.control.on_loss(&PATH, &loss, &mut driver.pace);
        let half = bytes / 2;
        let window = driver.control.window;
        assert_eq!((window.bytes, window.threshold), (half, half - half % 1000));
        driver.control.shrink(&PATH, Shrink::By(2500));
        assert_eq!(driver.control.window.bytes, half - 2500);
        // A timeout of the same packet halves again, down to two packets.
        for threshold in [half - 2500, 1000] {
            let again = Loss { again: true, ..loss };
            driver.control.on_timeout(&PATH, &again, &mut driver.pace);
            let window = driver.control.window;
            assert_eq!(window.bytes, 1000);
            assert_eq!(window.threshold, (threshold / 2 / 1000 * 1000).max(2000));
        }
    }

    /// "cwnd += SMSS*SMSS/cwnd", and a byte at least (RFC 5681 §3.1, eq. 3).
    #[test]
    fn each_acknowledgement_adds_a_byte_at_least() {
        let config = TcpConfig {
            initial_ssthresh: xoff_core::Bytes(1),
            increase: Increase::PerAck,
            ..TcpConfig::default()
        };
        let (control, pace) = NewReno::start(&config, &PATH);
        let mut driver = Driver::new(control, pace);
        for (before, after) in [(10_000, 10_100), (2_000_000, 2_000_001)] {
            driver.control.window.bytes = before;
            let ack = Ack { acked: 1000, in_flight: before, ..Ack::default() };
            driver.control.on_ack(&PATH, &ack, &mut driver.pace);
            assert_eq!(driver.control.window.bytes, after);
        }
    }
}
