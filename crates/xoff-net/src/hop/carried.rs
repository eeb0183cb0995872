//! No hop control either, but queues that packets bring along: a packet joins the queue of the same number
//! as at the node before. Its sender thus names the queue for the whole way, of more than a class has room
//! for: a priority of up to 32 (Homa).

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
