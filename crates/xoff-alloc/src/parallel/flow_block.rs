//! A FlowBlock: the flows from one block of racks to another (§4).

use crate::real::{Real, approximate_reciprocal};

use super::state::{LinkBlock, State, add};

/// So many flows are worked on at a time.
const LANES: usize = 4;

/// Flows that take one way up and one way down, or one link up and one link down.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowSet {
    pub(crate) up: Vec<u16>,
    pub(crate) down: Vec<u16>,
    /// The flow's weight; zero if it may not send because a link of its path has no capacity.
    pub(crate) weights: Vec<f32>,
    /// The least a flow ever pays: the price at which its rate would be its bound.
    pub(crate) floors: Vec<f32>,
    pub(crate) rates: Vec<f32>,
    pub(crate) normalized: Vec<f32>,
    /// The slot of each flow.
    pub(crate) slots: Vec<u32>,
}

/// Flows from the racks of one block to those of another: each is with those whose path is as long.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowBlock {
    /// Flows between racks, by ways.
    pub(crate) far: FlowSet,
    /// Flows within a rack, by links of servers.
    pub(crate) near: FlowSet,
}

impl FlowBlock {
    /// The rate update, and what it says of links: rates from prices, and sums over links.
    pub(crate) fn update_rates(&mut self, up: &mut LinkBlock, down: &mut LinkBlock) {
        up.clear_totals();
        down.clear_totals();
        self.far.update_rates(&mut up.ways, &mut down.ways);
        self.near.update_rates(&mut up.links, &mut down.links);
        up.gather();
        down.gather();
    }

    /// Bytes of its flows.
    pub(crate) fn bytes(&self) -> usize {
        (self.far.len() + self.near.len()) * FlowSet::FLOW_BYTES
    }

    /// F-NORM: each rate times the smallest factor on its path.
    pub(crate) fn normalize(&mut self, up: &mut LinkBlock, down: &mut LinkBlock) {
        up.spread();
        down.spread();
        self.far.normalize(&up.ways, &down.ways);
        self.near.normalize(&up.links, &down.links);
    }
}

impl FlowSet {
    /// What is kept of a flow: two ways, four numbers, and the slot.
    const FLOW_BYTES: usize = 2 * size_of::<u16>() + 4 * size_of::<f32>() + size_of::<u32>();

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Adds a flow, and says where it is.
    pub(crate) fn push(&mut self, up: usize, down: usize, slot: usize) -> usize {
        self.up.push(up as u16);
        self.down.push(down as u16);
        for values in [&mut self.weights, &mut self.rates, &mut self.normalized] {
            values.push(0.0);
        }
        self.floors.push(1.0);
        self.slots.push(slot as u32);
        self.len() - 1
    }

    /// Removes a flow; the last one takes its place. Says which slot moved, if one did.
    pub(crate) fn swap_remove(&mut self, index: usize) -> Option<usize> {
        self.up.swap_remove(index);
        self.down.swap_remove(index);
        for values in [&mut self.weights, &mut self.floors, &mut self.rates, &mut self.normalized] {
            values.swap_remove(index);
        }
        self.slots.swap_remove(index);
        self.slots.get(index).map(|&slot| slot as usize)
    }

    fn update_rates(&mut self, up: &mut State, down: &mut State) {
        let (up_lanes, up_rest) = self.up.as_chunks::<LANES>();
        let (down_lanes, down_rest) = self.down.as_chunks::<LANES>();
        let (weight_lanes, weight_rest) = self.weights.as_chunks::<LANES>();
        let (floor_lanes, floor_rest) = self.floors.as_chunks::<LANES>();
        let (rate_lanes, rate_rest) = self.rates.as_chunks_mut::<LANES>();
        let terms = weight_lanes.iter().zip(floor_lanes);
        let paths = up_lanes.iter().zip(down_lanes);
        for ((paths, terms), rates) in paths.zip(terms).zip(rate_lanes) {
            *rates = answer(paths, terms, up, down);
        }
        for (index, rate) in rate_rest.iter_mut().enumerate() {
            let path = (&[up_rest[index]], &[down_rest[index]]);
            let terms = (&[weight_rest[index]], &[floor_rest[index]]);
            [*rate] = answer(path, terms, up, down);
        }
    }

    fn normalize(&mut self, up: &State, down: &State) {
        let paths = self.up.iter().zip(&self.down);
        for ((path, rate), out) in paths.zip(&self.rates).zip(&mut self.normalized) {
            let (up, down) = (up.factors[usize::from(*path.0)], down.factors[usize::from(*path.1)]);
            *out = rate * if up < down { up } else { down };
        }
    }
}

/// The rates of N flows at current prices, which are added to what their paths carry. The result is
/// the same for any N, to the last bit.
#[inline]
fn answer<const N: usize>(
    (ups, downs): (&[u16; N], &[u16; N]),
    (weights, floors): (&[f32; N], &[f32; N]),
    up: &mut State,
    down: &mut State,
) -> [f32; N] {
    let (mut rates, mut prices, mut totals) = ([0.0; N], [0.0; N], [[0.0; 2]; N]);
    for lane in 0..N {
        prices[lane] = up.prices[usize::from(ups[lane])] + down.prices[usize::from(downs[lane])];
    }
    for lane in 0..N {
        let inverse = approximate_reciprocal(prices[lane].at_least(floors[lane]));
        rates[lane] = weights[lane] * inverse;
        totals[lane] = [f64::from(rates[lane]), f64::from(rates[lane] * inverse)];
    }
    for lane in 0..N {
        add(&mut up.totals[usize::from(ups[lane])], totals[lane]);
        add(&mut down.totals[usize::from(downs[lane])], totals[lane]);
    }
    rates
}
