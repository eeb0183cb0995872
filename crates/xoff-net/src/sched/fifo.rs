//! First in, first out; with several traffic classes or priorities, strictly the lowest-numbered first.

use rustc_hash::FxHashSet;

use super::{QueueMask, Scheduler};
use crate::packet::{CLASSES, Pool, Queue};

/// Queues of which the first one that may send does.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Strict<Queues> {
    occupied: u32,
    paused: u32,
    queues: Queues,
}

/// One queue a class; a packet's queue is its class.
pub type Fifo = Strict<[Queue; CLASSES]>;

/// One queue a priority, of which packets carry more than there are classes.
pub type Priorities = Strict<Box<[Queue]>>;

/// The most priorities there can be.
pub const PRIORITIES_MAX: u8 = u32::BITS as u8;

impl Priorities {
    /// So many priorities, up to [`PRIORITIES_MAX`].
    #[must_use]
    pub fn new(priorities: u8) -> Self {
        let queues = vec![Queue::default(); usize::from(priorities)].into_boxed_slice();
        Self { occupied: 0, paused: 0, queues }
    }
}

impl Fifo {
    /// The packet that joined a queue last.
    #[must_use]
    pub fn tail(&self, queue: u8) -> Option<u32> {
        self.queues[queue as usize].tail()
    }

    /// Puts another packet in the place of the one at a queue's tail ([`Queue::replace_tail`]).
    pub fn replace_tail(&mut self, pool: &mut Pool, queue: u8, id: u32) {
        self.queues[queue as usize].replace_tail(pool, id);
    }
}

impl<Queues: AsRef<[Queue]> + AsMut<[Queue]>> Scheduler for Strict<Queues> {
    #[inline]
    fn push(&mut self, pool: &mut Pool, id: u32) {
        let queue = pool[id].queue;
        self.queues.as_mut()[queue as usize].push(pool, id);
        self.occupied |= 1 << queue;
    }

    #[inline]
    fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        let ready = self.occupied & !self.paused;
        if ready == 0 {
            return None;
        }
        let first = ready.trailing_zeros();
        let queue = &mut self.queues.as_mut()[first as usize];
        let id = queue.pop(pool);
        if queue.is_empty() {
            self.occupied &= !(1 << first);
        }
        id
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.occupied & !self.paused != 0
    }

    #[inline]
    fn may_pass(&self, queue: u8) -> bool {
        !self.is_ready() && self.paused >> queue & 1 == 0
    }

    #[inline]
    fn queue_bytes(&self, queue: u8) -> u32 {
        self.queues.as_ref()[queue as usize].bytes()
    }

    fn occupied(&self) -> QueueMask {
        QueueMask::from(self.occupied)
    }

    fn paused(&self) -> QueueMask {
        QueueMask::from(self.paused)
    }

    fn set_paused(&mut self, mask: QueueMask) {
        self.paused = mask as u32;
    }

    fn active(&self) -> u32 {
        self.occupied.count_ones()
    }

    fn flows(&self, pool: &Pool) -> u32 {
        let packets = self.queues.as_ref().iter().flat_map(|queue| queue.packets(pool));
        packets.map(|id| pool[id].flow).collect::<FxHashSet<_>>().len() as u32
    }

    fn head(&self, queue: u8) -> Option<u32> {
        self.queues.as_ref()[queue as usize].head()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind, Packet};

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
