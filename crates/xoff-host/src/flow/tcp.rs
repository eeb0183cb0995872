//! The sender's interface to the recoveries of TCP.

use super::Sender;
use crate::recovery::SenderHalf;
use crate::recovery::progress::{Answer, Progress, Sent};
use crate::recovery::rto::Rto;
use crate::recovery::sack::{self, PrrProgress};

impl Sender {
    /// Progress of the flow, in bytes.
    pub(super) fn sent(&self, payload: u64) -> Sent {
        let (una, next, high) = (self.snd_una, self.snd_nxt, self.high);
        Sent { una, next, high, payload, end: self.start.bytes, window: self.pace.window }
    }

    /// The sender's half of the recovery, with selective acknowledgements.
    pub fn sack(&mut self) -> Option<&mut sack::Sender> {
        match &mut self.recovery {
            SenderHalf::Sack(half) => Some(half),
            _ => None,
        }
    }

    /// The retransmission timeout of the flow itself, if it has one.
    pub fn rto(&mut self) -> Option<&mut Rto> {
        match &mut self.recovery {
            SenderHalf::Sack(half) => Some(&mut half.rto),
            SenderHalf::NewReno(half) => Some(&mut half.rto),
            SenderHalf::Sack1(half) => Some(&mut half.rto),
            _ => None,
        }
    }

    /// True if the recovery counts duplicate acknowledgements.
    #[inline]
    #[must_use]
    pub fn counts_duplicates(&self) -> bool {
        matches!(self.recovery, SenderHalf::NewReno(_) | SenderHalf::Sack1(_))
    }

    /// True until the answer to the flow's SYN.
    #[must_use]
    pub fn is_opening(&self) -> bool {
        match &self.recovery {
            SenderHalf::Sack(half) => half.rto.opening,
            SenderHalf::NewReno(half) => half.rto.opening,
            SenderHalf::Sack1(half) => half.rto.opening,
            _ => false,
        }
    }

    /// The flow's SYN is to be sent, for the first time or again. It counts as a lost byte, which
    /// goes before all data.
    pub fn request_opening(&mut self) {
        self.lost_bytes = 1;
        self.credit = 1;
    }

    /// The flow's SYN is answered.
    pub fn on_opened(&mut self) {
        if let Some(rto) = self.rto() {
            rto.opening = false;
        }
        self.lost_bytes = 0;
        self.credit = i64::MAX;
    }

    /// Detects losses after an acknowledgement, with selective acknowledgements. `marked`: it
    /// acknowledges new data with a mark.
    pub fn detect(&mut self, payload: u64, marked: bool) -> Progress {
        let sent = self.sent(payload);
        let progress = self.sack().map(|half| half.detect(&sent, marked));
        self.count(payload);
        progress.unwrap_or_default()
    }

    /// With proportional rate reduction: sets the window in use, after an acknowledgement of
    /// `acked` new bytes and after the congestion control has set its own `window`.
    pub fn reduce(&mut self, payload: u64, acked: u64, window: u64) {
        if window == 0 {
            // An allocator's agent holds the flow.
            return;
        }
        let at = PrrProgress {
            una: self.snd_una,
            acked,
            arrived: self.snd_una + self.kept_bytes,
            flight: self.snd_nxt - self.snd_una,
            pipe: self.in_flight(),
            payload,
        };
        if let Some(used) = self.sack().and_then(|half| half.reduce(&at, window)) {
            self.pace.window = used;
        }
    }

    /// Handles an acknowledgement in a recovery that counts duplicates. The congestion control must
    /// see its own window.
    pub fn on_answer(&mut self, payload: u64, answer: &Answer) -> Progress {
        self.pace.window = self.pace.window.saturating_add_signed(-self.beyond);
        self.beyond = 0;
        let sent = self.sent(payload);
        let progress = match &mut self.recovery {
            SenderHalf::NewReno(half) => half.on_answer(&sent, answer),
            SenderHalf::Sack1(half) => half.on_answer(&sent, answer),
            _ => Progress::default(),
        };
        self.count(payload);
        progress
    }

    /// A packet leaves, in a recovery that counts duplicates.
    pub fn on_sent(&mut self, end: u64, now: u64, again: bool) {
        match &mut self.recovery {
            SenderHalf::NewReno(half) => half.on_sent(end, now, again),
            SenderHalf::Sack1(half) => half.on_sent(end, now, again),
            _ => {}
        }
    }

    /// After the congestion control has run. With selective acknowledgements and during a recovery:
    /// finds packets that may be retransmitted though they are not known to be lost. With a count
    /// of duplicates: widens the window by it.
    pub fn look_further(&mut self, payload: u64) {
        let in_flight = self.in_flight();
        let beyond = match &self.recovery {
            SenderHalf::NewReno(half) => half.beyond(payload),
            SenderHalf::Sack1(half) => half.beyond(payload, in_flight),
            _ => return self.look_for_packets(payload),
        };
        let window = self.pace.window;
        self.pace.window = window.saturating_add_signed(beyond);
        self.beyond = self.pace.window.wrapping_sub(window) as i64;
    }

    fn look_for_packets(&mut self, payload: u64) {
        if self.has_data() || self.in_flight() + payload > self.pace.window {
            return;
        }
        let sent = self.sent(payload);
        if let Some(half) = self.sack() {
            half.look_further(&sent);
            self.count(payload);
        }
    }

    /// Everything before `seq` has arrived, in a recovery that counts duplicates.
    #[cold]
    pub(super) fn on_progress(&mut self, seq: u64, payload: u64) {
        let packet = seq.div_ceil(payload);
        match &mut self.recovery {
            SenderHalf::NewReno(half) => half.on_progress(packet),
            SenderHalf::Sack1(half) => half.on_progress(packet),
            _ => {}
        }
        self.count(payload);
    }

    /// Retransmission timeout, in a recovery that counts duplicates: goes back to the first
    /// unacknowledged byte.
    pub(super) fn restart(&mut self, sent: &Sent) {
        self.pace.window = self.pace.window.saturating_add_signed(-self.beyond);
        self.beyond = 0;
        match &mut self.recovery {
            SenderHalf::NewReno(half) => half.on_timeout(sent),
            SenderHalf::Sack1(half) => half.on_timeout(sent),
            _ => {}
        }
        self.go_back();
        self.count(sent.payload);
    }
}
