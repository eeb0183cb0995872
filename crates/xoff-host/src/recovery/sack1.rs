//! The first recovery with selective acknowledgements (Fall and Floyd, "Simulation-based
//! comparisons of Tahoe, Reno, and SACK TCP", CCR 26(3), 1996), as in ns-2's Sack1.
//!
//! A recovery begins as NewReno's does, after `duplicate_acks` duplicates. From then on the sender
//! counts the packets in the path, "pipe": each packet sent adds one, each duplicate takes one, and
//! a partial acknowledgement takes two. It sends while pipe is less than the congestion window,
//! missing packets first: those before any packet that has arrived. Lost packets are never taken
//! from pipe, in contrast to RFC 6675. A flow that lost a large part of its window thus sends
//! nothing more until the timeout, which also clears the scoreboard: the sender goes back to the
//! first unacknowledged byte, and ignores blocks until new data is acknowledged.
//!
//! The receiver is that of `sack.rs`: each acknowledgement has one block.
//!
//! Not modelled: delayed acknowledgements, blocks beyond the first.

use xoff_core::knobs::Checked;
use xoff_core::seam::{SectionDoc, Sections, Settings};

use super::newreno::check_duplicates;
use super::progress::{Answer, Progress, Sent};
use super::rto::Rto;
use super::sack::Block;
use super::scoreboard::Scoreboard;
use super::{RecoverySettings, Timeouts};
use crate::cc::Path;
use crate::tcp::TcpConfig;

/// Sack1's settings: those of section `tcp`.
#[derive(Clone, Debug, Default)]
pub struct Sack1Config(pub TcpConfig);

impl Settings for Sack1Config {
    fn read(sections: &mut impl Sections) -> Self {
        Self(Settings::read(sections))
    }

    fn sections() -> Vec<SectionDoc> {
        <TcpConfig as Settings>::sections()
    }
}

impl RecoverySettings for Sack1Config {
    fn check(&self) -> Checked {
        check_duplicates(&self.0, "sack1")
    }

    fn tcp(&self) -> TcpConfig {
        self.0.clone()
    }

    fn timeouts(&self) -> Timeouts {
        Timeouts::None("transport.recovery = \"sack1\" has the timeouts of section tcp")
    }

    fn reports_losses(&self) -> bool {
        true
    }

    fn counts_duplicates(&self) -> bool {
        true
    }

    fn reports_blocks(&self) -> bool {
        true
    }

    fn can_be_captured(&self) -> bool {
        false
    }

    fn reach(&self, path: &Path) -> u64 {
        super::sack::REACH_PACKETS * path.payload
    }
}

/// The sender's half.
#[derive(Debug)]
pub struct Sender {
    board: Scoreboard,
    /// Duplicates that reported an arrival, since the window last moved.
    duplicates: u64,
    threshold: u64,
    limited_transmit: bool,
    recovering: bool,
    /// The end of what was sent when the recovery began, or the timeout occurred. No recovery
    /// begins before more is acknowledged; `None` after a recovery.
    recover: Option<u64>,
    /// True from a timeout until new data is acknowledged.
    timed_out: bool,
    /// Packets in the path, during a recovery.
    pipe: i64,
    /// The first packet of a recovery, until it is sent: it needs no room, and is not counted.
    first: Option<u64>,
    /// True if the packet being sent is not counted.
    uncounted: bool,
    /// The retransmission timeout.
    pub rto: Rto,
}

impl Sender {
    /// A new flow's half.
    #[must_use]
    pub fn new(config: &TcpConfig) -> Self {
        Self {
            board: Scoreboard::default(),
            duplicates: 0,
            threshold: u64::from(config.duplicate_acks),
            limited_transmit: config.limited_transmit,
            recovering: false,
            recover: None,
            timed_out: false,
            pipe: 0,
            first: None,
            uncounted: false,
            rto: Rto::of_flow(config),
        }
    }

    /// All packets before this one have arrived.
    pub fn on_progress(&mut self, packet: u64) {
        self.board.on_progress(packet);
        self.first = self.first.filter(|&first| first >= packet);
    }

    /// The receiver has a block of packets; `missing` is its first missing packet. Returns true if
    /// a packet is newly known to have arrived.
    pub fn on_block(&mut self, missing: u64, block: Block) -> bool {
        let first = missing + u64::from(block.after);
        !self.timed_out && self.board.insert(first..first + u64::from(block.packets))
    }

    /// Handles an acknowledgement.
    pub fn on_answer(&mut self, sent: &Sent, answer: &Answer) -> Progress {
        self.rto.on_answer(sent.una, answer);
        if self.recovering {
            self.in_recovery(sent, answer)
        } else if answer.acked > 0 {
            if self.recover.is_some_and(|recover| sent.una < recover) {
                // Blocks of packets that the timeout made the sender forget count as news again.
                self.board.clear();
            }
            (self.duplicates, self.timed_out) = (0, false);
            Progress { restarts: true, ..Progress::default() }
        } else if answer.repeats && answer.news {
            self.on_duplicate(sent)
        } else {
            Progress::default()
        }
    }

    fn on_duplicate(&mut self, sent: &Sent) -> Progress {
        self.duplicates += 1;
        let covered = self.recover.is_none_or(|recover| sent.una > recover);
        let begins = self.duplicates == self.threshold && covered;
        if begins {
            self.recovering = true;
            self.recover = Some(sent.high);
            let missing = sent.una / sent.payload;
            let packets = (sent.high - sent.una).div_ceil(sent.payload);
            self.pipe = packets as i64 - self.threshold as i64;
            self.first = Some(missing);
            self.board.repeat_from(missing + 1);
            self.board.lose_holes();
            self.rto.forget();
        }
        Progress { begins, recovering: begins, restarts: begins, shrink: None }
    }

    fn in_recovery(&mut self, sent: &Sent, answer: &Answer) -> Progress {
        self.pipe -= 1;
        let restarts = answer.acked > 0;
        if self.recover.is_none_or(|recover| sent.una >= recover) {
            (self.recovering, self.recover, self.duplicates) = (false, None, 0);
            self.board.repeat_from(0);
        } else {
            if restarts {
                // The retransmitted packet has left the path, and so has the lost one.
                self.pipe -= 1;
                self.rto.end_backoff();
            }
            self.board.lose_holes();
        }
        Progress { recovering: true, restarts, ..Progress::default() }
    }

    /// Bytes that the flow may have in flight beyond its congestion window, if `in_flight` are.
    #[must_use]
    pub fn beyond(&self, payload: u64, in_flight: u64) -> i64 {
        if self.recovering {
            // The first packet counts as sent.
            let first = if self.first.is_some() { payload as i64 } else { 0 };
            return in_flight as i64 + first - self.pipe * payload as i64;
        }
        let limited = self.limited_transmit && self.duplicates < self.threshold;
        if limited { (self.duplicates * payload) as i64 } else { 0 }
    }

    /// A packet leaves: its end, and whether it was sent before.
    pub fn on_sent(&mut self, end: u64, now: u64, again: bool) {
        if self.recovering && !std::mem::take(&mut self.uncounted) {
            self.pipe += 1;
        }
        self.rto.on_sent(end, now, again);
    }

    /// Retransmission timeout.
    pub fn on_timeout(&mut self, sent: &Sent) {
        (self.recovering, self.timed_out, self.duplicates) = (false, true, 0);
        self.recover = Some(sent.high);
        (self.first, self.uncounted) = (None, false);
        self.board.clear();
        self.rto.back_off();
    }

    /// Takes the next packet to retransmit.
    pub fn take(&mut self) -> Option<u64> {
        let first = self.first.take();
        self.uncounted = first.is_some();
        first.or_else(|| self.board.take())
    }

    /// True if a packet may be retransmitted, given whether the window has room.
    #[must_use]
    pub fn may_repeat(&self, has_room: bool) -> bool {
        has_room || self.first.is_some()
    }

    /// Bytes to retransmit.
    #[must_use]
    pub fn lost_bytes(&self, payload: u64, flow_bytes: u64) -> u64 {
        let first = |packet| payload.min(flow_bytes - packet * payload);
        let (_, lost) = self.board.bytes(payload, flow_bytes);
        lost + self.first.map_or(0, first)
    }
}

#[cfg(test)]
mod tests;
