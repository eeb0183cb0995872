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
    /// Bytes it may still send in its turn; below zero, its last packet was longer than that.
    pub(super) deficit: i32,
    /// The bin whose turn comes after this one's.
    pub(super) next: u16,
    /// Whether it is in a list. A bin that has run empty stays until its next turn.
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
