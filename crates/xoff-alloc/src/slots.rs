//! Slots that stay where they are, and ids that outlive no flow.

use std::fmt;

/// A flow. It is valid until the flow is removed; its slot may then be another flow's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    slot: u32,
    generation: u32,
}

impl FlowId {
    /// The flow's slot: small, and no other flow's as long as this one lives. For arrays beside the
    /// allocator's.
    #[must_use]
    pub fn slot(self) -> usize {
        self.slot as usize
    }

    /// The flow as one number, for places that know no other type.
    #[must_use]
    pub fn bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.slot)
    }

    /// The flow that a number stands for. Whether there is such a flow its allocator finds out.
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

/// Which slots are taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    /// How often the slot was taken or freed: odd while it is taken.
    generations: Vec<u32>,
    free: Vec<u32>,
}

impl Slots {
    /// How many slots there are, taken or free.
    pub(crate) fn len(&self) -> usize {
        self.generations.len()
    }

    /// How many are taken.
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

    /// Takes a free slot, or one more at the end.
    pub(crate) fn take(&mut self) -> FlowId {
        let slot = self.free.pop().map_or(self.len(), |slot| slot as usize);
        if slot == self.len() {
            self.generations.push(0);
        }
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.id(slot)
    }

    /// Frees a slot that is taken.
    pub(crate) fn release(&mut self, slot: usize) {
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.free.push(slot as u32);
    }
}
