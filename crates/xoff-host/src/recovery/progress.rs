//! What flows and their recoveries of TCP tell each other.

use crate::tcp::Shrink;

/// Progress of a flow, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// First unacknowledged byte.
    pub una: u64,
    /// Next byte to send.
    pub next: u64,
    /// First byte never sent: `next`, or more after going back.
    pub high: u64,
    /// Payload of a full packet.
    pub payload: u64,
    /// Size of the flow.
    pub end: u64,
    /// The window of the congestion control.
    pub window: u64,
}

/// An acknowledgement, for recoveries that count duplicates.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Time of arrival (ps).
    pub now: u64,
    /// Round-trip time of its packet (ps).
    pub rtt: u64,
    /// Newly acknowledged bytes.
    pub acked: u64,
    /// True if it asks again for the first unacknowledged byte.
    pub repeats: bool,
    /// True if a packet is newly known to have arrived.
    pub news: bool,
}

/// What an acknowledgement changes, for the congestion control and the timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// A recovery begins.
    pub begins: bool,
    /// A recovery is in progress, or has ended with this acknowledgement.
    pub recovering: bool,
    /// The retransmission timer restarts.
    pub restarts: bool,
    /// What becomes of the congestion window itself.
    pub shrink: Option<Shrink>,
}
