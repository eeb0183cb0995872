//! Credits at one egress port: they have their own queue, served by a token bucket (ExpressPass,
//! SIGCOMM 2017, §3.1: "we rate-limit credit packets at the switch").
//!
//! Each credit causes a data packet on the reverse direction of its link. The credits' share of a
//! link therefore leaves room for a full data packet per credit. Data gets the rest, so it never
//! arrives at a port faster than the port can send it. The share follows from the frames: the
//! paper's 84 B and 1538 B give 84 / (84 + 1538) = 5.18 %.
//!
//! The state of the bucket is the time at which it will be full, which is exact: a byte of credit
//! costs the link's time for that byte and its part of the data packet.

use crate::packet::{Pool, Queue};

/// Parameters common to all ports of a network.
#[derive(Clone, Copy, Debug)]
pub struct CreditShape {
    /// Mean bytes of a credit on the wire.
    pub credit_bytes: u64,
    /// Bytes of a full data packet on the wire.
    pub data_bytes: u64,
    /// Credits that may wait at a port.
    pub queue: u32,
    /// Credits that may leave at once after an idle period.
    pub burst: u32,
}

impl CreditShape {
    /// Bytes that a link reserves per credit: the credit and its data packet.
    #[must_use]
    pub fn bytes_per_credit(&self) -> u64 {
        self.credit_bytes + self.data_bytes
    }
}

/// The credits of one port.
#[derive(Clone, Debug)]
pub struct CreditQueue {
    waiting: Queue,
    /// When the bucket will be full (ps).
    full_at: u64,
    /// Time to fill the empty bucket (ps).
    depth: u64,
    /// Time of the link for a mean credit and its data (ps).
    period: u64,
    credit_bytes: u64,
    /// Bytes of a mean credit and its data packet.
    bytes_per_credit: u64,
    limit: u32,
    /// Credits that found the queue full.
    pub dropped: u64,
}

impl CreditQueue {
    /// An empty queue and a full bucket, for a link on which [`CreditShape::bytes_per_credit`] take
    /// `period` (ps).
    #[must_use]
    pub fn new(shape: &CreditShape, period: u64) -> Self {
        Self {
            waiting: Queue::default(),
            full_at: 0,
            depth: period * u64::from(shape.burst),
            period,
            credit_bytes: shape.credit_bytes,
            bytes_per_credit: shape.bytes_per_credit(),
            limit: shape.queue,
            dropped: 0,
        }
    }

    /// Bytes that the link reserves per credit.
    #[must_use]
    pub fn bytes_per_credit(&self) -> u64 {
        self.bytes_per_credit
    }

    /// From `now` (ps) on, a mean credit and its data take `period` (ps). The bucket keeps its
    /// tokens.
    pub fn set_period(&mut self, now: u64, period: u64) {
        let scale = |time: u64| {
            (u128::from(time) * u128::from(period) / u128::from(self.period.max(1))) as u64
        };
        self.full_at = now + scale(self.full_at.saturating_sub(now));
        self.depth = scale(self.depth);
        self.period = period;
    }

    /// The cost of `wire_bytes` of credit (ps of the link's time, rounded up).
    #[inline]
    fn cost(&self, wire_bytes: u16) -> u64 {
        let bytes = u64::from(wire_bytes);
        if bytes == self.credit_bytes {
            return self.period;
        }
        (self.period * bytes).div_ceil(self.credit_bytes)
    }

    /// Whether a credit that finds the queue empty has its tokens at `now` (ps). If so, it takes
    /// them.
    #[inline]
    pub fn pass(&mut self, now: u64, wire_bytes: u16) -> bool {
        let full_at = self.full_at.max(now) + self.cost(wire_bytes);
        let passes = self.waiting.is_empty() && full_at <= now + self.depth;
        if passes {
            self.full_at = full_at;
        }
        passes
    }

    /// A credit joins the queue. Returns whether there was room for it.
    #[inline]
    pub fn push(&mut self, pool: &mut Pool, id: u32) -> bool {
        let room = self.waiting.count() < self.limit;
        if room {
            self.waiting.push(pool, id);
        } else {
            self.dropped += 1;
        }
        room
    }

    /// When the first credit of the queue has its tokens (ps), if one waits.
    #[inline]
    #[must_use]
    pub fn ready_at(&self, pool: &Pool) -> Option<u64> {
        let head = self.waiting.head()?;
        Some((self.full_at + self.cost(pool[head].wire_bytes)).saturating_sub(self.depth))
    }

    /// Takes the first credit of the queue, which has its tokens at `now` (ps).
    pub fn pop(&mut self, pool: &Pool, now: u64) -> Option<u32> {
        let id = self.waiting.pop(pool)?;
        self.full_at = self.full_at.max(now) + self.cost(pool[id].wire_bytes);
        debug_assert!(self.full_at <= now + self.depth, "a credit left without its tokens");
        Some(id)
    }

    /// The credits that wait, in order.
    pub fn packets<'a>(&self, pool: &'a Pool) -> impl Iterator<Item = u32> + use<'a> {
        self.waiting.packets(pool)
    }

    /// Credits that wait.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.waiting.count()
    }
}

#[cfg(test)]
mod tests;
