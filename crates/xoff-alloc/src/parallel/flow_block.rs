//! A FlowBlock: the flows from one block of racks to another (§4).

use super::clos::Shape;
use super::flow_set::FlowSet;
use super::state::{LinkBlock, Ways};

/// Flows from the racks of one block to those of another: each is with those whose path is as long.
#[derive(Clone, Debug)]
pub(crate) struct FlowBlock {
    /// Flows between racks: two links up, a way down.
    pub(crate) far: FlowSet,
    /// Flows within a rack: a link up, and one that is free; a link down.
    pub(crate) near: FlowSet,
    /// The ways down.
    ways: Ways,
}

impl FlowBlock {
    pub(crate) fn new(shape: Shape) -> Self {
        Self { far: FlowSet::default(), near: FlowSet::default(), ways: Ways::new(shape) }
    }

    /// The rate update, and what it says of links: rates from prices, and sums over links.
    pub(crate) fn update_rates(&mut self, up: &mut LinkBlock, down: &mut LinkBlock) {
        up.clear_totals();
        down.clear_totals();
        self.ways.spread_prices(&down.links);
        self.far.update_rates(&mut up.links, &mut self.ways.state);
        self.near.update_rates(&mut up.links, &mut down.links);
        self.ways.gather(&mut down.links);
    }

    /// F-NORM: each rate times the smallest factor on its path.
    pub(crate) fn normalize(&mut self, up: &mut LinkBlock, down: &mut LinkBlock) {
        self.ways.spread_factors(&down.links);
        self.far.normalize(&up.links, &self.ways.state);
        self.near.normalize(&up.links, &down.links);
    }

    /// Bytes of its flows.
    pub(crate) fn bytes(&self) -> usize {
        self.far.bytes() + self.near.bytes()
    }
}
