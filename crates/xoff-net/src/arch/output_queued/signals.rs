//! Frames between an output-queued switch and its neighbours.

use super::OutputQueued;
use crate::fabric::Fabric;
use crate::hop::{HopControl, Signal, each_hop};

impl OutputQueued {
    pub(super) fn on_link_control(&mut self, fabric: &mut Fabric, number: u16, id: u32) {
        fabric.hear(self.memory.first_port + u32::from(number), id);
        if !self.obey_watched(fabric, number, id) {
            self.egress[number as usize].obey(fabric.now, &fabric.packets[id]);
        }
        fabric.packets.remove(id);
        self.link.wake(fabric, &self.egress, number);
    }

    /// Sends the signals of the hop control.
    pub(super) fn signal(&mut self, fabric: &mut Fabric, first: Signal) {
        let mut next = Some(first);
        while let Some(signal) = next {
            self.send_and_await(fabric, signal);
            next = each_hop!(&mut self.hop, hop => hop.next_signal());
        }
    }

    /// Sends a signal of the hop control and starts the ingress's timer.
    fn send_and_await(&mut self, fabric: &mut Fabric, signal: Signal) {
        let timer = self.first_timer + u32::from(signal.port);
        self.send(fabric, signal);
        let next = each_hop!(&self.hop, hop => hop.next_timer(fabric.now));
        if let Some(next) = next
            && fabric.wheel.armed(timer).is_none()
        {
            fabric.wheel.arm(timer, next);
        }
    }

    pub(super) fn send(&mut self, fabric: &mut Fabric, signal: Signal) {
        if self.loses_control() {
            return;
        }
        // With one sequence for all draws, each frame's identification takes a number of it.
        self.memory.marking.skip_shared();
        self.link.send(fabric, &mut self.egress, signal);
    }

    /// Whether impairment drops the next frame to a neighbour or a sender.
    pub(super) fn loses_control(&mut self) -> bool {
        let lost = self.link.loses();
        self.memory.stats.control_lost += u64::from(lost);
        lost
    }
}
