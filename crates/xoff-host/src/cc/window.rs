//! What TCP's congestion controls have in common: a congestion window, slow start and its threshold
//! (RFC 5681).
//!
//! Not modelled: restart after idle, HyStart (RFC 9406).

use super::{Ack, Path};
use crate::flow::Pace;
use crate::transport::TcpConfig;

/// A flow's congestion window and slow-start threshold, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CongestionWindow {
    pub(super) bytes: u64,
    pub(super) threshold: u64,
}

impl CongestionWindow {
    /// A new flow's.
    pub(super) fn start(config: &TcpConfig, path: &Path) -> Self {
        let threshold = match config.initial_ssthresh.0 {
            0 => u64::MAX,
            bytes => bytes,
        };
        Self { bytes: u64::from(config.initial_window_packets) * path.payload, threshold }
    }

    /// Whether an acknowledgement may make it grow: it has acknowledged something, outside of a
    /// recovery, and at least half of the window was in use. Without the last, the window of a flow
    /// that its own NIC holds back would grow without end (RFC 7661; Linux' rule for slow start).
    pub(super) fn may_grow(&self, ack: &Ack<'_>) -> bool {
        ack.acked > 0 && !ack.recovering && self.bytes < 2 * (ack.in_flight + ack.acked)
    }

    /// In slow start: grows. Returns whether it was in slow start.
    pub(super) fn slow_start(&mut self, path: &Path, ack: &Ack<'_>) -> bool {
        let slow = self.bytes < self.threshold;
        if slow {
            // "cwnd += min (N, SMSS)" (RFC 5681 §3.1, eq. 2).
            self.bytes += ack.acked.min(path.payload);
        }
        slow
    }

    /// A loss or a mark: goes on from so many bytes, "but not less than 2*SMSS" (RFC 5681 §3.1, eq. 4).
    pub(super) fn reduce_to(&mut self, path: &Path, bytes: u64) {
        self.threshold = bytes.max(2 * path.payload);
        self.bytes = self.threshold;
    }

    /// A timeout: "cwnd MUST be set to no more than the loss window, LW, which equals 1 full-sized
    /// segment" (RFC 5681 §3.1). The threshold is `bytes`, unless the same packet has timed out before:
    /// then it "is held constant".
    pub(super) fn collapse(&mut self, path: &Path, bytes: u64, again: bool) {
        if !again {
            self.threshold = bytes.max(2 * path.payload);
        }
        self.bytes = path.payload;
    }

    /// What the flow may do: so many whole packets in flight, at line rate. The transport's window
    /// bounds it, as that of a receiver does.
    pub(super) fn pace(&self, path: &Path) -> Pace {
        let whole = self.bytes - self.bytes % path.payload;
        Pace { rate: path.line_rate, window: whole.min(path.window).max(1) }
    }
}
