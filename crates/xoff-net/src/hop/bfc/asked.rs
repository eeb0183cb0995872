//! What a switch has asked its neighbours to pause, and the bitmaps that say it again (BFC §3.3.2).

use super::super::{Ask, Signal};
use super::BfcConfig;
use super::backpressure::PauseFrames;
use crate::sched::QueueMask;

#[derive(Clone, Copy, Debug, Default)]
struct Neighbour {
    paused: QueueMask,
    /// How many empty bitmaps are still to be sent.
    owed: u16,
}

/// The queues of the neighbours that are to pause, by ingress port.
#[derive(Debug)]
pub(super) struct Asked {
    neighbours: Vec<Neighbour>,
    refresh_period: u64,
    empty_refreshes: u16,
    pub(super) frames: PauseFrames,
}

impl Asked {
    pub(super) fn new(config: &BfcConfig, ports: usize) -> Self {
        Self {
            neighbours: vec![Neighbour::default(); ports],
            refresh_period: config.refresh_period.0,
            empty_refreshes: config.empty_refreshes,
            frames: PauseFrames::default(),
        }
    }

    /// A queue is to pause from now on.
    pub(super) fn pause(&mut self, ingress: u16, queue: u8) -> Signal {
        let neighbour = &mut self.neighbours[ingress as usize];
        neighbour.paused |= 1 << queue;
        neighbour.owed = self.empty_refreshes;
        self.frames.pauses += 1;
        Signal::new(ingress, Ask::Pause, 1 << queue)
    }

    /// A queue may go on.
    pub(super) fn resume(&mut self, ingress: u16, queue: u8) -> Signal {
        self.neighbours[ingress as usize].paused &= !(1 << queue);
        self.frames.resumes += 1;
        Signal::new(ingress, Ask::Resume, 1 << queue)
    }

    /// When the next pause bitmap is due after a change now.
    pub(super) fn next_timer(&self, now: u64) -> u64 {
        now + self.refresh_period
    }

    /// "we also periodically send a bitmap of the queues that should be paused at the upstream"
    /// (§3.3.2): also when the bitmap has become empty, so that a lost resume heals.
    pub(super) fn on_timer(&mut self, ingress: u16) -> (Option<Signal>, bool) {
        let neighbour = &mut self.neighbours[ingress as usize];
        if neighbour.paused == 0 {
            let Some(left) = neighbour.owed.checked_sub(1) else { return (None, false) };
            neighbour.owed = left;
        }
        self.frames.refreshes += 1;
        let signal = Signal::new(ingress, Ask::Exactly, neighbour.paused);
        (Some(signal), neighbour.paused != 0 || neighbour.owed > 0)
    }

    /// A neighbour's queues that are to pause.
    pub(super) fn paused(&self, ingress: u16) -> QueueMask {
        self.neighbours[ingress as usize].paused
    }
}
