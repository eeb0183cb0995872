//! Flowtune at the hosts (Perry, Balakrishnan and Shah, NSDI 2017): rates from an allocator.
//!
//! Servers tell the allocator when flowlets begin and end, and it tells them rates. Both travel as
//! bytes of a [`stream`]: a long-lived TCP connection that shares NICs, links and queues with the
//! data. An [`agent::Agent`] at each server knows its flowlets and what each flow may do: go at its
//! allocated rate, or as its own congestion control says, or wait. The allocator itself is not here:
//! its NICs are hosts whose streams end in an inbox.

pub mod agent;
pub mod stream;

use xoff_core::choices;

use crate::flow::FlowStart;

/// What goes over a control connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A flowlet of a server begins.
    Start {
        /// Its number at that server, which counts up.
        flowlet: u32,
        /// Host it goes to.
        dst: u32,
        /// Source and destination port: with the addresses they tell its path.
        label: u32,
    },
    /// It has ended.
    End {
        /// Its number.
        flowlet: u32,
    },
    /// Its rate from now on.
    Rate {
        /// Its number.
        flowlet: u32,
        /// Bits per second on the wire; 0: it cannot be carried now.
        rate: u64,
    },
    /// From one allocator to another: so much of a flowlet comes to servers of that one's domain.
    Transit {
        /// Host it comes from.
        src: u32,
        /// Its number there.
        flowlet: u32,
        /// Host it goes to.
        dst: u32,
        /// Source and destination port.
        label: u32,
        /// Bits per second on the wire; 0: it has ended.
        rate: u64,
    },
    /// Nothing is new, and all rates of this server still hold.
    Renewal,
    /// The allocator knows no flowlets and wants to be told of all there are.
    Resync,
}

impl Message {
    /// Bytes it takes: "Notifications of flowlet start, end, and rate updates are encoded in 16, 4,
    /// and 6 bytes" (§5.3). The paper does not say how rates are renewed; a word is enough.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Start { .. } => 16,
            Self::End { .. } | Self::Renewal | Self::Resync => 4,
            Self::Rate { .. } => 6,
            // A flowlet as at its start, and its rate.
            Self::Transit { .. } => 20,
        }
    }
}

choices! {
    /// How servers tell where a flowlet begins and ends (§6, "Detecting flowlets").
    pub enum Detection {
        /// By calls of send(): each flow of the workload is one, with known size, and its last byte
        /// ends the flowlet.
        Send = "send",
        /// By a timer: all that a server sends to another is one flowlet, until nothing has been
        /// backlogged for `idle_threshold`.
        Idle = "idle",
    }
}

/// What all agents have in common.
#[derive(Clone, Copy, Debug)]
pub struct AgentConfig {
    /// Servers of an allocator's domain: with a rate a flow that leaves it goes on under its own
    /// congestion control.
    pub domain_servers: u32,
    /// Whether flows start under their own congestion control before they have a rate.
    pub start_before_allocation: bool,
    /// How far a rate opens a flow's window, in round trips; 0: it is only an upper limit.
    pub window_rtts: f64,
    /// How long rates hold after the last message (ps).
    pub lifetime: u64,
    /// Whether a flow joins the flowlet that its server has to the same destination.
    pub joins: bool,
    /// How long a flowlet goes on with nothing to send (ps).
    pub linger: u64,
    /// How long before its expected end a flowlet is reported as ended (ps).
    pub advance_notice: u64,
    /// Share of control packets that are lost on purpose.
    pub message_loss: f64,
}

impl AgentConfig {
    /// Whether a rate opens a flow's window, because the allocator knows all of its path.
    #[must_use]
    pub fn opens_window(&self, flow: &FlowStart) -> bool {
        let domain = |host: u32| host / self.domain_servers;
        self.window_rtts > 0.0 && domain(flow.src) == domain(flow.dst)
    }
}
