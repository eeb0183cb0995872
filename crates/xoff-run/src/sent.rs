//! Packets at the start of their transmission, for a comparison of two runs event by event.

use xoff_core::PortId;
use xoff_net::fabric::Captured;
use xoff_net::topo::Topology;

/// A packet at the start of its transmission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Start of the transmission (ps).
    pub time_ps: u64,
    /// The node that sent it, by its number in the engine, which may differ from that of a file.
    pub node: u32,
    /// The number of its port.
    pub port: u16,
    /// The node at the other end of the link, likewise.
    pub peer: u32,
    /// Its kind, such as `Data`.
    pub kind: String,
    /// Low half of its flow's number.
    pub flow: u32,
    /// Its place in the flow.
    pub seq: u64,
    /// Bytes on the wire.
    pub bytes: u16,
}

impl Sent {
    /// A captured packet with the nodes of its link.
    #[must_use]
    pub fn new(captured: &Captured, topology: &Topology) -> Self {
        let port = topology.port(PortId(captured.port));
        let packet = &captured.packet;
        Self {
            time_ps: captured.time_ps,
            node: port.node.0,
            port: port.number,
            peer: topology.neighbour(port).0,
            kind: format!("{:?}", packet.kind),
            flow: packet.flow,
            seq: packet.seq,
            bytes: packet.wire_bytes,
        }
    }
}
