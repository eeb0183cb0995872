//! No hop control, but queue numbers in packets. A packet joins the queue with the same number as
//! at the node before. Its sender thus chooses the queue for the whole path, from more queues than
//! a class could name: one of up to 32 priorities (Homa).

use xoff_core::Rng;

use super::HopControl;
use crate::packet::Packet;
use crate::sched::Scheduler;

/// Packets keep their queue.
#[derive(Debug)]
pub struct Carried;

impl HopControl for Carried {
    #[inline]
    fn queue_of<S: Scheduler>(
        &mut self,
        _now: u64,
        _egress: u16,
        packet: &Packet,
        _queues: &S,
        _rng: &mut Rng,
    ) -> u8 {
        packet.upstream
    }
}
