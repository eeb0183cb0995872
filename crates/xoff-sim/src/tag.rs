//! Tags of events: the kind in bits 28 to 31, the index of the owner below.

/// The kind of an event, and the index of its owner.
#[inline(always)]
pub(crate) const fn split(tag: u32) -> (u32, u32) {
    (tag & !(SINGLE - 1), tag & (SINGLE - 1))
}

/// A packet, the event's item, arrives at a port. The tag is the port's index.
pub(crate) const ARRIVAL: u32 = 0;
/// Tags from here are other events. Events without an index use the tags below.
pub(crate) const SINGLE: u32 = 1 << 28;
/// A packet, the event's item, has passed a stage inside a switch; the index is that of a port.
/// Since it is no timer's event, it must be below [`xoff_core::wheel::TIMER`].
pub(crate) const STAGE: u32 = 2 << 28;
/// A packet, the event's item, arrives at a port, the index, and is recorded. While invariants are
/// checked, arrivals have this tag in place of [`ARRIVAL`]. It is no timer's event either.
pub(crate) const RECORDED: u32 = 3 << 28;
/// A congestion control's timer.
pub(crate) const CONTROL: u32 = 15 << 28;
/// A NIC's timeout check.
pub(crate) const TIMEOUT: u32 = 4 << 28;
/// A NIC with round robin by index.
pub(crate) const INDEX: u32 = 5 << 28;
/// A switch's timer of a port.
pub(crate) const SWITCH_TIMER: u32 = 6 << 28;
/// Delayed actions of a switch; the index is that of its first port.
pub(crate) const SWITCH_DELAY: u32 = 7 << 28;
/// Pauses of a NIC's queues may have ended.
pub(crate) const PAUSE: u32 = 8 << 28;
/// A host's backlog falls to the XON threshold.
pub(crate) const INTAKE: u32 = 9 << 28;
/// A timer of a receiver-driven transport; the index is its own.
pub(crate) const DRIVEN: u32 = 10 << 28;
/// A flow's retransmission timer.
pub(crate) const RETRANSMISSION: u32 = 11 << 28;
/// A timer of a server's agent.
pub(crate) const AGENT: u32 = 12 << 28;
/// Pacing allows a flow's next packet.
pub(crate) const PACE: u32 = 13 << 28;
/// The timer of a program of a host.
pub(crate) const PROGRAM: u32 = 14 << 28;
/// A port, the event's item, has finished a transmission.
pub(crate) const WAKE: u32 = SINGLE;
/// The next flow begins.
pub(crate) const START: u32 = SINGLE | 1;
/// The next message arrives.
pub(crate) const MESSAGE: u32 = SINGLE | 2;
/// The next flow stops.
pub(crate) const STOP: u32 = SINGLE | 3;
/// Allocators begin an iteration.
pub(crate) const ITERATE: u32 = SINGLE | 4;
/// The rates of an iteration are ready.
pub(crate) const PUBLISH: u32 = SINGLE | 5;
/// A port that keeps its packets has finished a transmission.
pub(crate) const SENT: u32 = SINGLE | 6;
/// A packet arrives at a port that loses some; the packet knows the port.
pub(crate) const CHECKED: u32 = SINGLE | 9;
/// The same while invariants are checked: it is recorded.
pub(crate) const CHECKED_RECORDED: u32 = SINGLE | 10;
/// A sample of queue lengths is due.
pub(crate) const QUEUE_LENGTHS: u32 = SINGLE | 8;
/// The first packet on a link has arrived.
pub(crate) const NEXT_ARRIVAL: u32 = SINGLE | 7;
