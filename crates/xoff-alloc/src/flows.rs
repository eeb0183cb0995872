//! Flows and their paths: slots that stay where they are, and ids that outlive no flow.

use std::fmt;

use crate::error::Error;
use crate::network::{LinkId, Network};

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

/// Where a slot's path is in the pool.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    start: usize,
    len: usize,
}

/// All flows. A free slot has an empty path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    /// How often the slot was taken or freed: odd while it is taken.
    generations: Vec<u32>,
    weights: Vec<f64>,
    places: Vec<Place>,
    /// All paths, one after another: an iteration reads them in the order of slots.
    pool: Vec<u32>,
    free_slots: Vec<u32>,
    /// Places in the pool that were left, by the length of the path.
    free_places: Vec<Vec<usize>>,
}

impl Flows {
    /// How many slots there are, taken or free.
    pub(crate) fn slots(&self) -> usize {
        self.places.len()
    }

    /// How many flows there are.
    pub(crate) fn len(&self) -> usize {
        self.slots() - self.free_slots.len()
    }

    pub(crate) fn path(&self, slot: usize) -> &[u32] {
        let Place { start, len } = self.places[slot];
        &self.pool[start..start + len]
    }

    pub(crate) fn weight(&self, slot: usize) -> f64 {
        self.weights[slot]
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

    pub(crate) fn add(
        &mut self,
        network: &Network,
        path: &[LinkId],
        weight: f64,
    ) -> Result<FlowId, Error> {
        check_path(network, path)?;
        let place = self.take_place(path);
        let slot = self.free_slots.pop().map_or(self.slots(), |slot| slot as usize);
        if slot == self.slots() {
            self.generations.push(0);
            self.weights.push(weight);
            self.places.push(place);
        }
        self.generations[slot] += 1;
        self.weights[slot] = weight;
        self.places[slot] = place;
        Ok(self.id(slot))
    }

    /// Frees a slot that is taken.
    pub(crate) fn remove(&mut self, slot: usize) {
        let place = std::mem::take(&mut self.places[slot]);
        self.free_places[place.len].push(place.start);
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.free_slots.push(slot as u32);
    }

    fn take_place(&mut self, path: &[LinkId]) -> Place {
        let len = path.len();
        if self.free_places.len() <= len {
            self.free_places.resize_with(len + 1, Vec::new);
        }
        let links = path.iter().map(|link| link.0);
        let start = match self.free_places[len].pop() {
            Some(start) => {
                self.pool[start..start + len]
                    .iter_mut()
                    .zip(links)
                    .for_each(|(to, from)| *to = from);
                start
            }
            None => {
                let start = self.pool.len();
                self.pool.extend(links);
                start
            }
        };
        Place { start, len }
    }
}

fn check_path(network: &Network, path: &[LinkId]) -> Result<(), Error> {
    if path.is_empty() {
        return Err(Error::EmptyPath);
    }
    for (index, &link) in path.iter().enumerate() {
        network.find(link)?;
        if path[..index].contains(&link) {
            return Err(Error::RepeatedLink { link });
        }
    }
    Ok(())
}
