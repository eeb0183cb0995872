//! Homa (Montazeri et al., SIGCOMM 2018): senders send the first RTTbytes of a message at once,
//! receivers grant the rest to the shortest messages, and switches serve up to 32 strict
//! priorities.
//!
//! This follows BFC's comparison (App. A.2). "The first BDP of traffic" is unscheduled, at line
//! rate, with "a fixed priority level [...] based on its size and the flow size distribution of the
//! workload" ([`Levels`](super::Levels)). A receiver "assigns priority levels to the scheduled
//! bytes and issues grants" ([`receiver`]). A message is a flow. A NIC sends data of the message
//! with the least left to send ([`sender`]).
//!
//! Each arriving data packet triggers at most one grant. It goes to the first message, ordered by
//! bytes left, whose granted but missing bytes are fewer than RTTbytes. Only the first messages, up
//! to the overcommitment, are granted. The receiver accepts packets in any order, so switches may
//! spray them.
//!
//! Packet fields:
//! - Data has its message's size in `stamp`. Its priority is the queue it leaves in
//!   ([`Carried`](xoff_net::hop::Carried)).
//! - A grant (`Pull`) has the bytes received without a gap in `seq`, the bytes granted so far in
//!   `remaining`, and the priority of the granted bytes in `stamp`.
//! - The acknowledgement of a whole message has the arrival time of the last byte in `stamp`. There
//!   are no other acknowledgements.
//! - If packets are lost, a receiver requests missing bytes after a timeout (`Nack`: `remaining`
//!   bytes from `seq`, with the priority in `stamp`). A sender without any reply retransmits its
//!   first packet after a timeout.
//!
//! Not modelled: messages as parts of remote procedure calls, and the paper's BUSY packets.

mod hosts;
mod ranking;
pub mod receiver;
pub mod sender;
mod settings;
mod silence;

use xoff_core::{Bytes, knobs};

pub use hosts::{HomaHosts, HomaStats};
pub use settings::HomaSettings;

knobs! {
    /// Homa's hosts, for `transport.kind` = "homa".
    pub struct HomaConfig in "homa" {
        /// RTTbytes, in whole packets: the unscheduled bytes of a message, and the limit of its
        /// granted but missing bytes. 0B: one bandwidth-delay product of base RTT and host rate
        /// (BFC App. A.2: "first BDP of traffic").
        rtt_bytes: Bytes = Bytes(0),
        /// Number of priorities at switches (BFC App. A.2: 32).
        priorities: u8 = 32,
        /// Number of priorities for unscheduled data, from the highest. 0: in proportion to its
        /// share of the workload's bytes (BFC App. A.2: "divided [...] based on the ratio of
        /// unscheduled and scheduled traffic").
        unscheduled_priorities: u8 = 0,
        /// Longest message (bytes) of each unscheduled priority but the last, such as "300,2000".
        /// Empty: each priority gets an equal share of the workload's unscheduled bytes (Homa 3.4).
        cutoffs: String = String::new(),
        /// Number of messages that a receiver grants at once. 0: the number of scheduled priorities
        /// (BFC App. A.2).
        overcommitment: u16 = 0,
        /// Give the last rtt_bytes of a longer message the priority of an unscheduled message of
        /// their remaining length. Homa's simulator has this option. The default is off because in
        /// BFC's comparison flows slightly longer than one bandwidth-delay product wait behind all
        /// unscheduled data.
        boost_tail: bool = false,
    }
}

#[cfg(test)]
mod tests;
