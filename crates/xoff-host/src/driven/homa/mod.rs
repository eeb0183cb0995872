//! Homa (Montazeri et al., SIGCOMM 2018): senders send the first RTTbytes of a message at once, receivers
//! grant the rest to the shortest messages, and switches serve up to 32 priorities strictly.
//!
//! As BFC's comparison has it (App. A.2): "the first BDP of traffic" is unscheduled, at line rate, with "a
//! fixed priority level [...] based on its size and the flow size distribution of the workload"
//! ([`levels`]); a receiver "assigns priority levels to the scheduled bytes and issues grants" ([`receiver`]).
//! A message is a flow. A NIC sends the data of the message with the least left to send ([`sender`]).
//!
//! Each packet of data that comes brings at most one grant: to the first message, in the order of what is
//! left of them, of which less than RTTbytes are granted and have not come. Only the first so many messages
//! (the overcommitment) are granted. The receiver takes packets in any order, so switches may spray them.
//!
//! What is on the wire: data has its message's size in `stamp`, and its priority is the queue it leaves in
//! ([`Carried`](xoff_net::hop::Carried)). A grant (`Pull`) has the bytes received without a gap in `seq`, the
//! bytes granted so far in `remaining`, and the priority of what it grants in `stamp`. The acknowledgement
//! of all bytes says in `stamp` when the last of them came; no other packet is acknowledged. Where packets
//! are lost, a receiver that waits for a timeout names what is missing (`Nack`: from `seq` on, `remaining`
//! bytes, with the priority in `stamp`), and a sender that hears nothing sends its first packet again.
//!
//! Not modelled: messages as halves of remote procedure calls, and the paper's BUSY packets.

mod hosts;
pub mod levels;
pub mod receiver;
pub mod sender;
mod settings;

use xoff_core::{Bytes, knobs};

pub use hosts::{HomaHosts, HomaStats};
pub use levels::Levels;
pub use settings::HomaSettings;

knobs! {
    /// Homa's hosts, where `transport.kind` is "homa".
    pub struct HomaConfig in "homa" {
        /// RTTbytes, in whole packets: what a message sends without a grant, and the most of it that is
        /// granted and has not come; 0B: one bandwidth-delay product of base RTT and host rate (BFC
        /// App. A.2: "first BDP of traffic").
        rtt_bytes: Bytes = Bytes(0),
        /// Priorities of the switches (BFC App. A.2: 32).
        priorities: u8 = 32,
        /// How many of them, the highest, unscheduled data has; 0: as many as it has of the workload's
        /// bytes (BFC App. A.2: "divided [...] based on the ratio of unscheduled and scheduled traffic").
        unscheduled_priorities: u8 = 0,
        /// The longest message (bytes) of each unscheduled priority but the last, as "300,2000"; empty:
        /// each priority has the same share of the workload's unscheduled bytes (Homa 3.4).
        cutoffs: String = String::new(),
        /// Messages that a receiver grants at once; 0: as many as there are scheduled priorities (BFC
        /// App. A.2).
        overcommitment: u16 = 0,
        /// Whether the last rtt_bytes of a longer message have the priority of an unscheduled message as
        /// long as what is left of it. Homa's simulator can do so; in BFC's comparison flows a little
        /// longer than one bandwidth-delay product wait behind all unscheduled data, so it does not.
        boost_tail: bool = false,
    }
}

#[cfg(test)]
mod tests;
