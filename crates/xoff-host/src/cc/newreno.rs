//! NewReno (RFC 5681, RFC 6582): slow start, then a packet more each round trip, and half for a loss.
//! Which packets are lost, and when a recovery ends, is the recovery's business (RFC 6675).

use super::window::CongestionWindow;
use super::{Ack, CongestionControl, Loss, Path};
use crate::flow::Pace;
use crate::transport::TcpConfig;

/// The state of one flow.
#[derive(Clone, Copy, Debug)]
pub struct NewReno {
    pub(super) window: CongestionWindow,
    /// Bytes acknowledged in congestion avoidance since the window grew last.
    counted: u64,
}

impl NewReno {
    /// A new flow's state and pace.
    #[must_use]
    pub fn start(config: &TcpConfig, path: &Path) -> (Self, Pace) {
        let window = CongestionWindow::start(config, path);
        (Self::with(window), window.pace(path))
    }

    /// A new flow that begins with this window.
    pub(super) fn with(window: CongestionWindow) -> Self {
        Self { window, counted: 0 }
    }

    /// An acknowledgement lets the window grow.
    pub(super) fn grow(&mut self, path: &Path, ack: &Ack<'_>) {
        if !self.window.may_grow(ack) || self.window.slow_start(path, ack) {
            return;
        }
        // Once so many bytes are acknowledged as the window has, it may grow by one packet (RFC 5681
        // §3.1, RFC 3465 §2.1).
        self.counted += ack.acked;
        if self.counted >= self.window.bytes {
            self.counted -= self.window.bytes;
            self.window.bytes += path.payload;
        }
    }

    /// The window is cut to so many bytes.
    pub(super) fn reduce_to(&mut self, path: &Path, bytes: u64) {
        self.window.reduce_to(path, bytes);
        self.counted = 0;
    }
}

impl CongestionControl for NewReno {
    fn on_ack(&mut self, path: &Path, ack: &Ack<'_>, pace: &mut Pace) {
        self.grow(path, ack);
        *pace = self.window.pace(path);
    }

    fn on_loss(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        // "ssthresh = max (FlightSize / 2, 2*SMSS)" (RFC 5681 §3.1, eq. 4).
        self.reduce_to(path, loss.flight / 2);
        *pace = self.window.pace(path);
    }

    fn on_timeout(&mut self, path: &Path, loss: &Loss, pace: &mut Pace) {
        self.window.collapse(path, loss.flight / 2, loss.again);
        self.counted = 0;
        *pace = self.window.pace(path);
    }

    fn reopen(&mut self, path: &Path, bytes: u64, pace: &mut Pace) {
        self.window.open(path, bytes);
        self.counted = 0;
        *pace = self.window.pace(path);
    }
}
