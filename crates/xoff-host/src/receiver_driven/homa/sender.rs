//! The sender's half of a message: its allowed bytes and their priority.

use crate::flow::Sender;
use crate::receiver_driven::Levels;
use crate::receiver_driven::Shape;

/// Homa's state of a message in addition to its [`Sender`].
#[derive(Clone, Copy, Debug, Default)]
pub struct HomaSender {
    /// Unscheduled bytes and their priority.
    unscheduled: u64,
    unscheduled_level: u8,
    /// The priority of the last grant.
    scheduled_level: u8,
    /// Bytes allowed so far, including unscheduled ones.
    granted: u64,
    /// True once the receiver has replied.
    has_reply: bool,
    /// True if any packet was ever retransmitted.
    repeats: bool,
}

impl HomaSender {
    /// A message begins in this slot.
    pub fn start(&mut self, shape: &Shape, levels: &Levels, flow: &mut Sender) {
        let size = flow.start.bytes;
        let unscheduled = shape.unasked(size);
        *self = Self {
            unscheduled,
            unscheduled_level: levels.of_size(size),
            scheduled_level: levels.count() - 1,
            granted: unscheduled,
            ..Self::default()
        };
        flow.credit = unscheduled as i64;
    }

    /// True if the packet at `seq` is unscheduled.
    #[inline]
    #[must_use]
    pub fn is_unscheduled(&self, seq: u64) -> bool {
        seq < self.unscheduled
    }

    /// True once the receiver has replied.
    #[inline]
    #[must_use]
    pub fn has_reply(&self) -> bool {
        self.has_reply
    }

    /// Priority of the packet at `seq` of a message of `size` bytes. Its last `boosted` bytes count
    /// as a message of their own.
    #[inline]
    #[must_use]
    pub fn level(&self, levels: &Levels, seq: u64, size: u64, boosted: u64) -> u8 {
        if self.is_unscheduled(seq) {
            self.unscheduled_level
        } else if size - seq <= boosted {
            levels.of_size(size - seq)
        } else {
            self.scheduled_level
        }
    }

    /// Handles a grant: the receiver has granted `total` bytes so far, modulo 2^32, and has all
    /// bytes before `seq`. Returns true if that is new.
    pub fn on_granted(
        &mut self,
        shape: &Shape,
        flow: &mut Sender,
        (total, level): (u32, u8),
        seq: u64,
    ) -> bool {
        let more = total.wrapping_sub(self.granted as u32) as i32;
        if more > 0 {
            self.scheduled_level = level;
        }
        self.allow(flow, more.max(0) as u64);
        self.on_all_before(shape, flow, seq) || more > 0
    }

    /// Handles a request: the receiver misses `bytes` from `seq`. Bytes already sent are
    /// retransmitted, and the rest is granted.
    pub fn on_missing(
        &mut self,
        shape: &Shape,
        flow: &mut Sender,
        (seq, bytes, level): (u64, u64, u8),
    ) {
        self.on_all_before(shape, flow, seq);
        let end = (seq + bytes).min(flow.start.bytes);
        if end > self.granted {
            self.scheduled_level = level;
            self.allow(flow, end - self.granted);
        }
        let mut next = seq.max(flow.snd_una);
        while next < end.min(flow.snd_nxt) {
            next += self.repeat(shape, flow, next);
        }
    }

    /// Timeout: retransmits the first unacknowledged packet, to make the receiver reply.
    pub fn on_timeout(&mut self, shape: &Shape, flow: &mut Sender) {
        if flow.snd_una < flow.snd_nxt {
            self.repeat(shape, flow, flow.snd_una);
        }
    }

    fn allow(&mut self, flow: &mut Sender, bytes: u64) {
        self.granted += bytes;
        flow.credit += bytes as i64;
    }

    /// Queues the packet at `seq` for retransmission, without using granted bytes. Returns its
    /// payload.
    fn repeat(&mut self, shape: &Shape, flow: &mut Sender, seq: u64) -> u64 {
        let payload = shape.payload_at(seq, flow.start.bytes);
        if flow.requeue(seq, payload) {
            flow.credit += payload as i64;
            self.repeats = true;
        }
        payload
    }

    fn on_all_before(&mut self, shape: &Shape, flow: &mut Sender, seq: u64) -> bool {
        self.has_reply = true;
        let before = flow.snd_una;
        if seq <= before {
            return false;
        }
        if self.repeats {
            for packet in shape.packet_at(before)..seq.div_ceil(shape.payload) {
                let start = packet * shape.payload;
                if flow.unqueue(start) {
                    flow.credit -= shape.payload_at(start, flow.start.bytes) as i64;
                }
            }
        }
        flow.snd_una = seq;
        true
    }
}
