//! TCP's recovery with selective acknowledgements (RFC 2018, RFC 6675), in packets instead of bytes.
//!
//! The receiver acknowledges every data packet. Where that came before its turn, the acknowledgement
//! has one SACK block: the one that holds the packet, which is the first of RFC 2018's. So an
//! acknowledgement that is lost costs little: the next one of the block says the same and more.
//!
//! The sender takes a packet for lost once so many after it have arrived (`duplicate_acks`), keeps as
//! much in flight as the congestion window allows, and sends what is lost before what is new. What is
//! lost a second time waits for the timeout (`rto.rs`), after which all is lost that is not known to
//! have arrived.
//!
//! Where a flow has timed out `probe_after` times in a row, each further timeout sends the header of its
//! first packet alone, until anything is answered: "if a fixed number of consecutive timeouts [...]
//! occur, the flow enters into probe mode where it periodically retransmits minimum sized packets" (pFabric
//! §4.2).
//!
//! Not modelled: delayed acknowledgements, D-SACK, receivers that discard what they have acknowledged
//! selectively, SYN and FIN.

use super::reassembly::Reassembly;
use super::rto::{Rto, RtoLimits};
use super::scoreboard::Scoreboard;
use super::{Arrival, Reply};
use crate::receiver::Got;
use crate::transport::TcpConfig;

/// How far a sender may be ahead of its first packet that is missing: what a block can tell.
pub const REACH_PACKETS: u64 = u16::MAX as u64;

/// Packets that have arrived, none of them missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// How many packets after the first missing one it begins.
    pub after: u16,
    /// How many packets it has.
    pub packets: u16,
}

impl Block {
    /// As one number.
    #[must_use]
    pub fn to_bits(self) -> u32 {
        u32::from(self.after) | u32::from(self.packets) << 16
    }

    /// From that number.
    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        Self { after: bits as u16, packets: (bits >> 16) as u16 }
    }
}

/// The receiver's half.
#[derive(Debug, Default)]
pub struct Receiver(Reassembly);

impl Receiver {
    pub(super) fn on_data(&mut self, payload: u64, arrival: &Arrival) -> Reply {
        let block = self.0.on_data(payload, arrival);
        // "The first SACK block MUST specify the contiguous block of data containing the segment which
        // triggered this ACK" (RFC 2018 §4).
        let block = block.map(|early| early.block_of(arrival.seq / payload));
        let expected = self.0.expected();
        match block {
            None => Reply::Ack(expected),
            Some(block) => {
                let after = block.start - expected / payload;
                let packets = block.end - block.start;
                debug_assert!(after + packets <= REACH_PACKETS, "further than senders reach");
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

    pub(super) fn got(&self, payload: u64) -> Got {
        self.0.got(payload)
    }
}

/// Whether the sender has a loss to recover from; the byte whose acknowledgement ends that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// "RecoveryPoint" (RFC 6675 §5).
    Recovery(u64),
    /// After a timeout no recovery begins before all has arrived that was sent before it (§5.1).
    AfterTimeout(u64),
}

/// What an acknowledgement means to a congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// A recovery begins.
    pub begins: bool,
    /// One is under way, or has ended with this acknowledgement.
    pub recovering: bool,
}

/// How far a flow is, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// First byte that is not acknowledged.
    pub una: u64,
    /// Next byte to send.
    pub next: u64,
    /// Payload of a full packet.
    pub payload: u64,
    /// Bytes of the flow.
    pub end: u64,
}

/// The sender's half.
#[derive(Debug)]
pub struct Sender {
    board: Scoreboard,
    phase: Phase,
    /// A packet is lost when so many after it have arrived; 0: only by a timeout.
    duplicate_acks: u64,
    /// The first packet of a recovery is sent again whatever the window says.
    urgent: bool,
    /// A packet to send again though nothing says that it is lost.
    rescue: Option<u64>,
    /// "RescueRxt": no rescue before the packets up to this one are acknowledged.
    rescued: u64,
    /// Timeouts in a row before it probes; 0: it never does.
    probe_after: u32,
    /// Whether it sends headers only.
    probing: bool,
    /// The retransmission timeout.
    pub rto: Rto,
}

impl Sender {
    /// A new flow's.
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
            rto: Rto::new(RtoLimits::from(config)),
        }
    }

    /// All before this packet have arrived.
    pub fn on_progress(&mut self, packet: u64) {
        self.board.on_progress(packet);
        self.rescue = self.rescue.filter(|&rescue| rescue >= packet);
    }

    /// The receiver has a block of packets, `missing` being the first it has not; whether that is news
    /// of any.
    pub fn on_block(&mut self, missing: u64, block: Block) -> bool {
        let first = missing + u64::from(block.after);
        let packets = first..first + u64::from(block.packets);
        self.rescue = self.rescue.filter(|rescue| !packets.contains(rescue));
        self.board.insert(packets)
    }

    /// An acknowledgement has been taken in: finds what is lost.
    pub fn detect(&mut self, sent: &Sent) -> Progress {
        let recovered = match self.phase {
            Phase::Open => false,
            Phase::Recovery(until) | Phase::AfterTimeout(until) => sent.una >= until,
        };
        // The acknowledgement that ends a recovery acknowledges what arrived during it.
        let recovering = matches!(self.phase, Phase::Recovery(_));
        if recovered {
            self.phase = Phase::Open;
            self.urgent = false;
            self.rescue = None;
        }
        // "IsLost (SeqNum): [...] The routine returns true when either DupThresh discontiguous SACKed
        // sequences have arrived above 'SeqNum' or more than (DupThresh - 1) * SMSS bytes" (§4).
        if self.duplicate_acks > 0
            && let Some(packet) = self.board.arrived().nth_last(self.duplicate_acks - 1)
        {
            self.board.lose_before(packet);
        }
        let missing = sent.una / sent.payload;
        let begins = self.phase == Phase::Open && self.board.is_lost(missing);
        if begins {
            // "RecoveryPoint = HighData" (§5, 4.1); "to prevent repeated retransmission of the same
            // data or a premature rescue retransmission, set both HighRxt and RescueRxt to the highest
            // sequence number in the retransmitted segment" (4.3).
            self.phase = Phase::Recovery(sent.next);
            self.urgent = true;
            self.rescued = missing;
        }
        Progress { begins, recovering: recovering || begins }
    }

    /// The window has room, and there is neither something lost nor something new to send: during a
    /// recovery NextSeg's rules 3 and 4 (§4) find something to send again.
    pub fn look_further(&mut self, sent: &Sent) {
        let Phase::Recovery(until) = self.phase else { return };
        // Rule 3, all packets at once: what is missing before one that has arrived.
        if let Some(highest) = self.board.arrived().nth_last(0) {
            self.board.lose_before(highest);
        }
        if self.board.bytes(sent.payload, sent.end).1 > 0 {
            return;
        }
        // "If HighACK is greater than RescueRxt [...], then one segment of up to SMSS octets that MUST
        // include the highest outstanding unSACKed sequence number SHOULD be returned, and RescueRxt
        // set to RecoveryPoint."
        let last = (sent.next - 1) / sent.payload;
        let outstanding = !self.board.is_repeated(last) && !self.board.arrived().contains(last);
        if sent.una / sent.payload > self.rescued && outstanding {
            self.rescue = Some(last);
            self.rescued = until / sent.payload;
        }
    }

    /// Nothing was heard for a timeout.
    pub fn on_timeout(&mut self, sent: &Sent) {
        // "If an RTO occurs during loss recovery [...], RecoveryPoint MUST be set to HighData" (§5.1).
        self.phase = Phase::AfterTimeout(sent.next);
        self.urgent = false;
        self.rescue = None;
        self.board.on_timeout(sent.una / sent.payload, sent.next.div_ceil(sent.payload));
        self.rto.back_off();
        self.probing = self.probe_after > 0 && self.rto.timeouts() >= self.probe_after;
        self.urgent = self.probing;
    }

    /// Something is answered, so long after it was sent (ps). Returns whether that ends its probing.
    pub fn on_answer(&mut self, rtt: u64) -> bool {
        self.rto.on_sample(rtt);
        self.urgent &= !self.probing;
        std::mem::take(&mut self.probing)
    }

    /// Whether what is sent next is a probe, which then is on its way.
    pub fn take_probe(&mut self) -> bool {
        self.urgent &= !self.probing;
        self.probing
    }

    /// Whether it sends headers only.
    #[must_use]
    pub fn is_probing(&self) -> bool {
        self.probing
    }

    /// Takes the next packet to send again.
    pub fn take(&mut self) -> Option<u64> {
        self.urgent = false;
        self.board.take().or_else(|| self.rescue.take())
    }

    /// Whether something may be sent again, where the window has room or not.
    #[must_use]
    pub fn may_repeat(&self, has_room: bool) -> bool {
        self.urgent || has_room && !self.probing
    }

    /// Bytes that have arrived, and bytes to send again.
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
