//! Memory layout of flows: bundles and rows.
//!
//! Up to 16 flows with the same upward way form a *bundle*. The first flows of all bundles are
//! adjacent, in *row* 0; the second flows form row 1, and so on. Bundles with more flows come
//! first, so rows have no gaps and none is longer than the one before. Within a row, adjacent flows
//! belong to adjacent bundles, so that prices are read and sums written sequentially.

/// Maximum number of flows per bundle, which is the number of rows.
pub(crate) const ROWS: usize = 16;

/// No bundle.
const NONE: u32 = u32::MAX;

/// Position of a flow. It is stable until a flow of the same way is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    bundle: u32,
    row: u32,
}

#[derive(Clone, Copy, Debug)]
struct Bundle {
    /// Its place in all rows.
    place: u32,
    flows: u32,
    /// An older bundle of the same way, or none; all but the newest are full.
    older: u32,
}

/// The order of bundles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bundles {
    bundles: Vec<Bundle>,
    /// The bundle at each place.
    order: Vec<u32>,
    /// The newest bundle of each way.
    newest: Vec<u32>,
    unused: Vec<u32>,
    lengths: [usize; ROWS],
}

/// Changes to the rows when a flow is added: swap two places in the rows before `row`, then append
/// a flow to `row`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Added {
    pub(crate) seat: Seat,
    pub(crate) swapped: [usize; 2],
    pub(crate) row: usize,
    /// True if the flow is the first of a new bundle.
    pub(crate) is_first: bool,
}

/// Changes to the rows when a flow is removed: move the last flow of its way into its place, swap
/// two places in the rows up to `row`, then remove the last flow of `row`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Removed {
    /// Row and place of the flow that moves.
    pub(crate) from: [usize; 2],
    pub(crate) to: [usize; 2],
    pub(crate) swapped: [usize; 2],
    pub(crate) row: usize,
    /// True if the bundle at the end has no flows left.
    pub(crate) is_last: bool,
}

impl Bundles {
    /// Row and place of a flow.
    pub(crate) fn find(&self, seat: Seat) -> [usize; 2] {
        [seat.row as usize, self.bundles[seat.bundle as usize].place as usize]
    }

    /// Adds a flow of a way.
    pub(crate) fn add(&mut self, way: usize) -> Added {
        if way >= self.newest.len() {
            self.newest.resize(way + 1, NONE);
        }
        let newest = self.newest[way];
        let has_room = newest != NONE && (self.bundles[newest as usize].flows as usize) < ROWS;
        if !has_room {
            self.newest[way] = self.begin(newest);
        }
        let bundle = self.newest[way];
        let row = self.bundles[bundle as usize].flows as usize;
        let swapped = self.swap(bundle, self.lengths[row]);
        self.lengths[row] += 1;
        self.bundles[bundle as usize].flows += 1;
        Added { seat: Seat { bundle, row: row as u32 }, swapped, row, is_first: row == 0 }
    }

    /// Removes a flow of a way.
    pub(crate) fn remove(&mut self, way: usize, seat: Seat) -> Removed {
        let bundle = self.newest[way];
        let Bundle { place, flows, older } = self.bundles[bundle as usize];
        let row = flows as usize - 1;
        let (from, to) = ([row, place as usize], self.find(seat));
        self.lengths[row] -= 1;
        let swapped = self.swap(bundle, self.lengths[row]);
        self.bundles[bundle as usize].flows -= 1;
        if row == 0 {
            self.order.pop();
            self.unused.push(bundle);
            self.newest[way] = older;
        }
        Removed { from, to, swapped, row, is_last: row == 0 }
    }

    /// Adds an empty bundle after all others.
    fn begin(&mut self, older: u32) -> u32 {
        let bundle = Bundle { place: self.order.len() as u32, flows: 0, older };
        let index = self.unused.pop().unwrap_or(self.bundles.len() as u32);
        if index as usize == self.bundles.len() {
            self.bundles.push(bundle);
        }
        self.bundles[index as usize] = bundle;
        self.order.push(index);
        index
    }

    /// Swaps a bundle with the one at another place.
    fn swap(&mut self, bundle: u32, to: usize) -> [usize; 2] {
        let from = self.bundles[bundle as usize].place as usize;
        self.order.swap(from, to);
        for place in [from, to] {
            self.bundles[self.order[place] as usize].place = place as u32;
        }
        [from, to]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_no_gaps_while_flows_come_and_go() {
        let mut bundles = Bundles::default();
        let mut flows: Vec<(usize, Seat)> = Vec::new();
        let mut state = 1_u64;
        for round in 0..5_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let drawn = (state >> 33) as usize;
            if flows.is_empty() || drawn % 100 < if round < 3_000 { 60 } else { 30 } {
                let way = drawn % 7 * (drawn % 3);
                flows.push((way, bundles.add(way).seat));
            } else {
                let (way, seat) = flows.swap_remove(drawn % flows.len());
                let last = bundles.bundles[bundles.newest[way] as usize];
                let moved = Seat { bundle: bundles.newest[way], row: last.flows - 1 };
                bundles.remove(way, seat);
                if let Some(flow) = flows.iter_mut().find(|flow| flow.1 == moved) {
                    flow.1 = seat;
                }
            }
            let mut found: Vec<_> = flows.iter().map(|flow| bundles.find(flow.1)).collect();
            found.sort_unstable();
            let rows = bundles.lengths.iter().enumerate();
            let all: Vec<_> =
                rows.flat_map(|(row, &length)| (0..length).map(move |at| [row, at])).collect();
            assert_eq!(found, all);
        }
    }
}
