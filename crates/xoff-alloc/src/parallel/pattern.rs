//! The transfers of LinkBlocks between FlowBlocks (§4, Fig. 5).
//!
//! The n x n FlowBlocks form a square: a row is a source block, a column a destination block.
//! Before the first step each has its own copy of its row's upward LinkBlock and of its column's
//! downward LinkBlock. "Each aggregation step m combines LinkBlocks within each 2^m x 2^m group of
//! processes to the group diagonals, with the main diagonal aggregating upward LinkBlocks, and the
//! secondary diagonal downward LinkBlocks." After the last step the diagonals of the whole square
//! have the sums, and "distribution follows the reverse of the aggregation pattern".

use super::clos::Way;

/// A LinkBlock sent from one FlowBlock to another, each given by row and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) way: Way,
    pub(crate) from: (usize, usize),
    pub(crate) to: (usize, usize),
}

/// The aggregation of n x n blocks: the transfers of each of its log2 n steps.
pub(crate) fn aggregation(blocks: usize) -> Vec<Vec<Transfer>> {
    (0..blocks.ilog2()).map(|step| transfers(blocks, 1 << step)).collect()
}

/// The FlowBlock that has the complete LinkBlock of this number after the last step.
pub(crate) fn home(way: Way, block: usize, blocks: usize) -> (usize, usize) {
    on_diagonal(way, (0, 0), block, blocks)
}

/// The transfers that combine groups of `half` x `half` blocks into groups twice as large.
fn transfers(blocks: usize, half: usize) -> Vec<Transfer> {
    let corners = (0..blocks).step_by(2 * half);
    corners
        .clone()
        .flat_map(|top| corners.clone().flat_map(move |left| group(top, left, half)))
        .collect()
}

/// The transfers of one group. Each of its four quarters sends to one neighbour and receives from
/// the other. Upward LinkBlocks move left in the top half and right in the bottom half; downward
/// ones move down in the left half and up in the right half.
fn group(top: usize, left: usize, half: usize) -> impl Iterator<Item = Transfer> {
    let quarter = move |bottom: bool, right: bool| {
        (top + if bottom { half } else { 0 }, left + if right { half } else { 0 })
    };
    let pairs = [
        (Way::Up, quarter(false, true), quarter(false, false)),
        (Way::Up, quarter(true, false), quarter(true, true)),
        (Way::Down, quarter(false, false), quarter(true, false)),
        (Way::Down, quarter(true, true), quarter(false, true)),
    ];
    pairs.into_iter().flat_map(move |(way, from, to)| {
        (0..half).map(move |index| Transfer {
            way,
            from: on_diagonal(way, from, index, half),
            to: on_diagonal(way, to, index, half),
        })
    })
}

/// Position of the LinkBlock of row or column `index` in the group whose first block is at
/// `corner`.
fn on_diagonal(way: Way, corner: (usize, usize), index: usize, size: usize) -> (usize, usize) {
    match way {
        Way::Up => (corner.0 + index, corner.1 + index),
        Way::Down => (corner.0 + size - 1 - index, corner.1 + index),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const SIZES: [usize; 6] = [1, 2, 4, 8, 16, 32];

    #[test]
    fn n_by_n_blocks_need_log_2_n_steps() {
        for (log, &blocks) in SIZES.iter().enumerate() {
            assert_eq!(aggregation(blocks).len(), log);
        }
    }

    #[test]
    fn each_quarter_of_each_group_sends_and_receives_as_much() {
        for blocks in SIZES {
            for (step, transfers) in aggregation(blocks).iter().enumerate() {
                let half = 1 << step;
                let mut sent = BTreeMap::<_, usize>::new();
                let mut received = BTreeMap::<_, usize>::new();
                for transfer in transfers {
                    let quarter = |(row, column): (usize, usize)| (row / half, column / half);
                    let (from, to) = (quarter(transfer.from), quarter(transfer.to));
                    *sent.entry(from).or_default() += 1;
                    *received.entry(to).or_default() += 1;
                    let is_neighbour = (from.0 == to.0) != (from.1 == to.1);
                    assert!(is_neighbour, "{transfer:?}");
                }
                let quarters = (blocks / half).pow(2);
                assert_eq!(sent.len(), quarters);
                assert!(sent.values().chain(received.values()).all(|&count| count == half));
                assert_eq!(received.len(), quarters);
            }
        }
    }

    #[test]
    fn the_diagonals_end_up_with_every_copy_once() {
        for blocks in SIZES {
            // The terms of each copy's sum: at first only itself.
            let places = (0..blocks).flat_map(|row| (0..blocks).map(move |column| (row, column)));
            let mut copies = BTreeMap::new();
            for place in places {
                copies.insert((Way::Up as u8, place), vec![place]);
                copies.insert((Way::Down as u8, place), vec![place]);
            }
            for Transfer { way, from, to } in aggregation(blocks).concat() {
                let sent = copies[&(way as u8, from)].clone();
                copies.get_mut(&(way as u8, to)).unwrap().extend(sent);
            }
            for block in 0..blocks {
                for way in [Way::Up, Way::Down] {
                    let mut sum = copies[&(way as u8, home(way, block, blocks))].clone();
                    sum.sort_unstable();
                    let expected: Vec<_> = (0..blocks)
                        .map(|other| if way == Way::Up { (block, other) } else { (other, block) })
                        .collect();
                    assert_eq!(sum, expected);
                }
            }
        }
    }
}
