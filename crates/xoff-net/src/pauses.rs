//! Pauses of queues and flows: the frame with which a switch asks its neighbour for them, and how a
//! port obeys it.
//!
//! A [`Signal`] names queues of the neighbour's port and becomes a frame on the wire. The neighbour
//! (switch or NIC) obeys it by changing its mask of paused queues ([`obey`]). A traffic class is a
//! queue of a FIFO port, so PFC and BFC need no other frame.

use crate::header::Ask;
use crate::packet::{Kind, Packet, QueueMask};

/// Bits of one quantum of a pause (IEEE 802.1Qbb: 512 bit times of the link).
pub const QUANTUM_BITS: u64 = 512;

/// A pause in whole quanta, rounded down. A frame can carry up to 65 535.
#[must_use]
pub fn quanta(pause_ps: u64, rate: u64) -> u16 {
    let bits = u128::from(pause_ps) * u128::from(rate) / 1_000_000_000_000;
    (bits / u128::from(QUANTUM_BITS)).min(u128::from(u16::MAX)) as u16
}

/// A frame to be sent to the neighbour on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// The number of the port that sends it: the ingress concerned.
    pub port: u16,
    /// The request.
    pub ask: Ask,
    /// The neighbour's queues. For a single flow: the two numbers that [`Self::flow`] reads.
    pub queues: QueueMask,
    /// For `PauseFor`: quanta of 512 bit times.
    pub quanta: u16,
}

impl Signal {
    /// A request that holds until the next frame.
    #[must_use]
    pub fn new(port: u16, ask: Ask, queues: QueueMask) -> Self {
        Self { port, ask, queues, quanta: 0 }
    }

    /// Pauses a traffic class for `quanta` quanta.
    #[must_use]
    pub fn pause_for(port: u16, class: u8, quanta: u16) -> Self {
        Self { quanta, ..Self::new(port, Ask::PauseFor, 1 << class) }
    }

    /// Pauses the flow of a packet at its upstream neighbour.
    #[must_use]
    pub fn pause_flow(packet: &Packet) -> Self {
        let numbers = QueueMask::from(packet.sender) << 32 | QueueMask::from(packet.flow);
        Self::new(packet.ingress, Ask::PauseFlow, numbers)
    }

    /// Resumes that flow.
    #[must_use]
    pub fn resume_flow(packet: &Packet) -> Self {
        Self { ask: Ask::ResumeFlow, ..Self::pause_flow(packet) }
    }

    /// The flow that it names, and its sender's number for it, if it names one.
    #[must_use]
    pub fn flow(&self) -> Option<(u32, u32)> {
        let of_flow = matches!(self.ask, Ask::PauseFlow | Ask::ResumeFlow);
        of_flow.then_some((self.queues as u32, (self.queues >> 32) as u32))
    }

    /// The frame, with `bytes` bytes on the wire.
    #[must_use]
    pub fn frame(&self, bytes: u16) -> Packet {
        let mut packet = Packet::new(Kind::LinkControl, bytes);
        packet.as_link_control_mut().set_ask(self.ask, self.quanta);
        if let Some(flow) = self.flow() {
            (packet.flow, packet.sender) = flow;
        } else {
            packet.as_link_control_mut().set_queues(self.queues);
        }
        packet
    }
}

/// The time for which at least one queue of a port has been paused.
#[derive(Clone, Copy, Debug, Default)]
pub struct PausedTime {
    since: Option<u64>,
    total: u64,
    pauses: u64,
}

impl PausedTime {
    /// From now on at least one queue is paused, or none.
    pub fn set(&mut self, now: u64, paused: bool) {
        match (self.since, paused) {
            (None, true) => {
                self.since = Some(now);
                self.pauses += 1;
            }
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

    /// How often a port went from no paused queue to at least one.
    #[must_use]
    pub fn pauses(&self) -> u64 {
        self.pauses
    }
}

/// The request of a frame that pauses queues for a time: the queues and the time (ps) on a link of
/// `rate` bit/s.
#[must_use]
pub fn timed_pause(frame: &Packet, rate: u64) -> Option<(QueueMask, u64)> {
    let frame = frame.as_link_control();
    let bits = u128::from(frame.quanta()) * u128::from(QUANTUM_BITS);
    let pause = (bits * 1_000_000_000_000 / u128::from(rate)) as u64;
    (frame.ask() == Ask::PauseFor).then(|| (frame.queues(), pause))
}

/// The request of a frame about one flow: whether it pauses.
#[must_use]
pub fn flow_pause(frame: &Packet) -> Option<bool> {
    match frame.as_link_control().ask() {
        Ask::PauseFlow => Some(true),
        Ask::ResumeFlow => Some(false),
        Ask::Pause | Ask::Resume | Ask::Exactly | Ask::PauseFor => None,
    }
}

/// The mask of paused queues after a frame arrived.
///
/// # Panics
/// If the frame's request does not hold until the next one, which is a bug.
#[must_use]
pub fn obey(frame: &Packet, paused: QueueMask) -> QueueMask {
    let frame = frame.as_link_control();
    match frame.ask() {
        Ask::Pause => paused | frame.queues(),
        Ask::Resume => paused & !frame.queues(),
        Ask::Exactly => frame.queues(),
        other => panic!("link-control frame that asks for {other:?}"),
    }
}
