//! What happens after a loss: what the receiver answers, and what the sender sends again.
//!
//! One file a recovery, with both of its halves. A receiver's half is told of the data that arrives
//! and returns a [`Reply`]; a sender's half remembers what is known to be lost. Neither knows the
//! window: that is [`flow::Sender`](crate::flow::Sender). Those that keep packets out of order share
//! how they do it (`reassembly.rs`, `scoreboard.rs`, `packet_set.rs`).

mod go_back_n;
pub(crate) mod packet_set;
mod perfect;
mod reassembly;
pub mod rto;
pub mod sack;
pub(crate) mod scoreboard;
pub(crate) mod selective_repeat;
mod settings;
#[cfg(test)]
mod tests;

use crate::driven::Waiting;
use crate::receiver::Got;
use crate::transport::{TcpConfig, TransportConfig};

pub use settings::{
    GoBackNConfig, PerfectConfig, RecoverySettings, SelectiveRepeatConfig, Timeouts,
};

xoff_core::seam! {
    /// Recoveries from losses.
    pub enum RecoveryConfig: dyn RecoverySettings, named by Recovery {
        /// The receiver asks for the missing packet and drops all later ones (RoCE).
        GoBackN(GoBackNConfig) = "go-back-n",
        /// The switch that dropped a packet tells its sender, which sends that packet again
        /// (BFC §6.2.1, HPCC-PFC: "perfect retransmission").
        Perfect(PerfectConfig) = "perfect",
        /// The receiver keeps packets that arrive out of order, and the sender repeats the missing ones
        /// (IRN).
        SelectiveRepeat(SelectiveRepeatConfig) = "selective-repeat",
        /// Selective acknowledgements and a timeout from measured round trips, section `tcp` (RFC 6675,
        /// RFC 6298).
        Sack(TcpConfig) = "sack",
    }
}

/// A data packet that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When (ps).
    pub now: u64,
    /// Its first byte.
    pub seq: u64,
    /// Its payload.
    pub bytes: u64,
    /// The flow's end, as far as the packet says it (see `Packet::remaining`).
    pub end: u64,
}

/// What to send back for a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Everything before this byte has come.
    Ack(u64),
    /// A packet is missing.
    Nack {
        /// Its first byte: everything before it has come.
        expected: u64,
        /// How many packets after it the one stands that came instead (selective repeat: and that
        /// the receiver keeps).
        kept: u32,
    },
    /// A packet came before its turn.
    Sack {
        /// Everything before this byte has come.
        expected: u64,
        /// The packets around that one that have come.
        block: sack::Block,
    },
    /// Nothing: this gap was reported a moment ago.
    Nothing,
}

/// What all receivers have in common.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverSetup {
    /// The recovery.
    pub recovery: Recovery,
    /// Least time between two requests for the same missing packet (ps).
    pub nack_interval: u64,
    /// Payload of a full packet.
    pub payload: u64,
}

impl ReceiverSetup {
    /// What the receivers of a transport need.
    #[must_use]
    pub fn new(transport: &TransportConfig, payload: u64) -> Self {
        Self { recovery: transport.recovery, nack_interval: transport.nack_interval.0, payload }
    }
}

/// A receiver's half.
#[derive(Debug)]
pub enum ReceiverHalf {
    /// Go-back-N.
    GoBackN(go_back_n::Receiver),
    /// Perfect recovery.
    Perfect(perfect::Receiver),
    /// Selective repeat.
    SelectiveRepeat(selective_repeat::Receiver),
    /// Selective acknowledgements.
    Sack(sack::Receiver),
}

impl ReceiverHalf {
    /// A new flow's.
    #[must_use]
    pub fn new(recovery: Recovery) -> Self {
        match recovery {
            Recovery::GoBackN => Self::GoBackN(Default::default()),
            Recovery::Perfect => Self::Perfect(Default::default()),
            Recovery::SelectiveRepeat => Self::SelectiveRepeat(Default::default()),
            Recovery::Sack => Self::Sack(Default::default()),
        }
    }

    /// A data packet has arrived.
    #[inline(always)]
    pub fn on_data(&mut self, setup: &ReceiverSetup, arrival: &Arrival) -> Reply {
        match self {
            Self::GoBackN(half) => half.on_data(setup.nack_interval, arrival),
            Self::Perfect(half) => half.on_data(arrival),
            Self::SelectiveRepeat(half) => {
                // A copy for what is not inlined, so that the others find theirs in registers.
                let arrival = *arrival;
                half.on_data(setup.payload, &arrival)
            }
            Self::Sack(half) => {
                let arrival = *arrival;
                half.on_data(setup.payload, &arrival)
            }
        }
    }

    /// What has come.
    #[must_use]
    pub fn got(&self, setup: &ReceiverSetup) -> Got {
        match self {
            Self::GoBackN(half) => half.got(),
            Self::Perfect(half) => half.got(),
            Self::SelectiveRepeat(half) => half.got(setup.payload),
            Self::Sack(half) => half.got(setup.payload),
        }
    }

    /// Whether the data that came last had come before, where receivers keep what comes out of order.
    #[inline]
    #[must_use]
    pub fn repeated(&self) -> bool {
        match self {
            Self::GoBackN(_) | Self::Perfect(_) => false,
            Self::SelectiveRepeat(half) => half.repeated(),
            Self::Sack(half) => half.repeated(),
        }
    }

    /// Whether packets of this flow may still come once all of its bytes have.
    #[inline]
    #[must_use]
    pub fn may_repeat(&self) -> bool {
        match self {
            Self::GoBackN(half) => half.may_repeat(),
            Self::Perfect(_) => false,
            Self::SelectiveRepeat(_) | Self::Sack(_) => true,
        }
    }
}

/// A sender's half.
#[derive(Debug)]
pub enum SenderHalf {
    /// Go-back-N has nothing to remember.
    GoBackN,
    /// Perfect recovery.
    Perfect(perfect::Losses),
    /// Selective repeat, once something is missing.
    SelectiveRepeat(Option<Box<scoreboard::Scoreboard>>),
    /// Selective acknowledgements.
    Sack(Box<sack::Sender>),
    /// That of a receiver-driven transport, which is not one of the recoveries: it says itself what is sent
    /// again.
    Driven(Waiting),
}

impl SenderHalf {
    /// A new flow's; `tcp` has an effect with selective acknowledgements.
    #[must_use]
    pub fn new(recovery: Recovery, tcp: &TcpConfig) -> Self {
        match recovery {
            Recovery::GoBackN => Self::GoBackN,
            Recovery::Perfect => Self::Perfect(Default::default()),
            Recovery::SelectiveRepeat => Self::SelectiveRepeat(None),
            Recovery::Sack => Self::Sack(Box::new(sack::Sender::new(tcp))),
        }
    }
}
