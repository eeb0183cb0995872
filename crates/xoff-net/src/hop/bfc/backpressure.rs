//! Backpressure to a switch's neighbours when its queues grow long. Each of the other files of this
//! folder implements one kind. Backpressure uses the queue of a packet, but not the reason for the
//! assignment.

use super::super::Signal;
use crate::packet::Packet;
use crate::recount::{Checked, WaitingPacket};
use crate::sched::{QueueMask, Scheduler};

/// Frames sent to neighbours, for the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseFrames {
    /// Pause frames.
    pub pauses: u64,
    /// Resume frames.
    pub resumes: u64,
    /// Pause bitmaps.
    pub refreshes: u64,
}

impl PauseFrames {
    /// Adds another switch's counts.
    pub(super) fn add(&mut self, other: &Self) {
        self.pauses += other.pauses;
        self.resumes += other.resumes;
        self.refreshes += other.refreshes;
    }

    /// Frames of all kinds.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.pauses + self.resumes + self.refreshes
    }
}

/// The queues or flows of the neighbours, and their pauses.
pub trait Upstream {
    /// When the timer of an ingress port fires next, after a signal or a firing at this moment.
    fn next_timer(&self, _now: u64) -> Option<u64> {
        None
    }

    /// The timer of an ingress port fires. Returns a frame to send, and whether the timer
    /// continues.
    fn on_timer(&mut self, _ingress: u16) -> (Option<Signal>, bool) {
        (None, false)
    }

    /// The neighbour's queues held paused at an ingress port.
    fn paused(&self, _ingress: u16) -> QueueMask {
        0
    }

    /// Frames sent so far.
    fn frames(&self) -> PauseFrames {
        PauseFrames::default()
    }
}

/// Upstream queues or flows, with a count of the reasons to pause each one.
pub trait Counted: Upstream {
    /// Counts the reasons again, from all packets that are one.
    ///
    /// # Errors
    /// A count that differs, or a pause without a reason.
    fn recount<'a>(&self, reasons: impl Iterator<Item = &'a Packet>) -> Checked;

    /// Adds a reason to pause the source of a packet. The first reason pauses it.
    fn hold(&mut self, packet: &Packet) -> Option<Signal>;

    /// Removes a reason. Without any reason the source resumes.
    fn release(&mut self, packet: &Packet) -> Option<Signal>;
}

/// A rule that decides which upstream queues or flows pause, and for how long.
pub trait Backpressure {
    /// The units that it pauses: queues or flows.
    type Upstream: Upstream;

    /// The state of the neighbours' queues or flows.
    fn upstream(&self) -> &Self::Upstream;

    /// The same state, mutable.
    fn upstream_mut(&mut self) -> &mut Self::Upstream;

    /// An egress port works at `rate` (bit/s) from now on.
    fn on_rate(&mut self, _egress: u16, _rate: u64) {}

    /// A packet has joined its queue.
    fn on_enqueue<S: Scheduler>(
        &mut self,
        egress: u16,
        packet: &mut Packet,
        queues: &S,
    ) -> Option<Signal>;

    /// A packet starts to leave.
    fn on_dequeue(&mut self, egress: u16, packet: &mut Packet) -> Option<Signal>;

    /// The next signal to send, after one was returned.
    fn next_signal(&mut self) -> Option<Signal> {
        None
    }

    /// Whether a packet that finds its port empty may pass without a signal.
    fn lets_pass(&self, egress: u16, packet: &Packet) -> bool;

    /// Counts the reasons for pauses again, from all packets that the switch has not counted off.
    ///
    /// # Errors
    /// A count that differs, or a pause without a reason.
    fn recount(&self, _waiting: &[WaitingPacket<'_>]) -> Checked {
        Ok(())
    }
}
