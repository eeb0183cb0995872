//! Flowtune at the hosts (Perry, Balakrishnan and Shah, NSDI 2017): rates from an allocator.
//!
//! Servers report the start and end of flowlets to the allocator, and it replies with rates. The
//! messages are bytes of a [`stream`], a long-lived TCP connection, or items of [`datagram`]s in
//! the protocol of real hosts. Both share NICs, links and queues with the data. An
//! [`agent::Agent`] at each server tracks its flowlets. It decides whether
//! a flow sends at its allocated rate, uses its own congestion control, or waits. The allocator
//! itself is not here: its NICs are hosts with streams that end in an inbox.

pub mod agent;
pub mod datagram;
pub mod mail;
pub mod stream;
pub mod stream_id;

use xoff_core::{HostId, choices};

use crate::flow::FlowStart;

/// A message on a control connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A server's flowlet begins.
    Start {
        /// Number of the flowlet at its server; numbers increase.
        flowlet: u32,
        /// Destination host.
        dst: HostId,
        /// Source and destination port: with the addresses they determine the path.
        label: u32,
    },
    /// A flowlet has ended.
    End {
        /// Number of the flowlet.
        flowlet: u32,
    },
    /// A flowlet's new rate.
    Rate {
        /// Number of the flowlet.
        flowlet: u32,
        /// Bits per second on the wire; 0: the path is unusable.
        rate: u64,
    },
    /// From one allocator to another: the rate of a flowlet to servers in the other's domain.
    Transit {
        /// Source host.
        src: HostId,
        /// Number of the flowlet at its server.
        flowlet: u32,
        /// Destination host.
        dst: HostId,
        /// Source and destination port.
        label: u32,
        /// Bits per second on the wire; 0: the flowlet has ended.
        rate: u64,
    },
    /// All rates of this server are still valid.
    Renewal,
    /// The allocator has no flowlets and requests a report of all.
    Resync,
}

impl Message {
    /// Size in bytes: "Notifications of flowlet start, end, and rate updates are encoded in 16, 4,
    /// and 6 bytes" (§5.3). The paper does not specify the renewal of rates; a word is enough.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Start { .. } => 16,
            Self::End { .. } | Self::Renewal | Self::Resync => 4,
            Self::Rate { .. } => 6,
            // A flowlet as in `Start`, and its rate.
            Self::Transit { .. } => 20,
        }
    }
}

choices! {
    /// The transport of messages between servers and allocators.
    pub enum ControlKind {
        /// A TCP connection for each server, as in the paper's simulations (§5.3).
        Tcp = "tcp",
        /// Datagrams of the protocol that `xoff agent` and `xoff allocator` speak
        /// (docs/flowtune-protocol.md): "instead of retransmitting old state, participants send
        /// the most recent state" (§5.1). The code is theirs, with tags and all. Allocators of
        /// pods keep TCP among themselves.
        Udp = "udp",
    }
}

choices! {
    /// Detection of the start and end of flowlets by servers (§6, "Detecting flowlets").
    pub enum Detection {
        /// By calls of send(): each flow of the workload is a flowlet of known size, which ends
        /// with its last byte.
        Send = "send",
        /// By a timer: all data from one server to another is one flowlet, until there has been no
        /// backlog for `idle_threshold`.
        Idle = "idle",
    }
}

/// Settings of all agents.
#[derive(Clone, Copy, Debug)]
pub struct AgentConfig {
    /// Servers per allocator domain. A flow that leaves its domain stays under its own congestion
    /// control, below its allocated rate.
    pub domain_servers: u32,
    /// Flows start under their own congestion control before they have a rate.
    pub start_before_allocation: bool,
    /// The window opened by a rate, in round trips; 0: the rate is only an upper limit.
    pub window_rtts: f64,
    /// Validity of rates after the last message (ps); `u64::MAX` if an endpoint of the protocol
    /// watches over it.
    pub lifetime: u64,
    /// A flow joins its server's existing flowlet to the same destination.
    pub joins: bool,
    /// Time for which a flowlet without data continues (ps).
    pub linger: u64,
    /// Time before its expected end at which a flowlet is reported as ended (ps).
    pub advance_notice: u64,
    /// Fraction of control packets that are lost deliberately.
    pub message_loss: f64,
}

impl AgentConfig {
    /// True if a rate opens a flow's window, because the allocator controls its whole path.
    #[must_use]
    pub fn opens_window(&self, flow: &FlowStart) -> bool {
        let domain = |host: HostId| host.0 / self.domain_servers;
        self.window_rtts > 0.0 && domain(flow.src) == domain(flow.dst)
    }
}
