//! Flows that begin when another one has arrived, or has ended. Both happen at the host that sends the
//! flow that waits, so hosts begin it themselves, at that very instant.

use rustc_hash::FxHashMap;
use xoff_net::Fabric;

use super::Hosts;
use crate::flow::FlowStart;

/// A flow has arrived whole at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// When (ps).
    pub time_ps: u64,
    /// The flow's number.
    pub flow: u64,
}

/// A flow whose arrival is awaited.
#[derive(Debug)]
struct Awaited {
    flow: u64,
    /// The flow that begins then.
    next: Option<FlowStart>,
}

/// What the hosts of a partition wait for.
#[derive(Debug, Default)]
pub struct Chains {
    /// Arrivals here, by the flow's number as packets carry it.
    arrivals: FxHashMap<u32, Awaited>,
    /// Flows that begin when another one, whose number this is, ends here, if that is before a time (ps).
    ends: FxHashMap<u64, (FlowStart, u64)>,
    /// Flows that have begun so since the last look.
    pub begun: Vec<FlowStart>,
    /// Awaited flows that have arrived since the last look.
    pub arrived: Vec<Arrived>,
}

impl Chains {
    /// The arrival of a flow to a host here is to be told, and begins the flow `next`, if any.
    pub fn await_arrival(&mut self, flow: u64, next: Option<FlowStart>) {
        let awaited = self.arrivals.entry(flow as u32).or_insert(Awaited { flow, next: None });
        debug_assert!(next.is_none() || awaited.next.is_none(), "two flows wait for flow {flow}");
        awaited.next = next.or(awaited.next);
    }

    /// The flow `next` of a host here begins when its flow `flow` ends, if that is before `until_ps`.
    pub fn await_end(&mut self, flow: u64, next: FlowStart, until_ps: u64) {
        let other = self.ends.insert(flow, (next, until_ps));
        debug_assert!(other.is_none(), "two flows wait for flow {flow}");
    }

    /// Whether the arrival of any flow is awaited.
    #[inline]
    pub(super) fn await_arrivals(&self) -> bool {
        !self.arrivals.is_empty()
    }
}

impl Hosts {
    /// All bytes of a flow have come to a host, perhaps not for the first time.
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
    pub(super) fn on_ended(&mut self, fabric: &mut Fabric, nic: u32, flow: u64) {
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
