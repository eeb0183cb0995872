//! Stable slots for flows, and ids that become invalid when their flow is removed.

use std::fmt;

/// The id of a flow. It is valid until the flow is removed; the slot may then be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    slot: u32,
    generation: u32,
}

impl FlowId {
    /// The flow's slot: a small number, unique while the flow exists. Use it to index arrays of
    /// your own.
    #[must_use]
    pub fn slot(self) -> usize {
        self.slot as usize
    }

    /// The id as one number, for interfaces without this type.
    #[must_use]
    pub fn bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.slot)
    }

    /// The id with these bits. The allocator checks that the flow exists.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        Self { slot: bits as u32, generation: (bits >> 32) as u32 }
    }
}

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flow {}.{}", self.slot, self.generation)
    }
}

/// The slots in use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    /// Number of times the slot was taken or released: odd while it is taken.
    generations: Vec<u32>,
    free: Vec<u32>,
}

impl Slots {
    /// Number of slots, taken or free.
    pub(crate) fn len(&self) -> usize {
        self.generations.len()
    }

    /// Number of taken slots.
    pub(crate) fn taken(&self) -> usize {
        self.len() - self.free.len()
    }

    pub(crate) fn is_taken(&self, slot: usize) -> bool {
        self.generations[slot] & 1 == 1
    }

    pub(crate) fn id(&self, slot: usize) -> FlowId {
        FlowId { slot: slot as u32, generation: self.generations[slot] }
    }

    pub(crate) fn find(&self, flow: FlowId) -> Option<usize> {
        let slot = flow.slot();
        (self.generations.get(slot) == Some(&flow.generation) && self.is_taken(slot))
            .then_some(slot)
    }

    /// Takes a free slot, or appends one.
    pub(crate) fn take(&mut self) -> FlowId {
        let slot = self.free.pop().map_or(self.len(), |slot| slot as usize);
        if slot == self.len() {
            self.generations.push(0);
        }
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.id(slot)
    }

    /// Releases a taken slot.
    pub(crate) fn release(&mut self, slot: usize) {
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.free.push(slot as u32);
    }
}
