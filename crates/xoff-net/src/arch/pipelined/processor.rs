//! The packet processor. It admits packets at a fixed rate, and each leaves a fixed time later,
//! unless the processor is stopped.
//!
//! The processor has a clock of its own, which halts during a stop. A stop thus delays all packets
//! inside equally, and no state has to move.

use super::config::PipelineConfig;
use crate::packet::{Packet, Pool, Queue};

/// The reason for a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// Start of the stop (ps).
    pub(super) since: u64,
    /// The port with a full queue for the next packet.
    pub(super) egress: u16,
}

/// A packet processor.
#[derive(Debug)]
pub(super) struct Processor {
    interval: u64,
    delay: u64,
    /// Packets inside. Each has the time, by the processor's clock, at which it leaves.
    packets: Queue,
    /// Total duration of past stops.
    stood: u64,
    stop: Option<Stop>,
    /// Time of the next admission, by its clock.
    next_admission: u64,
}

impl Processor {
    /// An empty processor.
    #[must_use]
    pub(super) fn new(config: &PipelineConfig) -> Self {
        Self {
            interval: config.interval_ps(),
            delay: config.forwarding_delay.0,
            packets: Queue::default(),
            stood: 0,
            stop: None,
            next_admission: 0,
        }
    }

    /// The reason for its stop, if it is stopped.
    #[inline]
    #[must_use]
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.stop
    }

    /// Whether it admits a packet now.
    #[inline]
    #[must_use]
    pub(super) fn may_admit(&self, now: u64) -> bool {
        self.stop.is_none() && now - self.stood >= self.next_admission
    }

    /// A packet is admitted.
    #[inline]
    pub(super) fn admit(&mut self, pool: &mut Pool, now: u64, id: u32) {
        let own = now - self.stood;
        pool[id].time = own + self.delay;
        self.packets.push(pool, id);
        self.next_admission = own + self.interval;
    }

    /// The packets inside.
    pub(super) fn packets(&self, pool: &Pool) -> impl Iterator<Item = u32> {
        self.packets.packets(pool)
    }

    /// The next packet to leave, once it is due.
    #[inline]
    #[must_use]
    pub(super) fn due(&self, pool: &Pool, now: u64) -> Option<u32> {
        self.packets.head().filter(|&id| pool[id].time <= now - self.stood)
    }

    /// The next packet to leave.
    #[inline]
    #[must_use]
    pub(super) fn next<'a>(&self, pool: &'a Pool) -> Option<&'a Packet> {
        self.packets.head().map(|id| &pool[id])
    }

    /// That packet has left.
    #[inline]
    pub(super) fn take(&mut self, pool: &Pool) -> Option<u32> {
        self.packets.pop(pool)
    }

    /// Stops from now on, for lack of room at a port.
    pub(super) fn stop(&mut self, now: u64, egress: u16) {
        self.stop = Some(Stop { since: now, egress });
    }

    /// Continues. Returns the duration of the stop.
    pub(super) fn go_on(&mut self, now: u64) -> u64 {
        let stood = self.stop.take().map_or(0, |stop| now - stop.since);
        self.stood += stood;
        stood
    }

    /// Time of the next step while it runs. `waiting`: packets wait for admission.
    #[inline]
    #[must_use]
    pub(super) fn next_time(&self, pool: &Pool, waiting: bool) -> Option<u64> {
        if self.stop.is_some() {
            return None;
        }
        let out = self.packets.head().map(|id| pool[id].time);
        let into = waiting.then_some(self.next_admission);
        let own = out.into_iter().chain(into).min()?;
        Some(own + self.stood)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind, Packet};

    #[test]
    fn a_stop_delays_all_that_is_in_it_alike() {
        let mut pool = Pool::default();
        let mut processor = Processor::new(&PipelineConfig::default());
        for time in [0, 1_000_000, 2_000_000] {
            assert!(processor.may_admit(time));
            let id = pool.insert(Packet::new(Kind::Data, 1000));
            processor.admit(&mut pool, time, id);
            assert!(!processor.may_admit(time + 999_999));
        }
        assert_eq!(processor.next_time(&pool, false), Some(6_160_000));
        assert_eq!(processor.next_time(&pool, true), Some(3_000_000));
        assert_eq!(processor.due(&pool, 6_159_999), None);
        assert_eq!(processor.due(&pool, 6_160_000), Some(0));
        processor.stop(6_160_000, 3);
        assert_eq!(processor.next_time(&pool, true), None);
        assert!(!processor.may_admit(50_000_000));
        assert_eq!(processor.go_on(16_160_000), 10_000_000);
        assert_eq!(processor.take(&pool), Some(0));
        assert_eq!(processor.next_time(&pool, false), Some(17_160_000));
        assert_eq!(processor.due(&pool, 17_160_000), Some(1));
        // It could have admitted another packet at 3 us, before it stopped.
        assert!(processor.may_admit(16_160_000));
    }
}
