//! Frames between a crossbar switch and its neighbours.

use super::Crossbar;
use crate::arch::frames::{Frames, Way};
use crate::fabric::Fabric;

impl Crossbar {
    /// Splits off what frames need.
    #[inline(always)]
    pub(super) fn frames<'a>(&'a mut self, fabric: &'a mut Fabric) -> (&'a mut Frames, Way<'a>) {
        let Self { frames, egress, stats, .. } = self;
        (frames, Way { fabric, egress, stats })
    }

    /// Asks the neighbour of a port to pause classes.
    #[cold]
    pub(super) fn pause(&mut self, fabric: &mut Fabric, port: u16, classes: u8) {
        let queues = self.pauses.queues(classes);
        let (frames, mut way) = self.frames(fabric);
        frames.pause(&mut way, port, queues);
    }

    /// Asks it to resume classes.
    #[cold]
    pub(super) fn resume(&mut self, fabric: &mut Fabric, port: u16, classes: u8) {
        let (queues, held) = (self.pauses.queues(classes), self.pauses.paused(port));
        let (frames, mut way) = self.frames(fabric);
        frames.resume(&mut way, port, queues, held);
    }

    /// Frames that took their time are sent or obeyed.
    pub(super) fn on_frame_timer(&mut self, fabric: &mut Fabric) {
        let (frames, mut way) = self.frames(fabric);
        frames.on_frame_timer(&mut way);
    }

    /// Pauses of a port end, or have to be asked for again.
    pub(super) fn on_port_timer(&mut self, fabric: &mut Fabric, port: u16) {
        let held = self.pauses.holds_paused(port) as u8;
        let (frames, mut way) = self.frames(fabric);
        frames.on_port_timer(&mut way, port, held);
    }
}
