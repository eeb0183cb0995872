//! Queueing delays of data packets at a port, if they are recorded.

use hdrhistogram::Histogram;

use super::QueueMask;

/// Queueing delays (ps) of one port, from joining a queue to the start of transmission, by sets of
/// queues.
#[derive(Debug)]
pub struct Delays {
    groups: Vec<(QueueMask, Histogram<u64>)>,
}

impl Delays {
    /// Without records. A packet counts in every set that has its queue.
    #[must_use]
    pub(crate) fn new(groups: &[QueueMask]) -> Self {
        let histogram = || {
            let mut histogram = Histogram::new(3).expect("three significant digits are allowed");
            histogram.auto(true);
            histogram
        };
        Self { groups: groups.iter().map(|&queues| (queues, histogram())).collect() }
    }

    /// A packet leaves a queue after a wait of `delay_ps`.
    #[cold]
    pub(crate) fn record(&mut self, queue: u8, delay_ps: u64) {
        for (queues, histogram) in &mut self.groups {
            if *queues >> queue & 1 == 1 {
                histogram.record(delay_ps).expect("the histogram grows as needed");
            }
        }
    }

    /// The recorded delays, in the order of the sets.
    #[must_use]
    pub fn histograms(self) -> Vec<Histogram<u64>> {
        self.groups.into_iter().map(|(_, histogram)| histogram).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_counts_in_every_set_that_has_its_queue() {
        let mut delays = Delays::new(&[QueueMask::MAX, 0b0011, 0b1100]);
        for (queue, delay) in [(0, 0), (1, 5_000), (2, 7_000), (9, 1_000)] {
            delays.record(queue, delay);
        }
        let found = delays.histograms();
        assert_eq!(found.iter().map(Histogram::len).collect::<Vec<_>>(), [4, 2, 1]);
        assert_eq!(found[1].max(), 5_003);
    }
}
