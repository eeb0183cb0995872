//! Copies of packet headers inside a switch: a delay line.

use std::collections::VecDeque;

use xoff_core::{TimerId, Wheel};

use crate::fabric::Fabric;
use crate::packet::Packet;

/// Copies that leave a constant time after they were made. Only the first one has an event.
#[derive(Debug)]
pub(super) struct Mirror {
    timer: TimerId,
    copies: VecDeque<(u64, Packet)>,
}

impl Mirror {
    /// An empty delay line.
    pub(super) fn new(timer: TimerId) -> Self {
        Self { timer, copies: VecDeque::new() }
    }

    /// Adds a copy for its packet's sender, which leaves at `due` (ps).
    #[inline(never)]
    pub(super) fn push(&mut self, wheel: &mut Wheel, copy: Packet, due: u64) {
        self.copies.push_back((due, copy));
        if self.copies.len() == 1 {
            wheel.arm(self.timer, due);
        }
    }

    /// The copies on their way.
    pub(super) fn copies(&self) -> impl Iterator<Item = &Packet> {
        self.copies.iter().map(|(_, copy)| copy)
    }

    /// The next copy that leaves now. If there is none, waits for the next one.
    pub(super) fn pop(&mut self, fabric: &mut Fabric) -> Option<Packet> {
        let &(due, copy) = self.copies.front()?;
        if due > fabric.now {
            fabric.wheel.arm(self.timer, due);
            return None;
        }
        self.copies.pop_front();
        Some(copy)
    }
}
