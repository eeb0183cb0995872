//! A fixed number of queues that the neighbour pauses one by one. Schedulers over such queues
//! differ in the choice of the next queue ([`Discipline`]).

use std::fmt::Debug;
use std::ops::{BitAnd, BitOrAssign, BitXor, Not};

use rustc_hash::FxHashSet;

use super::{QueueMask, Scheduler};
use crate::packet::{Packet, Pool, Queue};

/// A set of queues, one bit each, of the width that a scheduler needs.
pub trait Mask:
    Copy
    + Debug
    + Default
    + Eq
    + BitAnd<Output = Self>
    + BitXor<Output = Self>
    + BitOrAssign
    + Not<Output = Self>
{
    /// One queue.
    fn only(queue: u8) -> Self;
    /// Whether it has a queue.
    fn has(self, queue: u8) -> bool;
    /// The number of its queues.
    fn len(self) -> u32;
    /// Its lowest-numbered queue. The set must not be empty.
    fn first(self) -> u8;
    /// Its first queue after `queue`, with wrap-around. The set must not be empty.
    fn next_after(self, queue: u8) -> u8;
    /// The queues of `mask` that fit into it.
    fn narrow(mask: QueueMask) -> Self;
    /// The same queues as a [`QueueMask`].
    fn widen(self) -> QueueMask;
}

macro_rules! masks {
    ($($bits:ty),*) => {
        $(impl Mask for $bits {
            #[inline(always)]
            fn only(queue: u8) -> Self {
                1 << queue
            }

            #[inline(always)]
            fn has(self, queue: u8) -> bool {
                self >> queue & 1 == 1
            }

            #[inline(always)]
            fn len(self) -> u32 {
                self.count_ones()
            }

            #[inline(always)]
            fn first(self) -> u8 {
                self.trailing_zeros() as u8
            }

            #[inline(always)]
            fn next_after(self, queue: u8) -> u8 {
                let later = self & (Self::MAX << queue << 1);
                (if later != 0 { later } else { self }).first()
            }

            #[inline(always)]
            fn narrow(mask: QueueMask) -> Self {
                mask as Self
            }

            #[inline(always)]
            fn widen(self) -> QueueMask {
                QueueMask::from(self)
            }
        })*
    };
}

masks!(u32, QueueMask);

/// A queue, and the state that its scheduler keeps for it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Line<State> {
    pub(super) queue: Queue,
    pub(super) state: State,
}

/// The choice of the next queue.
pub trait Discipline {
    /// A set of up to the greatest number of queues.
    type Mask: Mask;
    /// Its state for each queue.
    type State;
    /// Whether waiting flows are counted packet by packet. Otherwise each queue counts as a flow.
    const COUNTS_FLOWS: bool = false;
    /// Whether queues take turns.
    const TAKES_TURNS: bool = false;

    /// Picks one of the queues of `ready`; none if that is empty.
    fn pick(
        &mut self,
        ready: Self::Mask,
        lines: &mut [Line<Self::State>],
        pool: &Pool,
    ) -> Option<u8>;

    /// A queue has a new packet at its head, and is paused or not.
    #[inline(always)]
    fn on_head(&mut self, _line: &mut Line<Self::State>, _queue: u8, _pool: &Pool, _paused: bool) {}

    /// A queue is empty now.
    #[inline(always)]
    fn on_empty(&mut self, _state: &mut Self::State, _queue: u8) {}

    /// A packet passes an empty queue.
    #[inline(always)]
    fn on_pass(&mut self, _queue: u8) {}

    /// Non-empty queues were paused or resumed: those of `changed`.
    #[inline(always)]
    fn on_pause(
        &mut self,
        _lines: &mut [Line<Self::State>],
        _changed: Self::Mask,
        _paused: Self::Mask,
    ) {
    }
}

/// Queues and their discipline. State that a packet uses first is at the front.
#[derive(Debug)]
#[repr(C)]
pub struct FixedQueues<D: Discipline, Lines = Box<[Line<<D as Discipline>::State>]>> {
    occupied: D::Mask,
    paused: D::Mask,
    lines: Lines,
    discipline: D,
}

impl<D: Discipline, Lines> FixedQueues<D, Lines> {
    /// Empty queues.
    pub(super) fn of(discipline: D, lines: Lines) -> Self {
        let (occupied, paused) = (D::Mask::default(), D::Mask::default());
        Self { occupied, paused, lines, discipline }
    }

    #[inline(always)]
    fn ready(&self) -> D::Mask {
        self.occupied & !self.paused
    }
}

impl<D: Discipline, Lines: AsRef<[Line<D::State>]>> FixedQueues<D, Lines> {
    #[inline(always)]
    pub(super) fn queue(&self, queue: u8) -> &Queue {
        &self.lines.as_ref()[queue as usize].queue
    }
}

impl<D: Discipline, Lines: AsMut<[Line<D::State>]>> FixedQueues<D, Lines> {
    pub(super) fn queue_mut(&mut self, queue: u8) -> &mut Queue {
        &mut self.lines.as_mut()[queue as usize].queue
    }

    /// Takes the packet at the tail of a queue.
    pub(super) fn pop_tail(&mut self, pool: &mut Pool, queue: u8) -> Option<u32> {
        let line = &mut self.lines.as_mut()[queue as usize];
        let id = line.queue.pop_tail(pool);
        if line.queue.is_empty() {
            self.occupied = self.occupied & !D::Mask::only(queue);
            self.discipline.on_empty(&mut line.state, queue);
        }
        id
    }
}

impl<D, Lines> Scheduler for FixedQueues<D, Lines>
where
    D: Discipline,
    Lines: AsRef<[Line<D::State>]> + AsMut<[Line<D::State>]>,
{
    const TAKES_TURNS: bool = D::TAKES_TURNS;

    #[inline]
    fn push(&mut self, pool: &mut Pool, id: u32) {
        let queue = pool[id].queue;
        let line = &mut self.lines.as_mut()[queue as usize];
        let was_empty = line.queue.push(pool, id);
        if was_empty {
            self.occupied |= D::Mask::only(queue);
            self.discipline.on_head(line, queue, pool, self.paused.has(queue));
        }
    }

    #[inline]
    fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        let ready = self.ready();
        let queue = self.discipline.pick(ready, self.lines.as_mut(), pool)?;
        let line = &mut self.lines.as_mut()[queue as usize];
        let id = line.queue.pop(pool);
        if line.queue.is_empty() {
            self.occupied = self.occupied & !D::Mask::only(queue);
            self.discipline.on_empty(&mut line.state, queue);
        } else {
            self.discipline.on_head(line, queue, pool, false);
        }
        id
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.ready() != D::Mask::default()
    }

    #[inline]
    fn may_pass(&self, queue: u8) -> bool {
        !self.is_ready() && !self.paused.has(queue)
    }

    #[inline]
    fn pass(&mut self, packet: &Packet) {
        self.discipline.on_pass(packet.queue);
    }

    #[inline]
    fn queue_bytes(&self, queue: u8) -> u32 {
        self.queue(queue).bytes()
    }

    #[inline]
    fn occupied(&self) -> QueueMask {
        self.occupied.widen()
    }

    #[inline]
    fn paused(&self) -> QueueMask {
        self.paused.widen()
    }

    fn set_paused(&mut self, mask: QueueMask) {
        let mask = D::Mask::narrow(mask);
        let changed = (mask ^ self.paused) & self.occupied;
        self.paused = mask;
        self.discipline.on_pause(self.lines.as_mut(), changed, mask);
    }

    fn active(&self) -> u32 {
        self.occupied.len()
    }

    fn flows(&self, pool: &Pool) -> u32 {
        if !D::COUNTS_FLOWS {
            return self.active();
        }
        let packets = self.lines.as_ref().iter().flat_map(|line| line.queue.packets(pool));
        packets.map(|id| pool[id].flow).collect::<FxHashSet<_>>().len() as u32
    }

    fn each_packet(&self, pool: &Pool, visit: &mut dyn FnMut(u32, Option<u8>)) {
        for (number, line) in (0..).zip(self.lines.as_ref()) {
            line.queue.packets(pool).for_each(|id| visit(id, Some(number)));
        }
    }

    fn head(&self, queue: u8) -> Option<u32> {
        self.queue(queue).head()
    }
}
