//! The sender's half of a flow.

use xoff_core::TimerId;
use xoff_net::packet::NONE;

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

/// A flow that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it began.
    pub flow: FlowStart,
    /// When the acknowledgement of its last byte reached the sender (ps).
    pub end_ps: u64,
    /// When its last byte reached the receiver (ps).
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
    /// When something was last acknowledged (ps).
    pub progress_ps: u64,
    /// Packets reported lost: first byte and payload, the next one to send again last.
    pub lost: Vec<(u64, u32)>,
    lost_bytes: u64,
    /// The next flow of the same ring.
    pub next: u32,
    /// Timer for pacing.
    pub pace_timer: TimerId,
    /// Timer of the congestion control.
    pub control_timer: TimerId,
    /// The NIC's number in its partition.
    pub nic: u32,
    /// Its place in the NIC's list of flows.
    pub place: u32,
    /// Queue at the NIC, while it has something to send.
    pub queue: Option<u8>,
    /// Whether it waits in a ring.
    pub ringing: bool,
    /// Whether it has not ended.
    pub alive: bool,
}

impl Sender {
    /// A flow about to begin.
    #[must_use]
    pub fn new(start: FlowStart, pace: Pace, nic: u32, timers: (TimerId, TimerId)) -> Self {
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
            lost: Vec::new(),
            lost_bytes: 0,
            next: NONE,
            pace_timer: timers.0,
            control_timer: timers.1,
            nic,
            place: 0,
            queue: None,
            ringing: false,
            alive: true,
        }
    }

    /// Bytes sent and neither acknowledged nor lost.
    #[inline]
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.snd_nxt - self.snd_una - self.lost_bytes
    }

    /// When pacing and pauses allow the next packet (ps).
    #[inline]
    #[must_use]
    pub fn ready_at(&self) -> u64 {
        self.next_avail.max(self.paused_until)
    }

    /// Whether there is something to send that the window allows, pacing and pauses aside.
    #[inline]
    #[must_use]
    pub fn may_send(&self) -> bool {
        self.has_data() && self.in_flight() < self.pace.window
    }

    /// Whether there is something to send.
    #[inline]
    #[must_use]
    pub fn has_data(&self) -> bool {
        self.snd_nxt < self.start.bytes || !self.lost.is_empty()
    }

    /// Takes the next packet to send: first byte, payload, and whether it was sent before.
    #[inline]
    pub fn take_packet(&mut self, payload_max: u64) -> (u64, u64, bool) {
        if let Some((seq, bytes)) = self.lost.pop() {
            self.lost_bytes -= u64::from(bytes);
            return (seq, u64::from(bytes), true);
        }
        let seq = self.snd_nxt;
        let bytes = payload_max.min(self.start.bytes - seq);
        self.snd_nxt += bytes;
        let again = seq < self.high;
        self.high = self.high.max(self.snd_nxt);
        (seq, bytes, again)
    }

    /// Goes back to the first byte not acknowledged.
    pub fn go_back(&mut self) {
        self.snd_nxt = self.snd_una;
    }

    /// A packet was lost for certain.
    pub fn lose(&mut self, seq: u64, bytes: u32) {
        self.lost.push((seq, bytes));
        self.lost_bytes += u64::from(bytes);
    }
}
