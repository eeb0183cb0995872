//! How a host learns of a packet that a switch dropped.

use std::cmp::Ordering;

use xoff_net::Packet;
use xoff_net::record::Record;

/// A switch's notification of a drop, with the dropped packet, to the host that sent it.
#[derive(Clone, Debug)]
pub(crate) struct LossNotice {
    /// Time of arrival (ps).
    pub(crate) time_ps: u64,
    /// The dropped packet.
    pub(crate) packet: Packet,
    /// Its side record.
    pub(crate) record: Option<Box<Record>>,
}

impl LossNotice {
    /// The order of notices of one instant. Two copies of a packet, dropped at different times in
    /// different places, may be reported at one instant.
    fn key(&self) -> (u64, u32, u64, u32, u8, u64) {
        let Packet { flow, seq, src, kind, stamp, .. } = self.packet;
        (self.time_ps, flow, seq, src, kind as u8, stamp)
    }
}

impl PartialEq for LossNotice {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for LossNotice {}

impl PartialOrd for LossNotice {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LossNotice {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
