//! What a switch asks of its neighbours when its queues are long: one of the files beside this one.
//! Knows which queue a packet is in, but not why.

use super::super::Signal;
use crate::packet::Packet;
use crate::sched::{QueueMask, Scheduler};

/// Frames to neighbours, for the results.
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

/// Queues or flows of the neighbours, and which of them are paused.
pub trait Upstream {
    /// When the timer of an ingress port should next fire after a signal or a firing now.
    fn next_timer(&self, _now: u64) -> Option<u64> {
        None
    }

    /// The timer of an ingress port fires: a frame to send, and whether the timer goes on.
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

/// Decides who is paused, and for how long.
pub trait Backpressure {
    /// What it pauses.
    type Upstream: Upstream;

    /// What is paused.
    fn upstream(&self) -> &Self::Upstream;

    /// The same, to change it.
    fn upstream_mut(&mut self) -> &mut Self::Upstream;

    /// A packet has joined its queue.
    fn on_enqueue<S: Scheduler>(
        &mut self,
        egress: u16,
        packet: &mut Packet,
        queues: &S,
    ) -> Option<Signal>;

    /// A packet starts to leave.
    fn on_dequeue(&mut self, egress: u16, packet: &mut Packet) -> Option<Signal>;

    /// Another signal, beside the one just returned.
    fn next_signal(&mut self) -> Option<Signal> {
        None
    }

    /// Whether a packet that finds its port empty may come and leave without a signal.
    fn lets_pass(&self, egress: u16, packet: &Packet) -> bool;
}
