//! The congestion window of htsim's TCP (Broadcom/csg-htsim, `sim/tcp.cpp`), in whole bytes:
//! `inflate_window`, `deflate_window`, and what a timeout leaves (`doNextEvent`).
//!
//! That host puts as many packets into its NIC as the window allows, and a later cut does not take
//! them back. Here the NIC takes a packet when it sends it, so the window never falls below what
//! it has already allowed.

use super::window::CongestionWindow;
use super::{Ack, Loss, Path};
use crate::cc::Pace;
use crate::tcp::{Shrink, TcpConfig};

/// A flow's congestion window and slow-start threshold, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct HtsimWindow {
    pub(super) cwnd: u64,
    pub(super) ssthresh: u64,
    /// The byte up to which the window has allowed to send.
    allowed: u64,
    /// True until the first acknowledgement, that of the SYN if there is one.
    opening: bool,
    /// True from a loss until the end of its recovery.
    recovering: bool,
}

impl HtsimWindow {
    /// A new flow's window and pace.
    pub(super) fn start(tcp: &TcpConfig, path: &Path) -> (Self, Pace) {
        let first = CongestionWindow::start(tcp, path);
        let (cwnd, ssthresh) = (first.bytes, first.threshold);
        let mut window = Self { cwnd, ssthresh, allowed: 0, opening: true, recovering: false };
        let pace = if tcp.handshake {
            Pace { rate: path.line_rate, window: path.payload }
        } else {
            window.allow(path, 0)
        };
        (window, pace)
    }

    /// An acknowledgement arrives. That of a SYN acknowledges no data, but grows the window.
    pub(super) fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        let grows = ack.acked > 0 || self.opening;
        self.opening = false;
        if ack.recovering {
            // Packets that duplicates let out count as sent.
            self.allowed = ack.snd_nxt;
            pace.window = self.whole(path).min(path.window);
            return;
        }
        self.recovering = false;
        if grows {
            self.grow(path, ack.seq);
        }
        *pace = self.allow(path, ack.seq);
    }

    /// Grows the window by what it leaves unused, up to a packet.
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
        self.allowed = self.allowed.max(seq + self.whole(path));
        Pace { rate: path.line_rate, window: (self.allowed - seq).min(path.window) }
    }

    /// The window in whole packets.
    fn whole(&self, path: &Path) -> u64 {
        self.cwnd / path.payload * path.payload
    }

    /// A loss: half of the window is the new threshold, and the window of the recovery.
    pub(super) fn halve(&mut self, path: &Path, pace: &mut Pace) {
        self.ssthresh = (self.cwnd / 2).max(2 * path.payload);
        self.restart(path, self.ssthresh, pace);
        self.recovering = true;
    }

    /// A timeout leaves one packet. It ends a recovery, whose window is halved first: "_cwnd =
    /// min(_ssthresh, flightsize + _mss)". Another timeout of the same packet halves again.
    pub(super) fn collapse(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        if std::mem::take(&mut self.recovering) {
            self.cwnd = self.ssthresh.min(loss.flight + path.payload);
        }
        self.ssthresh = (self.cwnd / 2).max(2 * path.payload);
        self.restart(path, path.payload, pace);
    }

    /// A recovery ends with this window, which has room for a packet: with none in flight and no
    /// room, nothing would ever be sent or acknowledged again.
    pub(super) fn shrink(&mut self, path: &Path, shrink: Shrink) {
        self.cwnd = shrink.of(self.cwnd).max(path.payload);
        self.recovering = false;
    }

    /// A window of a known good size.
    pub(super) fn reopen(&mut self, path: &Path, bytes: u64, pace: &mut Pace) {
        let whole = bytes.max(1).next_multiple_of(path.payload);
        self.ssthresh = whole;
        self.restart(path, whole, pace);
    }

    /// Sets the window, which takes back what an earlier one has allowed.
    fn restart(&mut self, path: &Path, cwnd: u64, pace: &mut Pace) {
        self.cwnd = cwnd;
        self.allowed = 0;
        pace.window = self.whole(path).min(path.window);
    }
}

#[cfg(test)]
mod tests {
    use super::super::PATH;
    use super::*;

    /// The end of a recovery leaves room for a packet, however much was sent twice.
    #[test]
    fn a_recovery_leaves_a_packet_at_least() {
        let (mut window, mut pace) = HtsimWindow::start(&TcpConfig::default(), &PATH);
        window.cwnd = 8 * PATH.payload;
        window.halve(&PATH, &mut pace);
        window.shrink(&PATH, Shrink::By(window.cwnd));
        assert_eq!(window.allow(&PATH, 0).window, PATH.payload);
    }

    /// A loss leaves half of the window as the threshold, and two packets at least.
    #[test]
    fn a_loss_halves_the_window_down_to_two_packets() {
        for (packets, left) in [(10, 5), (3, 2), (1, 2)] {
            let (mut window, mut pace) = HtsimWindow::start(&TcpConfig::default(), &PATH);
            window.cwnd = packets * PATH.payload;
            window.halve(&PATH, &mut pace);
            assert_eq!(window.ssthresh, left * PATH.payload);
        }
    }

    /// "_cwnd = min(_ssthresh, flightsize + _mss)" before the threshold is half of it, but only
    /// while a recovery lasts.
    #[test]
    fn a_timeout_in_a_recovery_halves_what_is_in_flight() {
        for (recovers, flight, threshold) in [
            (true, 2_000, 2_000),
            (true, 6_000, 3_500),
            (true, 30_000, 5_000),
            (false, 2_000, 10_000),
        ] {
            let (mut window, mut pace) = HtsimWindow::start(&TcpConfig::default(), &PATH);
            window.cwnd = 20_000;
            if recovers {
                window.halve(&PATH, &mut pace);
                assert_eq!(window.cwnd, 10_000);
            }
            let loss = Loss { now: 0, flight, again: false };
            window.collapse(&PATH, &loss, &mut pace);
            assert_eq!((window.ssthresh, window.cwnd, pace.window), (threshold, 1_000, 1_000));
            // The timeout has ended the recovery.
            window.collapse(&PATH, &Loss { again: true, ..loss }, &mut pace);
            assert_eq!(window.ssthresh, 2_000);
        }
    }
}
