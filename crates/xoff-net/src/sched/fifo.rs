//! First in, first out. With several traffic classes, the lowest-numbered class goes first.

use xoff_core::knobs;

use super::fixed_queues::{FixedQueues, Line};
use super::strict::Strict;
use super::{AnyScheduler, SchedulerSettings, SchedulerSite};
use crate::packet::{CLASSES, Pool};
use crate::sched::{HopQueues, Scheduler};

knobs! {
    /// First in, first out, by class.
    pub struct FifoConfig;
}

impl SchedulerSettings for FifoConfig {
    fn serves(&self, queues: &HopQueues) -> Result<(), String> {
        match queues {
            HopQueues::Any | HopQueues::Classes => Ok(()),
            HopQueues::Assigned(_) => Err("serves queues of classes, not of flows".into()),
        }
    }

    fn build(&self, _site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::Fifo(Fifo::default())
    }
}

/// One queue per class: a packet's queue is its class.
pub type Fifo = FixedQueues<Strict, [Line<()>; CLASSES]>;

impl Default for Fifo {
    fn default() -> Self {
        Self::of(Strict, <[Line<()>; CLASSES]>::default())
    }
}

impl Fifo {
    /// The packet at the tail of a queue.
    #[must_use]
    pub fn tail(&self, queue: u8) -> Option<u32> {
        self.queue(queue).tail()
    }

    /// Takes the last packet of the least important class with packets, if that class is less
    /// important than `class`.
    pub fn give_way(&mut self, pool: &mut Pool, class: u8) -> Option<u32> {
        let occupied = self.occupied() as u32;
        let last = occupied.checked_ilog2()? as u8;
        (last > class).then(|| self.pop_tail(pool, last)).flatten()
    }

    /// Replaces the packet at the tail of a queue ([`crate::Queue::replace_tail`]).
    pub fn replace_tail(&mut self, pool: &mut Pool, queue: u8, id: u32) {
        self.queue_mut(queue).replace_tail(pool, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Kind, Packet};

    #[test]
    fn the_last_of_the_least_important_class_gives_way() {
        let mut pool = Pool::default();
        let mut fifo = Fifo::default();
        for class in [3u8, 5, 5, 0] {
            let mut packet = Packet::new(Kind::Data, 100);
            packet.queue = class;
            let id = pool.insert(packet);
            fifo.push(&mut pool, id);
        }
        assert_eq!(fifo.give_way(&mut pool, 5), None);
        let given = [0; 4].map(|class| fifo.give_way(&mut pool, class));
        assert_eq!(given, [Some(2), Some(1), Some(0), None]);
        assert_eq!((fifo.pop(&mut pool), fifo.is_ready()), (Some(3), false));
        assert_eq!(fifo.give_way(&mut pool, 0), None);
    }

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
