//! The sender's half of a flow: what it may send, and what it has to send again.

use super::Shape;
use crate::driven::arrived::Arrived;
use crate::flow::Sender;

/// What NDP keeps of a flow beside its [`Sender`].
#[derive(Debug, Default)]
pub struct NdpSender {
    acked: Arrived,
    /// Bytes sent of which nothing has been heard.
    in_flight: u64,
    /// Bytes the receiver has answered for, and those of them that had been trimmed.
    answered: u64,
    refused: u64,
    /// Bytes that switches returned.
    returned: u64,
    /// Bytes pulled so far, as far as heard.
    pulled: u64,
    /// Bytes that go without a pull.
    unasked: u64,
}

impl NdpSender {
    /// A flow begins in this place.
    pub fn start(&mut self, shape: &Shape, flow: &mut Sender) {
        let unasked = shape.unasked(flow.start.bytes);
        self.acked.restart();
        *self = Self { acked: std::mem::take(&mut self.acked), unasked, ..Self::default() };
        flow.credit = unasked as i64;
    }

    /// A packet leaves.
    #[inline]
    pub fn on_sent(&mut self, payload: u64) {
        self.in_flight += payload;
    }

    /// Bytes that switches have returned: what the receiver has to pull beside what it knows of.
    #[inline]
    #[must_use]
    pub fn returned(&self) -> u64 {
        self.returned
    }

    /// Whether the receiver has answered.
    #[inline]
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.answered > 0
    }

    /// The receiver has all bytes before `seq`. Returns whether that is news.
    pub fn on_all_before(&mut self, shape: &Shape, flow: &mut Sender, seq: u64) -> bool {
        let before = self.acked.next();
        while shape.bytes_before(self.acked.next(), flow.start.bytes) < seq {
            let next = shape.bytes_before(self.acked.next(), flow.start.bytes);
            self.on_received(shape, flow, next);
        }
        self.acked.next() > before
    }

    /// The receiver has the packet at `seq`. Returns whether that is news.
    pub fn on_received(&mut self, shape: &Shape, flow: &mut Sender, seq: u64) -> bool {
        if !self.acked.insert(shape.packet_at(seq)) {
            return false;
        }
        if !flow.unqueue(seq) {
            let payload = shape.payload_at(seq, flow.start.bytes);
            self.in_flight -= payload;
            self.answered += payload;
        }
        flow.snd_una = shape.bytes_before(self.acked.next(), flow.start.bytes);
        true
    }

    /// The packet at `seq` came without its payload: it is sent again when the receiver pulls.
    pub fn on_refused(&mut self, shape: &Shape, flow: &mut Sender, seq: u64) {
        if let Some(payload) = self.requeue(shape, flow, seq) {
            self.answered += payload;
            self.refused += payload;
        }
    }

    /// A switch sent the header of the packet at `seq` back.
    pub fn on_returned(&mut self, shape: &Shape, flow: &mut Sender, seq: u64) {
        if let Some(payload) = self.requeue(shape, flow, seq) {
            self.returned += payload;
        }
    }

    /// The packet at `seq` has to be sent again. Returns its payload, unless it is known to be
    /// received or waits already.
    fn requeue(&mut self, shape: &Shape, flow: &mut Sender, seq: u64) -> Option<u64> {
        if self.acked.contains(shape.packet_at(seq)) {
            return None;
        }
        let payload = shape.payload_at(seq, flow.start.bytes);
        if !flow.requeue(seq, payload) {
            return None;
        }
        self.in_flight -= payload;
        Some(payload)
    }

    /// The receiver has pulled so many bytes so far, modulo 2^32.
    pub fn on_pulled(&mut self, flow: &mut Sender, total: u32) {
        let more = total.wrapping_sub(self.pulled as u32) as i32;
        if more > 0 {
            self.pulled += more as u64;
            flow.credit += i64::from(more);
        }
    }

    /// If neither an answer nor a pull can come any more, the flow may send one packet, whose answer
    /// brings the rest. What was returned is not sent again otherwise: "we could immediately resend
    /// it, but this leads to a larger-than-necessary second incast" (NDP's simulator).
    pub fn if_nothing_is_expected(&self, flow: &mut Sender) {
        let useful = (flow.start.bytes + self.refused).saturating_sub(self.unasked);
        if self.in_flight == 0 && self.answered.min(useful) <= self.pulled {
            flow.credit = flow.credit.max(1);
        }
    }

    /// Nothing has been heard for a timeout: what is not answered for is lost and sent again without
    /// being pulled. If all is answered for, a pull was lost, and one packet brings the next one.
    pub fn on_timeout(&mut self, shape: &Shape, flow: &mut Sender) {
        for packet in self.acked.next()..flow.snd_nxt.div_ceil(shape.payload) {
            let seq = shape.bytes_before(packet, flow.start.bytes);
            if let Some(payload) = self.requeue(shape, flow, seq) {
                flow.credit += payload as i64;
            }
        }
        flow.credit = flow.credit.max(1);
    }
}
