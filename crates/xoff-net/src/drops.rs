//! Counts of lost packets, in switches and on links.

/// Packets that were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// Number of packets.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
}

impl Drops {
    /// A packet is lost.
    pub fn add(&mut self, wire_bytes: u16) {
        self.packets += 1;
        self.bytes += u64::from(wire_bytes);
    }
}
