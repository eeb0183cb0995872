//! Recovery of losses: the receiver's replies and the sender's retransmissions.
//!
//! One file per recovery, with both halves. A receiver's half processes arriving data and returns a
//! [`Reply`]; a sender's half tracks lost packets. Neither knows the window, which belongs to
//! [`flow::Sender`](crate::flow::Sender). Recoveries that keep out-of-order packets share
//! `reassembly.rs`, `scoreboard.rs` and `packet_set.rs`.

mod chunks;
mod go_back_n;
pub mod newreno;
pub(crate) mod packet_set;
mod perfect;
pub mod progress;
mod reassembly;
pub mod rto;
pub mod sack;
pub mod sack1;
pub(crate) mod scoreboard;
#[cfg(test)]
mod seam_tests;
pub(crate) mod selective_repeat;
mod settings;
#[cfg(test)]
mod tests;
mod waiting;

use crate::tcp::TcpConfig;

pub use chunks::Chunks;
pub use go_back_n::GoBackNConfig;
pub use newreno::NewRenoRecovery;
pub use perfect::PerfectConfig;
pub use sack1::Sack1Config;
pub use selective_repeat::SelectiveRepeatConfig;
pub use settings::{RecoverySettings, Timeouts};
pub use waiting::Waiting;

xoff_core::seam! {
    /// Recovery of losses.
    pub enum RecoveryConfig: dyn RecoverySettings, named by Recovery {
        /// The receiver requests the missing packet and drops all later ones (RoCE).
        GoBackN(GoBackNConfig) = "go-back-n",
        /// The switch that drops a packet notifies its sender, which retransmits that packet (BFC
        /// §6.2.1, HPCC-PFC: "perfect retransmission").
        Perfect(PerfectConfig) = "perfect",
        /// The receiver keeps out-of-order packets, and the sender retransmits the missing ones
        /// (IRN).
        SelectiveRepeat(SelectiveRepeatConfig) = "selective-repeat",
        /// Selective acknowledgements and a timeout from measured round trips, section `tcp` (RFC
        /// 6675, RFC 6298).
        Sack(TcpConfig) = "sack",
        /// Cumulative acknowledgements and a timeout from measured round trips, section `tcp` (RFC
        /// 6582, RFC 6298).
        NewReno(NewRenoRecovery) = "newreno",
        /// The first recovery with selective acknowledgements, of ns-2's Sack1, section `tcp` (Fall
        /// and Floyd 1996). Lost packets count as being in flight.
        Sack1(Sack1Config) = "sack1",
    }
}

/// An arriving data packet.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Time of arrival (ps).
    pub now: u64,
    /// First byte.
    pub seq: u64,
    /// Payload in bytes.
    pub bytes: u64,
    /// The flow's end according to the packet (see `Packet::remaining`).
    pub end: u64,
}

/// The reply to a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Everything before this byte has arrived.
    Ack(u64),
    /// A packet is missing.
    Nack {
        /// First missing byte: everything before it has arrived.
        expected: u64,
        /// Distance in packets from the missing packet to the one received. With selective repeat
        /// the receiver keeps the latter.
        kept: u32,
    },
    /// A packet arrived out of order.
    Sack {
        /// Everything before this byte has arrived.
        expected: u64,
        /// The block of received packets that contains it.
        block: sack::Block,
    },
    /// No reply: the gap was reported recently.
    Nothing,
}

/// Receive progress of a flow (bytes of payload).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxProgress {
    /// All bytes kept, in any order; the last packet of a flow may be counted as a full one.
    pub received: u64,
    /// Bytes before the first missing one. With perfect recovery, which has no order: all.
    pub delivered: u64,
}

/// Settings of all receivers.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverSetup {
    /// The recovery.
    pub recovery: Recovery,
    /// Minimum interval between two requests for the same missing packet (ps).
    pub nack_interval: u64,
    /// Payload of a full packet.
    pub payload: u64,
    /// Acknowledgements and chunks of go-back-N.
    pub chunks: Chunks,
    /// Duplicates get no reply, and a flow's half lives as long as its sender, as in the HPCC
    /// simulator.
    pub literal: bool,
}

/// A receiver's half.
#[derive(Debug)]
#[repr(u8)] // A tag of its own is read faster than a spare value of a field.
pub enum ReceiverHalf {
    /// Go-back-N.
    GoBackN(go_back_n::Receiver),
    /// Perfect recovery.
    Perfect(perfect::Receiver),
    /// Selective repeat.
    SelectiveRepeat(selective_repeat::Receiver),
    /// Selective acknowledgements.
    Sack(sack::Receiver),
    /// Cumulative acknowledgements of packets kept in any order.
    NewReno(newreno::Receiver),
}

impl ReceiverHalf {
    /// A new flow's half.
    #[must_use]
    pub fn new(recovery: Recovery) -> Self {
        match recovery {
            Recovery::GoBackN => Self::GoBackN(Default::default()),
            Recovery::Perfect => Self::Perfect(Default::default()),
            Recovery::SelectiveRepeat => Self::SelectiveRepeat(Default::default()),
            Recovery::Sack | Recovery::Sack1 => Self::Sack(Default::default()),
            Recovery::NewReno => Self::NewReno(Default::default()),
        }
    }

    /// Processes an arriving data packet.
    #[inline(always)]
    pub fn on_data(&mut self, setup: &ReceiverSetup, arrival: &Arrival) -> Reply {
        match self {
            Self::GoBackN(half) => half.on_data(setup, arrival),
            Self::Perfect(half) => half.on_data(arrival),
            Self::SelectiveRepeat(half) => {
                // A copy for the calls that are not inlined, so that the others keep theirs in
                // registers.
                let arrival = *arrival;
                half.on_data(setup.payload, &arrival)
            }
            Self::Sack(half) => {
                let arrival = *arrival;
                half.on_data(setup.payload, &arrival)
            }
            Self::NewReno(half) => {
                let arrival = *arrival;
                half.on_data(setup.payload, &arrival)
            }
        }
    }

    /// Receive progress of the flow.
    #[must_use]
    pub fn rx_progress(&self, setup: &ReceiverSetup) -> RxProgress {
        match self {
            Self::GoBackN(half) => half.rx_progress(),
            Self::Perfect(half) => half.rx_progress(),
            Self::SelectiveRepeat(half) => half.rx_progress(setup.payload),
            Self::Sack(half) => half.rx_progress(setup.payload),
            Self::NewReno(half) => half.rx_progress(setup.payload),
        }
    }

    /// Blocks that a selective acknowledgement can report.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        match self {
            Self::Sack(half) => half.blocks(),
            _ => 0,
        }
    }

    /// True if the last data packet was a duplicate, for receivers that keep out-of-order packets.
    #[inline]
    #[must_use]
    pub fn repeated(&self) -> bool {
        match self {
            Self::GoBackN(_) | Self::Perfect(_) => false,
            Self::SelectiveRepeat(half) => half.repeated(),
            Self::Sack(half) => half.repeated(),
            Self::NewReno(half) => half.repeated(),
        }
    }

    /// True if packets of this flow may still arrive after all of its bytes have.
    #[inline]
    #[must_use]
    pub fn may_repeat(&self) -> bool {
        match self {
            Self::GoBackN(half) => half.may_repeat(),
            Self::Perfect(_) => false,
            Self::SelectiveRepeat(_) | Self::Sack(_) | Self::NewReno(_) => true,
        }
    }
}

/// A sender's half.
#[derive(Debug)]
pub enum SenderHalf {
    /// Go-back-N has no state.
    GoBackN,
    /// Go-back-N as in the HPCC simulator: what was sent again may be behind what is acknowledged.
    LiteralGoBackN,
    /// Perfect recovery.
    Perfect(perfect::Losses),
    /// Selective repeat, allocated at the first loss.
    SelectiveRepeat(Option<Box<scoreboard::Scoreboard>>),
    /// Selective acknowledgements.
    Sack(Box<sack::Sender>),
    /// NewReno.
    NewReno(Box<newreno::Sender>),
    /// Sack1.
    Sack1(Box<sack1::Sender>),
    /// Receiver-driven transports: not one of the recoveries, since the transport decides on
    /// retransmissions itself.
    Driven(Waiting),
}

impl SenderHalf {
    /// A new flow's half; `tcp` is used only by TCP's recoveries.
    #[must_use]
    pub fn new(recovery: Recovery, tcp: &TcpConfig) -> Self {
        match recovery {
            Recovery::GoBackN => Self::GoBackN,
            Recovery::Perfect => Self::Perfect(Default::default()),
            Recovery::SelectiveRepeat => Self::SelectiveRepeat(None),
            Recovery::Sack => Self::Sack(Box::new(sack::Sender::new(tcp))),
            Recovery::NewReno => Self::NewReno(Box::new(newreno::Sender::new(tcp))),
            Recovery::Sack1 => Self::Sack1(Box::new(sack1::Sender::new(tcp))),
        }
    }
}
