//! Flows that begin when another one has arrived or ended. Both events happen at the sender of the
//! waiting flow, so hosts start it themselves, at that instant. A trigger starts flows of any host,
//! so all hosts are in one partition then.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use xoff_core::FlowId;
use xoff_core::program::Event;
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

/// A trigger: its source, and its number there.
pub type TriggerId = (u16, u32);

/// A flow whose arrival is awaited.
#[derive(Debug)]
struct Awaited {
    flow: FlowId,
    /// The flow that begins at its arrival.
    next: Option<FlowStart>,
    /// The trigger that its arrival activates.
    trigger: Option<TriggerId>,
}

/// A trigger and the flows that wait for it.
#[derive(Debug, Default)]
struct Trigger {
    activations: u32,
    /// Each flow with the number of activations by which it begins, in ascending order.
    waiting: VecDeque<(u32, FlowStart)>,
}

/// Events that the hosts of a partition wait for.
#[derive(Debug, Default)]
pub struct Chains {
    /// Awaited arrivals here, by the flow number in packets.
    arrivals: FxHashMap<u32, Awaited>,
    /// Flows that begin when the flow with this number ends here, if that is before a time (ps).
    ends: FxHashMap<FlowId, (FlowStart, u64)>,
    /// The trigger that the end of the flow with this number here activates.
    activated_by_end: FxHashMap<FlowId, TriggerId>,
    triggers: FxHashMap<TriggerId, Trigger>,
    /// Flows started by an event since they were last taken.
    pub begun: Vec<FlowStart>,
    /// Awaited flows that have arrived since they were last taken.
    pub arrived: Vec<Arrived>,
}

impl Chains {
    /// Reports the arrival of a flow to a host here, and starts the flow `next` then, if any.
    pub fn await_arrival(&mut self, flow: FlowId, next: Option<FlowStart>) {
        let awaited = self.awaited(flow);
        debug_assert!(next.is_none() || awaited.next.is_none(), "two flows wait for flow {flow}");
        awaited.next = next.or(awaited.next);
    }

    fn awaited(&mut self, flow: FlowId) -> &mut Awaited {
        let none = Awaited { flow, next: None, trigger: None };
        self.arrivals.entry(flow.0 as u32).or_insert(none)
    }

    /// Activates a trigger when a flow has arrived at a host here.
    pub fn activate_at_arrival(&mut self, flow: FlowId, trigger: TriggerId) {
        self.awaited(flow).trigger = Some(trigger);
    }

    /// Activates a trigger when a flow of a host here has ended.
    pub fn activate_at_end(&mut self, flow: FlowId, trigger: TriggerId) {
        self.activated_by_end.insert(flow, trigger);
    }

    /// Starts a flow of a host here by this number of activations of a trigger. Flows of a trigger
    /// come in the order of these numbers.
    pub fn await_trigger(&mut self, trigger: TriggerId, activations: u32, start: FlowStart) {
        let waiting = &mut self.triggers.entry(trigger).or_default().waiting;
        debug_assert!(waiting.back().is_none_or(|&(last, _)| last <= activations));
        waiting.push_back((activations, start));
    }

    /// The flows that wait for a trigger, in no order.
    pub fn untriggered(&self) -> impl Iterator<Item = &FlowStart> {
        self.triggers.values().flat_map(|trigger| trigger.waiting.iter().map(|(_, start)| start))
    }

    /// Starts the flow `next` of a host here when the host's flow `flow` ends, if that is before
    /// `until_ps`.
    pub fn await_end(&mut self, flow: FlowId, next: FlowStart, until_ps: u64) {
        let other = self.ends.insert(flow, (next, until_ps));
        debug_assert!(other.is_none(), "two flows wait for flow {flow}");
    }
}

impl Hosts {
    /// True if an arrival may have an effect.
    #[inline]
    pub(super) fn await_arrivals(&self) -> bool {
        !self.chains.arrivals.is_empty() || self.programs.are_here()
    }

    /// All bytes of a flow have arrived at a host, perhaps not for the first time.
    #[cold]
    #[inline(never)]
    pub(super) fn on_arrived(&mut self, fabric: &mut Fabric, nic: u32, flow: u32) {
        if self.programs.are_here() {
            self.tell_program(fabric, nic, flow, Event::Arrived);
        }
        let Some(awaited) = self.chains.arrivals.remove(&flow) else { return };
        self.chains.arrived.push(Arrived { time_ps: fabric.now, flow: awaited.flow });
        if let Some(next) = awaited.next {
            self.begin(fabric, nic, next);
        }
        if let Some(trigger) = awaited.trigger {
            self.activate(fabric, trigger);
        }
    }

    /// A flow of a host has ended.
    #[inline]
    pub(super) fn on_ended(&mut self, fabric: &mut Fabric, nic: u32, flow: FlowId) {
        if self.programs.are_here() {
            self.tell_program(fabric, nic, flow.0 as u32, Event::Sent);
        }
        if self.chains.ends.is_empty() && self.chains.activated_by_end.is_empty() {
            return;
        }
        if let Some(trigger) = self.chains.activated_by_end.remove(&flow) {
            self.activate(fabric, trigger);
        }
        if let Some((next, until_ps)) = self.chains.ends.remove(&flow)
            && fabric.now < until_ps
        {
            self.begin(fabric, nic, next);
        }
    }

    #[cold]
    fn activate(&mut self, fabric: &mut Fabric, trigger: TriggerId) {
        let Some(state) = self.chains.triggers.get_mut(&trigger) else { return };
        state.activations += 1;
        let ready = state.waiting.partition_point(|&(needed, _)| needed <= state.activations);
        let begin: Vec<FlowStart> = state.waiting.drain(..ready).map(|(_, flow)| flow).collect();
        for next in begin {
            let nic = self.nics.partition_point(|nic| nic.host < next.src) as u32;
            debug_assert_eq!(self.nics[nic as usize].host, next.src, "all hosts are here");
            self.begin(fabric, nic, next);
        }
    }

    /// Starts a flow now.
    pub(super) fn begin(&mut self, fabric: &mut Fabric, nic: u32, mut start: FlowStart) {
        start.start_ps = fabric.now;
        self.chains.begun.push(start);
        self.start_flow(fabric, nic, start);
    }
}
