//! Common parts of TCP's congestion controls: congestion window, slow start and its threshold (RFC
//! 5681).
//!
//! Not modelled: restart after idle, HyStart (RFC 9406). Hosts have no randomness, so if flows are
//! synchronised, tail drop may always hit the same flow: the phase effects of Floyd and Jacobson
//! (1991). A little background traffic removes them, as in a real network.

use super::{Ack, Path};
use crate::cc::Pace;
use crate::tcp::TcpConfig;

/// A flow's congestion window and slow-start threshold, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CongestionWindow {
    pub(super) bytes: u64,
    pub(super) threshold: u64,
    /// True if the window grows only while it is used.
    pub(super) validated: bool,
}

impl CongestionWindow {
    /// The window of a new flow.
    pub(super) fn start(config: &TcpConfig, path: &Path) -> Self {
        let threshold = match config.initial_ssthresh.0 {
            0 => u64::MAX,
            bytes => bytes,
        };
        let bytes = u64::from(config.initial_window_packets) * path.payload;
        Self { bytes, threshold, validated: config.window_validation }
    }

    /// Sets the window to a known good size, in whole packets, and skips slow start.
    pub(super) fn open(&mut self, path: &Path, bytes: u64) {
        self.bytes = bytes.max(1).next_multiple_of(path.payload);
        self.threshold = self.bytes;
    }

    /// True if an acknowledgement may grow the window: it acknowledges new data outside of a
    /// recovery, and, with `tcp.window_validation`, at least half of the window was in use (RFC
    /// 7661; Linux's rule for slow start).
    pub(super) fn may_grow(&self, ack: &Ack<'_>) -> bool {
        let used = self.bytes < 2 * (ack.in_flight + ack.acked) || !self.validated;
        ack.acked > 0 && !ack.recovering && used
    }

    /// Grows the window if in slow start; returns true if so.
    pub(super) fn slow_start(&mut self, path: &Path, ack: &Ack<'_>) -> bool {
        let slow = self.bytes < self.threshold;
        if slow {
            // "cwnd += min (N, SMSS)" (RFC 5681 §3.1, eq. 2).
            self.bytes += ack.acked.min(path.payload);
        }
        slow
    }

    /// Reduces the window after a loss or a mark, "but not less than 2*SMSS" (RFC 5681 §3.1, eq.
    /// 4).
    pub(super) fn reduce_to(&mut self, path: &Path, bytes: u64) {
        self.threshold = bytes.max(2 * path.payload);
        self.bytes = self.threshold;
    }

    /// Sets the threshold to half of the window in whole packets, but not below two. Returns that
    /// half with its fraction.
    pub(super) fn halve_threshold(&mut self, path: &Path) -> u64 {
        let half = self.bytes / 2;
        self.threshold = (half - half % path.payload).max(2 * path.payload);
        half
    }

    /// Timeout: "cwnd MUST be set to no more than the loss window, LW, which equals 1 full-sized
    /// segment" (RFC 5681 §3.1). The threshold becomes `bytes`, unless the same packet has timed
    /// out before: then it "is held constant".
    pub(super) fn collapse(&mut self, path: &Path, bytes: u64, again: bool) {
        if !again {
            self.threshold = bytes.max(2 * path.payload);
        }
        self.bytes = path.payload;
    }

    /// The flow's pace: a window of whole packets at line rate. Bounded by the transport's window,
    /// as by a receiver's window.
    pub(super) fn pace(&self, path: &Path) -> Pace {
        let whole = self.bytes - self.bytes % path.payload;
        Pace { rate: path.line_rate, window: whole.min(path.window).max(1) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{CongestionControl, Loss, NewReno};
    use super::*;

    /// A path without a receiver's window limit.
    pub(crate) const PATH: Path =
        Path { window: u64::MAX, window_follows_rate: false, ..super::super::PATH };

    /// A loss with this many packets in flight.
    pub(crate) fn loss_of(packets: u64) -> Loss {
        Loss { now: 0, flight: packets * PATH.payload, again: false }
    }

    /// A flow that always uses its whole window and loses no packets.
    pub(crate) struct Driver<C> {
        pub(crate) control: C,
        pub(crate) pace: Pace,
        pub(crate) now: u64,
        acknowledged: u64,
        next: u64,
    }

    impl<C: CongestionControl> Driver<C> {
        pub(crate) fn new(control: C, pace: Pace) -> Self {
            Self { control, pace, now: 0, acknowledged: 0, next: pace.window }
        }

        /// The window in packets.
        pub(crate) fn packets(&self) -> u64 {
            self.pace.window / PATH.payload
        }

        fn acknowledge(&mut self, rtt: u64, marked: bool) {
            let in_flight = self.next - self.acknowledged;
            self.acknowledged += PATH.payload;
            let ack = Ack {
                now: self.now,
                seq: self.acknowledged,
                acked: PATH.payload,
                snd_nxt: self.next,
                rtt,
                in_flight: in_flight - PATH.payload,
                marked,
                ..Ack::default()
            };
            self.control.on_ack(&PATH, &ack, &mut self.pace);
            self.next = self.next.max(self.acknowledged + self.pace.window);
        }

        /// Acknowledges the next packet.
        pub(crate) fn packet(&mut self, marked: bool) {
            self.acknowledge(8_000_000, marked);
        }

        /// Acknowledges a whole window, one round trip later, spread evenly over the next round
        /// trip.
        pub(crate) fn round(&mut self, rtt: u64) {
            let (packets, begin) = (self.packets(), self.now + rtt);
            for packet in 0..packets {
                self.now = begin + rtt * packet / packets;
                self.acknowledge(rtt, false);
            }
            self.now = begin;
        }

        /// Acknowledges all packets in flight, each marked.
        pub(crate) fn marked_round(&mut self) {
            let end = self.next;
            while self.acknowledged < end {
                self.packet(true);
            }
        }
    }

    fn newreno(config: TcpConfig) -> Driver<NewReno> {
        let (control, pace) = NewReno::start(&config, &PATH);
        Driver::new(control, pace)
    }

    #[test]
    fn slow_start_doubles_up_to_the_threshold_and_then_adds_one() {
        let threshold = xoff_core::Bytes(20 * PATH.payload);
        let mut driver = newreno(TcpConfig {
            initial_window_packets: 5,
            initial_ssthresh: threshold,
            ..TcpConfig::default()
        });
        let mut windows = Vec::new();
        for _ in 0..6 {
            windows.push(driver.packets());
            driver.round(8_000_000);
        }
        assert_eq!(windows, [5, 10, 20, 21, 22, 23]);
    }

    #[test]
    fn a_loss_halves_and_a_timeout_goes_back_to_one() {
        let mut driver = newreno(TcpConfig::default());
        driver.control.on_loss(&PATH, &loss_of(10), &mut driver.pace);
        assert_eq!((driver.packets(), driver.control.window.threshold), (5, 5000));
        driver.control.on_timeout(&PATH, &loss_of(5), &mut driver.pace);
        assert_eq!((driver.packets(), driver.control.window.threshold), (1, 2500));
        // "The value of ssthresh is held constant" (RFC 5681 §3.1).
        let again = Loss { again: true, ..loss_of(1) };
        driver.control.on_timeout(&PATH, &again, &mut driver.pace);
        assert_eq!((driver.packets(), driver.control.window.threshold), (1, 2500));
        driver.control.on_loss(&PATH, &loss_of(3), &mut driver.pace);
        assert_eq!(driver.control.window.threshold, 2 * PATH.payload);
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut driver = newreno(TcpConfig::default());
        let window = driver.pace.window;
        let idle = Ack { acked: 1000, in_flight: 4000, ..Ack::default() };
        driver.control.on_ack(&PATH, &idle, &mut driver.pace);
        assert_eq!(driver.pace.window, window);
        let used = Ack { acked: 1000, in_flight: 4001, ..Ack::default() };
        driver.control.on_ack(&PATH, &used, &mut driver.pace);
        assert_eq!(driver.pace.window, window + PATH.payload);
        for ack in [Ack { acked: 0, ..used }, Ack { recovering: true, acked: 1000, ..used }] {
            driver.control.on_ack(&PATH, &Ack { in_flight: 20_000, ..ack }, &mut driver.pace);
            assert_eq!(driver.pace.window, window + PATH.payload);
        }
    }
}
