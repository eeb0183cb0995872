//! The sender's half of a flow: its allowed bytes and its retransmissions.

use xoff_net::packet::{Kind, Packet};

use super::Shape;
use crate::flow::Sender;
use crate::receiver_driven::arrived::Arrived;

/// NDP's state of a flow in addition to its [`Sender`].
#[derive(Debug, Default)]
pub struct NdpSender {
    acked: Arrived,
    /// Bytes sent without any reply yet.
    in_flight: u64,
    /// Bytes that the receiver has answered, and the trimmed ones among them.
    answered: u64,
    refused: u64,
    /// Bytes returned by switches.
    returned: u64,
    /// Bytes pulled so far, as known to the sender.
    pulled: u64,
    /// Unsolicited bytes.
    unasked: u64,
}

impl NdpSender {
    /// A flow begins in this slot.
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

    /// Bytes returned by switches, which the receiver must pull in addition.
    #[inline]
    #[must_use]
    pub fn returned(&self) -> u64 {
        self.returned
    }

    /// True once the receiver has replied.
    #[inline]
    #[must_use]
    pub fn has_reply(&self) -> bool {
        self.answered > 0
    }

    /// Handles an answer or a pull. Returns true if it acknowledges a packet for the first time.
    pub fn on_answer(&mut self, shape: &Shape, flow: &mut Sender, packet: &Packet) -> bool {
        let mut news = self.on_all_before(shape, flow, packet.seq);
        if Self::is_complete(flow) {
            return news;
        }
        match packet.kind {
            Kind::Ack => news |= self.on_received(shape, flow, packet.stamp),
            Kind::Nack => self.on_refused(shape, flow, packet.stamp),
            _ => {}
        }
        self.on_pulled(flow, packet.remaining);
        news
    }

    /// True once every packet is acknowledged. That need not be by the answer to the whole flow: if
    /// it is lost, duplicates of the first packets start a second half at the receiver, which
    /// answers only for them.
    #[inline]
    #[must_use]
    pub fn is_complete(flow: &Sender) -> bool {
        flow.snd_una == flow.start.bytes
    }

    /// The receiver has all bytes before `seq`. Returns true if that is new.
    fn on_all_before(&mut self, shape: &Shape, flow: &mut Sender, seq: u64) -> bool {
        let before = self.acked.next();
        while shape.bytes_before(self.acked.next(), flow.start.bytes) < seq {
            let next = shape.bytes_before(self.acked.next(), flow.start.bytes);
            self.on_received(shape, flow, next);
        }
        self.acked.next() > before
    }

    /// The receiver has the packet at `seq`. Returns true if that is new.
    fn on_received(&mut self, shape: &Shape, flow: &mut Sender, seq: u64) -> bool {
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

    /// The packet at `seq` arrived trimmed: it is retransmitted when the receiver pulls.
    fn on_refused(&mut self, shape: &Shape, flow: &mut Sender, seq: u64) {
        if let Some(payload) = self.requeue(shape, flow, seq) {
            self.answered += payload;
            self.refused += payload;
        }
    }

    /// A switch returned the header of the packet at `seq`.
    pub fn on_returned(&mut self, shape: &Shape, flow: &mut Sender, seq: u64) {
        if let Some(payload) = self.requeue(shape, flow, seq) {
            self.returned += payload;
        }
    }

    /// Queues the packet at `seq` for retransmission. Returns its payload, or `None` if it was
    /// received or is already queued.
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

    /// The receiver has pulled `total` bytes so far, modulo 2^32.
    pub fn on_pulled(&mut self, flow: &mut Sender, total: u32) {
        let more = total.wrapping_sub(self.pulled as u32) as i32;
        if more > 0 {
            self.pulled += more as u64;
            flow.credit += i64::from(more);
        }
    }

    /// If neither an answer nor a pull is outstanding, allows one packet, whose answer triggers the
    /// rest. Returned packets are otherwise not retransmitted: "we could immediately resend it, but
    /// this leads to a larger-than-necessary second incast" (NDP's simulator).
    pub fn if_nothing_is_expected(&self, flow: &mut Sender) {
        let useful = (flow.start.bytes + self.refused).saturating_sub(self.unasked);
        if self.in_flight == 0 && self.answered.min(useful) <= self.pulled {
            flow.credit = flow.credit.max(1);
        }
    }

    /// Timeout: unanswered packets are lost and are retransmitted without being pulled. If all are
    /// answered, a pull was lost, and one packet triggers the next pull.
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
