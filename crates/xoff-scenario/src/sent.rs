//! Packets as their ports began to send them, for whoever compares two runs event by event.

use xoff_net::fabric::Captured;
use xoff_net::topo::Topology;

/// A packet that a port began to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When (ps).
    pub time_ps: u64,
    /// The node that sent it.
    pub node: u32,
    /// The number of its port.
    pub port: u16,
    /// The node at the other end of the link.
    pub peer: u32,
    /// What it is, such as `Data`.
    pub kind: String,
    /// Low half of its flow's number.
    pub flow: u32,
    /// Its place in the flow.
    pub seq: u64,
    /// Bytes on the wire.
    pub bytes: u16,
}

impl Sent {
    /// What a captured packet was, and between which nodes.
    #[must_use]
    pub fn new(captured: &Captured, topology: &Topology) -> Self {
        let port = &topology.ports[captured.port as usize];
        let packet = &captured.packet;
        Self {
            time_ps: captured.time_ps,
            node: port.node,
            port: port.number,
            peer: topology.ports[port.peer as usize].node,
            kind: format!("{:?}", packet.kind),
            flow: packet.flow,
            seq: packet.seq,
            bytes: packet.wire_bytes,
        }
    }
}
