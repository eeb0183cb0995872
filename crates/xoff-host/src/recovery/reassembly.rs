//! What a receiver that keeps packets out of order has of a flow.

use std::cmp::Ordering;

use super::Arrival;
use super::packet_set::PacketSet;
use crate::receiver::Got;

/// All before a byte, and some packets after it.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    /// Next byte expected.
    expected: u64,
    /// Packets after that one that have come already; none before the first gap.
    beyond: Option<Box<PacketSet>>,
    /// Whether the packet that came last had come before.
    repeated: bool,
}

impl Reassembly {
    /// A packet has come. If it is ahead of its turn: the set of those that are, which now has it.
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

    /// Whether the payload of the packet that came last had come before.
    pub(super) fn repeated(&self) -> bool {
        self.repeated
    }

    /// Next byte expected: everything before it has come.
    pub(super) fn expected(&self) -> u64 {
        self.expected
    }

    /// What has come: in order, and in all.
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
