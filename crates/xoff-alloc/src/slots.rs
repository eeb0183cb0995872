//! Stable slots for flows, and ids that become invalid when their flow is removed.

use std::fmt;
use std::iter;

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
    /// The taken slots as a bitmap, so that a pass over them does not visit free ones.
    taken: Vec<u64>,
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

    /// The taken slots in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.taken.iter().enumerate().flat_map(|(word, &bits)| {
            let without_lowest = |bits: &u64| Some(bits & (bits - 1)).filter(|&rest| rest != 0);
            iter::successors(Some(bits).filter(|&bits| bits != 0), without_lowest)
                .map(move |bits| word << 6 | bits.trailing_zeros() as usize)
        })
    }

    pub(crate) fn id(&self, slot: usize) -> FlowId {
        FlowId { slot: slot as u32, generation: self.generations[slot] }
    }

    pub(crate) fn find(&self, flow: FlowId) -> Option<usize> {
        let slot = flow.slot();
        let is_taken = flow.generation & 1 == 1;
        (is_taken && self.generations.get(slot) == Some(&flow.generation)).then_some(slot)
    }

    /// Takes a free slot, or appends one.
    pub(crate) fn take(&mut self) -> FlowId {
        let slot = self.free.pop().map_or(self.len(), |slot| slot as usize);
        if slot == self.len() {
            self.generations.push(0);
            self.taken.resize(self.len().div_ceil(64), 0);
        }
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.taken[slot >> 6] |= 1 << (slot & 63);
        self.id(slot)
    }

    /// Releases a taken slot.
    pub(crate) fn release(&mut self, slot: usize) {
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.taken[slot >> 6] &= !(1 << (slot & 63));
        self.free.push(slot as u32);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Slots are those of a map of taken slots, whatever is taken and released.
        #[test]
        fn slots_are_those_of_a_map(
            choices in prop::collection::vec(any::<(bool, usize)>(), 1..400),
        ) {
            let mut slots = Slots::default();
            let mut model = BTreeMap::new();
            for (is_take, choice) in choices {
                if is_take || model.is_empty() {
                    let flow = slots.take();
                    prop_assert_eq!(model.insert(flow.slot(), flow), None);
                } else {
                    let slot = *model.keys().nth(choice % model.len()).expect("not empty");
                    slots.release(slot);
                    let flow = model.remove(&slot).expect("taken");
                    prop_assert_eq!(slots.find(flow), None);
                }
                prop_assert_eq!(slots.taken(), model.len());
                prop_assert!(slots.iter().eq(model.keys().copied()));
                prop_assert!(model.values().all(|&flow| slots.find(flow) == Some(flow.slot())));
            }
        }
    }
}
