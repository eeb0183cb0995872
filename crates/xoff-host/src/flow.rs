//! The sender's half of a flow.

mod tcp;

use xoff_core::TimerId;
use xoff_net::packet::{NONE, flag};

use crate::driven::Waiting;
use crate::nic::Nic;
use crate::recovery::sack::Block;
use crate::recovery::{SenderHalf, selective_repeat};

/// A flow that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowStart {
    /// Its number: the index of its arrival.
    pub id: u64,
    /// When it begins (ps).
    pub start_ps: u64,
    /// Sending host.
    pub src: u32,
    /// Receiving host.
    pub dst: u32,
    /// Payload bytes.
    pub bytes: u64,
    /// Source and destination port as one number.
    pub label: u32,
    /// The traffic source it comes from.
    pub source: u16,
    /// Traffic class, 0 to 7; 0 is served first.
    pub class: u8,
}

/// A flow whose application will have no more to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowStop {
    /// When (ps).
    pub time_ps: u64,
    /// The flow's number.
    pub flow: u64,
    /// Its sending host.
    pub src: u32,
}

/// A flow that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it began; one that was stopped has the bytes it has sent.
    pub flow: FlowStart,
    /// When the acknowledgement of its last byte reached the sender (ps).
    pub end_ps: u64,
    /// When its last byte reached the receiver (ps). Of a flow that was stopped nobody can say: no
    /// packet told the receiver that it was the last.
    pub received_ps: u64,
}

/// What a congestion control decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Bits per second.
    pub rate: u64,
    /// Bytes that may be unacknowledged.
    pub window: u64,
}

/// A flow's sender.
#[derive(Debug)]
pub struct Sender {
    /// How it began; `start.id` tells a late packet of an earlier flow in the same place.
    pub start: FlowStart,
    /// Next byte to send.
    pub snd_nxt: u64,
    /// Bytes acknowledged.
    pub snd_una: u64,
    /// First byte never sent.
    pub high: u64,
    /// What the congestion control decided.
    pub pace: Pace,
    /// When pacing allows the next packet (ps).
    pub next_avail: u64,
    /// Until when a flow control has it paused (ps).
    pub paused_until: u64,
    /// Bytes on the wire of the packet sent last.
    pub last_wire_bytes: u64,
    /// When something was last acknowledged, or sent after nothing was in flight (ps).
    pub progress_ps: u64,
    /// How many bytes after `snd_una` may have been sent, whatever became of them.
    pub reach: u64,
    recovery: SenderHalf,
    /// Bytes that are lost and not sent again yet.
    lost_bytes: u64,
    /// Bytes after `snd_una` that the receiver has.
    kept_bytes: u64,
    /// Bytes its receiver lets it send: below zero, the last packet was longer than what was left.
    /// Without end where senders decide themselves, and zero while a neighbour holds the flow.
    pub credit: i64,
    /// The next flow of the same ring; where the shortest goes first, its place in its queue's heap.
    pub next: u32,
    /// Timer for pacing.
    pub pace_timer: TimerId,
    /// Timer of the congestion control.
    pub control_timer: TimerId,
    /// The NIC's number in its partition.
    pub nic: u32,
    /// The number of what it knows of its path: at first, that of its NIC.
    pub path: u32,
    /// Its place in the NIC's list of flows.
    pub place: u32,
    /// Queue at the NIC, while it has something to send.
    pub queue: Option<u8>,
    /// Flags of its packets: class and label.
    pub flags: u8,
    /// Whether it waits for its turn.
    pub ringing: bool,
    /// Whether it has not ended.
    pub alive: bool,
    /// Whether it is a stream, which ends only with the run: more bytes may be written to it.
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

    /// Its queue at its NIC: another one if it had nothing to send for a while.
    #[inline]
    pub fn queue_at(&mut self, nic: &mut Nic) -> u8 {
        let (start, labelled) = (&self.start, self.flags & flag::LABELLED != 0);
        let assign = || nic.assign_queue(start.class, start.label, labelled);
        *self.queue.get_or_insert_with(assign)
    }

    /// Bytes on their way: sent, neither lost nor known to have arrived.
    #[inline]
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.snd_nxt - self.snd_una - self.lost_bytes - self.kept_bytes
    }

    /// When pacing and pauses allow the next packet (ps).
    #[inline]
    #[must_use]
    pub fn ready_at(&self) -> u64 {
        self.next_avail.max(self.paused_until)
    }

    /// A neighbour holds the flow, or lets it go on: as if its receiver let it send nothing.
    pub fn set_held(&mut self, held: bool) {
        self.credit = if held { 0 } else { i64::MAX };
    }

    /// Whether there is something to send that window and credit allow, pacing and pauses aside.
    #[inline(always)]
    #[must_use]
    pub fn may_send(&self) -> bool {
        if self.lost_bytes > 0 {
            return self.may_repeat();
        }
        let sent = self.snd_nxt - self.snd_una;
        let ready = self.snd_nxt < self.start.bytes && sent < self.reach;
        ready && self.in_flight() < self.pace.window && self.credit > 0
    }

    /// The same for what is lost.
    #[cold]
    fn may_repeat(&self) -> bool {
        let has_room = self.in_flight() < self.pace.window;
        let may = match &self.recovery {
            SenderHalf::Sack(half) => half.may_repeat(has_room),
            _ => has_room,
        };
        may && self.credit > 0
    }

    /// Bytes to send, those that are lost included.
    #[must_use]
    pub fn left_to_send(&self) -> u64 {
        self.start.bytes - self.snd_nxt + self.lost_bytes
    }

    /// Whether all has been acknowledged and nothing will follow.
    #[inline]
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.snd_una >= self.start.bytes && !self.open
    }

    /// Whether there is something to send.
    #[inline]
    #[must_use]
    pub fn has_data(&self) -> bool {
        self.snd_nxt < self.start.bytes || self.lost_bytes > 0
    }

    /// Whether the receiver is known to have got something.
    #[inline]
    #[must_use]
    pub fn has_progressed(&self) -> bool {
        self.snd_una > 0 || self.kept_bytes > 0
    }

    /// Takes the next packet to send: first byte, payload, and whether it was sent before.
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

    /// There will be no more to send than was sent. Returns whether all of that has arrived.
    pub fn stop(&mut self) -> bool {
        self.start.bytes = self.high;
        self.snd_una >= self.high
    }

    /// Everything before `seq` has arrived (with perfect recovery: so many bytes). Returns how many
    /// bytes more than known.
    #[inline]
    pub fn acknowledge(&mut self, seq: u64, payload: u64) -> u64 {
        let acked = seq.saturating_sub(self.snd_una);
        if acked > 0 {
            self.snd_una = seq;
            self.snd_nxt = self.snd_nxt.max(seq);
            match &mut self.recovery {
                SenderHalf::SelectiveRepeat(Some(scoreboard)) => {
                    scoreboard.on_progress(seq.div_ceil(payload));
                    self.count(payload);
                }
                SenderHalf::Sack(half) => {
                    half.on_progress(seq.div_ceil(payload));
                    self.count(payload);
                }
                _ => {}
            }
        }
        acked
    }

    /// The receiver misses the packet at `expected`; instead it got the one that stands `kept` packets
    /// behind it (with selective acknowledgements: the block of these bits). Returns whether that says of
    /// a packet more than known that it has arrived.
    pub fn on_nack(&mut self, expected: u64, kept: u32, payload: u64) -> bool {
        match &mut self.recovery {
            SenderHalf::GoBackN => {
                self.go_back();
                false
            }
            SenderHalf::Perfect(_) => unreachable!("perfect recovery asks for nothing"),
            SenderHalf::Driven(_) => unreachable!("its transport hears what is missing"),
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
        }
    }

    /// Nothing was heard for too long.
    pub fn on_timeout(&mut self, payload: u64) {
        let sent = self.sent(payload);
        match &mut self.recovery {
            SenderHalf::GoBackN => self.go_back(),
            SenderHalf::Perfect(_) => unreachable!("perfect recovery has no timeout"),
            SenderHalf::Driven(_) => unreachable!("its transport hears of timeouts"),
            SenderHalf::SelectiveRepeat(scoreboard) => {
                let next = self.snd_nxt.div_ceil(payload);
                scoreboard.get_or_insert_default().on_timeout(self.snd_una / payload, next);
                self.count(payload);
            }
            SenderHalf::Sack(half) => {
                half.on_timeout(&sent);
                self.count(payload);
            }
        }
    }

    /// A packet was lost for certain.
    ///
    /// # Panics
    /// Without perfect recovery nobody says so.
    pub fn lose(&mut self, seq: u64, bytes: u64) {
        let SenderHalf::Perfect(losses) = &mut self.recovery else {
            unreachable!("only perfect recovery tells of losses");
        };
        losses.add(seq, bytes);
        self.lost_bytes += bytes;
    }

    #[cold]
    fn take_lost(&mut self, payload: u64) -> (u64, u64) {
        let packet = match &mut self.recovery {
            SenderHalf::GoBackN => None,
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
        };
        let (seq, bytes) = packet.expect("lost bytes are in lost packets");
        self.lost_bytes -= bytes;
        (seq, bytes)
    }

    /// Counts again what the scoreboard says.
    fn count(&mut self, payload: u64) {
        match &self.recovery {
            SenderHalf::SelectiveRepeat(Some(scoreboard)) => {
                (self.kept_bytes, self.lost_bytes) = scoreboard.bytes(payload, self.start.bytes);
            }
            SenderHalf::Sack(half) => {
                (self.kept_bytes, self.lost_bytes) = half.bytes(payload, self.start.bytes);
            }
            _ => {}
        }
    }

    fn go_back(&mut self) {
        self.snd_nxt = self.snd_una;
    }

    /// With a receiver-driven transport: a packet has to be sent again. Returns whether it did not wait already.
    pub fn requeue(&mut self, seq: u64, bytes: u64) -> bool {
        let waits = self.waiting().add(seq, bytes);
        self.lost_bytes += if waits { bytes } else { 0 };
        waits
    }

    /// The same: a packet that waits to be sent again need not be. Returns whether it waited.
    pub fn unqueue(&mut self, seq: u64) -> bool {
        let bytes = self.waiting().remove(seq);
        self.lost_bytes -= bytes.unwrap_or(0);
        bytes.is_some()
    }

    fn waiting(&mut self) -> &mut Waiting {
        let SenderHalf::Driven(waiting) = &mut self.recovery else {
            unreachable!("only receiver-driven transports know of each packet");
        };
        waiting
    }
}
