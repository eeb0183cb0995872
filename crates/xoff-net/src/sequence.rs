//! Events of one instant in the order in which they were set, as simulators with a plain event queue
//! (ns-3) execute them.
//!
//! An event's rank is the instant at which it was set and a count within that instant. The arrivals
//! of one link are a single slot of the wheel, so the ranks of the packets behind the first wait here.

use std::collections::VecDeque;

/// Room for the count within an instant; whole nanoseconds of 4.8 hours above it.
const COUNT_BITS: u32 = 20;
const PS_PER_NS: u64 = 1_000;

/// The ranks of events in the order in which they are set.
#[derive(Debug, Default)]
pub struct Sequence {
    instant: u64,
    count: u64,
    /// Ranks of the arrivals at each port, the next one first.
    arrivals: Vec<VecDeque<u64>>,
    arrived: u64,
}

impl Sequence {
    /// The rank of an event that was set at `ps`, before all that [`Self::next`] counts there.
    #[must_use]
    pub fn rank_at(ps: u64) -> u64 {
        (ps / PS_PER_NS) << COUNT_BITS
    }

    /// The rank of an event that is set now.
    pub fn next(&mut self, now: u64) -> u64 {
        if now != self.instant {
            self.instant = now;
            self.count = 0;
        }
        self.count += 1;
        Self::rank_at(now) + self.count
    }

    /// A packet starts towards a port.
    pub fn depart(&mut self, port: u32, rank: u64) {
        let port = port as usize;
        if self.arrivals.len() <= port {
            self.arrivals.resize_with(port + 1, VecDeque::new);
        }
        self.arrivals[port].push_back(rank);
    }

    /// The rank of the next arrival at a port.
    ///
    /// # Panics
    /// If there is none: that is a bug.
    #[must_use]
    pub fn next_arrival(&self, port: u32) -> u64 {
        *self.arrivals[port as usize].front().expect("a packet in flight has a rank")
    }

    /// The next packet has arrived at a port.
    ///
    /// # Panics
    /// If there is none: that is a bug.
    pub fn arrive(&mut self, port: u32) {
        self.arrived = self.arrivals[port as usize].pop_front().expect("a packet had a rank");
    }

    /// When the arrival that happened last was set: when its packet's transmission began (ps).
    #[must_use]
    pub fn arrival_set(&self) -> u64 {
        (self.arrived >> COUNT_BITS) * PS_PER_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_follow_the_order_of_setting() {
        let mut sequence = Sequence::default();
        let ranks = [5_000, 5_000, 6_000, 6_000].map(|now| sequence.next(now));
        assert!(ranks.is_sorted_by(|a, b| a < b));
        assert!(Sequence::rank_at(5_000) < ranks[0] && ranks[1] < Sequence::rank_at(6_000));
        sequence.depart(3, ranks[0]);
        sequence.depart(3, ranks[2]);
        assert_eq!(sequence.next_arrival(3), ranks[0]);
        sequence.arrive(3);
        assert_eq!((sequence.arrival_set(), sequence.next_arrival(3)), (5_000, ranks[2]));
    }
}
