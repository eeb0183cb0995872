//! One iteration over n x n FlowBlocks, in phases that threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::clos::{Shape, Way};
use super::flow_block::FlowBlock;
use super::pattern::{Transfer, aggregation, home};
use super::state::LinkBlock;
use super::worker_pool::Work;

/// All FlowBlocks, row by row, each with its copies of its row's upward and its column's downward
/// LinkBlock. In each phase a thread has its own blocks, so it never waits for a lock.
#[derive(Debug)]
pub(crate) struct Square {
    shape: Shape,
    gamma: f32,
    flows: Vec<Mutex<FlowBlock>>,
    up: Vec<Mutex<LinkBlock>>,
    down: Vec<Mutex<LinkBlock>>,
    /// Capacity of each link that is available to flows, by direction and LinkBlock.
    usable: [Vec<Mutex<Vec<f32>>>; 2],
    steps: Vec<Vec<Transfer>>,
}

/// A phase of an iteration.
enum Phase {
    Rates,
    Aggregation(usize),
    Prices,
    Distribution(usize),
    Normalization,
}

impl Square {
    pub(crate) fn new(shape: Shape, gamma: f32, price: f32) -> Self {
        let count = shape.blocks * shape.blocks;
        let copies = || (0..count).map(|_| Mutex::new(LinkBlock::new(shape, price))).collect();
        let usable = || (0..shape.blocks).map(|_| Mutex::new(vec![0.0; shape.links()])).collect();
        Self {
            shape,
            gamma,
            flows: (0..count).map(|_| Mutex::new(FlowBlock::new(shape))).collect(),
            up: copies(),
            down: copies(),
            usable: [usable(), usable()],
            steps: aggregation(shape.blocks),
        }
    }

    /// The transfers of each step of an aggregation.
    pub(crate) fn steps(&self) -> &[Vec<Transfer>] {
        &self.steps
    }

    /// The FlowBlock from one block of racks to another.
    pub(crate) fn block(&self, from: usize, to: usize) -> usize {
        from * self.shape.blocks + to
    }

    pub(crate) fn flows(&self, block: usize) -> MutexGuard<'_, FlowBlock> {
        lock(&self.flows[block])
    }

    /// A FlowBlock's copy of a LinkBlock.
    pub(crate) fn copy(&self, way: Way, block: usize) -> MutexGuard<'_, LinkBlock> {
        match way {
            Way::Up => lock(&self.up[block]),
            Way::Down => lock(&self.down[block]),
        }
    }

    /// The copy of a LinkBlock with complete totals.
    pub(crate) fn home(&self, way: Way, block: usize) -> MutexGuard<'_, LinkBlock> {
        let (row, column) = home(way, block, self.shape.blocks);
        self.copy(way, self.block(row, column))
    }

    pub(crate) fn usable(&self, way: Way, block: usize) -> MutexGuard<'_, Vec<f32>> {
        lock(&self.usable[way as usize][block])
    }

    fn phase(&self, phase: usize) -> Phase {
        let steps = self.steps.len();
        match phase {
            0 => Phase::Rates,
            phase if phase <= steps => Phase::Aggregation(phase - 1),
            phase if phase == steps + 1 => Phase::Prices,
            phase if phase <= 2 * steps + 1 => Phase::Distribution(2 * steps + 1 - phase),
            _ => Phase::Normalization,
        }
    }

    fn update_prices(&self, number: usize) {
        let (way, block) = match number.checked_sub(self.shape.blocks) {
            None => (Way::Up, number),
            Some(block) => (Way::Down, block),
        };
        self.home(way, block).update_prices(self.gamma, &self.usable(way, block));
    }

    fn aggregate(&self, transfer: &Transfer) {
        let Transfer { way, from, to } = *transfer;
        let from = self.copy(way, self.block(from.0, from.1));
        self.copy(way, self.block(to.0, to.1)).absorb(&from);
    }

    fn distribute(&self, transfer: &Transfer) {
        let Transfer { way, from, to } = *transfer;
        let to = self.copy(way, self.block(to.0, to.1));
        self.copy(way, self.block(from.0, from.1)).follow(&to);
    }
}

impl Work for Square {
    fn phases(&self) -> usize {
        2 * self.steps.len() + 3
    }

    fn run(&self, phase: usize, thread: usize, threads: usize) {
        let share = |count: usize| thread * count / threads..(thread + 1) * count / threads;
        match self.phase(phase) {
            Phase::Rates => share(self.flows.len()).for_each(|block| {
                let (mut up, mut down) = (lock(&self.up[block]), lock(&self.down[block]));
                self.flows(block).update_rates(&mut up, &mut down);
            }),
            Phase::Aggregation(step) => {
                let transfers = &self.steps[step];
                transfers[share(transfers.len())].iter().for_each(|it| self.aggregate(it));
            }
            Phase::Prices => {
                share(2 * self.shape.blocks).for_each(|number| self.update_prices(number));
            }
            Phase::Distribution(step) => {
                let transfers = &self.steps[step];
                transfers[share(transfers.len())].iter().for_each(|it| self.distribute(it));
            }
            Phase::Normalization => share(self.flows.len()).for_each(|block| {
                let (mut up, mut down) = (lock(&self.up[block]), lock(&self.down[block]));
                self.flows(block).normalize(&mut up, &mut down);
            }),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
