//! Counts of a pipelined switch, in addition to the counts of all switches.

use super::Pipelined;
use crate::packet::CLASSES;

/// Counts of a pipelined switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipelineStats {
    /// Packets lost at a full ingress queue.
    pub ingress_drops: u64,
    /// Packets lost at a full egress queue.
    pub egress_drops: u64,
    /// Packets that left the processor, including those dropped then.
    pub processed: u64,
    /// How often the processor stopped for lack of room at an egress queue.
    pub stops: u64,
    /// Total duration of its stops (ps).
    pub blocked_ps: u64,
    /// Total time of packets behind a full egress queue of another class (ps).
    pub cross_class_ps: u64,
    /// Inputs blamed by egress queues.
    pub blames: u64,
    /// Ingress queues that became congested.
    pub congestions: u64,
    /// Resume frames.
    pub resumes: u64,
    /// Bytes of CaPFC's counters.
    pub counter_bytes: u64,
}

impl PipelineStats {
    /// Adds another switch's counts.
    pub fn add(&mut self, other: &Self) {
        self.ingress_drops += other.ingress_drops;
        self.egress_drops += other.egress_drops;
        self.processed += other.processed;
        self.stops += other.stops;
        self.blocked_ps += other.blocked_ps;
        self.cross_class_ps += other.cross_class_ps;
        self.blames += other.blames;
        self.congestions += other.congestions;
        self.resumes += other.resumes;
        self.counter_bytes += other.counter_bytes;
    }
}

/// Packets that have not left the processor, by class, and their time lost to stops.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    packets: [u32; CLASSES],
    all: u32,
    /// During a stop: the class of the packet that caused it, and the time (ps) up to which the
    /// other packets' time is counted.
    stop: Option<(u8, u64)>,
    cross_class_ps: u64,
}

impl Waiting {
    /// Time up to now of packets behind another class.
    fn lost(&self, now: u64) -> u64 {
        self.stop.map_or(0, |(class, since)| {
            u64::from(self.all - self.packets[usize::from(class)]) * (now - since)
        })
    }

    fn settle(&mut self, now: u64) {
        self.cross_class_ps += self.lost(now);
        if let Some((_, since)) = &mut self.stop {
            *since = now;
        }
    }

    #[inline]
    pub(super) fn add(&mut self, now: u64, class: u8) {
        if self.stop.is_some() {
            self.settle(now);
        }
        self.packets[usize::from(class)] += 1;
        self.all += 1;
    }

    #[inline]
    pub(super) fn remove(&mut self, class: u8) {
        self.packets[usize::from(class)] -= 1;
        self.all -= 1;
    }

    /// The processor stops because of a packet of this class.
    pub(super) fn stop(&mut self, now: u64, class: u8) {
        self.stop = Some((class, now));
    }

    /// The processor continues.
    pub(super) fn go_on(&mut self, now: u64) {
        self.settle(now);
        self.stop = None;
    }
}

impl Pipelined {
    /// Counts up to `now` (ps).
    #[must_use]
    pub fn pipeline_stats(&self, now: u64) -> PipelineStats {
        let stands = self.processor.stopped().map_or(0, |stop| now - stop.since);
        let capfc = self.capfc.stats();
        PipelineStats {
            blocked_ps: self.own_stats.blocked_ps + stands,
            cross_class_ps: self.waiting.cross_class_ps + self.waiting.lost(now),
            blames: capfc.blames,
            congestions: capfc.congestions,
            resumes: self.io.frames.resumes(),
            counter_bytes: self.capfc.counter_bytes() as u64,
            ..self.own_stats
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packets_of_other_classes_lose_time_to_a_class() {
        let mut waiting = Waiting::default();
        [0, 0, 3].into_iter().for_each(|class| waiting.add(0, class));
        waiting.stop(100, 3);
        assert_eq!(waiting.lost(110), 20);
        waiting.add(110, 5);
        waiting.add(110, 3);
        assert_eq!(waiting.lost(120), 30);
        waiting.go_on(130);
        assert_eq!((waiting.cross_class_ps, waiting.lost(500)), (20 + 60, 0));
        waiting.remove(3);
        assert_eq!(waiting.all, 4);
    }
}
