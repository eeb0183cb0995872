//! The sender's half of a flow.

mod audit;
mod tcp;

use xoff_core::{FlowId, HostId, TimerId};
use xoff_net::packet::{NONE, flag};

use crate::cc::Pace;
use crate::recovery::sack::Block;
use crate::recovery::{SenderHalf, Waiting, selective_repeat};

#[cfg(test)]
pub(crate) use audit::tests::sender;

/// A flow that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowStart {
    /// The flow: the index of its arrival.
    pub id: FlowId,
    /// Start time (ps).
    pub start_ps: u64,
    /// Sending host.
    pub src: HostId,
    /// Receiving host.
    pub dst: HostId,
    /// Payload bytes.
    pub bytes: u64,
    /// Source and destination port as one number.
    pub label: u32,
    /// The flow's traffic source.
    pub source: u16,
    /// Traffic class, 0 to 7; 0 is served first.
    pub class: u8,
}

#[cfg(test)]
impl FlowStart {
    /// A flow of this size from host 0 to host 1, for tests.
    pub(crate) fn of_bytes(id: u64, bytes: u64) -> Self {
        let (id, src, dst) = (FlowId(id), HostId(0), HostId(1));
        Self { id, start_ps: 0, src, dst, bytes, label: 0, source: 0, class: 0 }
    }
}

/// A flow whose application stops sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowStop {
    /// Time of the stop (ps).
    pub time_ps: u64,
    /// The flow.
    pub flow: FlowId,
    /// Sending host.
    pub src: HostId,
}

/// A flow that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its start. For a stopped flow, `bytes` is the number of bytes sent.
    pub flow: FlowStart,
    /// When the acknowledgement of its last byte reached the sender (ps).
    pub end_ps: u64,
    /// When its last byte reached the receiver (ps). Not meaningful for a stopped flow, since no
    /// packet told the receiver that it was the last.
    pub received_ps: u64,
}

/// A flow's sender.
#[derive(Debug)]
pub struct Sender {
    /// Its start. `start.id` identifies a late packet of an earlier flow in the same slot.
    pub start: FlowStart,
    /// Next byte to send.
    pub snd_nxt: u64,
    /// Bytes acknowledged.
    pub snd_una: u64,
    /// First byte never sent.
    pub high: u64,
    /// The congestion control's decision.
    pub pace: Pace,
    /// Time at which pacing allows the next packet (ps).
    pub next_avail: u64,
    /// End of a pause by a flow control (ps).
    pub paused_until: u64,
    /// Bytes on the wire of the last packet sent.
    pub last_wire_bytes: u64,
    /// When data was last acknowledged, or sent with nothing in flight (ps).
    pub progress_ps: u64,
    /// Maximum distance of `snd_nxt` from `snd_una` in bytes, regardless of losses.
    pub reach: u64,
    recovery: SenderHalf,
    /// Bytes that are lost and not yet retransmitted.
    lost_bytes: u64,
    /// Bytes after `snd_una` that the receiver has.
    kept_bytes: u64,
    /// Bytes that the window has beyond the congestion control's, for recoveries that count
    /// duplicates.
    beyond: i64,
    /// Bytes that its receiver allows it to send; negative if the last packet exceeded the
    /// remainder. Unlimited with sender-driven transports, and zero while a neighbour holds the
    /// flow.
    pub credit: i64,
    /// The next flow of the same ring. With shortest-first scheduling: its index in its queue's
    /// heap.
    pub next: u32,
    /// Pacing timer.
    pub pace_timer: TimerId,
    /// Timer of the congestion control.
    pub control_timer: TimerId,
    /// Index of its NIC in the partition.
    pub nic: u32,
    /// Index of its path constants; initially that of its NIC.
    pub path: u32,
    /// Its index in the NIC's list of flows.
    pub place: u32,
    /// Queue at the NIC, while the flow has data to send.
    pub queue: Option<u8>,
    /// Flags of its packets: class and label.
    pub flags: u8,
    /// True while it waits for its turn.
    pub ringing: bool,
    /// True until it has ended.
    pub alive: bool,
    /// True for a stream, which ends only with the run: more bytes may be written to it.
    pub open: bool,
}

impl Sender {
    /// A flow about to begin.
    #[must_use]
    pub fn new(
        start: FlowStart,
        pace: Pace,
        recovery: SenderHalf,
        nic: u32,
        timers: (TimerId, TimerId),
    ) -> Self {
        Self {
            start,
            snd_nxt: 0,
            snd_una: 0,
            high: 0,
            pace,
            next_avail: start.start_ps,
            paused_until: 0,
            last_wire_bytes: 0,
            progress_ps: start.start_ps,
            reach: u64::MAX,
            recovery,
            lost_bytes: 0,
            kept_bytes: 0,
            beyond: 0,
            credit: i64::MAX,
            next: NONE,
            pace_timer: timers.0,
            control_timer: timers.1,
            nic,
            path: nic,
            place: 0,
            queue: None,
            flags: start.class << flag::CLASS_SHIFT,
            ringing: false,
            alive: true,
            open: false,
        }
    }

    /// Bytes in flight: sent, neither lost nor known to have arrived. It wraps, so that no limited
    /// window allows more, where go-back-N to the letter of the HPCC simulator has gone back behind
    /// what is acknowledged, and while a SYN waits.
    #[inline]
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        let left = self.snd_nxt.wrapping_sub(self.snd_una).wrapping_sub(self.lost_bytes);
        left.wrapping_sub(self.kept_bytes)
    }

    /// Time at which pacing and pauses allow the next packet (ps).
    #[inline]
    #[must_use]
    pub fn ready_at(&self) -> u64 {
        self.next_avail.max(self.paused_until)
    }

    /// Holds the flow for a neighbour, or releases it, by setting its credit.
    pub fn set_held(&mut self, held: bool) {
        self.credit = if held { 0 } else { i64::MAX };
    }

    /// True if there is data that window and credit allow to send; ignores pacing and pauses.
    #[inline(always)]
    #[must_use]
    pub fn may_send(&self) -> bool {
        if self.lost_bytes > 0 {
            return self.may_repeat();
        }
        let sent = self.snd_nxt.wrapping_sub(self.snd_una);
        let ready = self.snd_nxt < self.start.bytes && sent < self.reach;
        ready && self.in_flight() < self.pace.window && self.credit > 0
    }

    /// True if a packet may follow `ahead` bytes that wait at the NIC. Nothing follows lost data.
    #[must_use]
    pub fn may_send_after(&self, ahead: u64) -> bool {
        if self.lost_bytes > 0 || ahead == 0 {
            return ahead == 0 && self.may_send();
        }
        let next = self.snd_nxt + ahead;
        let ready = next < self.start.bytes && next - self.snd_una < self.reach;
        ready && self.in_flight() + ahead < self.pace.window && self.credit > ahead as i64
    }

    /// The same for lost data.
    #[cold]
    fn may_repeat(&self) -> bool {
        if self.is_opening() {
            return self.credit > 0;
        }
        let has_room = self.in_flight() < self.pace.window;
        let may = match &self.recovery {
            SenderHalf::Sack(half) => half.may_repeat(has_room),
            SenderHalf::Sack1(half) => half.may_repeat(has_room),
            SenderHalf::NewReno(_) => true,
            _ => has_room,
        };
        may && self.credit > 0
    }

    /// Bytes left to send, including lost ones.
    #[must_use]
    pub fn left_to_send(&self) -> u64 {
        self.start.bytes - self.snd_nxt + self.lost_bytes
    }

    /// True if all bytes are acknowledged and no more will follow.
    #[inline]
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.snd_una >= self.start.bytes && !self.open
    }

    /// True if there is data to send.
    #[inline]
    #[must_use]
    pub fn has_data(&self) -> bool {
        self.snd_nxt < self.start.bytes || self.lost_bytes > 0
    }

    /// True if the flow has ended, but its NIC goes on with what it has begun to send again: in the
    /// HPCC simulator, without a window.
    #[must_use]
    pub fn haunts(&self) -> bool {
        let literal = matches!(self.recovery, SenderHalf::LiteralGoBackN);
        literal && !self.alive && self.pace.window == u64::MAX && self.has_data()
    }

    /// True if the receiver is known to have received data.
    #[inline]
    #[must_use]
    pub fn has_progressed(&self) -> bool {
        self.snd_una > 0 || self.kept_bytes > 0
    }

    /// Takes the next packet to send: its first byte, its payload, and whether it is a
    /// retransmission.
    #[inline(always)]
    pub fn take_packet(&mut self, payload_max: u64) -> (u64, u64, bool) {
        if self.lost_bytes > 0 {
            let (seq, bytes) = self.take_lost(payload_max);
            self.credit -= bytes as i64;
            return (seq, bytes, true);
        }
        let seq = self.snd_nxt;
        let bytes = payload_max.min(self.start.bytes - seq);
        self.credit -= bytes as i64;
        self.snd_nxt += bytes;
        let again = seq < self.high;
        self.high = self.high.max(self.snd_nxt);
        (seq, bytes, again)
    }

    /// Ends the flow with the bytes sent so far. Returns true if all of them have arrived.
    pub fn stop(&mut self) -> bool {
        self.start.bytes = self.high;
        self.snd_una >= self.high
    }

    /// Everything before `seq` has arrived (with perfect recovery: `seq` bytes). Returns the number
    /// of newly acknowledged bytes.
    #[inline(always)]
    pub fn acknowledge(&mut self, seq: u64, payload: u64) -> u64 {
        let acked = seq.saturating_sub(self.snd_una);
        if acked > 0 {
            let before = (self.snd_una, self.snd_nxt);
            self.snd_una = seq;
            self.snd_nxt = self.snd_nxt.max(seq);
            if !matches!(self.recovery, SenderHalf::GoBackN) {
                self.recover(before, seq, payload);
            }
        }
        acked
    }

    /// What else a recovery does when all bytes before `seq` have arrived. Before, these were
    /// acknowledged and sent.
    #[inline(never)]
    fn recover(&mut self, (acknowledged, sent): (u64, u64), seq: u64, payload: u64) {
        match &mut self.recovery {
            SenderHalf::LiteralGoBackN => self.snd_nxt = sent,
            SenderHalf::SelectiveRepeat(Some(scoreboard)) => {
                scoreboard.on_progress(seq.div_ceil(payload));
                self.count(payload);
            }
            SenderHalf::Sack(half) => {
                half.on_progress(acknowledged / payload, seq.div_ceil(payload));
                self.count(payload);
            }
            SenderHalf::NewReno(_) | SenderHalf::Sack1(_) => self.on_progress(seq, payload),
            _ => {}
        }
    }

    /// The receiver misses the packet at `expected` and got the one `kept` packets after it (with
    /// selective acknowledgements: the block encoded in `kept`). Returns true if a packet is newly
    /// known to have arrived.
    pub fn on_nack(&mut self, expected: u64, kept: u32, payload: u64) -> bool {
        match &mut self.recovery {
            SenderHalf::GoBackN | SenderHalf::LiteralGoBackN => {
                self.go_back();
                false
            }
            SenderHalf::Perfect(_) => unreachable!("perfect recovery sends no NACKs"),
            SenderHalf::Driven(_) => {
                unreachable!("receiver-driven transports handle losses themselves")
            }
            SenderHalf::SelectiveRepeat(scoreboard) => {
                let packet = expected / payload + u64::from(kept);
                if packet < self.snd_una / payload {
                    return false;
                }
                let scoreboard = scoreboard.get_or_insert_default();
                scoreboard.on_progress(self.snd_una / payload);
                let news = selective_repeat::on_arrived(scoreboard, packet);
                self.count(payload);
                news
            }
            SenderHalf::Sack(half) => {
                if expected < self.snd_una {
                    return false;
                }
                let news = half.on_block(expected / payload, Block::from_bits(kept));
                self.count(payload);
                news
            }
            SenderHalf::Sack1(half) => {
                let current = expected == self.snd_una;
                current && half.on_block(expected / payload, Block::from_bits(kept))
            }
            SenderHalf::NewReno(_) => unreachable!("its receivers report no blocks"),
        }
    }

    /// Retransmission timeout.
    pub fn on_timeout(&mut self, payload: u64) {
        let sent = self.sent(payload);
        match &mut self.recovery {
            SenderHalf::GoBackN | SenderHalf::LiteralGoBackN => self.go_back(),
            SenderHalf::Perfect(_) => unreachable!("perfect recovery has no timeout"),
            SenderHalf::Driven(_) => {
                unreachable!("receiver-driven transports handle timeouts themselves")
            }
            SenderHalf::SelectiveRepeat(scoreboard) => {
                let next = self.snd_nxt.div_ceil(payload);
                scoreboard.get_or_insert_default().on_timeout(self.snd_una / payload, next);
                self.count(payload);
            }
            SenderHalf::Sack(half) => {
                half.on_timeout(&sent);
                self.count(payload);
            }
            SenderHalf::NewReno(_) | SenderHalf::Sack1(_) => self.restart(&sent),
        }
    }

    /// Records a packet that is certainly lost.
    ///
    /// # Panics
    /// If the recovery is not perfect recovery.
    pub fn lose(&mut self, seq: u64, bytes: u64) {
        let SenderHalf::Perfect(losses) = &mut self.recovery else {
            unreachable!("only perfect recovery reports losses");
        };
        losses.add(seq, bytes);
        self.lost_bytes += bytes;
    }

    #[cold]
    fn take_lost(&mut self, payload: u64) -> (u64, u64) {
        if self.is_opening() {
            self.lost_bytes = 0;
            self.credit = 0;
            return (0, 0);
        }
        let packet = match &mut self.recovery {
            SenderHalf::GoBackN | SenderHalf::LiteralGoBackN => None,
            SenderHalf::Driven(waiting) => waiting.take(),
            SenderHalf::Perfect(losses) => losses.take(),
            SenderHalf::SelectiveRepeat(scoreboard) => {
                let packet = scoreboard.as_mut().and_then(|scoreboard| scoreboard.take());
                let seq = packet.map(|packet| packet * payload);
                seq.map(|seq| (seq, payload.min(self.start.bytes - seq)))
            }
            SenderHalf::Sack(half) => {
                if half.take_probe() {
                    return (self.snd_una, 0);
                }
                let seq = half.take().map(|packet| packet * payload);
                seq.map(|seq| (seq, payload.min(self.start.bytes - seq)))
            }
            SenderHalf::NewReno(half) => {
                let seq = half.take().map(|packet| packet * payload);
                seq.map(|seq| (seq, payload.min(self.start.bytes - seq)))
            }
            SenderHalf::Sack1(half) => {
                let seq = half.take().map(|packet| packet * payload);
                seq.map(|seq| (seq, payload.min(self.start.bytes - seq)))
            }
        };
        let (seq, bytes) = packet.expect("lost bytes belong to lost packets");
        self.lost_bytes -= bytes;
        (seq, bytes)
    }

    /// Updates the counts of kept and lost bytes from the scoreboard.
    fn count(&mut self, payload: u64) {
        match &self.recovery {
            SenderHalf::SelectiveRepeat(Some(scoreboard)) => {
                (self.kept_bytes, self.lost_bytes) = scoreboard.bytes(payload, self.start.bytes);
            }
            SenderHalf::Sack(half) => {
                (self.kept_bytes, self.lost_bytes) = half.bytes(payload, self.start.bytes);
            }
            SenderHalf::NewReno(half) => {
                self.lost_bytes = half.lost_bytes(payload, self.start.bytes);
            }
            SenderHalf::Sack1(half) => {
                self.lost_bytes = half.lost_bytes(payload, self.start.bytes);
            }
            _ => {}
        }
    }

    fn go_back(&mut self) {
        self.snd_nxt = self.snd_una;
    }

    /// Receiver-driven transports: queues a packet for retransmission. Returns false if it was
    /// already queued.
    pub fn requeue(&mut self, seq: u64, bytes: u64) -> bool {
        let waits = self.waiting().add(seq, bytes);
        self.lost_bytes += if waits { bytes } else { 0 };
        waits
    }

    /// Receiver-driven transports: removes a packet from the retransmission queue. Returns true if
    /// it was queued.
    pub fn unqueue(&mut self, seq: u64) -> bool {
        let bytes = self.waiting().remove(seq);
        self.lost_bytes -= bytes.unwrap_or(0);
        bytes.is_some()
    }

    fn waiting(&mut self) -> &mut Waiting {
        let SenderHalf::Driven(waiting) = &mut self.recovery else {
            unreachable!("only receiver-driven transports queue packets");
        };
        waiting
    }
}
