//! Fluid flowlets: remaining size and rate of each.

use xoff_alloc::{FlowId, LinkId};
use xoff_core::Ps;
use xoff_workload::Arrival;

/// Bits in a picosecond at 1 Gb/s.
const BITS_PER_PS: f64 = 1e-3;

/// A flowlet that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Number of the flowlet, its index in the workload.
    pub number: u64,
    /// End points, start time and size.
    pub arrival: Arrival,
    /// Time from its start to its last bit.
    pub fct: Ps,
    /// The FCT at the full capacity of its path.
    pub ideal: Ps,
}

/// A flowlet with data to send.
#[derive(Clone, Debug)]
pub(crate) struct Flowlet {
    pub(crate) number: u64,
    pub(crate) arrival: Arrival,
    pub(crate) path: Vec<LinkId>,
    /// Id in the allocator; `None` until the allocator learns of it.
    pub(crate) flow: Option<FlowId>,
    /// Id in the allocator that computes the optimum, if there is one.
    pub(crate) twin: Option<FlowId>,
    /// Allocated rate (Gb/s); `None` until the first allocation.
    pub(crate) allocated: Option<f64>,
    /// Rate that the links carry of it (Gb/s).
    pub(crate) carried: f64,
    pub(crate) left_bits: f64,
}

impl Flowlet {
    pub(crate) fn new(number: u64, arrival: Arrival, path: Vec<LinkId>) -> Self {
        Self {
            number,
            arrival,
            path,
            flow: None,
            twin: None,
            allocated: None,
            carried: 0.0,
            left_bits: arrival.bytes as f64 * 8.0,
        }
    }

    /// End time at the current rate; `None` if the rate is zero.
    pub(crate) fn end(&self, now: Ps) -> Option<Ps> {
        let time = (self.left_bits / (self.carried * BITS_PER_PS)).ceil();
        (self.carried > 0.0).then(|| Ps(now.0.saturating_add(time as u64)))
    }

    /// Advances by `time` from `now`; returns the end time if the flowlet ended.
    pub(crate) fn advance(&mut self, now: Ps, time: Ps) -> Option<Ps> {
        let end = self.end(now).filter(|end| *end <= now + time);
        if end.is_none() {
            self.left_bits -= self.carried * BITS_PER_PS * time.0 as f64;
        }
        end
    }

    /// Transmission time at this rate (Gb/s).
    pub(crate) fn time_at(&self, rate: f64) -> Ps {
        Ps((self.arrival.bytes as f64 * 8.0 / (rate * BITS_PER_PS)).ceil() as u64)
    }
}
