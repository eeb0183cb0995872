//! Start and end of flows.

use xoff_core::{FlowId, TimerId};
use xoff_net::{Fabric, phase};

use super::Hosts;
use crate::cc::AnyControl;
use crate::flow::{Finished, FlowStart, FlowStop, Sender};
use crate::receiver_driven::Driven;
use xoff_net::packet::flag;

use crate::nic::RoundRobin;
use crate::onramp::OnRamp;
use crate::recovery::SenderHalf;

impl Hosts {
    /// Starts a flow at a host of this partition. `nic` is the host's, or one of several.
    pub fn start_flow(&mut self, fabric: &mut Fabric, nic: u32, start: FlowStart) {
        let nic = self.link_of_flow(nic, &start);
        let path_number = self.path_to(nic, start.src, start.dst);
        let path = &self.paths[path_number];
        let (control, pace) = self.setup.control.start(path, &self.setup.tcp);
        let recovery = self.setup.transport.recovery;
        let half = match &self.receiver_driven {
            Some(transport) => transport.half(),
            None if self.setup.literal => SenderHalf::LiteralGoBackN,
            None => SenderHalf::new(recovery, &self.setup.tcp),
        };
        let reach = self.setup.recovery.reach(path);
        let (sender, timers) = self.new_number(fabric, start.id);
        let mut flow = Sender::new(start, pace, half, nic, timers);
        flow.path = path_number;
        if flow.is_opening() {
            flow.request_opening();
        }
        flow.reach = reach;
        if self.setup.labelled.get(usize::from(start.source)).is_some_and(|&labelled| labelled) {
            flow.flags |= flag::LABELLED;
        }
        self.add_flow(sender, flow, control);
        if self.setup.transport.round_robin == RoundRobin::Index {
            self.nics[nic as usize].order.push((sender, start.id));
            self.note_begin(nic, sender);
        }
        if self.setup.onramp.is_some() {
            self.onramps.resize_with(self.flows.len(), OnRamp::default);
            self.onramps[sender as usize] = OnRamp::default();
        }
        // Other flows may begin here at this instant.
        fabric.hold(self.nics[nic as usize].port);
        self.start_driven(fabric, sender);
        self.start_flowtune(fabric, sender);
        self.stats.started += 1;
        self.watch(fabric, sender);
        self.make_ready(fabric, sender);
    }

    /// Stores a new flow in its slot.
    #[inline]
    pub(super) fn add_flow(&mut self, sender: u32, mut flow: Sender, control: AnyControl) {
        let state = &mut self.nics[flow.nic as usize];
        flow.place = state.flows.len() as u32;
        state.flows.push(sender);
        if let Some(place) = self.flows.get_mut(sender as usize) {
            *place = flow;
            self.controls[sender as usize] = control;
        } else {
            self.flows.push(flow);
            self.controls.push(control);
        }
    }

    /// Returns the slot of a new flow and its pacing and control timers. Timers rank by the flow's
    /// id in the run, which does not depend on the partitioning.
    pub(super) fn new_number(
        &mut self,
        fabric: &mut Fabric,
        flow: FlowId,
    ) -> (u32, (TimerId, TimerId)) {
        let rank = |timer: u64| phase::TIMER | ((flow.0 << 2 | timer) & phase::NUMBERS);
        if let Some(sender) = self.free.pop() {
            self.add_retransmission_timer(fabric, sender, rank(2));
            let old = &self.flows[sender as usize];
            let timers = (old.pace_timer, old.control_timer);
            fabric.wheel.set_rank(timers.0, rank(0));
            fabric.wheel.set_rank(timers.1, rank(1));
            return (sender, timers);
        }
        let sender = self.flows.len() as u32;
        self.add_retransmission_timer(fabric, sender, rank(2));
        let pace = fabric.wheel.add_timer(rank(0), self.tags.pace + sender);
        let control = fabric.wheel.add_timer(rank(1), self.tags.control + sender);
        (sender, (pace, control))
    }

    /// Stops a flow: its application has no more data. The sent data is delivered, then the flow
    /// ends.
    pub fn stop_flow(&mut self, fabric: &mut Fabric, nic: u32, stop: &FlowStop) {
        let nics = &self.nics[self.nics_of_host(nic)];
        let mut flows = nics.iter().flat_map(|nic| nic.flows.iter().copied());
        let found = flows.find(|&sender| self.flows[sender as usize].start.id == stop.flow);
        // The flow may have sent all its data and ended already.
        let Some(sender) = found else { return };
        let flow = &mut self.flows[sender as usize];
        if flow.stop() {
            self.stop_flowtune(fabric, sender);
            self.finish(fabric, sender, fabric.now);
        } else if !flow.ringing {
            self.leave_queue(fabric, sender);
        }
    }

    /// All bytes of a flow to a host here have arrived, though no packet said so: its sender
    /// stopped.
    pub fn end_receiver(&mut self, now: u64, flow: FlowId) {
        self.receivers.end(now, flow.0 as u32);
    }

    pub(super) fn finish(&mut self, fabric: &mut Fabric, sender: u32, received_ps: u64) {
        let flow = &mut self.flows[sender as usize];
        flow.alive = false;
        let (nic, place, queue) = (flow.nic as usize, flow.place as usize, flow.queue.take());
        let (end_ps, flow_id) = (fabric.now, flow.start.id);
        self.finished.push(Finished { flow: flow.start, end_ps, received_ps });
        self.stats.finished += 1;
        self.stats.finished_packets += flow.snd_una.div_ceil(self.setup.frame.payload.0);
        self.nics[nic].digest.add(flow.start.id.0 ^ end_ps.rotate_left(32));
        fabric.wheel.cancel(flow.pace_timer);
        fabric.wheel.cancel(flow.control_timer);
        let ringing = flow.ringing;
        self.stop_timer(fabric, sender);
        let state = &mut self.nics[nic];
        state.flows.swap_remove(place);
        if let Some(&moved) = state.flows.get(place) {
            self.flows[moved as usize].place = place as u32;
        }
        if let Some(queue) = queue {
            state.release_queue(queue);
        }
        if let Some(posted) = self.posted.get_mut(nic) {
            posted.end(flow_id.0 as u32, sender);
        }
        let mut is_free = !ringing;
        if self.setup.transport.round_robin == RoundRobin::Index {
            // The acknowledgement makes the NIC check its other flows too.
            fabric.kick(self.nics[nic].port);
            is_free &= !self.flows[sender as usize].haunts();
            self.note_end(nic as u32, sender);
            if self.setup.literal {
                self.receivers.forget_flow(flow_id.0 as u32);
            }
        }
        if is_free {
            self.free.push(sender);
        }
        self.on_ended(fabric, nic as u32, flow_id);
    }
}
