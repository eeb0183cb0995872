//! TCP's recovery with selective acknowledgements (RFC 2018, RFC 6675), in packets instead of
//! bytes.
//!
//! The receiver acknowledges every data packet. If a packet arrives out of order, the
//! acknowledgement has one SACK block: the one that contains the packet, which is RFC 2018's first
//! block. A lost acknowledgement therefore costs little, since the next one of the block carries
//! the same information and more.
//!
//! The sender declares a packet lost once `duplicate_acks` packets after it have arrived. It keeps
//! as much in flight as the congestion window allows and sends lost packets before new ones. A
//! packet lost twice waits for the timeout (`rto.rs`), after which all packets not known to have
//! arrived are lost.
//!
//! After `probe_after` consecutive timeouts, each further timeout sends only the header of the
//! flow's first packet, until one is acknowledged: "if a fixed number of consecutive timeouts [...]
//! occur, the flow enters into probe mode where it periodically retransmits minimum sized packets"
//! (pFabric §4.2).
//!
//! Not modelled: delayed acknowledgements, D-SACK, receivers that discard selectively acknowledged
//! packets, FIN. A SYN (`tcp.handshake`) acknowledges no data.

mod block;
mod prr;

use xoff_core::knobs::Checked;

use super::progress::{Progress, Sent};
use super::reassembly::Reassembly;
use super::rto::Rto;
use super::scoreboard::Scoreboard;
use super::{Arrival, RecoverySettings, Reply, RxProgress, Timeouts};
use crate::cc::Path;
use crate::tcp::{ReductionKind, TcpConfig};

pub use block::Block;
pub use prr::{Progress as PrrProgress, Prr};

/// Maximum distance of a sender from its first missing packet: the range of a block.
pub const REACH_PACKETS: u64 = u16::MAX as u64;

impl RecoverySettings for TcpConfig {
    fn check(&self) -> Checked {
        TcpConfig::check(self)
    }

    fn tcp(&self) -> TcpConfig {
        self.clone()
    }

    fn timeouts(&self) -> Timeouts {
        Timeouts::None("transport.recovery = \"sack\" has the timeouts of section tcp")
    }

    /// A threshold above TCP's own has been raised for packets that overtake each other.
    fn needs_order(&self) -> bool {
        (1..=Self::default().duplicate_acks).contains(&self.duplicate_acks)
    }

    fn reports_losses(&self) -> bool {
        true
    }

    fn probes(&self) -> bool {
        true
    }

    fn reports_blocks(&self) -> bool {
        true
    }

    fn can_be_captured(&self) -> bool {
        false
    }

    fn reach(&self, path: &Path) -> u64 {
        REACH_PACKETS * path.payload
    }
}

/// The receiver's half.
#[derive(Debug, Default)]
pub struct Receiver(Reassembly);

impl Receiver {
    pub(super) fn on_data(&mut self, payload: u64, arrival: &Arrival) -> Reply {
        let block = self.0.on_data(payload, arrival);
        // "The first SACK block MUST specify the contiguous block of data containing the segment
        // which triggered this ACK" (RFC 2018 §4).
        let block = block.map(|early| early.block_of(arrival.seq / payload));
        let expected = self.0.expected();
        match block {
            None => Reply::Ack(expected),
            Some(block) => {
                let after = block.start - expected / payload;
                let packets = block.end - block.start;
                debug_assert!(
                    after + packets <= REACH_PACKETS,
                    "the block is beyond the sender's reach"
                );
                Reply::Sack {
                    expected,
                    block: Block { after: after as u16, packets: packets as u16 },
                }
            }
        }
    }

    pub(super) fn repeated(&self) -> bool {
        self.0.repeated()
    }

    pub(super) fn blocks(&self) -> u64 {
        self.0.blocks()
    }

    pub(super) fn rx_progress(&self, payload: u64) -> RxProgress {
        self.0.rx_progress(payload)
    }
}

/// State of loss recovery; the byte whose acknowledgement ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// "RecoveryPoint" (RFC 6675 §5).
    Recovery(u64),
    /// After a timeout no recovery begins before all earlier packets have arrived (§5.1).
    AfterTimeout(u64),
}

/// The sender's half.
#[derive(Debug)]
pub struct Sender {
    board: Scoreboard,
    phase: Phase,
    /// Number of later packets whose arrival makes a packet lost; 0: losses show only by timeouts.
    duplicate_acks: u64,
    /// Retransmits the first packet of a recovery regardless of the window.
    urgent: bool,
    /// A packet to retransmit though it is not known to be lost.
    rescue: Option<u64>,
    /// "RescueRxt": no rescue before the packets up to this one are acknowledged.
    rescued: u64,
    /// Number of consecutive timeouts before probing; 0: never probes.
    probe_after: u32,
    /// True while only headers are sent.
    probing: bool,
    /// The retransmission timeout.
    pub rto: Rto,
    /// Proportional rate reduction, if windows fall that way.
    pub prr: Option<Prr>,
    /// With it: an acknowledgement of a part of the recovery has restarted the timer.
    restarted: bool,
    /// True if the packet that was missing first, and has arrived last, was retransmitted.
    repeat_arrived: bool,
}

impl Sender {
    /// A new flow's half.
    #[must_use]
    pub fn new(config: &TcpConfig) -> Self {
        Self {
            board: Scoreboard::default(),
            phase: Phase::Open,
            duplicate_acks: u64::from(config.duplicate_acks),
            urgent: false,
            rescue: None,
            rescued: 0,
            probe_after: u32::from(config.probe_after),
            probing: false,
            rto: Rto::of_flow(config),
            prr: (config.reduction == ReductionKind::Prr)
                .then(|| Prr::new(config.initial_window_packets)),
            restarted: false,
            repeat_arrived: false,
        }
    }

    /// All packets before this one have arrived; the first missing one was `first`.
    pub fn on_progress(&mut self, first: u64, packet: u64) {
        self.repeat_arrived = self.board.was_repeated(first);
        self.board.on_progress(packet);
        self.rescue = self.rescue.filter(|&rescue| rescue >= packet);
    }

    /// The receiver has a block of packets; `missing` is its first missing packet. Returns true if
    /// a packet is newly known to have arrived.
    pub fn on_block(&mut self, missing: u64, block: Block) -> bool {
        let first = missing + u64::from(block.after);
        let packets = first..first + u64::from(block.packets);
        self.rescue = self.rescue.filter(|rescue| !packets.contains(rescue));
        self.board.insert(packets)
    }

    /// Detects losses after an acknowledgement. `marked`: it acknowledges new data with a mark.
    pub fn detect(&mut self, sent: &Sent, marked: bool) -> Progress {
        let recovered = match self.phase {
            Phase::Open => false,
            Phase::Recovery(until) | Phase::AfterTimeout(until) => sent.una >= until,
        };
        // The acknowledgement that ends a recovery acknowledges packets that arrived during it.
        let recovering = matches!(self.phase, Phase::Recovery(_));
        if recovered {
            self.phase = Phase::Open;
            self.urgent = false;
            self.rescue = None;
            self.restarted = false;
        }
        // "IsLost (SeqNum): [...] The routine returns true when either DupThresh discontiguous
        // SACKed sequences have arrived above 'SeqNum' or more than (DupThresh - 1) * SMSS bytes"
        // (§4).
        if self.duplicate_acks > 0
            && let Some(packet) = self.board.arrived().nth_last(self.duplicate_acks - 1)
        {
            self.board.lose_before(packet);
        }
        let missing = sent.una / sent.payload;
        // While PRR reduces the window after a mark, a loss reduces it no further; nor if both show
        // at once.
        let reduces = self.prr.as_mut().is_some_and(|prr| prr.is_reducing(sent.una) || marked);
        let begins = self.phase == Phase::Open && self.board.is_lost(missing) && !reduces;
        if begins {
            // "RecoveryPoint = HighData" (§5, 4.1); "to prevent repeated retransmission of the same
            // data or a premature rescue retransmission, set both HighRxt and RescueRxt to the
            // highest sequence number in the retransmitted segment" (4.3).
            self.phase = Phase::Recovery(sent.next);
            self.urgent = true;
            self.rescued = missing;
        }
        // With PRR the window may grow again at the acknowledgement that ends a recovery.
        let recovering = recovering && !(recovered && self.prr.is_some());
        Progress { begins, recovering: recovering || begins, ..Progress::default() }
    }

    /// Whether an acknowledgement of new data restarts the timer.
    pub fn restarts_timer(&mut self) -> bool {
        let partial = self.prr.is_some() && matches!(self.phase, Phase::Recovery(_));
        !(partial && std::mem::replace(&mut self.restarted, true))
    }

    /// During a reduction by PRR: the window in use after an acknowledgement, once the congestion
    /// control has set its own `window`.
    pub fn reduce(&mut self, at: &PrrProgress, window: u64) -> Option<u64> {
        let prr = self.prr.as_mut()?;
        if prr.is_cut_again(window) {
            self.phase = Phase::Open;
        }
        let recovering = matches!(self.phase, Phase::Recovery(_));
        let partial = recovering && at.acked > 0;
        let used = prr.on_ack(at, window, recovering, partial && self.repeat_arrived)?;
        // An acknowledgement of a part retransmits a packet, or sends another, unless the first
        // missing one has been retransmitted.
        let again = partial && !self.board.was_repeated(at.una / at.payload);
        Some(if again { used.max(at.pipe + at.payload) } else { used })
    }

    /// Called when the window has room and there is neither lost nor new data to send. During a
    /// recovery NextSeg's rules 3 and 4 (§4) find a packet to retransmit.
    pub fn look_further(&mut self, sent: &Sent) {
        let Phase::Recovery(until) = self.phase else { return };
        if self.prr.is_some() {
            self.repeat_outstanding(sent);
            return;
        }
        // Rule 3 for all packets at once: every missing packet before one that has arrived.
        if let Some(highest) = self.board.arrived().nth_last(0) {
            self.board.lose_before(highest);
        }
        if self.board.bytes(sent.payload, sent.end).1 > 0 {
            return;
        }
        // "If HighACK is greater than RescueRxt [...], then one segment of up to SMSS octets that
        // MUST include the highest outstanding unSACKed sequence number SHOULD be returned, and
        // RescueRxt set to RecoveryPoint."
        let last = (sent.next - 1) / sent.payload;
        let outstanding = !self.board.is_repeated(last) && !self.board.arrived().contains(last);
        if sent.una / sent.payload > self.rescued && outstanding {
            self.rescue = Some(last);
            self.rescued = until / sent.payload;
        }
    }

    /// Rule 3 as ns-3 has it: the first packet that has neither arrived nor been retransmitted,
    /// whether or not a later one has arrived. Nothing is ever rescued twice.
    fn repeat_outstanding(&mut self, sent: &Sent) {
        let first = self.rescued.max(self.board.repeated_before());
        let packet = self.board.arrived().first_missing(first);
        if self.rescue.is_none() && packet * sent.payload < sent.next {
            self.rescue = Some(packet);
            self.rescued = packet + 1;
        }
    }

    /// Retransmission timeout.
    pub fn on_timeout(&mut self, sent: &Sent) {
        // "If an RTO occurs during loss recovery [...], RecoveryPoint MUST be set to HighData"
        // (§5.1).
        self.phase = Phase::AfterTimeout(sent.next);
        self.restarted = false;
        if let Some(prr) = &mut self.prr {
            prr.on_timeout(sent.payload);
        }
        self.urgent = false;
        self.rescue = None;
        self.board.on_timeout(sent.una / sent.payload, sent.next.div_ceil(sent.payload));
        self.rto.back_off();
        self.probing = self.probe_after > 0 && self.rto.timeouts() >= self.probe_after;
        self.urgent = self.probing;
    }

    /// A packet is acknowledged after `rtt` (ps). Returns true if that ends probing.
    pub fn on_answer(&mut self, rtt: u64) -> bool {
        self.rto.on_sample(rtt);
        self.urgent &= !self.probing;
        std::mem::take(&mut self.probing)
    }

    /// True if the next packet is a probe, which then counts as sent.
    pub fn take_probe(&mut self) -> bool {
        self.urgent &= !self.probing;
        self.probing
    }

    /// True while only headers are sent.
    #[must_use]
    pub fn is_probing(&self) -> bool {
        self.probing
    }

    /// Takes the next packet to retransmit.
    pub fn take(&mut self) -> Option<u64> {
        self.urgent = false;
        self.board.take().or_else(|| self.rescue.take())
    }

    /// True if a packet may be retransmitted, given whether the window has room.
    #[must_use]
    pub fn may_repeat(&self, has_room: bool) -> bool {
        self.urgent || has_room && !self.probing
    }

    /// Bytes that have arrived, and bytes to retransmit.
    #[must_use]
    pub fn bytes(&self, payload: u64, flow_bytes: u64) -> (u64, u64) {
        let (arrived, lost) = self.board.bytes(payload, flow_bytes);
        let rescue = |packet| payload.min(flow_bytes - packet * payload);
        (arrived, lost + self.rescue.map_or(0, rescue))
    }
}

#[cfg(test)]
mod probe_tests;
#[cfg(test)]
mod tests;
