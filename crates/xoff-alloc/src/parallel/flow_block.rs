//! A FlowBlock: the flows from one block of racks to another (§4).

use super::clos::Shape;
use super::flow_set::FlowSet;
use super::state::{LinkBlock, Ways};

/// Flows from the racks of one block to those of another, in two sets by path length.
#[derive(Clone, Debug)]
pub(crate) struct FlowBlock {
    /// Flows between racks: two links up, one way down.
    pub(crate) far: FlowSet,
    /// Flows within a rack: one link up and the free link; one link down.
    pub(crate) near: FlowSet,
    /// The downward ways.
    ways: Ways,
}

impl FlowBlock {
    pub(crate) fn new(shape: Shape) -> Self {
        Self { far: FlowSet::default(), near: FlowSet::default(), ways: Ways::new(shape) }
    }

    /// The rate update: rates from prices, and sums per link.
    pub(crate) fn update_rates(&mut self, up: &mut LinkBlock, down: &mut LinkBlock) {
        up.clear_totals();
        down.clear_totals();
        self.ways.spread_prices(&down.links);
        self.far.update_rates(&mut up.links, &mut self.ways.state);
        self.near.update_rates(&mut up.links, &mut down.links);
        self.ways.gather(&mut down.links);
    }

    /// F-NORM: multiplies each rate by the smallest factor on its path.
    pub(crate) fn normalize(&mut self, up: &mut LinkBlock, down: &mut LinkBlock) {
        self.ways.spread_factors(&down.links);
        self.far.normalize(&up.links, &self.ways.state);
        self.near.normalize(&up.links, &down.links);
    }

    /// Size of its flows in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.far.bytes() + self.near.bytes()
    }
}
