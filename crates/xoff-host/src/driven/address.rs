//! Where the sender of a flow is.

use xoff_net::packet::{Kind, Packet, flag};

/// What a packet needs to reach a flow's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The flow's number, as packets have it.
    pub flow: u32,
    /// The receiving host.
    pub from: u32,
    /// The sending host.
    pub host: u32,
    /// The label of packets on the way back.
    pub label: u32,
    /// The sender's own number of the flow.
    pub sender: u32,
    /// The flow's class.
    pub class: u8,
}

impl Address {
    /// Where a packet of data came from.
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

    /// A packet of so many bytes to there.
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
