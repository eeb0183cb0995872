//! Flows and their paths.

use crate::error::Error;
use crate::link::LinkId;
use crate::network::Network;
use crate::slots::{FlowId, Slots};

/// Position of a slot's path in the pool.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    start: usize,
    len: usize,
}

/// All flows. A free slot has an empty path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    slots: Slots,
    weights: Vec<f64>,
    places: Vec<Place>,
    /// All paths, one after another; an iteration reads them in the order of slots.
    pool: Vec<u32>,
    /// Freed positions in the pool, by path length.
    free_places: Vec<Vec<usize>>,
}

impl Flows {
    /// The slots in use.
    pub(crate) fn ids(&self) -> &Slots {
        &self.slots
    }

    pub(crate) fn path(&self, slot: usize) -> &[u32] {
        let Place { start, len } = self.places[slot];
        &self.pool[start..][..len]
    }

    pub(crate) fn weight(&self, slot: usize) -> f64 {
        self.weights[slot]
    }

    pub(crate) fn add(
        &mut self,
        network: &Network,
        path: &[LinkId],
        weight: f64,
    ) -> Result<FlowId, Error> {
        check_path(network, path)?;
        let place = self.take_place(path);
        let flow = self.slots.take();
        if flow.slot() == self.places.len() {
            self.weights.push(weight);
            self.places.push(place);
        }
        self.weights[flow.slot()] = weight;
        self.places[flow.slot()] = place;
        Ok(flow)
    }

    /// Releases a taken slot.
    pub(crate) fn remove(&mut self, slot: usize) {
        let place = std::mem::take(&mut self.places[slot]);
        self.free_places[place.len].push(place.start);
        self.slots.release(slot);
    }

    fn take_place(&mut self, path: &[LinkId]) -> Place {
        let len = path.len();
        if self.free_places.len() <= len {
            self.free_places.resize_with(len + 1, Vec::new);
        }
        let links = path.iter().map(|link| link.0);
        let start = match self.free_places[len].pop() {
            Some(start) => {
                self.pool[start..][..len].iter_mut().zip(links).for_each(|(to, from)| *to = from);
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
