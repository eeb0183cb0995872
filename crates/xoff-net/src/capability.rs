//! Capabilities of a composition on which settings depend. Each constant holds the default reason
//! why a setting has no effect without it.
//!
//! A setting names the capability in its declaration ([`Effect::Needs`](xoff_core::knobs::Effect)).
//! The assembly of a composition collects the capabilities of its parts. A new part may declare its
//! own capability in its file.

use xoff_core::knobs::Capability;

/// Senders decide what they send.
pub const SENDER_DRIVEN: Capability = Capability("the receiver decides what is sent");
/// Acknowledgements carry a header of the congestion control.
pub const ACK_HEADER: Capability =
    Capability("the congestion control puts no header into acknowledgements");
/// A congestion control sets a rate, and flows have a window.
pub const RATE_FOR_WINDOW: Capability = Capability("the congestion control sets no rate");
/// A flow has the congestion window of TCP.
pub const TCP_WINDOW: Capability = Capability("the congestion control has no TCP window");
/// The window grows as NewReno's in congestion avoidance.
pub const RENO: Capability = Capability("the congestion control has its own increase");
/// NewReno reads `tcp.ecn`.
pub const TCP_MARKS: Capability = Capability("only congestion = \"newreno\" reads it");
/// A loss reduces what is in flight, and only a window in use grows.
pub const FLIGHT: Capability =
    Capability("the congestion control reduces its window by a rule of its own");
/// The recovery counts duplicate acknowledgements.
pub const DUPLICATES: Capability = Capability("the recovery does not count duplicates");
/// Acknowledgements report blocks of packets that have arrived.
pub const REPORTS: Capability = Capability("acknowledgements report no blocks");
/// A window can fall over a round trip.
pub const REDUCTION: Capability =
    Capability("only recovery = \"sack\" with a window of TCP spreads a reduction");
/// Partial acknowledgements deflate the window.
pub const DEFLATION: Capability =
    Capability("only recovery = \"newreno\" deflates a window, that of a NewReno");
/// A sender probes after some timeouts.
pub const PROBES: Capability = Capability("only recovery = \"sack\" sends probes");
/// The transport's timeout triggers retransmissions.
pub const TIMEOUT: Capability = Capability("the recovery does not use it");
/// A second, shorter timeout triggers them.
pub const SHORT_TIMEOUT: Capability = Capability("the recovery has one timeout");
/// Receivers limit how often they report a missing packet.
pub const NACK_INTERVAL: Capability = Capability("receivers report every packet out of order");
/// A part depends on the base RTT of the longest path, or of a flow's path.
pub const BASE_RTT: Capability =
    Capability("no window, control or switch of this scenario depends on the base RTT");
/// A flow depends on the base RTT of its own path.
pub const FLOW_BASE_RTT: Capability =
    Capability("neither the window nor the control of a flow depends on its base RTT");
/// Switches send frames of a flow control.
pub const CONTROL_FRAMES: Capability = Capability("switches send no frames of a flow control");
/// Switches send PFC frames to NICs.
pub const PFC_FRAMES: Capability = Capability("switches send no PFC frames to NICs");
/// A switch has backpressure that pairs of ports can leave out.
pub const BACKPRESSURE: Capability = Capability("there is no backpressure to leave out");
/// The scheduler serves several queues in turns.
pub const TURNS: Capability = Capability("the scheduler serves its queues without turns");
/// A dynamic threshold limits each egress queue.
pub const DYNAMIC_THRESHOLD: Capability = Capability("PFC limits each ingress instead");
/// The hop control keeps accounts of classes in a switch's memory.
pub const CLASS_MEMORY: Capability = Capability(
    "only switch.hop = \"pfc\" or \"none\" divides the memory of switches among classes",
);
/// The topology has gateways.
pub const GATEWAYS: Capability = Capability("only network.topology = \"two-dc\" has gateways");
