//! The bins of a port, and the lists in which they wait for their turns.

use super::codel::Codel;
use crate::packet::Queue;

/// Estimated memory of a bin (bytes).
pub(super) const BIN_BYTES: u128 = 64;

/// The end of a list of bins.
pub(super) const NO_BIN: u16 = u16::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Bin {
    pub(super) queue: Queue,
    pub(super) codel: Codel,
    /// Bytes left in its turn; below zero if its last packet was longer.
    pub(super) deficit: i32,
    /// The bin with the next turn.
    pub(super) next: u16,
    /// Whether it is in a list. An empty bin stays in its list until its next turn.
    pub(super) listed: bool,
}

/// Bins that wait for their turns.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) head: u16,
    pub(super) tail: u16,
}

impl List {
    pub(super) const EMPTY: Self = Self { head: NO_BIN, tail: NO_BIN };

    pub(super) fn append(&mut self, bins: &mut [Bin], bin: u16) {
        bins[bin as usize].next = NO_BIN;
        if self.tail == NO_BIN {
            self.head = bin;
        } else {
            bins[self.tail as usize].next = bin;
        }
        self.tail = bin;
    }

    pub(super) fn remove_head(&mut self, bins: &[Bin]) {
        self.head = bins[self.head as usize].next;
        if self.head == NO_BIN {
            self.tail = NO_BIN;
        }
    }
}
