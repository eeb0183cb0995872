//! The sender's half of a flow: its credit, its pull target, and its retransmissions.

use xoff_net::packet::{Kind, Packet};

use super::{Terms, write_target};
use crate::flow::Sender;
use crate::receiver_driven::arrived::Arrived;

/// EQDS's state of a flow in addition to its [`Sender`], whose credit is in bytes on the wire.
#[derive(Debug, Default)]
pub struct EqdsSender {
    acked: Arrived,
    /// First byte never sent.
    fresh: u64,
    /// Credit pulled so far, and the last pull target (quanta).
    pulled: u64,
    target: u64,
    /// Speculative credit that is left but may not be used any more (bytes). The pull target is
    /// lower by as much.
    unused: u64,
    /// True while the credit is speculative.
    speculating: bool,
    /// True once the receiver has replied.
    has_reply: bool,
}

impl EqdsSender {
    /// A flow begins in this slot.
    pub fn start(&mut self, terms: &Terms, flow: &mut Sender) {
        self.acked.restart();
        let acked = std::mem::take(&mut self.acked);
        *self = Self { acked, speculating: true, ..Self::default() };
        flow.credit = terms.shape.initial_window as i64;
    }

    /// A data packet leaves: it takes credit for its header too, and carries the pull target. It
    /// asks for an acknowledgement if it is the last one for a while, or a retransmission.
    pub fn on_sent(&mut self, terms: &Terms, flow: &mut Sender, packet: &mut Packet, payload: u64) {
        flow.credit -= terms.overhead as i64;
        let again = packet.seq < self.fresh;
        // As in htsim, a retransmission repeats the last target, unless that is granted already.
        if !again || self.target <= self.pulled {
            self.target = self.pull_target(terms, flow);
        }
        self.fresh = self.fresh.max(packet.seq + payload);
        let is_last = self.fresh == flow.start.bytes;
        let asks = again || is_last || !self.speculating && flow.credit < 0;
        packet.stamp = flow.start.bytes;
        packet.remaining = write_target(self.target, asks);
    }

    /// Credit that the sender would like in total: for its data without retransmissions, which the
    /// receiver knows of, and at most a window ahead.
    fn pull_target(&self, terms: &Terms, flow: &Sender) -> u64 {
        let backlog =
            terms.on_wire(flow.start.bytes - flow.snd_nxt).min(terms.shape.initial_window);
        let more = (backlog as i64 - flow.credit - self.unused as i64).max(0) as u64;
        self.pulled + more.div_ceil(terms.quantum)
    }

    /// True once the receiver has replied.
    #[must_use]
    pub fn has_reply(&self) -> bool {
        self.has_reply
    }

    /// Handles a reply or a pull. Returns true if it acknowledges a packet for the first time.
    ///
    /// A reply that finds no credit to send with takes a packet from the unused speculative credit:
    /// htsim does "reduce speculative credit so that the pull target can advance".
    pub fn on_reply(&mut self, terms: &Terms, flow: &mut Sender, packet: &Packet) -> bool {
        self.has_reply = true;
        let news = self.on_kind(terms, flow, packet);
        if flow.credit <= 0 && flow.has_data() {
            self.unused = self.unused.saturating_sub(terms.full_packet());
        }
        news
    }

    fn on_kind(&mut self, terms: &Terms, flow: &mut Sender, packet: &Packet) -> bool {
        match packet.kind {
            Kind::Ack => {
                let news = self.on_acknowledged(terms, flow, packet);
                if self.target > self.pulled {
                    self.stop_speculating(flow);
                }
                news
            }
            Kind::Nack => {
                self.requeue(terms, flow, packet.seq);
                self.stop_speculating(flow);
                false
            }
            _ => {
                let news = self.on_all_before(terms, flow, packet.seq);
                self.stop_speculating(flow);
                self.on_pulled(terms, flow, packet.remaining);
                news
            }
        }
    }

    /// What is left of the speculative credit is not used; what is missing of it remains owed.
    fn stop_speculating(&mut self, flow: &mut Sender) {
        if std::mem::take(&mut self.speculating) {
            self.unused = flow.credit.max(0) as u64;
            flow.credit = flow.credit.min(0);
        }
    }

    /// The receiver has pulled `total` quanta so far, modulo 2^32.
    fn on_pulled(&mut self, terms: &Terms, flow: &mut Sender, total: u32) {
        let more = total.wrapping_sub(self.pulled as u32) as i32;
        if more > 0 {
            self.pulled += more as u64;
            flow.credit += i64::from(more) * terms.quantum as i64;
        }
    }

    /// The packets before `seq` have arrived, and those of the bitmap.
    fn on_acknowledged(&mut self, terms: &Terms, flow: &mut Sender, packet: &Packet) -> bool {
        let mut news = self.on_all_before(terms, flow, packet.seq);
        let mut bitmap = if packet.seq == flow.start.bytes { 0 } else { packet.stamp };
        while bitmap != 0 {
            let number = u64::from(packet.remaining) + u64::from(bitmap.trailing_zeros());
            bitmap &= bitmap - 1;
            news |= self.on_received(terms, flow, number * terms.shape.payload);
        }
        news
    }

    fn on_all_before(&mut self, terms: &Terms, flow: &mut Sender, seq: u64) -> bool {
        let before = self.acked.next();
        while terms.shape.bytes_before(self.acked.next(), flow.start.bytes) < seq {
            let next = terms.shape.bytes_before(self.acked.next(), flow.start.bytes);
            self.on_received(terms, flow, next);
        }
        self.acked.next() > before
    }

    /// The receiver has the packet at `seq`. Returns true if that is new.
    fn on_received(&mut self, terms: &Terms, flow: &mut Sender, seq: u64) -> bool {
        if !self.acked.insert(terms.shape.packet_at(seq)) {
            return false;
        }
        flow.unqueue(seq);
        flow.snd_una = terms.shape.bytes_before(self.acked.next(), flow.start.bytes);
        true
    }

    /// Queues the packet at `seq` for retransmission, unless it was received or is queued already.
    fn requeue(&mut self, terms: &Terms, flow: &mut Sender, seq: u64) {
        if !self.acked.contains(terms.shape.packet_at(seq)) {
            flow.requeue(seq, terms.shape.payload_at(seq, flow.start.bytes));
        }
    }

    /// Timeout: unanswered packets are lost, and nothing is held back from the pull target any
    /// more, since a flow may wait for just that. Returns the bytes on the wire that wait for
    /// retransmission, if the sender has to ask for credit.
    pub fn on_timeout(&mut self, terms: &Terms, flow: &mut Sender) -> Option<u64> {
        self.stop_speculating(flow);
        self.unused = 0;
        for packet in self.acked.next()..flow.snd_nxt.div_ceil(terms.shape.payload) {
            self.requeue(terms, flow, terms.shape.bytes_before(packet, flow.start.bytes));
        }
        let again = flow.left_to_send() - (flow.start.bytes - flow.snd_nxt);
        (flow.credit <= 0).then(|| terms.on_wire(again))
    }

    /// The pull target of a request.
    pub fn request(&mut self, terms: &Terms, flow: &Sender) -> u32 {
        self.target = self.pull_target(terms, flow);
        write_target(self.target, true)
    }
}
