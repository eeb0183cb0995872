//! Capabilities of a composition on which settings depend. Each constant holds the default reason for
//! which a setting has no effect without it.
//!
//! A setting names the capability where it is declared ([`Effect::Needs`](xoff_core::knobs::Effect)).
//! Whoever puts a composition together asks its parts which capabilities are there. A new part may
//! declare a capability of its own in its file.

use xoff_core::knobs::Capability;

/// Senders decide themselves what they send.
pub const SENDER_DRIVEN: Capability = Capability("the receiver decides what is sent");
/// Acknowledgements carry a header of the congestion control.
pub const ACK_HEADER: Capability =
    Capability("the congestion control puts no header into acknowledgements");
/// A congestion control sets a rate, and flows have a window.
pub const RATE_FOR_WINDOW: Capability = Capability("the congestion control sets no rate");
/// A flow has the congestion window of TCP.
pub const TCP_WINDOW: Capability = Capability("the congestion control has no TCP window");
/// NewReno reads `tcp.ecn`.
pub const TCP_MARKS: Capability = Capability("only congestion = \"newreno\" reads it");
/// The transport's timeout decides what is sent again.
pub const TIMEOUT: Capability = Capability("the recovery does not use it");
/// A second, shorter timeout does.
pub const SHORT_TIMEOUT: Capability = Capability("the recovery has one timeout");
/// Receivers limit how often they ask for a missing packet.
pub const NACK_INTERVAL: Capability = Capability("receivers report every packet out of order");
/// Something depends on the base RTT of the longest path, or on that of a flow.
pub const BASE_RTT: Capability =
    Capability("no window, control or switch of this scenario depends on the base RTT");
/// A flow depends on the base RTT of its own path.
pub const FLOW_BASE_RTT: Capability =
    Capability("neither the window nor the control of a flow depends on its base RTT");
/// Switches send frames of a flow control.
pub const CONTROL_FRAMES: Capability = Capability("switches send no frames of a flow control");
/// Switches send PFC frames to NICs.
pub const PFC_FRAMES: Capability = Capability("switches send no PFC frames to NICs");
/// A switch has backpressure that can be left out for pairs of ports.
pub const BACKPRESSURE: Capability = Capability("there is no backpressure to leave out");
/// The scheduler serves several queues in turns.
pub const TURNS: Capability = Capability("the scheduler serves its queues without turns");
/// A dynamic threshold limits each egress queue.
pub const DYNAMIC_THRESHOLD: Capability = Capability("PFC limits each ingress instead");
/// The topology has gateways.
pub const GATEWAYS: Capability = Capability("only network.topology = \"two-dc\" has gateways");
/// Queues tell traffic classes apart.
pub const CLASSES: Capability = Capability("queues do not tell traffic classes apart");
