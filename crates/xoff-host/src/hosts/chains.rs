//! Flows that begin when another one has arrived or ended. Both events happen at the sender of the
//! waiting flow, so hosts start it themselves, at that instant.

use rustc_hash::FxHashMap;
use xoff_core::FlowId;
use xoff_net::Fabric;

use super::Hosts;
use crate::flow::FlowStart;

/// The complete arrival of a flow at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Time of the arrival (ps).
    pub time_ps: u64,
    /// The flow.
    pub flow: FlowId,
}

/// A flow whose arrival is awaited.
#[derive(Debug)]
struct Awaited {
    flow: FlowId,
    /// The flow that begins at its arrival.
    next: Option<FlowStart>,
}

/// Events that the hosts of a partition wait for.
#[derive(Debug, Default)]
pub struct Chains {
    /// Awaited arrivals here, by the flow number in packets.
    arrivals: FxHashMap<u32, Awaited>,
    /// Flows that begin when the flow with this number ends here, if that is before a time (ps).
    ends: FxHashMap<FlowId, (FlowStart, u64)>,
    /// Flows started by an event since they were last taken.
    pub begun: Vec<FlowStart>,
    /// Awaited flows that have arrived since they were last taken.
    pub arrived: Vec<Arrived>,
}

impl Chains {
    /// Reports the arrival of a flow to a host here, and starts the flow `next` then, if any.
    pub fn await_arrival(&mut self, flow: FlowId, next: Option<FlowStart>) {
        let awaited = self.arrivals.entry(flow.0 as u32).or_insert(Awaited { flow, next: None });
        debug_assert!(next.is_none() || awaited.next.is_none(), "two flows wait for flow {flow}");
        awaited.next = next.or(awaited.next);
    }

    /// Starts the flow `next` of a host here when the host's flow `flow` ends, if that is before
    /// `until_ps`.
    pub fn await_end(&mut self, flow: FlowId, next: FlowStart, until_ps: u64) {
        let other = self.ends.insert(flow, (next, until_ps));
        debug_assert!(other.is_none(), "two flows wait for flow {flow}");
    }

    /// True if any arrival is awaited.
    #[inline]
    pub(super) fn await_arrivals(&self) -> bool {
        !self.arrivals.is_empty()
    }
}

impl Hosts {
    /// All bytes of a flow have arrived at a host, perhaps not for the first time.
    #[cold]
    #[inline(never)]
    pub(super) fn on_arrived(&mut self, fabric: &mut Fabric, nic: u32, flow: u32) {
        let Some(awaited) = self.chains.arrivals.remove(&flow) else { return };
        self.chains.arrived.push(Arrived { time_ps: fabric.now, flow: awaited.flow });
        if let Some(next) = awaited.next {
            self.begin(fabric, nic, next);
        }
    }

    /// A flow of a host has ended.
    #[inline]
    pub(super) fn on_ended(&mut self, fabric: &mut Fabric, nic: u32, flow: FlowId) {
        if self.chains.ends.is_empty() {
            return;
        }
        if let Some((next, until_ps)) = self.chains.ends.remove(&flow)
            && fabric.now < until_ps
        {
            self.begin(fabric, nic, next);
        }
    }

    fn begin(&mut self, fabric: &mut Fabric, nic: u32, mut start: FlowStart) {
        start.start_ps = fabric.now;
        self.chains.begun.push(start);
        self.start_flow(fabric, nic, start);
    }
}
