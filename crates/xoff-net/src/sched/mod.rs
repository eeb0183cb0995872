//! Where packets of one egress port wait, and which goes next.
//!
//! Every port has a control queue that is served first and that no pause of a queue stops. Behind it
//! stands one of the schedulers of this folder; each keeps its queues and obeys a mask of paused
//! ones. To add one: a file here, a variant of [`AnyScheduler`] and its line in each `match`.

mod drr;
mod fifo;
mod per_flow;

use hdrhistogram::Histogram;

use crate::hop::PausedTime;
use crate::packet::{CONTROL_QUEUE, Pool, Queue};

pub use drr::Drr;
pub use fifo::Fifo;
pub use per_flow::PerFlow;

/// A set of queues, one bit each.
pub type QueueMask = u128;

/// What every scheduler of data queues does.
pub trait Scheduler {
    /// Appends a packet to the queue its record names.
    fn push(&mut self, pool: &mut Pool, id: u32);
    /// Takes the next packet of a queue that is not paused.
    fn pop(&mut self, pool: &mut Pool) -> Option<u32>;
    /// Whether `pop` would find a packet.
    fn is_ready(&self) -> bool;
    /// Bytes in one queue.
    fn queue_bytes(&self, queue: u8) -> u32;
    /// Queues that hold something, paused or not.
    fn occupied(&self) -> QueueMask;
    /// Queues paused by the neighbour.
    fn paused(&self) -> QueueMask;
    /// Changes which queues are paused.
    fn set_paused(&mut self, mask: QueueMask);
    /// Flows (or queues, where flows are not told apart) with packets here.
    fn active(&self) -> u32;
}

/// One of the schedulers.
#[derive(Debug)]
pub enum AnyScheduler {
    /// First in, first out, by class.
    Fifo(Fifo),
    /// Deficit round robin over a fixed number of queues.
    Drr(Box<Drr>),
    /// Deficit round robin over as many queues as there are flows.
    PerFlow(Box<PerFlow>),
}

macro_rules! each {
    ($self:expr, $scheduler:ident => $call:expr) => {
        match $self {
            AnyScheduler::Fifo($scheduler) => $call,
            AnyScheduler::Drr($scheduler) => $call,
            AnyScheduler::PerFlow($scheduler) => $call,
        }
    };
}

/// An egress port: the control queue and a scheduler.
#[derive(Debug)]
pub struct Egress {
    control: Queue,
    scheduler: AnyScheduler,
    /// Bytes in all data queues.
    data_bytes: u32,
    paused_time: PausedTime,
    /// Queueing delays of data packets (ps), where somebody wants them.
    pub(crate) delays: Option<Box<Histogram<u64>>>,
}

impl Egress {
    /// An empty port.
    #[must_use]
    pub fn new(scheduler: AnyScheduler) -> Self {
        Self {
            control: Queue::default(),
            scheduler,
            data_bytes: 0,
            paused_time: PausedTime::default(),
            delays: None,
        }
    }

    /// Appends a packet to the control queue.
    #[inline]
    pub fn push_control(&mut self, pool: &mut Pool, id: u32) {
        pool[id].queue = CONTROL_QUEUE;
        self.control.push(pool, id);
    }

    /// Appends a packet to the data queue its record names.
    #[inline]
    pub fn push(&mut self, pool: &mut Pool, id: u32) {
        self.data_bytes += u32::from(pool[id].wire_bytes);
        each!(&mut self.scheduler, scheduler => scheduler.push(pool, id));
    }

    /// Takes the packet to send next.
    #[inline]
    pub fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        if let Some(id) = self.control.pop(pool) {
            return Some(id);
        }
        let id = each!(&mut self.scheduler, scheduler => scheduler.pop(pool))?;
        debug_assert!(self.paused() >> pool[id].queue & 1 == 0, "a paused queue sends nothing");
        self.data_bytes -= u32::from(pool[id].wire_bytes);
        Some(id)
    }

    /// Whether there is a packet that may be sent.
    #[inline]
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.control.is_empty() || each!(&self.scheduler, scheduler => scheduler.is_ready())
    }

    /// Bytes waiting in data queues.
    #[inline]
    #[must_use]
    pub fn data_bytes(&self) -> u32 {
        self.data_bytes
    }

    /// Bytes waiting in all queues.
    #[inline]
    #[must_use]
    pub fn total_bytes(&self) -> u32 {
        self.data_bytes + self.control.bytes()
    }

    /// Bytes in one data queue.
    #[inline]
    #[must_use]
    pub fn queue_bytes(&self, queue: u8) -> u32 {
        each!(&self.scheduler, scheduler => scheduler.queue_bytes(queue))
    }

    /// Data queues that hold something.
    #[inline]
    #[must_use]
    pub fn occupied(&self) -> QueueMask {
        each!(&self.scheduler, scheduler => scheduler.occupied())
    }

    /// Data queues that are paused.
    #[inline]
    #[must_use]
    pub fn paused(&self) -> QueueMask {
        each!(&self.scheduler, scheduler => scheduler.paused())
    }

    /// Flows or queues with packets here.
    #[must_use]
    pub fn active(&self) -> u32 {
        each!(&self.scheduler, scheduler => scheduler.active())
    }

    /// Pauses exactly the queues of `mask` from now on.
    pub fn set_paused(&mut self, now: u64, mask: QueueMask) {
        self.paused_time.set(now, mask != 0);
        each!(&mut self.scheduler, scheduler => scheduler.set_paused(mask));
    }

    /// For how long at least one queue has been paused (ps).
    #[must_use]
    pub fn paused_time(&self, now: u64) -> u64 {
        self.paused_time.total(now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::{Kind, Packet};

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push(u8),
        Pause(QueueMask),
        Pop,
    }

    fn steps(queues: u8) -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => (0..queues).prop_map(Step::Push),
            1 => any::<QueueMask>().prop_map(Step::Pause),
            3 => Just(Step::Pop),
        ];
        prop::collection::vec(step, 1..200)
    }

    /// What is popped never comes from a paused queue, and a pop finds something exactly if a queue
    /// that is not paused has something.
    fn obeys_pauses(mut scheduler: impl Scheduler, queues: u8, steps: &[Step]) {
        let mut pool = Pool::default();
        let mut held = vec![0u32; queues as usize];
        let mut mask = 0;
        for &step in steps {
            match step {
                Step::Push(queue) => {
                    let mut packet = Packet::new(Kind::Data, 1048);
                    packet.queue = queue;
                    let id = pool.insert(packet);
                    scheduler.push(&mut pool, id);
                    held[queue as usize] += 1;
                }
                Step::Pause(paused) => {
                    mask = paused & (QueueMask::MAX >> (128 - u32::from(queues)));
                    scheduler.set_paused(mask);
                }
                Step::Pop => {
                    let may = (0..queues).any(|q| held[q as usize] > 0 && mask >> q & 1 == 0);
                    assert_eq!(scheduler.is_ready(), may);
                    let popped = scheduler.pop(&mut pool);
                    assert_eq!(popped.is_some(), may);
                    if let Some(id) = popped {
                        let queue = pool[id].queue;
                        assert_eq!(mask >> queue & 1, 0, "queue {queue} is paused");
                        held[queue as usize] -= 1;
                        pool.remove(id);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn round_robin_never_serves_a_paused_queue(steps in steps(31)) {
            obeys_pauses(Drr::new(31, 1048), 31, &steps);
        }

        #[test]
        fn round_robin_over_all_queues_never_serves_a_paused_one(steps in steps(128)) {
            obeys_pauses(Drr::new(128, 1048), 128, &steps);
        }

        #[test]
        fn classes_never_serve_a_paused_one(steps in steps(8)) {
            obeys_pauses(Fifo::default(), 8, &steps);
        }
    }
}
