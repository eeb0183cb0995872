//! Data planes: where flowlets are seen and their rates enforced.

use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::time::Duration;

#[cfg(feature = "bpf")]
pub mod bpf;
pub mod event;
pub mod programs;
pub mod sockets;

/// The two ends of a TCP connection. IPv4 addresses are never mapped into IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Connection {
    /// This host's end, the sender of the flowlet.
    pub local: SocketAddr,
    /// The receiver.
    pub remote: SocketAddr,
}

/// A change of a socket buffer: "The module reports to the allocator when socket buffers transition
/// between empty and non-empty" (§5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Data waits in a buffer that was empty.
    Start {
        /// A number that no flowlet of this data plane had before.
        flowlet: u64,
        /// The flowlet's connection.
        connection: Connection,
        /// When, in ns of `CLOCK_MONOTONIC`.
        time_ns: u64,
    },
    /// The receiver has acknowledged all data, or the connection is closed.
    End {
        /// The number that the start had.
        flowlet: u64,
        /// When, in ns of `CLOCK_MONOTONIC`.
        time_ns: u64,
        /// True if the connection is closed: it will have no other flowlet.
        is_closed: bool,
    },
}

/// What reports flowlets and paces their connections.
pub trait DataPlane {
    /// A descriptor that is readable when there are events.
    fn readable(&self) -> Option<BorrowedFd<'_>>;

    /// The time after which to ask for events at the latest. Asking earlier, because the agent has
    /// other work, costs little.
    fn until_due(&self) -> Duration;

    /// Appends the events since the last call, in their order.
    fn events(&mut self, into: &mut Vec<Event>) -> io::Result<()>;

    /// Paces a flowlet at a rate of payload in bytes per second; `None` leaves it to its congestion
    /// control. A flowlet that has ended is no error.
    fn set_rate(&mut self, flowlet: u64, rate: Option<u64>) -> io::Result<()>;

    /// Lets all rates apply until a time, in ns of `CLOCK_MONOTONIC`. A data plane that survives
    /// the agent stops pacing then.
    fn extend_lease(&mut self, until_ns: u64) -> io::Result<()>;

    /// Number of ends that were not reported, since the data plane was opened.
    fn lost_ends(&self) -> u64;

    /// True until a flowlet has ended.
    fn is_live(&self, flowlet: u64) -> bool;
}
