//! Selective repeat, as in IRN (Mittal et al., SIGCOMM 2018, §3.1): the receiver keeps packets that
//! come out of order and says which one it got, and the sender repeats only those that are missing.
//!
//! IRN's sender remembers the recovery sequence, the first packet sent after a recovery began; when it
//! is acknowledged, the recovery ends, and the next one may repeat the same holes. That cannot happen
//! before what was repeated has arrived. So each hole is sent again once, whatever comes, until a
//! timeout; a recovery sequence would add nothing.

use std::cmp::Ordering;

use super::packet_set::PacketSet;
use super::{Arrival, Reply};
use crate::receiver::Got;

/// The receiver's half.
#[derive(Debug, Default)]
pub struct Receiver {
    /// Next byte expected.
    expected: u64,
    /// Packets after that one that have come already; none before the first gap.
    beyond: Option<Box<PacketSet>>,
}

impl Receiver {
    pub(super) fn on_data(&mut self, payload: u64, arrival: &Arrival) -> Reply {
        match arrival.seq.cmp(&self.expected) {
            Ordering::Equal => {
                self.expected += arrival.bytes;
                self.close_gap(payload, arrival.end);
                Reply::Ack(self.expected)
            }
            // "Upon every out-of-order packet arrival, an IRN receiver sends a NACK, which carries
            // both the cumulative acknowledgment and the sequence number of the packet that
            // triggered the NACK" (IRN §3.1).
            Ordering::Greater => {
                let (missing, packet) = (self.expected / payload, arrival.seq / payload);
                self.beyond.get_or_insert_default().insert(packet);
                Reply::Nack { expected: self.expected, kept: (packet - missing) as u32 }
            }
            Ordering::Less => Reply::Ack(self.expected),
        }
    }

    pub(super) fn got(&self, payload: u64) -> Got {
        let beyond = self.beyond.as_ref().map_or(0, |beyond| beyond.count() * payload);
        Got { received: self.expected + beyond, delivered: self.expected }
    }

    /// What came before its turn and is in order now.
    fn close_gap(&mut self, payload: u64, end: u64) {
        if let Some(beyond) = &mut self.beyond
            && beyond.count() > 0
        {
            let missing = beyond.first_missing(self.expected / payload);
            beyond.remove_before(missing);
            self.expected = (missing * payload).clamp(self.expected, end);
        }
    }
}

/// The sender's half, in numbers of packets, not bytes: what the receiver has said of those in flight.
#[derive(Debug, Default)]
pub struct Scoreboard {
    /// Packets after the first missing one that have arrived.
    arrived: PacketSet,
    /// Those before this one have been sent again, if they are missing, and may be on their way.
    repeated_before: u64,
    /// "Any subsequent packet is considered lost only if another packet with a higher sequence number
    /// has been selectively acked" (IRN §3.1): those missing before this one.
    lost_before: u64,
}

impl Scoreboard {
    /// The receiver got a packet before its turn; whether that is news.
    pub fn on_arrived(&mut self, packet: u64) -> bool {
        self.lost_before = self.lost_before.max(packet);
        self.arrived.insert(packet)
    }

    /// All before this packet have arrived.
    pub fn on_progress(&mut self, packet: u64) {
        self.arrived.remove_before(packet);
        self.repeated_before = self.repeated_before.max(packet);
        self.lost_before = self.lost_before.max(packet);
    }

    /// Nothing was heard for too long: all from `first` to before `next` are lost that are not known to
    /// have arrived.
    pub fn on_timeout(&mut self, first: u64, next: u64) {
        self.repeated_before = first;
        self.lost_before = next;
    }

    /// Takes the next packet to send again.
    pub fn take(&mut self) -> Option<u64> {
        let packet = self.arrived.first_missing(self.repeated_before);
        if packet >= self.lost_before {
            return None;
        }
        self.repeated_before = packet + 1;
        Some(packet)
    }

    /// Bytes that have arrived, and bytes that are lost and not sent again yet.
    pub fn bytes(&self, payload: u64, flow_bytes: u64) -> (u64, u64) {
        // The flow's last packet may be shorter than the others.
        let last = (flow_bytes - 1) / payload;
        let short = payload - 1 - (flow_bytes - 1) % payload;
        let bytes = |packets, has_last| packets * payload - if has_last { short } else { 0 };
        let lost = self.repeated_before..self.lost_before;
        let last_arrived = self.arrived.contains(last);
        let last_lost = !last_arrived && lost.contains(&last);
        let arrived_bytes = bytes(self.arrived.count(), last_arrived);
        (arrived_bytes, bytes(self.arrived.count_missing(lost), last_lost))
    }
}
