//! No backpressure: BFC's queues under an end-to-end control ("HPCC-PFC + SFQ", "HPCC-PFC + DQA",
//! BFC §6.4).

use super::super::Signal;
use super::backpressure::{Backpressure, Upstream};
use crate::packet::Packet;
use crate::sched::Scheduler;

/// Backpressure that pauses nothing.
#[derive(Debug)]
pub struct Silent;

impl Upstream for Silent {}

impl Backpressure for Silent {
    type Upstream = Self;

    fn upstream(&self) -> &Self {
        self
    }

    fn upstream_mut(&mut self) -> &mut Self {
        self
    }

    #[inline]
    fn on_enqueue<S: Scheduler>(&mut self, _: u16, _: &mut Packet, _: &S) -> Option<Signal> {
        None
    }

    #[inline]
    fn on_dequeue(&mut self, _egress: u16, _packet: &mut Packet) -> Option<Signal> {
        None
    }

    #[inline]
    fn lets_pass(&self, _egress: u16, _packet: &Packet) -> bool {
        true
    }
}
