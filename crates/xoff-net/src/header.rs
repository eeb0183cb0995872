//! Headers of packets by kind: the meaning of `seq`, `stamp`, `remaining` and `label` in each.
//!
//! A view reads and writes the fields of a [`Packet`] by their names in one kind of header. It
//! costs nothing. Receiver-driven transports use the fields differently, as documented at
//! [`Packet`].

use core::ops::{Deref, DerefMut};

use crate::packet::{Kind, Packet};

/// Bits of a frame to a sender.
const NEAR_SOURCE: u32 = 1;
const CACHEABLE: u32 = 2;

/// Payload from a flow's sender.
#[derive(Clone, Copy, Debug)]
pub struct Data<P>(P);

/// An acknowledgement, positive or negative.
#[derive(Clone, Copy, Debug)]
pub struct Answer<P>(P);

/// A frame between two neighbours.
#[derive(Clone, Copy, Debug)]
pub struct LinkControl<P>(P);

/// A switch asks a sender to pause one flow (SFC's BTS).
#[derive(Clone, Copy, Debug)]
pub struct BackToSender<P>(P);

/// The header of a data packet that has left, on its way back to its ingress (BFC on Tofino2).
#[derive(Clone, Copy, Debug)]
pub struct Recirculated<P>(P);

/// The request in a link-control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Ask {
    /// Pause these queues, in addition to others.
    Pause = 0,
    /// Resume these queues.
    Resume = 1,
    /// Pause exactly these queues.
    Exactly = 2,
    /// Pause these queues for a time, from now on.
    PauseFor = 3,
    /// Pause one flow.
    PauseFlow = 4,
    /// Resume one flow.
    ResumeFlow = 5,
}

impl Ask {
    /// All requests, in the order of their numbers in frames.
    pub(crate) const ALL: [Self; 6] = [
        Self::Pause,
        Self::Resume,
        Self::Exactly,
        Self::PauseFor,
        Self::PauseFlow,
        Self::ResumeFlow,
    ];
}

macro_rules! views {
    ($($view:ident: $read:ident $write:ident, $($kind:ident)|+;)*) => {
        impl Packet {
            $(
                #[doc = concat!("Its header, of kind ", stringify!($($kind)|+), ".")]
                #[inline(always)]
                #[must_use]
                pub fn $read(&self) -> $view<&Self> {
                    debug_assert!(matches!(self.kind, $(Kind::$kind)|+), "{:?}", self.kind);
                    $view(self)
                }

                /// The same, mutable.
                #[inline(always)]
                pub fn $write(&mut self) -> $view<&mut Self> {
                    debug_assert!(matches!(self.kind, $(Kind::$kind)|+), "{:?}", self.kind);
                    $view(self)
                }
            )*
        }
    };
}

views! {
    Data: as_data as_data_mut, Data | Segment;
    Answer: as_answer as_answer_mut, Ack | Nack | Notification;
    LinkControl: as_link_control as_link_control_mut, LinkControl;
    BackToSender: as_back_to_sender as_back_to_sender_mut, BackToSender;
    Recirculated: as_recirculated as_recirculated_mut, Data;
}

impl<P: Deref<Target = Packet>> Data<P> {
    /// First byte carried.
    #[inline(always)]
    pub fn offset(&self) -> u64 {
        self.0.seq
    }

    /// Time of sending (ps). Its acknowledgement returns it.
    #[inline(always)]
    pub fn sent_ps(&self) -> u64 {
        self.0.stamp
    }

    /// Payload bytes of the flow after this packet, limited to 32 bits; 0 in the last packet.
    #[inline(always)]
    pub fn remaining(&self) -> u32 {
        self.0.remaining
    }
}

impl<P: DerefMut<Target = Packet>> Data<P> {
    /// Sets the first byte carried, the time of sending (ps), and the payload bytes after it.
    #[inline(always)]
    pub fn set(&mut self, offset: u64, sent_ps: u64, remaining: u64) {
        self.0.seq = offset;
        self.0.stamp = sent_ps;
        self.0.remaining = u32::try_from(remaining).unwrap_or(u32::MAX);
    }
}

impl<P: Deref<Target = Packet>> Answer<P> {
    /// Next byte expected: all bytes before it have arrived.
    #[inline(always)]
    pub fn expected(&self) -> u64 {
        self.0.seq
    }

    /// Time when the data was sent (ps). In the acknowledgement of a flow's last byte: time of that
    /// byte's arrival.
    #[inline(always)]
    pub fn stamp_ps(&self) -> u64 {
        self.0.stamp
    }

    /// Positive: time of the data to the receiver (ns), if the sender needs it. Negative: the
    /// distance in packets from the missing packet to the received one, if the receiver keeps it
    /// (selective repeat), or the block of received packets (selective acknowledgements).
    #[inline(always)]
    pub fn detail(&self) -> u32 {
        self.0.remaining
    }
}

impl<P: DerefMut<Target = Packet>> Answer<P> {
    /// Sets the next byte expected and the detail. The time stamp remains that of the data.
    #[inline(always)]
    pub fn set(&mut self, expected: u64, detail: u32) {
        self.0.seq = expected;
        self.0.remaining = detail;
    }

    /// Sets the time of the data to the receiver (ps; the header holds whole nanoseconds).
    #[inline(always)]
    pub fn set_delay(&mut self, delay_ps: u64) {
        self.0.remaining = u32::try_from(delay_ps / 1_000).unwrap_or(u32::MAX);
    }

    /// All bytes of the flow have arrived, at this time (ps).
    #[inline(always)]
    pub fn set_arrived(&mut self, now: u64) {
        self.0.stamp = now;
    }
}

impl<P: Deref<Target = Packet>> LinkControl<P> {
    /// Its request.
    ///
    /// # Panics
    /// If the request is unknown, which is a bug.
    #[must_use]
    pub fn ask(&self) -> Ask {
        Ask::ALL[self.0.remaining as usize]
    }

    /// The queues that it names.
    #[must_use]
    pub fn queues(&self) -> u128 {
        u128::from(self.0.seq) | u128::from(self.0.stamp) << 64
    }

    /// Quanta of a pause with an end.
    #[must_use]
    pub fn quanta(&self) -> u16 {
        self.0.label as u16
    }
}

impl<P: DerefMut<Target = Packet>> LinkControl<P> {
    /// Sets its request and its quanta.
    pub(crate) fn set_ask(&mut self, ask: Ask, quanta: u16) {
        self.0.remaining = ask as u32;
        self.0.label = u32::from(quanta);
    }

    /// Sets the queues that it names.
    pub(crate) fn set_queues(&mut self, queues: u128) {
        self.0.seq = queues as u64;
        self.0.stamp = (queues >> 64) as u64;
    }
}

impl<P: Deref<Target = Packet>> BackToSender<P> {
    /// Duration of the pause (ps).
    #[must_use]
    pub fn pause_ps(&self) -> u64 {
        self.0.seq
    }

    /// When the packet that triggered it was sent (ps).
    #[must_use]
    pub fn cause_sent_ps(&self) -> u64 {
        self.0.stamp
    }

    /// Whether only remote congestion triggered it.
    #[must_use]
    pub fn is_near_source(&self) -> bool {
        self.0.remaining & NEAR_SOURCE != 0
    }

    /// Whether the congested port faces the receiver, so that it concerns every sender to that
    /// receiver.
    #[must_use]
    pub fn is_cacheable(&self) -> bool {
        self.0.remaining & CACHEABLE != 0
    }
}

impl<P: DerefMut<Target = Packet>> BackToSender<P> {
    /// Sets the duration of the pause (ps).
    pub fn set_pause(&mut self, pause_ps: u64) {
        self.0.seq = pause_ps;
    }

    /// Sets whether only remote congestion triggered it, and whether it concerns every sender to
    /// the receiver.
    pub fn set_reach(&mut self, near_source: bool, cacheable: bool) {
        let bit = |set, bit| if set { bit } else { 0 };
        self.0.remaining = bit(near_source, NEAR_SOURCE) | bit(cacheable, CACHEABLE);
    }
}

impl<P: Deref<Target = Packet>> Recirculated<P> {
    /// The egress port at which the packet left.
    #[must_use]
    pub fn egress(&self) -> u16 {
        self.0.remaining as u16
    }
}

impl<P: DerefMut<Target = Packet>> Recirculated<P> {
    /// Sets the egress port at which the packet left.
    pub fn set_egress(&mut self, egress: u16) {
        self.0.remaining = u32::from(egress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_says_what_it_was_given() {
        let mut frame = Packet::new(Kind::LinkControl, 64);
        for (number, ask) in Ask::ALL.into_iter().enumerate() {
            frame.as_link_control_mut().set_ask(ask, number as u16);
            frame.as_link_control_mut().set_queues(1 << 127 | number as u128);
            let found = frame.as_link_control();
            assert_eq!((found.ask(), found.quanta()), (ask, number as u16));
            assert_eq!(found.queues(), 1 << 127 | number as u128);
        }
    }

    #[test]
    fn a_frame_to_a_sender_has_two_flags() {
        let mut frame = Packet::new(Kind::BackToSender, 64);
        for reach in [(false, false), (true, false), (false, true), (true, true)] {
            frame.as_back_to_sender_mut().set_reach(reach.0, reach.1);
            let found = frame.as_back_to_sender();
            assert_eq!((found.is_near_source(), found.is_cacheable()), reach);
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "Ack")]
    fn a_packet_is_not_read_as_another_kind() {
        let _ = Packet::new(Kind::Ack, 64).as_data();
    }
}
