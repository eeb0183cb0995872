//! Flows of whole packets: a flow sends more bytes than it offered, and results have its own.

use xoff_core::FlowId;
use xoff_host::FlowStart;
use xoff_workload::{Arrival, ENDLESS};

use super::Simulation;

impl Simulation {
    /// The payload that a flow sends, with its padding to whole packets if so set.
    pub(super) fn sent_bytes(&mut self, id: FlowId, arrival: &Arrival) -> u64 {
        let frame = &self.setup.hosts.frame;
        if !frame.whole_packets || arrival.bytes == ENDLESS {
            return arrival.bytes;
        }
        self.padded.insert(id, arrival.bytes);
        arrival.bytes.next_multiple_of(frame.payload.0)
    }

    /// The payload of a flow without its padding: less than it offered if it was stopped.
    pub(super) fn own_bytes(&self, flow: &FlowStart) -> u64 {
        self.padded.get(&flow.id).map_or(flow.bytes, |&offered| offered.min(flow.bytes))
    }
}
