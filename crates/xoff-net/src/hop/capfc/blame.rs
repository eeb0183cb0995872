//! Which inputs a congested egress queue pauses (CaPFC §II-D).
//!
//! Above WARN an egress queue counts the packets from each input. From XOFF on it blames the inputs
//! with the largest counts, until it has drained to XON.

use xoff_core::Bytes;

use super::{CapfcConfig, Policy};
use crate::packet::CLASSES;
use crate::ports::{PORTS_MAX, PortMask};

/// The counters and blame of one egress queue.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    /// E: the inputs it blames.
    inputs: PortMask,
    /// Whether any of its counters may be above zero.
    counting: bool,
}

/// The egress queues of one switch: counters C and states E.
#[derive(Debug)]
pub(super) struct Blame {
    policy: Policy,
    xoff: u32,
    xon: u32,
    warn: u32,
    cut_ppm: u64,
    ports: usize,
    /// C: packets by egress, class and input. "Each counter occupies 2 bytes" (§II-G), so it stops
    /// at its largest number.
    counters: Vec<u16>,
    queues: Vec<Queue>,
    /// Counters in decreasing order, during the search for inputs to blame.
    order: Vec<(u16, u8)>,
}

impl Blame {
    /// With no input blamed.
    ///
    /// # Panics
    /// If there are more ports than a set of ports can hold.
    #[must_use]
    pub(super) fn new(config: &CapfcConfig, ports: usize) -> Self {
        assert!(ports <= PORTS_MAX, "a set of ports holds {PORTS_MAX} at most");
        let bounded = |bytes: Bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX);
        let queues = if config.policy == Policy::None { 0 } else { ports * CLASSES };
        Self {
            policy: config.policy,
            xoff: bounded(config.xoff),
            xon: bounded(config.xon),
            warn: bounded(config.warn),
            cut_ppm: (config.cut * 1e6).round() as u64,
            ports,
            counters: vec![0; queues * ports],
            queues: vec![Queue::default(); queues],
            order: Vec::with_capacity(ports),
        }
    }

    /// Whether any queue can blame an input.
    #[inline(always)]
    pub(super) fn is_on(&self) -> bool {
        self.policy != Policy::None
    }

    /// Bytes of all counters.
    #[must_use]
    pub(super) fn counter_bytes(&self) -> usize {
        size_of_val(self.counters.as_slice())
    }

    fn queue(&self, egress: u16, class: u8) -> usize {
        usize::from(egress) * CLASSES + usize::from(class)
    }

    /// The counters of an egress queue, by input.
    fn counters_of(&self, queue: usize) -> &[u16] {
        &self.counters[queue * self.ports..][..self.ports]
    }

    /// A packet from an input has joined an egress queue, which holds `bytes` with it. Returns the
    /// inputs that are blamed from now on (Algorithm 1, lines 5 to 13).
    #[inline]
    pub(super) fn on_enqueue(
        &mut self,
        egress: u16,
        class: u8,
        input: u16,
        bytes: u32,
    ) -> PortMask {
        if bytes < self.warn || self.policy == Policy::None {
            return 0;
        }
        let queue = self.queue(egress, class);
        let counter = &mut self.counters[queue * self.ports + usize::from(input)];
        *counter = counter.saturating_add(1);
        self.queues[queue].counting = true;
        if bytes < self.xoff {
            return 0;
        }
        let culprits = self.culprits(queue);
        let state = &mut self.queues[queue];
        let new = culprits & !state.inputs;
        state.inputs |= culprits;
        new
    }

    /// The inputs that have congested a queue.
    fn culprits(&mut self, queue: usize) -> PortMask {
        match self.policy {
            Policy::None => 0,
            Policy::StopMax => {
                let counters = self.counters_of(queue).iter().enumerate();
                // The first of equal counters.
                let largest = counters.rev().max_by_key(|&(_, count)| count);
                largest.map_or(0, |(input, _)| 1 << input)
            }
            Policy::StopCalibrate => self.calibrated(queue),
        }
    }

    /// "The minimum set of the indexes whose counter contributions exceed the CUT threshold [...]
    /// by cumulating the counters in the decreasing order until the threshold ratio is passed"
    /// (§II-G).
    fn calibrated(&mut self, queue: usize) -> PortMask {
        let mut order = std::mem::take(&mut self.order);
        let counted = self.counters_of(queue).iter().zip(0..).filter(|&(&count, _)| count > 0);
        order.extend(counted.map(|(&count, input)| (count, input)));
        order.sort_unstable_by_key(|&(count, input)| (std::cmp::Reverse(count), input));
        let total: u64 = order.iter().map(|&(count, _)| u64::from(count)).sum();
        let (mut culprits, mut share) = (0, 0);
        for (count, input) in order.drain(..) {
            culprits |= 1 << input;
            share += u64::from(count) * 1_000_000;
            if share > self.cut_ppm * total {
                break;
            }
        }
        self.order = order;
        culprits
    }

    /// A packet has left an egress queue, which holds `bytes` without it. Returns the inputs that
    /// are no longer blamed (Algorithm 1, lines 14 to 20).
    #[inline]
    pub(super) fn on_dequeue(&mut self, egress: u16, class: u8, bytes: u32) -> PortMask {
        if bytes > self.warn || self.policy == Policy::None {
            return 0;
        }
        let queue = self.queue(egress, class);
        let state = &mut self.queues[queue];
        if state.counting {
            state.counting = false;
            self.counters[queue * self.ports..][..self.ports].fill(0);
        }
        if bytes > self.xon {
            return 0;
        }
        std::mem::take(&mut state.inputs)
    }

    #[cfg(test)]
    pub(super) fn counters(&self, egress: u16, class: u8) -> &[u16] {
        self.counters_of(self.queue(egress, class))
    }

    #[cfg(test)]
    pub(super) fn blamed(&self, egress: u16, class: u8) -> PortMask {
        self.queues[self.queue(egress, class)].inputs
    }
}
