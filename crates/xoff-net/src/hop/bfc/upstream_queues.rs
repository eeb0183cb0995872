//! Reasons to pause each queue of the neighbours, and the bitmaps that repeat the pauses (BFC
//! §3.3.2).

use xoff_core::invariant::{Checker, Part, equal};

use super::super::{Ask, Signal};
use super::BfcConfig;
use super::backpressure::{Counted, PauseFrames, Upstream};
use crate::packet::Packet;
use crate::recount::{Checked, of_part};
use crate::sched::QueueMask;

#[derive(Clone, Copy, Debug, Default)]
struct Neighbour {
    paused: QueueMask,
    /// Empty bitmaps still to send.
    owed: u16,
}

/// The queues of the neighbours, by ingress port: "an array indexed by the ingress port and the
/// upstreamQ of a packet" (§3.3.2).
#[derive(Debug)]
pub struct UpstreamQueues {
    /// Reasons to pause each queue.
    counts: Vec<u32>,
    /// Queues of a neighbour.
    queues: u8,
    neighbours: Vec<Neighbour>,
    refresh_period: u64,
    empty_refreshes: u16,
    frames: PauseFrames,
}

impl UpstreamQueues {
    /// For a switch with `ports` ports. The neighbours have the same number of queues.
    pub(super) fn new(config: &BfcConfig, ports: usize) -> Self {
        let queues = config.data_queues();
        Self {
            counts: vec![0; ports * queues as usize],
            queues,
            neighbours: vec![Neighbour::default(); ports],
            refresh_period: config.refresh_period.0,
            empty_refreshes: config.empty_refreshes,
            frames: PauseFrames::default(),
        }
    }

    #[inline]
    fn count(&mut self, ingress: u16, queue: u8) -> &mut u32 {
        &mut self.counts[ingress as usize * self.queues as usize + queue as usize]
    }

    /// Adds a reason to pause a queue. The first reason pauses it.
    #[inline]
    pub(super) fn add(&mut self, ingress: u16, queue: u8) -> Option<Signal> {
        let count = self.count(ingress, queue);
        *count += 1;
        (*count == 1).then(|| self.pause(ingress, queue))
    }

    /// Removes a reason. Without any reason the queue resumes.
    ///
    /// # Panics
    /// If a count goes negative, which is a bug.
    #[inline]
    pub(super) fn remove(&mut self, ingress: u16, queue: u8) -> Option<Signal> {
        let count = self.count(ingress, queue);
        *count = count.checked_sub(1).expect("BFC's pause counter went negative");
        (*count == 0).then(|| self.resume(ingress, queue))
    }

    /// Counts the reasons again. Each names the ingress port and the neighbour's queue.
    ///
    /// # Errors
    /// A count that differs, or a pause without a reason.
    pub(super) fn recount_queues(&self, reasons: impl Iterator<Item = (u16, u8)>) -> Checked {
        let queues = usize::from(self.queues);
        let mut counts = vec![0u32; self.counts.len()];
        let mut paused: Vec<QueueMask> = vec![0; self.neighbours.len()];
        for (ingress, queue) in reasons {
            counts[usize::from(ingress) * queues + usize::from(queue)] += 1;
            paused[usize::from(ingress)] |= 1 << queue;
        }
        let known = self.neighbours.iter().map(|neighbour| neighbour.paused);
        if counts == self.counts && known.eq(paused) {
            return Ok(());
        }
        for (place, (&counted, &count)) in counts.iter().zip(&self.counts).enumerate() {
            let (ingress, queue) = (place / queues, place % queues);
            let place = || format!("pause counter of ingress {ingress}, queue {queue}");
            let part = Part::queue(queue as u8).of(Part::port(ingress as u16));
            equal(Checker::Pauses, counted, count, place).map_err(of_part(part))?;
            let paused = self.neighbours[ingress].paused >> queue & 1 == 1;
            let place = || format!("pause of ingress {ingress}, queue {queue}");
            equal(Checker::Pauses, counted > 0, paused, place).map_err(of_part(part))?;
        }
        Ok(())
    }

    fn pause(&mut self, ingress: u16, queue: u8) -> Signal {
        let neighbour = &mut self.neighbours[ingress as usize];
        neighbour.paused |= 1 << queue;
        neighbour.owed = self.empty_refreshes;
        self.frames.pauses += 1;
        Signal::new(ingress, Ask::Pause, 1 << queue)
    }

    fn resume(&mut self, ingress: u16, queue: u8) -> Signal {
        self.neighbours[ingress as usize].paused &= !(1 << queue);
        self.frames.resumes += 1;
        Signal::new(ingress, Ask::Resume, 1 << queue)
    }
}

impl Counted for UpstreamQueues {
    #[inline]
    fn hold(&mut self, packet: &Packet) -> Option<Signal> {
        self.add(packet.ingress, packet.upstream)
    }

    #[inline]
    fn release(&mut self, packet: &Packet) -> Option<Signal> {
        self.remove(packet.ingress, packet.upstream)
    }

    fn recount<'a>(&self, reasons: impl Iterator<Item = &'a Packet>) -> Checked {
        self.recount_queues(reasons.map(|packet| (packet.ingress, packet.upstream)))
    }
}

impl Upstream for UpstreamQueues {
    fn next_timer(&self, now: u64) -> Option<u64> {
        Some(now + self.refresh_period)
    }

    /// "we also periodically send a bitmap of the queues that should be paused at the upstream"
    /// (§3.3.2). Bitmaps continue after the last pause, so that a lost resume heals.
    fn on_timer(&mut self, ingress: u16) -> (Option<Signal>, bool) {
        let neighbour = &mut self.neighbours[ingress as usize];
        if neighbour.paused == 0 {
            let Some(left) = neighbour.owed.checked_sub(1) else { return (None, false) };
            neighbour.owed = left;
        }
        self.frames.refreshes += 1;
        let signal = Signal::new(ingress, Ask::Exactly, neighbour.paused);
        (Some(signal), neighbour.paused != 0 || neighbour.owed > 0)
    }

    fn paused(&self, ingress: u16) -> QueueMask {
        self.neighbours[ingress as usize].paused
    }

    fn frames(&self) -> PauseFrames {
        self.frames
    }
}
