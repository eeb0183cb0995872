//! Feedback to senders: acknowledgements, notifications, and timers of congestion controls.

use xoff_net::packet::{NONE, flag};
use xoff_net::{Fabric, Kind, Packet};

use super::Hosts;
use super::tcp::AckOutcome;
use crate::cc::hpcc_pint::Sampling;
use crate::cc::{Ack, CongestionControl};
use crate::nic::RoundRobin;
use crate::receiver_driven::sender_of;

impl Hosts {
    pub(super) fn on_ack(&mut self, fabric: &mut Fabric, id: u32) {
        if self.plain {
            self.on_ack_as::<true>(fabric, id);
        } else {
            self.on_ack_as::<false>(fabric, id);
        }
    }

    /// `PLAIN` as [`plain`](Self::plain).
    #[inline(never)]
    fn on_ack_as<const PLAIN: bool>(&mut self, fabric: &mut Fabric, id: u32) {
        let packet = fabric.packets[id];
        fabric.packets.remove(id);
        if let Some(sender) = self.sender_of(&packet) {
            self.acknowledge::<PLAIN>(fabric, sender, &packet);
        }
        if packet.record != NONE {
            fabric.records.remove(packet.record);
        }
    }

    #[inline(always)]
    fn acknowledge<const PLAIN: bool>(
        &mut self,
        fabric: &mut Fabric,
        sender: u32,
        packet: &Packet,
    ) {
        let flow = &mut self.flows[sender as usize];
        let payload = self.setup.frame.payload.0;
        let answer = packet.as_answer();
        let acked = flow.acknowledge(self.chunks.counted(answer.expected()), payload);
        let mut news = acked > 0;
        if packet.kind == Kind::Nack {
            news |= flow.on_nack(answer.expected(), answer.detail(), payload);
        }
        if news {
            flow.progress_ps = fabric.now;
            self.stats.acknowledged += u64::from(!flow.open);
        }
        let path = &self.paths[flow.path];
        let control = &mut self.controls[sender as usize];
        let AckOutcome { recovering, follows, in_flight } = match &self.tcp {
            Some(tcp) if !PLAIN => {
                tcp.on_ack(fabric, sender, flow, path, control, (packet, acked, news))
            }
            _ => AckOutcome::default(),
        };
        let sampling = if PLAIN { None } else { self.samplings.get_mut(flow.nic as usize) };
        let sampled = sampling.is_none_or(Sampling::chooses_next);
        let ack = Ack {
            now: fabric.now,
            set: fabric.arrival_set(),
            seq: answer.expected(),
            acked,
            snd_nxt: flow.snd_nxt,
            rtt: fabric.now - answer.stamp_ps(),
            in_flight,
            recovering,
            marked: packet.has(flag::MARKED),
            record: (packet.record != NONE && sampled).then(|| &fabric.records[packet.record]),
        };
        let before = flow.pace.rate;
        control.on_ack(path, &ack, &mut flow.pace);
        if follows {
            flow.reduce(payload, acked, control.window_bytes());
            flow.look_further(payload);
        }
        if !PLAIN && let Some(config) = &self.setup.onramp {
            let acked = packet.kind == Kind::Ack;
            let delay = acked.then(|| u64::from(answer.detail()) * 1_000);
            let state = &mut self.onramps[sender as usize];
            let until = state.on_arrived(config, path, fabric.now, answer.stamp_ps(), delay);
            flow.paused_until = flow.paused_until.max(until);
        }
        let ended = flow.has_ended();
        if self.setup.transport.pacing && control.rebases_pacing() {
            self.rebase(fabric, sender, before);
        }
        if ended {
            self.finish(fabric, sender, answer.stamp_ps());
        } else {
            self.after_control(fabric, sender);
        }
    }

    /// Shifts a flow's pacing time after its rate changed from `before`, and with it the search of
    /// a NIC with round robin by index. The search moves even if the rate is unchanged or the flow
    /// has no data to send.
    pub(super) fn rebase(&mut self, fabric: &mut Fabric, sender: u32, before: u64) {
        let flow = &mut self.flows[sender as usize];
        if flow.pace.rate != before && flow.last_wire_bytes > 0 {
            let old = fabric.time_at(before, flow.last_wire_bytes);
            let new = fabric.time_at(flow.pace.rate, flow.last_wire_bytes);
            flow.next_avail = (flow.next_avail + new).saturating_sub(old);
        }
        let index_timer = self.nics[flow.nic as usize].timers.index;
        if fabric.wheel.armed(index_timer).is_some_and(|armed| flow.next_avail < armed) {
            fabric.arm(index_timer, flow.next_avail.max(fabric.now));
        }
    }

    pub(super) fn on_notification(&mut self, fabric: &mut Fabric, id: u32) {
        let packet = fabric.packets[id];
        fabric.packets.remove(id);
        let Some(sender) = self.sender_of(&packet) else { return };
        let flow = &mut self.flows[sender as usize];
        let path = &self.paths[flow.path];
        self.controls[sender as usize].on_notification(path, fabric.now, &mut flow.pace);
        self.after_control(fabric, sender);
    }

    /// The flow that a packet answers, unless the flow has ended and its slot was reused.
    #[inline]
    pub(super) fn sender_of(&self, packet: &Packet) -> Option<u32> {
        sender_of(&self.flows, packet)
    }

    /// After a congestion control may have changed its decision: arms its timer and lets the flow
    /// send.
    #[inline(always)]
    pub(super) fn after_control(&mut self, fabric: &mut Fabric, sender: u32) {
        if self.timed {
            self.arm_control(fabric, sender);
        } else {
            debug_assert!(self.controls[sender as usize].next_timer().is_none(), "see has_timers");
        }
        self.resume(fabric, sender);
    }

    #[inline]
    fn arm_control(&mut self, fabric: &mut Fabric, sender: u32) {
        let timer = self.flows[sender as usize].control_timer;
        let control = &self.controls[sender as usize];
        let next = control.next_timer();
        if next != fabric.wheel.armed(timer) {
            match next {
                Some(time) => fabric.arm_as_set(timer, time, control.timer_set()),
                None => fabric.wheel.cancel(timer),
            }
        }
    }

    /// A congestion control's timer is due.
    pub fn on_control_timer(&mut self, fabric: &mut Fabric, sender: u32) {
        let flow = &mut self.flows[sender as usize];
        let path = &self.paths[flow.path];
        self.controls[sender as usize].on_timer(path, fabric.now, &mut flow.pace);
        if self.setup.transport.round_robin == RoundRobin::Index {
            // Such a NIC uses the new rate when it sends the flow's next packet.
            self.arm_control(fabric, sender);
        } else {
            self.after_control(fabric, sender);
        }
    }
}
