//! A sender's knowledge of the packets between its first missing and its last sent packet.

use std::ops::Range;

use super::packet_set::PacketSet;

/// In packet numbers, not bytes. Each lost packet is retransmitted once, in order, until a timeout.
#[derive(Debug, Default)]
pub struct Scoreboard {
    /// Packets after the first missing one that have arrived.
    arrived: PacketSet,
    /// Missing packets before this one have been retransmitted and may be in flight.
    repeated_before: u64,
    /// Missing packets before this one are lost.
    lost_before: u64,
}

impl Scoreboard {
    /// Records arrivals; returns true if any is new.
    pub(crate) fn insert(&mut self, packets: Range<u64>) -> bool {
        self.arrived.insert_range(packets)
    }

    /// The packets that have arrived.
    pub(crate) fn arrived(&self) -> &PacketSet {
        &self.arrived
    }

    /// All missing packets before this one are lost.
    pub(crate) fn lose_before(&mut self, packet: u64) {
        self.lost_before = self.lost_before.max(packet);
    }

    /// All packets before this one have arrived.
    pub(crate) fn on_progress(&mut self, packet: u64) {
        self.arrived.remove_before(packet);
        self.repeated_before = self.repeated_before.max(packet);
        self.lost_before = self.lost_before.max(packet);
    }

    /// Every missing packet before the last arrival is lost.
    pub(crate) fn lose_holes(&mut self) {
        if let Some(last) = self.arrived.nth_last(0) {
            self.lose_before(last);
        }
    }

    /// Missing packets from this one on have not been retransmitted, and none is known to be lost.
    pub(crate) fn repeat_from(&mut self, packet: u64) {
        (self.repeated_before, self.lost_before) = (packet, packet);
    }

    /// Forgets all packets.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Retransmission timeout: all packets from `first` up to before `next` that are not known to
    /// have arrived are lost.
    pub(crate) fn on_timeout(&mut self, first: u64, next: u64) {
        self.repeated_before = first;
        self.lost_before = next;
    }

    /// Takes the next packet to retransmit.
    pub(crate) fn take(&mut self) -> Option<u64> {
        let packet = self.arrived.first_missing(self.repeated_before);
        if packet >= self.lost_before {
            return None;
        }
        self.repeated_before = packet + 1;
        Some(packet)
    }

    /// True if this packet is lost, whether or not it has been retransmitted.
    pub(crate) fn is_lost(&self, packet: u64) -> bool {
        packet < self.lost_before && !self.arrived.contains(packet)
    }

    /// All packets before this one have been retransmitted, if they were lost.
    pub(crate) fn repeated_before(&self) -> u64 {
        self.repeated_before
    }

    /// True if this packet was lost and has been retransmitted.
    pub(crate) fn was_repeated(&self, packet: u64) -> bool {
        packet < self.repeated_before
    }

    /// True if this packet has been retransmitted or is queued for it.
    pub(crate) fn is_repeated(&self, packet: u64) -> bool {
        packet < self.repeated_before.max(self.lost_before)
    }

    /// Bytes that have arrived, and bytes that are lost and not yet retransmitted.
    pub(crate) fn bytes(&self, payload: u64, flow_bytes: u64) -> (u64, u64) {
        if self.arrived.count() == 0 && self.repeated_before >= self.lost_before {
            return (0, 0);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Six packets: five of 1000 B, and the last of 500 B.
    #[test]
    fn a_short_last_packet_counts_as_what_it_is() {
        let mut board = Scoreboard::default();
        assert_eq!(board.bytes(1000, 5500), (0, 0));
        board.on_timeout(0, 6);
        assert_eq!(board.bytes(1000, 5500), (0, 5500));
        board.insert(5..6);
        assert_eq!(board.bytes(1000, 5500), (500, 5000));
        board.insert(0..1);
        assert_eq!(board.bytes(1000, 5500), (1500, 4000));
        // No packet is short in a flow of six full ones.
        assert_eq!(board.bytes(1000, 6000), (2000, 4000));
    }

    /// Six packets are lost. The first arrives after all, and two others are retransmitted.
    #[test]
    fn packets_before_the_next_one_to_repeat_were_repeated() {
        let mut board = Scoreboard::default();
        board.on_timeout(0, 6);
        board.insert(0..1);
        assert_eq!([board.take(), board.take()], [Some(1), Some(2)]);
        let state = |packet| (board.was_repeated(packet), board.is_repeated(packet));
        let found = [1, 2, 3, 5, 6].map(state);
        let queued = (false, true);
        assert_eq!(found, [(true, true), (true, true), queued, queued, (false, false)]);
    }
}
