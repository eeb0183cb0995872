//! Flowlets as fluid: how much each has left, and at which rate it flows.

use xoff_alloc::{FlowId, LinkId};
use xoff_core::Ps;
use xoff_workload::Arrival;

/// Bits in a picosecond at 1 Gb/s.
const BITS_PER_PS: f64 = 1e-3;

/// A flowlet that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its number: its place in the workload.
    pub number: u64,
    /// Where, when and how much.
    pub arrival: Arrival,
    /// From its start to its last bit.
    pub fct: Ps,
    /// The same, at its path's whole capacity from the start.
    pub ideal: Ps,
}

/// A flowlet that has something to send.
#[derive(Clone, Debug)]
pub(crate) struct Flowlet {
    pub(crate) number: u64,
    pub(crate) arrival: Arrival,
    pub(crate) path: Vec<LinkId>,
    /// At the allocator, which may not know of it yet.
    pub(crate) flow: Option<FlowId>,
    /// At the allocator that computes the optimum, if there is one.
    pub(crate) twin: Option<FlowId>,
    /// What it may send at, in Gb/s; `None` until it is told for the first time.
    pub(crate) allocated: Option<f64>,
    /// What links leave of that.
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

    /// When it ends if it goes on like this; `None` if it stands still.
    pub(crate) fn end(&self, now: Ps) -> Option<Ps> {
        let time = (self.left_bits / (self.carried * BITS_PER_PS)).ceil();
        (self.carried > 0.0).then(|| Ps(now.0.saturating_add(time as u64)))
    }

    /// Flows for a while from `now` on; returns when it ended, if it did.
    pub(crate) fn advance(&mut self, now: Ps, time: Ps) -> Option<Ps> {
        let end = self.end(now).filter(|end| *end <= now + time);
        if end.is_none() {
            self.left_bits -= self.carried * BITS_PER_PS * time.0 as f64;
        }
        end
    }

    /// How long it would take at this rate, in Gb/s.
    pub(crate) fn time_at(&self, rate: f64) -> Ps {
        Ps((self.arrival.bytes as f64 * 8.0 / (rate * BITS_PER_PS)).ceil() as u64)
    }
}
