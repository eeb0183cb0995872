//! Hop-by-hop flow control: a switch tells its neighbour to pause or resume queues.
//!
//! Each file of this folder decides *when*; the frame is the same for all: a [`Signal`] names queues
//! of the neighbour's port and becomes a frame on the wire, which the neighbour (switch or NIC)
//! obeys by changing the mask of paused queues ([`obey`]). A traffic class is a queue of a FIFO port,
//! so PFC and BFC need no other frame. To add one: a file here, a variant of [`AnyHop`] and its line
//! in each `match`.

mod bfc;
mod pfc;

use xoff_core::Rng;

use crate::packet::{Kind, Packet};
use crate::sched::{Egress, QueueMask};

pub use bfc::{Assignment, Bfc, BfcConfig, BfcPort, BfcStats, EmptyQueueOrder};
pub use pfc::{Pfc, PfcConfig, PfcPort};

/// Bytes of a link-control frame, unless a setting says otherwise: the smallest Ethernet frame
/// (IEEE 802.1Qbb frames are 64 bytes; BFC's are not specified).
pub const FRAME_BYTES: u16 = 64;

/// What a link-control frame asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Ask {
    /// Pause these queues too.
    Pause = 0,
    /// Resume these queues.
    Resume = 1,
    /// Pause exactly these queues.
    Exactly = 2,
}

/// A frame to be sent to the neighbour on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Port number to send it by: the ingress concerned.
    pub port: u16,
    /// What it asks for.
    pub ask: Ask,
    /// The neighbour's queues it speaks of.
    pub queues: QueueMask,
}

impl Signal {
    /// The frame of so many bytes on the wire.
    #[must_use]
    pub fn frame(&self, bytes: u16) -> Packet {
        let mut packet = Packet::new(Kind::LinkControl, bytes);
        packet.seq = self.queues as u64;
        packet.stamp = (self.queues >> 64) as u64;
        packet.remaining = self.ask as u32;
        packet
    }
}

/// For how long at least one queue of a port has been paused.
#[derive(Clone, Copy, Debug, Default)]
pub struct PausedTime {
    since: Option<u64>,
    total: u64,
}

impl PausedTime {
    /// From now on some queue is paused, or none.
    pub fn set(&mut self, now: u64, paused: bool) {
        match (self.since, paused) {
            (None, true) => self.since = Some(now),
            (Some(since), false) => {
                self.total += now - since;
                self.since = None;
            }
            _ => {}
        }
    }

    /// The time so far (ps).
    #[must_use]
    pub fn total(&self, now: u64) -> u64 {
        self.total + self.since.map_or(0, |since| now - since)
    }
}

/// The mask of paused queues after a frame arrived.
///
/// # Panics
/// If the frame asks for something unknown: that is a bug.
#[must_use]
pub fn obey(frame: &Packet, paused: QueueMask) -> QueueMask {
    match frame.remaining {
        ask if ask == Ask::Pause as u32 => paused | frame.queue_mask(),
        ask if ask == Ask::Resume as u32 => paused & !frame.queue_mask(),
        ask if ask == Ask::Exactly as u32 => frame.queue_mask(),
        other => panic!("link-control frame with ask {other}"),
    }
}

/// One of the hop controls.
#[derive(Debug)]
pub enum AnyHop {
    /// None: a full buffer drops.
    None,
    /// Priority flow control.
    Pfc(Pfc),
    /// Backpressure flow control.
    Bfc(Box<Bfc>),
}

impl AnyHop {
    /// Whether a data packet may enter by `ingress`.
    #[inline]
    #[must_use]
    pub fn admits(&self, packet: &Packet) -> bool {
        match self {
            AnyHop::Pfc(pfc) => pfc.admits(packet),
            AnyHop::None | AnyHop::Bfc(_) => true,
        }
    }

    /// Chooses the data queue of an admitted packet at its egress port.
    #[inline]
    pub fn queue_of(
        &mut self,
        now: u64,
        egress: u16,
        packet: &Packet,
        queues: &Egress,
        rng: &mut Rng,
    ) -> u8 {
        match self {
            AnyHop::None | AnyHop::Pfc(_) => packet.class(),
            AnyHop::Bfc(bfc) => bfc.queue_of(now, egress, packet, queues, rng),
        }
    }

    /// A data packet has joined its queue.
    #[inline]
    pub fn on_enqueue(
        &mut self,
        now: u64,
        egress: u16,
        packet: &mut Packet,
        queues: &Egress,
    ) -> Option<Signal> {
        match self {
            AnyHop::None => None,
            AnyHop::Pfc(pfc) => pfc.on_enqueue(packet),
            AnyHop::Bfc(bfc) => bfc.on_enqueue(now, egress, packet, queues),
        }
    }

    /// A data packet starts to leave.
    #[inline]
    pub fn on_dequeue(&mut self, now: u64, egress: u16, packet: &mut Packet) -> Option<Signal> {
        match self {
            AnyHop::None => None,
            AnyHop::Pfc(pfc) => pfc.on_dequeue(packet),
            AnyHop::Bfc(bfc) => bfc.on_dequeue(now, egress, packet),
        }
    }

    /// When the timer of an ingress port should next fire, once a signal has been sent there.
    #[inline]
    #[must_use]
    pub fn next_timer(&self, now: u64) -> Option<u64> {
        match self {
            AnyHop::None | AnyHop::Pfc(_) => None,
            AnyHop::Bfc(bfc) => Some(bfc.next_refresh(now)),
        }
    }

    /// The timer of an ingress port fires: a frame to send, and whether the timer goes on.
    pub fn on_timer(&mut self, ingress: u16) -> (Option<Signal>, bool) {
        match self {
            AnyHop::None | AnyHop::Pfc(_) => (None, false),
            AnyHop::Bfc(bfc) => bfc.on_refresh(ingress),
        }
    }

    /// Flows with packets at an egress port, where the hop control tells flows apart.
    #[must_use]
    pub fn active_flows(&self, egress: u16) -> Option<u32> {
        match self {
            AnyHop::None | AnyHop::Pfc(_) => None,
            AnyHop::Bfc(bfc) => Some(bfc.active_flows(egress)),
        }
    }

    /// The neighbour's queues that this switch holds paused at an ingress port, for the watchdog.
    #[must_use]
    pub fn holds_paused(&self, ingress: u16) -> QueueMask {
        match self {
            AnyHop::None => 0,
            AnyHop::Pfc(pfc) => pfc.holds_paused(ingress),
            AnyHop::Bfc(bfc) => bfc.holds_paused(ingress),
        }
    }
}
