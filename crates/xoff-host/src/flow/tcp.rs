//! A sender with selective acknowledgements: what its recovery asks of it.

use super::Sender;
use crate::recovery::SenderHalf;
use crate::recovery::sack::{self, Sent};

impl Sender {
    /// How far it is.
    pub(super) fn sent(&self, payload: u64) -> Sent {
        Sent { una: self.snd_una, next: self.snd_nxt, payload, end: self.start.bytes }
    }

    /// With selective acknowledgements, its sender's half.
    pub fn sack(&mut self) -> Option<&mut sack::Sender> {
        match &mut self.recovery {
            SenderHalf::Sack(half) => Some(half),
            _ => None,
        }
    }

    /// With selective acknowledgements, once one has been taken in: finds what is lost.
    pub fn detect(&mut self, payload: u64) -> sack::Progress {
        let sent = self.sent(payload);
        let progress = self.sack().map(|half| half.detect(&sent));
        self.count(payload);
        progress.unwrap_or_default()
    }

    /// During a recovery, once congestion control has had its say: finds what may be sent again though
    /// nothing says that it is lost.
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
