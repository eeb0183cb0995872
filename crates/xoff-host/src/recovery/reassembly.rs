//! Receive state of a flow, for receivers that keep out-of-order packets.

use std::cmp::Ordering;

use super::packet_set::PacketSet;
use super::{Arrival, RxProgress};

/// All bytes before `expected`, and some packets after it.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    /// Next byte expected.
    expected: u64,
    /// Packets beyond the first gap that have arrived; `None` before the first gap.
    beyond: Option<Box<PacketSet>>,
    /// True if the last packet was a duplicate.
    repeated: bool,
}

impl Reassembly {
    /// Adds an arriving packet. If it is out of order, returns the set of out-of-order packets
    /// including it.
    pub(super) fn on_data(&mut self, payload: u64, arrival: &Arrival) -> Option<&PacketSet> {
        self.repeated = false;
        match arrival.seq.cmp(&self.expected) {
            Ordering::Equal => {
                self.expected += arrival.bytes;
                self.close_gap(payload, arrival.end);
                None
            }
            Ordering::Greater => {
                let beyond = self.beyond.get_or_insert_default();
                self.repeated = !beyond.insert(arrival.seq / payload);
                Some(beyond)
            }
            Ordering::Less => {
                self.repeated = arrival.bytes > 0;
                None
            }
        }
    }

    /// True if the payload of the last packet was a duplicate.
    pub(super) fn repeated(&self) -> bool {
        self.repeated
    }

    /// Next byte expected: everything before it has arrived.
    pub(super) fn expected(&self) -> u64 {
        self.expected
    }

    /// Number of contiguous ranges of out-of-order packets.
    pub(super) fn blocks(&self) -> u64 {
        self.beyond.as_ref().map_or(0, |beyond| beyond.blocks())
    }

    /// Receive progress: in order, and in total.
    pub(super) fn rx_progress(&self, payload: u64) -> RxProgress {
        let beyond = self.beyond.as_ref().map_or(0, |beyond| beyond.count() * payload);
        RxProgress { received: self.expected + beyond, delivered: self.expected }
    }

    /// Advances `expected` over out-of-order packets that are now in order.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets 0, 2, 3 and 5 of 1000 bytes have arrived.
    #[test]
    fn progress_is_what_has_arrived_in_order_and_in_all() {
        let mut state = Reassembly::default();
        for packet in [0, 2, 3, 5, 3] {
            let arrival = Arrival { now: 0, seq: packet * 1000, bytes: 1000, end: 6000 };
            state.on_data(1000, &arrival);
        }
        let RxProgress { received, delivered } = state.rx_progress(1000);
        assert_eq!((received, delivered), (4000, 1000));
        assert_eq!((state.expected(), state.blocks(), state.repeated()), (1000, 2, true));
    }
}
