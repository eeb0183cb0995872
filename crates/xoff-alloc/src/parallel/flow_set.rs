//! Flows with paths of equal length, in rows.

use std::ops::Range;

use crate::real::{Real, approximate_reciprocal};

use super::bundles::{Bundles, ROWS, Seat};
use super::state::{State, add, least};

/// Number of flows processed at a time.
const LANES: usize = 4;

/// Number of bundles processed at a time: their data stays in the L1 cache from row to row.
const STRIP: usize = 512;

/// One value for each bundle of a strip.
type Strip = [f32; STRIP];

/// One flow of each of the first bundles.
#[derive(Clone, Debug, Default)]
struct Row {
    /// The downward way or link.
    down: Vec<u16>,
    weights: Vec<f32>,
    floors: Vec<f32>,
    /// Rates, normalised at the end of each iteration.
    rates: Vec<f32>,
    /// The slot of each flow.
    slots: Vec<u32>,
}

/// The terms of a flow's rate other than prices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Terms {
    /// The flow's weight; zero if a link of its path has no capacity.
    pub(crate) weight: f32,
    /// Lower bound on the flow's price: the price at which its rate equals the rate bound.
    pub(crate) floor: f32,
}

/// Flows over two links up, and one way or one link down.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowSet {
    bundles: Bundles,
    /// The upward links of each bundle.
    up: Vec<[u16; 2]>,
    rows: [Row; ROWS],
}

impl FlowSet {
    /// Size of a flow's data: the downward way, three numbers and the slot.
    const FLOW_BYTES: usize = size_of::<u16>() + 3 * size_of::<f32>() + size_of::<u32>();

    /// Size of its flows in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.iter().map(|row| row.slots.len() * Self::FLOW_BYTES).sum::<usize>()
            + self.up.len() * size_of::<[u16; 2]>()
    }

    /// Adds a flow and returns its seat.
    pub(crate) fn push(&mut self, way: usize, up: [usize; 2], down: usize, slot: usize) -> Seat {
        let added = self.bundles.add(way);
        if added.is_first {
            self.up.push(up.map(|link| link as u16));
        }
        self.swap(added.row, added.swapped);
        self.rows[added.row].push(down as u16, slot as u32);
        added.seat
    }

    /// Removes a flow. Returns the flow that moved into its seat, if any.
    pub(crate) fn remove(&mut self, way: usize, seat: Seat) -> Option<usize> {
        let removed = self.bundles.remove(way, seat);
        let moved = (removed.from != removed.to).then(|| self.replace(removed.from, removed.to));
        self.swap(removed.row + 1, removed.swapped);
        self.rows[removed.row].pop();
        if removed.is_last {
            self.up.pop();
        }
        moved
    }

    pub(crate) fn set_terms(&mut self, seat: Seat, terms: Terms) {
        let [row, place] = self.bundles.find(seat);
        self.rows[row].weights[place] = terms.weight;
        self.rows[row].floors[place] = terms.floor;
    }

    /// A flow's normalised rate.
    pub(crate) fn rate(&self, seat: Seat) -> f32 {
        let [row, place] = self.bundles.find(seat);
        self.rows[row].rates[place]
    }

    pub(crate) fn set_rate(&mut self, seat: Seat, rate: f32) {
        let [row, place] = self.bundles.find(seat);
        self.rows[row].rates[place] = rate;
    }

    /// Swaps two bundles that differ only in the first `rows` rows.
    fn swap(&mut self, rows: usize, [one, other]: [usize; 2]) {
        if one != other {
            self.up.swap(one, other);
            self.rows[..rows].iter_mut().for_each(|row| row.swap(one, other));
        }
    }

    /// Copies a flow into another's place and returns its slot.
    fn replace(&mut self, from: [usize; 2], to: [usize; 2]) -> usize {
        let flow = self.rows[from[0]].flow(from[1]);
        self.rows[to[0]].set(to[1], flow);
        flow.slot as usize
    }

    /// Updates rates and adds them to the totals of links and ways.
    pub(crate) fn update_rates(&mut self, up: &mut State, down: &mut State) {
        for first in (0..self.up.len()).step_by(STRIP) {
            let paths = &self.up[first..self.up.len().min(first + STRIP)];
            let (mut prices, mut loads, mut slopes) = ([0.0; STRIP], [0.0; STRIP], [0.0; STRIP]);
            for (price, &[one, other]) in prices.iter_mut().zip(paths) {
                *price = up.prices[usize::from(one)] + up.prices[usize::from(other)];
            }
            for (row, range) in strip(&mut self.rows, first) {
                row.update_rates(range, &prices, &mut loads, &mut slopes, down);
            }
            for ((load, slope), path) in loads.iter().zip(&slopes).zip(paths) {
                // A sum of at most 16 flows: single precision is enough.
                let total = [f64::from(*load), f64::from(*slope)];
                path.iter().for_each(|&link| add(&mut up.totals[usize::from(link)], total));
            }
        }
    }

    /// F-NORM: multiplies each rate by the smallest factor on its path.
    pub(crate) fn normalize(&mut self, up: &State, down: &State) {
        for first in (0..self.up.len()).step_by(STRIP) {
            let paths = &self.up[first..self.up.len().min(first + STRIP)];
            let mut factors = [0.0; STRIP];
            for (factor, &[one, other]) in factors.iter_mut().zip(paths) {
                *factor = least(up.factors[usize::from(one)], up.factors[usize::from(other)]);
            }
            for (row, range) in strip(&mut self.rows, first) {
                row.normalize(range, &factors, down);
            }
        }
    }
}

/// The rows that reach into a strip, each with its range.
fn strip(rows: &mut [Row], first: usize) -> impl Iterator<Item = (&mut Row, Range<usize>)> {
    rows.iter_mut()
        .map(move |row| (first..row.slots.len().min(first + STRIP), row))
        .take_while(|(range, _)| !range.is_empty())
        .map(|(range, row)| (row, range))
}

/// A row's data of one flow.
#[derive(Clone, Copy, Debug)]
struct Entry {
    down: u16,
    slot: u32,
    numbers: [f32; 3],
}

impl Row {
    fn numbers(&mut self) -> [&mut Vec<f32>; 3] {
        [&mut self.weights, &mut self.floors, &mut self.rates]
    }

    fn push(&mut self, down: u16, slot: u32) {
        self.down.push(down);
        self.slots.push(slot);
        self.numbers().into_iter().for_each(|numbers| numbers.push(0.0));
    }

    fn pop(&mut self) {
        self.down.pop();
        self.slots.pop();
        self.numbers().into_iter().for_each(|numbers| _ = numbers.pop());
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.down.swap(one, other);
        self.slots.swap(one, other);
        self.numbers().into_iter().for_each(|numbers| numbers.swap(one, other));
    }

    fn flow(&mut self, place: usize) -> Entry {
        let (down, slot) = (self.down[place], self.slots[place]);
        Entry { down, slot, numbers: self.numbers().map(|numbers| numbers[place]) }
    }

    fn set(&mut self, place: usize, flow: Entry) {
        self.down[place] = flow.down;
        self.slots[place] = flow.slot;
        for (numbers, number) in self.numbers().into_iter().zip(flow.numbers) {
            numbers[place] = number;
        }
    }

    fn update_rates(
        &mut self,
        range: Range<usize>,
        prices: &Strip,
        loads: &mut Strip,
        slopes: &mut Strip,
        down: &mut State,
    ) {
        let count = range.len();
        let (down_lanes, down_rest) = self.down[range.clone()].as_chunks::<LANES>();
        let (weight_lanes, weight_rest) = self.weights[range.clone()].as_chunks::<LANES>();
        let (floor_lanes, floor_rest) = self.floors[range.clone()].as_chunks::<LANES>();
        let (rate_lanes, rate_rest) = self.rates[range].as_chunks_mut::<LANES>();
        let (price_lanes, price_rest) = prices[..count].as_chunks::<LANES>();
        let (load_lanes, load_rest) = loads[..count].as_chunks_mut::<LANES>();
        let (slope_lanes, slope_rest) = slopes[..count].as_chunks_mut::<LANES>();
        let terms = weight_lanes.iter().zip(floor_lanes);
        let sums = load_lanes.iter_mut().zip(slope_lanes);
        let up = price_lanes.iter().zip(sums);
        let flows = down_lanes.iter().zip(terms).zip(rate_lanes);
        for (((downs, terms), rates), (prices, sums)) in flows.zip(up) {
            *rates = answer(downs, terms, prices, sums, down);
        }
        for index in 0..rate_rest.len() {
            let terms = (&[weight_rest[index]], &[floor_rest[index]]);
            let (mut load, mut slope) = ([load_rest[index]], [slope_rest[index]]);
            let sums = (&mut load, &mut slope);
            [rate_rest[index]] =
                answer(&[down_rest[index]], terms, &[price_rest[index]], sums, down);
            ([load_rest[index]], [slope_rest[index]]) = (load, slope);
        }
    }

    fn normalize(&mut self, range: Range<usize>, factors: &Strip, down: &State) {
        let (down_lanes, down_rest) = self.down[range.clone()].as_chunks::<LANES>();
        let (factor_lanes, factor_rest) = factors[..range.len()].as_chunks::<LANES>();
        let (rate_lanes, rate_rest) = self.rates[range].as_chunks_mut::<LANES>();
        for ((rates, downs), ups) in rate_lanes.iter_mut().zip(down_lanes).zip(factor_lanes) {
            let downs = downs.map(|way| down.factors[usize::from(way)]);
            for lane in 0..LANES {
                rates[lane] *= least(ups[lane], downs[lane]);
            }
        }
        for ((rate, &way), &up) in rate_rest.iter_mut().zip(down_rest).zip(factor_rest) {
            *rate *= least(up, down.factors[usize::from(way)]);
        }
    }
}

/// Computes the rates of N flows at current prices and adds them to the totals of their paths. The
/// result is the same for any N, to the last bit.
#[inline]
fn answer<const N: usize>(
    downs: &[u16; N],
    (weights, floors): (&[f32; N], &[f32; N]),
    up_prices: &[f32; N],
    (loads, slopes): (&mut [f32; N], &mut [f32; N]),
    down: &mut State,
) -> [f32; N] {
    let (mut rates, mut prices, mut falls) = ([0.0; N], [0.0; N], [0.0; N]);
    for lane in 0..N {
        prices[lane] = up_prices[lane] + down.prices[usize::from(downs[lane])];
    }
    for lane in 0..N {
        let inverse = approximate_reciprocal(prices[lane].at_least(floors[lane]));
        rates[lane] = weights[lane] * inverse;
        falls[lane] = rates[lane] * inverse;
        loads[lane] += rates[lane];
        slopes[lane] += falls[lane];
    }
    for lane in 0..N {
        let total = [f64::from(rates[lane]), f64::from(falls[lane])];
        add(&mut down.totals[usize::from(downs[lane])], total);
    }
    rates
}
