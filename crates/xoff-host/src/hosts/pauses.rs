//! Pauses of a NIC's queues by its neighbour, and of one flow by any switch on its path.

use xoff_net::hop::{flow_pause, obey, timed_pause};
use xoff_net::{Fabric, Packet};

use super::Hosts;

impl Hosts {
    pub(super) fn on_link_control(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let frame = fabric.packets[id];
        fabric.hear(self.nics[nic as usize].port, id);
        fabric.packets.remove(id);
        if !self.setup.obey_pauses {
            return;
        }
        if self.setup.pause_response == 0 {
            self.obey_frame(fabric, nic, &frame);
        } else {
            let due = fabric.now + self.setup.pause_response;
            self.nics[nic as usize].delay_frame(fabric, due, frame);
        }
    }

    fn obey_frame(&mut self, fabric: &mut Fabric, nic: u32, frame: &Packet) {
        let state = &mut self.nics[nic as usize];
        if let Some((queues, pause)) = timed_pause(frame, fabric.rate(state.port)) {
            state.pause_for(fabric, queues, pause);
        } else if let Some(pause) = flow_pause(frame) {
            state.count_held_flow(fabric.now, pause);
            self.hold_flow(fabric, frame, pause);
        } else {
            state.forget_pause_ends(frame.as_link_control().queues());
            let paused = obey(frame, state.paused());
            self.set_paused(fabric, nic, paused);
        }
    }

    /// Pauses or resumes one flow for the neighbour. A NIC has a list per flow, so other flows of
    /// the queue continue.
    fn hold_flow(&mut self, fabric: &mut Fabric, frame: &Packet, pause: bool) {
        if let Some(sender) = self.sender_of(frame) {
            self.flows[sender as usize].set_held(pause);
            self.make_ready(fabric, sender);
        }
    }

    /// Timed pauses of a NIC's queues may have ended, or delayed frames take effect.
    pub fn on_pause_timer(&mut self, fabric: &mut Fabric, nic: u32) {
        while let Some(frame) = self.nics[nic as usize].take_due_frame(fabric.now) {
            self.obey_frame(fabric, nic, &frame);
        }
        let paused = self.nics[nic as usize].end_pauses(fabric);
        self.set_paused(fabric, nic, paused);
    }

    /// The link of a NIC has gone down: the pauses of its switch's queues end, and those of its own
    /// that do not end by themselves.
    pub fn on_link_down(&mut self, fabric: &mut Fabric, nic: u32) {
        let paused = self.nics[nic as usize].on_link_down(&mut fabric.packets);
        self.set_paused(fabric, nic, paused);
        if let Some(intake) = self.intakes.get_mut(nic as usize) {
            intake.resume();
        }
    }

    fn set_paused(&mut self, fabric: &mut Fabric, nic: u32, paused: u128) {
        let state = &mut self.nics[nic as usize];
        let before = state.paused();
        state.set_paused(fabric.now, paused);
        if before & !paused != 0 {
            fabric.kick(state.port);
        }
    }

    /// A switch requests a pause of one flow: "its pause-end time is updated with the new one" (SFC
    /// §3.3), even if that is sooner.
    pub(super) fn on_back_to_sender(&mut self, fabric: &mut Fabric, id: u32) {
        let signal = fabric.packets[id];
        fabric.packets.remove(id);
        let header = signal.as_back_to_sender();
        self.stats.signals.add(fabric.now - header.cause_sent_ps());
        if let Some(sender) = self.sender_of(&signal) {
            self.flows[sender as usize].paused_until = fabric.now + header.pause_ps();
            self.make_ready(fabric, sender);
        }
    }
}
