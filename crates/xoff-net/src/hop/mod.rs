//! Hop-by-hop flow control: a switch tells its neighbour to pause or resume queues.
//!
//! Each file of this folder decides *when*; the frame is the same for all: a [`Signal`] names queues
//! of the neighbour's port and becomes a frame on the wire, which the neighbour (switch or NIC)
//! obeys by changing the mask of paused queues ([`obey`]). A traffic class is a queue of a FIFO port,
//! so PFC and BFC need no other frame. To add one: a file here that
//! implements [`HopControl`], a variant of [`AnyHop`] and its line in `each_hop`.

mod bfc;
mod flow_table;
mod pfc;

use xoff_core::Rng;

use crate::packet::{Kind, Packet};
use crate::sched::{QueueMask, Scheduler};

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

/// What a hop control does. Everything but the name of a packet's queue has a default: nothing.
pub trait HopControl {
    /// Whether a data packet may enter by its ingress.
    #[inline]
    fn admits(&self, _packet: &Packet) -> bool {
        true
    }

    /// Chooses the data queue of a packet at its egress port.
    #[inline]
    fn queue_of<S: Scheduler>(
        &mut self,
        _now: u64,
        _egress: u16,
        packet: &Packet,
        _queues: &S,
        _rng: &mut Rng,
    ) -> u8 {
        packet.class()
    }

    /// A data packet has joined its queue.
    #[inline]
    fn on_enqueue<S: Scheduler>(
        &mut self,
        _now: u64,
        _egress: u16,
        _packet: &mut Packet,
        _queues: &S,
    ) -> Option<Signal> {
        None
    }

    /// A data packet finds its queue empty and leaves at once, the only one at its port that may.
    /// Returns false, having done nothing, if it may not enter, or if its joining and leaving would
    /// send a signal.
    #[inline]
    fn pass(&mut self, _now: u64, _egress: u16, _packet: &Packet) -> bool {
        true
    }

    /// A data packet starts to leave.
    #[inline]
    fn on_dequeue(&mut self, _now: u64, _egress: u16, _packet: &mut Packet) -> Option<Signal> {
        None
    }

    /// A packet will enter by an ingress soon.
    #[inline]
    fn prefetch(&self, _ingress: u16) {}

    /// When the timer of an ingress port should next fire, once a signal has been sent there.
    fn next_timer(&self, _now: u64) -> Option<u64> {
        None
    }

    /// The timer of an ingress port fires: a frame to send, and whether the timer goes on.
    fn on_timer(&mut self, _ingress: u16) -> (Option<Signal>, bool) {
        (None, false)
    }

    /// Flows with packets at an egress port, where the hop control tells flows apart.
    fn active_flows(&self, _egress: u16) -> Option<u32> {
        None
    }

    /// The neighbour's queues that this switch holds paused at an ingress port, for the watchdog.
    fn holds_paused(&self, _ingress: u16) -> QueueMask {
        0
    }
}

/// No hop control: a full buffer drops.
#[derive(Debug)]
pub struct Uncontrolled;

impl HopControl for Uncontrolled {}

/// One of the hop controls.
#[derive(Debug)]
#[repr(u8)]
pub enum AnyHop {
    /// None.
    None(Uncontrolled),
    /// Priority flow control.
    Pfc(Pfc),
    /// Backpressure flow control.
    Bfc(Bfc),
}

/// Applies an expression to whichever hop control it is.
macro_rules! each_hop {
    ($self:expr, $hop:ident => $call:expr) => {
        match $self {
            $crate::hop::AnyHop::None($hop) => $call,
            $crate::hop::AnyHop::Pfc($hop) => $call,
            $crate::hop::AnyHop::Bfc($hop) => $call,
        }
    };
}
pub(crate) use each_hop;

impl AnyHop {
    /// Flows with packets at an egress port, where the hop control tells flows apart.
    #[must_use]
    pub fn active_flows(&self, egress: u16) -> Option<u32> {
        each_hop!(self, hop => hop.active_flows(egress))
    }

    /// The neighbour's queues that this switch holds paused at an ingress port.
    #[must_use]
    pub fn holds_paused(&self, ingress: u16) -> QueueMask {
        each_hop!(self, hop => hop.holds_paused(ingress))
    }
}
