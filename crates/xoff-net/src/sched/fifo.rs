//! First in, first out; with several traffic classes or priorities, strictly the lowest-numbered first.

use super::fixed_queues::{Discipline, FixedQueues, Line, Mask};
use crate::packet::{CLASSES, Pool};

/// The first queue that may send does.
#[derive(Debug, Default)]
pub struct Strict;

/// One queue a class; a packet's queue is its class.
pub type Fifo = FixedQueues<Strict, [Line<()>; CLASSES]>;

/// One queue a priority, of which packets carry more than there are classes.
pub type Priorities = FixedQueues<Strict>;

/// The most priorities there can be.
pub const PRIORITIES_MAX: u8 = u32::BITS as u8;

impl Priorities {
    /// So many priorities, up to [`PRIORITIES_MAX`].
    #[must_use]
    pub fn new(priorities: u8) -> Self {
        Self::of(Strict, vec![Line::default(); usize::from(priorities)].into_boxed_slice())
    }
}

impl Default for Fifo {
    fn default() -> Self {
        Self::of(Strict, <[Line<()>; CLASSES]>::default())
    }
}

impl Fifo {
    /// The packet that joined a queue last.
    #[must_use]
    pub fn tail(&self, queue: u8) -> Option<u32> {
        self.queue(queue).tail()
    }

    /// Puts another packet in the place of the one at a queue's tail
    /// ([`crate::Queue::replace_tail`]).
    pub fn replace_tail(&mut self, pool: &mut Pool, queue: u8, id: u32) {
        self.queue_mut(queue).replace_tail(pool, id);
    }
}

impl Discipline for Strict {
    type Mask = u32;
    type State = ();
    const COUNTS_FLOWS: bool = true;

    #[inline]
    fn pick(&mut self, ready: u32, _lines: &mut [Line<()>], _pool: &Pool) -> Option<u8> {
        (ready != 0).then(|| ready.first())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind, Packet};
    use crate::sched::Scheduler;

    #[test]
    fn the_lowest_class_that_is_not_paused_goes_first() {
        let mut pool = Pool::default();
        let mut fifo = Fifo::default();
        for class in [3u8, 0, 3] {
            let mut packet = Packet::new(Kind::Data, 100);
            (packet.queue, packet.flow) = (class, u32::from(class));
            let id = pool.insert(packet);
            fifo.push(&mut pool, id);
        }
        assert_eq!(fifo.flows(&pool), 2);
        fifo.set_paused(1);
        assert_eq!(fifo.pop(&mut pool), Some(0));
        fifo.set_paused(0);
        assert_eq!(fifo.pop(&mut pool), Some(1));
        assert_eq!(fifo.pop(&mut pool), Some(2));
        assert!(!fifo.is_ready());
    }
}
