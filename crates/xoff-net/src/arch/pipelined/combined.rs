//! What an ingress asks of its neighbour (CaPFC §II-E): to pause a class while its own queue of that class
//! is congested or any other port's egress queue blames it.

use crate::packet::CLASSES;
use crate::ports::{PortMask, each};

/// The ingress side: states I, the latest E of each egress, and D, what is asked of the neighbours.
#[derive(Debug)]
pub(super) struct Combined {
    /// I: congested classes, by input.
    congested: Vec<u8>,
    /// The ports whose egress queue blames an input, by input and class.
    blamers: Vec<[PortMask; CLASSES]>,
    /// D: classes that the neighbour was asked to pause, by input.
    paused: Vec<u8>,
}

impl Combined {
    /// Nothing is asked.
    #[must_use]
    pub(super) fn new(ports: usize) -> Self {
        let (congested, paused) = (vec![0; ports], vec![0; ports]);
        Self { congested, blamers: vec![[0; CLASSES]; ports], paused }
    }

    /// Whether an input's own queue of a class is congested.
    #[inline]
    #[must_use]
    pub(super) fn is_congested(&self, input: u16, class: u8) -> bool {
        self.congested[usize::from(input)] >> class & 1 == 1
    }

    /// An input's own queue comes to be congested, or no longer is. Returns what is to be asked of the
    /// neighbour now, if that changes.
    pub(super) fn set_congested(&mut self, input: u16, class: u8, congested: bool) -> Option<bool> {
        let classes = &mut self.congested[usize::from(input)];
        *classes = *classes & !(1 << class) | u8::from(congested) << class;
        self.recalculate(input, class)
    }

    /// An egress queue comes to blame inputs, or no longer does. Returns the inputs whose neighbours
    /// hear of it. A port is not blamed by itself: D is over "o != i".
    pub(super) fn set_blamed(
        &mut self,
        egress: u16,
        class: u8,
        inputs: PortMask,
        blamed: bool,
    ) -> PortMask {
        let mut changed = 0;
        for input in each(inputs & !(1 << egress)) {
            let blamers = &mut self.blamers[usize::from(input)][usize::from(class)];
            *blamers = *blamers & !(1 << egress) | PortMask::from(blamed) << egress;
            changed |= PortMask::from(self.recalculate(input.into(), class).is_some()) << input;
        }
        changed
    }

    /// D = I or any E.
    fn recalculate(&mut self, input: u16, class: u8) -> Option<bool> {
        let blamed = self.blamers[usize::from(input)][usize::from(class)] != 0;
        let asked = self.is_congested(input, class) || blamed;
        let paused = &mut self.paused[usize::from(input)];
        if (*paused >> class & 1 == 1) == asked {
            return None;
        }
        *paused ^= 1 << class;
        Some(asked)
    }

    /// The classes that an input holds paused at its neighbour.
    #[must_use]
    pub(super) fn paused(&self, input: u16) -> u8 {
        self.paused[usize::from(input)]
    }

    /// The ports whose egress queue blames an input for a class.
    #[must_use]
    pub(super) fn blamers(&self, input: u16, class: u8) -> PortMask {
        self.blamers[usize::from(input)][usize::from(class)]
    }
}
