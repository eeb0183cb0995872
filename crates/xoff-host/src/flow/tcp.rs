//! The sender's interface to its recovery with selective acknowledgements.

use super::Sender;
use crate::recovery::SenderHalf;
use crate::recovery::sack::{self, PrrProgress, Sent};

impl Sender {
    /// Progress of the flow, in bytes.
    pub(super) fn sent(&self, payload: u64) -> Sent {
        Sent { una: self.snd_una, next: self.snd_nxt, payload, end: self.start.bytes }
    }

    /// The sender's half of the recovery, with selective acknowledgements.
    pub fn sack(&mut self) -> Option<&mut sack::Sender> {
        match &mut self.recovery {
            SenderHalf::Sack(half) => Some(half),
            _ => None,
        }
    }

    /// Detects losses after an acknowledgement, with selective acknowledgements.
    pub fn detect(&mut self, payload: u64) -> sack::Progress {
        let sent = self.sent(payload);
        let progress = self.sack().map(|half| half.detect(&sent));
        self.count(payload);
        progress.unwrap_or_default()
    }

    /// With proportional rate reduction: sets the window in use, after an acknowledgement of
    /// `acked` new bytes and after the congestion control has set its own `window`.
    pub fn reduce(&mut self, payload: u64, acked: u64, window: u64) {
        let at = PrrProgress {
            una: self.snd_una,
            arrived: self.snd_una + self.kept_bytes,
            flight: self.snd_nxt - self.snd_una,
            pipe: self.in_flight(),
            payload,
        };
        if let Some(used) = self.sack().and_then(|half| half.reduce(&at, acked, window)) {
            self.pace.window = used;
        }
    }

    /// During a recovery, after the congestion control has run: finds packets that may be
    /// retransmitted though they are not known to be lost.
    pub fn look_further(&mut self, payload: u64) {
        if self.has_data() || self.in_flight() + payload > self.pace.window {
            return;
        }
        let sent = self.sent(payload);
        if let Some(half) = self.sack() {
            half.look_further(&sent);
            self.count(payload);
        }
    }
}
