//! Lengths of egress queues, as the HPCC simulator counts them (`QlenDistribution` and
//! `monitor_buffer` of its `scratch/third.cc`): samples of all ports of switches at a fixed
//! interval, and every 100 ms all counts so far.
//!
//! A sample is an event of its own, because its place among the events of its instant decides what
//! it sees. Before the first flow and after the run all queues are empty: those samples are counted
//! and never simulated.

use xoff_core::{Ps, TimerId};
use xoff_net::Fabric;
use xoff_net::arch::Switch;

use super::Partition;
use crate::tag;

/// Bytes of a step of the distribution.
const STEP_BYTES: u32 = 1_000;
/// All counts so far are kept at multiples of this.
const DUMP: u64 = Ps::from_us(100_000).0;

/// When queue lengths are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLengthPlan {
    /// First sample.
    pub start: Ps,
    /// Time between two samples.
    pub interval: Ps,
    /// The first sample that is not before this is the last one.
    pub end: Ps,
    /// No sample is taken from here on, but the first may be at this time.
    pub stop: Ps,
}

impl QueueLengthPlan {
    /// The first sample, if there is one.
    fn first(&self) -> Option<u64> {
        (self.start <= self.stop).then_some(self.start.0)
    }

    /// The samples after one at `time`, if it is not the last.
    fn after(&self, time: u64) -> Option<u64> {
        let next = time + self.interval.0;
        (time < self.end.0 && next < self.stop.0).then_some(next)
    }

    /// The largest number of times at which counts are kept.
    #[must_use]
    pub fn dumps(&self) -> u64 {
        let until = self.end.0.min(self.stop.0).saturating_add(self.interval.0);
        until.saturating_sub(self.start.0) / DUMP + 1
    }
}

/// All counts so far at one time: for each port of the switches, in the order of nodes and ports,
/// the number of samples with 0 to 999 bytes, 1000 to 1999 bytes, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueLengthDump {
    /// Its time (ps).
    pub time_ps: u64,
    /// The counts of each port.
    pub ports: Vec<Vec<u32>>,
}

/// The samples of a run.
#[derive(Debug)]
pub(crate) struct QueueLengths {
    plan: QueueLengthPlan,
    /// The next sample (ps), if one follows.
    next: Option<u64>,
    timer: TimerId,
    ports: Vec<Vec<u32>>,
    dumps: Vec<QueueLengthDump>,
}

impl QueueLengths {
    /// Samples `ports` ports, which are all empty before the first flow.
    pub(crate) fn new(
        plan: QueueLengthPlan,
        ports: usize,
        first_flow: Ps,
        fabric: &mut Fabric,
    ) -> Self {
        let timer = fabric.wheel.add_timer(0, tag::QUEUE_LENGTHS);
        let ports = vec![Vec::new(); ports];
        let (next, dumps) = (plan.first(), Vec::new());
        let mut lengths = Self { plan, next, timer, ports, dumps };
        lengths.count_empty(first_flow.0);
        if let Some(next) = lengths.next {
            // As that simulator sets its first sample: before the run.
            fabric.arm_as_set(timer, next, 0);
        }
        lengths
    }

    /// Takes the sample of this instant from the bytes of each port, and sets the next one.
    fn take(&mut self, fabric: &mut Fabric, bytes: impl Iterator<Item = u32>) {
        for (counts, bytes) in self.ports.iter_mut().zip(bytes) {
            add(counts, (bytes / STEP_BYTES) as usize, 1);
        }
        self.after_sample(fabric.now);
        if let Some(next) = self.next {
            fabric.arm(self.timer, next);
        }
    }

    fn after_sample(&mut self, time: u64) {
        if time.is_multiple_of(DUMP) {
            self.dumps.push(QueueLengthDump { time_ps: time, ports: self.ports.clone() });
        }
        self.next = self.plan.after(time);
    }

    /// Counts the samples before `until` (ps) as those of empty queues.
    pub(crate) fn count_empty(&mut self, until: u64) {
        let interval = self.plan.interval.0;
        while let Some(first) = self.next.filter(|&next| next < until) {
            // Up to the next time at which counts are kept, or the last sample.
            let kept = first.next_multiple_of(DUMP);
            let last = kept.min(until - 1).min(self.plan.end.0.max(first));
            let more =
                last.min(self.plan.stop.0.saturating_sub(1)).saturating_sub(first) / interval;
            for counts in &mut self.ports {
                add(counts, 0, more as u32 + 1);
            }
            self.after_sample(first + more * interval);
        }
    }

    /// The times at which counts were kept since the last call.
    pub(crate) fn take_dumps(&mut self) -> Vec<QueueLengthDump> {
        std::mem::take(&mut self.dumps)
    }
}

fn add(counts: &mut Vec<u32>, step: usize, samples: u32) {
    if counts.len() <= step {
        counts.resize(step + 1, 0);
    }
    // Its counts have 32 bits, too.
    counts[step] = counts[step].wrapping_add(samples);
}

impl Partition {
    /// Samples the queues of its switches from now on.
    pub(crate) fn watch_queue_lengths(&mut self, plan: QueueLengthPlan, first_flow: Ps) {
        let ports = self.switches().iter().map(|(_, switch)| switch.egress().len()).sum();
        let lengths = QueueLengths::new(plan, ports, first_flow, self.fabric_mut());
        self.queue_lengths = Some(Box::new(lengths));
    }

    /// The samples of its switches, if it takes some.
    pub(crate) fn queue_lengths_mut(&mut self) -> Option<&mut QueueLengths> {
        self.queue_lengths.as_deref_mut()
    }

    /// A sample is due.
    #[cold]
    #[inline(never)]
    pub(crate) fn sample_queue_lengths(&mut self) {
        let Some(mut lengths) = self.queue_lengths.take() else { return };
        let egress = self.switches.iter().flat_map(|(_, switch)| switch.egress());
        lengths.take(&mut self.fabric, egress.map(|port| port.data_bytes()));
        self.queue_lengths = Some(lengths);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(start: u64, end: u64, stop: u64) -> QueueLengthPlan {
        let [start, end, stop] = [start, end, stop].map(Ps::from_us);
        QueueLengthPlan { start, interval: Ps::from_us(25), end, stop }
    }

    /// One sample after the other.
    fn slowly(plan: QueueLengthPlan, until: u64) -> (Vec<QueueLengthDump>, u32, Option<u64>) {
        let (mut next, mut count, mut dumps) = (plan.first(), 0, Vec::new());
        while let Some(time) = next.filter(|&next| next < until) {
            count += 1;
            if time.is_multiple_of(DUMP) {
                dumps.push(QueueLengthDump { time_ps: time, ports: vec![vec![count]] });
            }
            next = plan.after(time);
        }
        (dumps, count, next)
    }

    #[test]
    fn samples_of_empty_queues_are_counted_at_once() {
        for (start, end, stop) in
            [(0, 700_000, 2_000_000), (50, 699_999, 300_000), (14, 3, 900_000), (900, 901, 5)]
        {
            for until in [0, 1, 14, 100_000, 700_000, 700_001, 5_000_000].map(Ps::from_us) {
                let plan = plan(start, end, stop);
                let (timer, ports) = (0, vec![Vec::new()]);
                let (next, dumps) = (plan.first(), Vec::new());
                let mut lengths = QueueLengths { plan, next, timer, ports, dumps };
                lengths.count_empty(until.0);
                let (dumps, count, next) = slowly(plan, until.0);
                let counted = lengths.ports[0].first().copied().unwrap_or(0);
                assert_eq!((counted, lengths.next), (count, next), "{plan:?} {until}");
                assert_eq!(lengths.take_dumps(), dumps, "{plan:?} {until}");
            }
        }
    }
}
