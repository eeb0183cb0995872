//! Frames between an output-queued switch and its neighbours.

use super::OutputQueued;
use crate::fabric::Fabric;
use crate::hop::{HopControl, Signal, each_hop};
use crate::packet::Kind;

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

    /// The link of a port has gone down. PFC forgets its pauses there: sent after a short outage, a
    /// frame that waits would begin one without an end. BFC repeats its frames.
    pub(super) fn lose_frames(&mut self, fabric: &mut Fabric, number: u16) {
        let waiting = &mut self.egress[number as usize].common.control;
        let lost = waiting.discard(&mut fabric.packets, Kind::LinkControl);
        self.memory.stats.control_lost += u64::from(lost);
    }

    /// Whether impairment drops the next frame to a neighbour or a sender.
    pub(super) fn loses_control(&mut self) -> bool {
        let lost = self.link.loses();
        self.memory.stats.control_lost += u64::from(lost);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{self, DESTINATIONS};
    use super::*;
    use crate::arch::Switch;
    use crate::buffer::BufferConfig;
    use crate::hop::Ask;
    use crate::packet::Packet;
    use crate::sched::{AnyScheduler, Fifo};

    /// A pause frame that waits behind a long packet would be sent after a short outage, and the
    /// switch no longer knows of the pause.
    #[test]
    fn frames_that_wait_are_lost_with_their_link() {
        let fifo = || AnyScheduler::Fifo(Fifo::default());
        let mut switch = OutputQueued::new(rig::parts(fifo, &BufferConfig::default()));
        let mut fabric = rig::fabric(10_000_000_000);
        let packet = |fabric: &mut Fabric, kind, bytes| {
            fabric.packets.insert(Packet { dst: 1, ..Packet::new(kind, bytes) })
        };
        let long = packet(&mut fabric, Kind::Data, 9000);
        assert_eq!(switch.on_packet(&mut fabric, &DESTINATIONS, 0, long), None);
        switch.send(&mut fabric, Signal::new(1, Ask::Pause, 1));
        let ack = packet(&mut fabric, Kind::Ack, 64);
        switch.enqueue_control(&mut fabric, 1, ack);
        let waiting = |switch: &OutputQueued, fabric: &Fabric| -> Vec<u32> {
            switch.egress()[1].common.control.packets(&fabric.packets).collect()
        };
        assert_eq!(waiting(&switch, &fabric).len(), 2);
        switch.on_link_down(&mut fabric, 0);
        assert_eq!(waiting(&switch, &fabric).len(), 2, "another link");
        switch.on_link_down(&mut fabric, 1);
        assert_eq!(waiting(&switch, &fabric), [ack]);
        assert_eq!(switch.stats().control_lost, 1);
    }
}
