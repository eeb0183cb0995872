//! The address of a flow's sender.

use xoff_net::packet::{Kind, Packet, flag};

/// The fields that a packet needs to reach a flow's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The flow's number in packets.
    pub flow: u32,
    /// The receiving host.
    pub from: u32,
    /// The sending host.
    pub host: u32,
    /// The label of packets in the reverse direction.
    pub label: u32,
    /// The flow's slot at the sender.
    pub sender: u32,
    /// The flow's class.
    pub class: u8,
}

impl Address {
    /// The sender of a data packet.
    #[must_use]
    pub fn of(packet: &Packet) -> Self {
        Self {
            flow: packet.flow,
            from: packet.dst,
            host: packet.src,
            label: packet.label.rotate_left(16),
            sender: packet.sender,
            class: packet.class(),
        }
    }

    /// Creates a packet of `wire_bytes` to the sender.
    #[must_use]
    pub fn packet(&self, kind: Kind, wire_bytes: u16) -> Packet {
        let mut packet = Packet::new(kind, wire_bytes);
        packet.flow = self.flow;
        packet.src = self.from;
        packet.dst = self.host;
        packet.label = self.label;
        packet.sender = self.sender;
        packet.flags = self.class << flag::CLASS_SHIFT;
        packet
    }
}
