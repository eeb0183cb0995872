//! The public interface of the parallel allocator.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, MutexGuard};

use crate::config::{Config, Precision};
use crate::error::Error;
use crate::link::LinkId;
use crate::network::Network;
use crate::real::{Real, approximate_reciprocal};
use crate::slots::{FlowId, Slots};
use crate::threshold::Reported;
use crate::utility::Utility;

use super::bundles::Seat;
use super::clos::{Clos, ClosLink, Shape, Way};
use super::flow_block::FlowBlock;
use super::flow_set::{FlowSet, Terms};
use super::square::Square;
use super::state::Total;
use super::worker_pool::WorkerPool;

/// Settings of a parallel allocator: NED with `w log x` and F-NORM scaling down only, in single
/// precision (the -RT form). Settings that [`Config`] has too mean the same here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParallelConfig {
    /// Number n of blocks of racks, for n x n FlowBlocks: a power of two that divides the number of
    /// racks.
    pub blocks: usize,
    /// Number of threads of an iteration, at most one per FlowBlock.
    pub threads: usize,
    /// Step size of the price update.
    pub gamma: f64,
    /// The relative change at which a rate is reported again, and the fraction of capacities left
    /// free.
    pub threshold: f64,
    /// Initial price of each link.
    pub initial_price: f64,
    /// Upper bound on a rate before normalisation, as a multiple of the smallest capacity on its
    /// path.
    pub rate_bound: f64,
}

impl Default for ParallelConfig {
    fn default() -> Self {
        let Config { gamma, threshold, initial_price, rate_bound, .. } = Config::default();
        Self { blocks: 1, threads: 1, gamma, threshold, initial_price, rate_bound }
    }
}

/// Data that an allocator's FlowBlocks exchange in an iteration, and data that they keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Steps of the aggregation, and of the distribution: log2 of the number of blocks.
    pub steps: usize,
    /// LinkBlocks sent in all steps of an aggregation.
    pub link_blocks: usize,
    /// Size in bytes of a LinkBlock as sent: loads and slopes.
    pub link_block_bytes: usize,
    /// Size in bytes of all FlowBlocks, which are not sent.
    pub flow_block_bytes: usize,
}

/// A flow's arguments and its position.
#[derive(Clone, Copy, Debug)]
struct Flow {
    source: u32,
    destination: u32,
    spine: u32,
    weight: f64,
    block: usize,
    /// The upward way within the block; flows of one way are bundled.
    way: usize,
    seat: Seat,
}

/// Allocates the capacities of a two-stage Clos to flows between its servers, on several cores.
///
/// ```
/// use xoff_alloc::{Clos, ParallelAllocator, ParallelConfig};
///
/// let clos = Clos {
///     racks: 24,
///     servers_per_rack: 16,
///     spines: 4,
///     server_capacity: 40.0,
///     spine_capacity: 160.0,
/// };
/// let config = ParallelConfig { blocks: 2, threads: 2, ..ParallelConfig::default() };
/// let mut allocator = ParallelAllocator::new(&clos, config)?;
/// let first = allocator.add_flow(0, 100, 0, 1.0)?;
/// let second = allocator.add_flow(1, 100, 3, 1.0)?;
/// (0..50).for_each(|_| allocator.iterate());
/// // They share the link to server 100, of which 99 % is allocated.
/// assert!((allocator.rate(first).unwrap() - 19.8).abs() < 1e-3);
/// # Ok::<(), xoff_alloc::Error>(())
/// ```
#[derive(Debug)]
pub struct ParallelAllocator {
    config: Config,
    shape: Shape,
    network: Network,
    square: Arc<Square>,
    worker_pool: WorkerPool<Square>,
    slots: Slots,
    flows: Vec<Flow>,
    reported: Reported,
    is_stale: bool,
}

impl ParallelAllocator {
    /// Creates an allocator for this network, without flows.
    ///
    /// # Errors
    /// If a setting or a capacity is invalid, or if the network cannot be divided into the blocks.
    pub fn new(clos: &Clos, config: ParallelConfig) -> Result<Self, Error> {
        let ParallelConfig { blocks, threads, gamma, threshold, initial_price, rate_bound } =
            config;
        if threads == 0 {
            return Err(Error::Setting { name: "threads", value: 0.0, expected: "at least 1" });
        }
        let precision = Precision::Single;
        let config =
            Config { precision, gamma, threshold, initial_price, rate_bound, ..Config::default() };
        config.check()?;
        let shape = Shape::new(clos, blocks)?;
        let square = Arc::new(Square::new(shape, gamma as f32, initial_price as f32));
        let mut allocator = Self {
            config,
            shape,
            network: Network::new(&capacities(clos, &shape), &config)?,
            worker_pool: WorkerPool::new(Arc::clone(&square), threads.min(blocks * blocks)),
            square,
            slots: Slots::default(),
            flows: Vec::new(),
            reported: Reported::default(),
            is_stale: true,
        };
        allocator.refresh();
        Ok(allocator)
    }

    /// Adds a flow from one server to another, through a spine unless both are in one rack. Until
    /// the next iteration its rate follows from current prices.
    ///
    /// # Errors
    /// If there is no such server or spine, if both servers are the same, or if the weight is not
    /// positive.
    pub fn add_flow(
        &mut self,
        source: u32,
        destination: u32,
        spine: u32,
        weight: f64,
    ) -> Result<FlowId, Error> {
        self.config.check_weight(weight)?;
        for server in [source, destination] {
            self.shape.check("server", server, self.shape.servers() * self.shape.blocks)?;
        }
        self.shape.check("spine", spine, self.shape.spines)?;
        if source == destination {
            return Err(Error::EmptyPath);
        }
        self.refresh();
        let id = self.slots.take();
        let (from, to) = (self.shape.server(source), self.shape.server(destination));
        let (block, way) =
            (self.square.block(from.0, to.0), self.shape.way(from.1, spine as usize));
        let is_near = self.is_near(source, destination);
        let up = self.shape.end(from.1, spine as usize, is_near);
        let down = if is_near { to.1 } else { self.shape.way(to.1, spine as usize) };
        let mut set = Guarded { block: self.square.flows(block), is_near };
        let seat = set.push(way, up, down, id.slot());
        drop(set);
        let flow = Flow { source, destination, spine, weight, block, way, seat };
        if id.slot() == self.flows.len() {
            self.flows.push(flow);
        }
        self.flows[id.slot()] = flow;
        self.set_terms(&flow);
        self.set_first_rate(&flow);
        self.reported.forget(id.slot());
        Ok(id)
    }

    /// Removes a flow.
    ///
    /// # Errors
    /// If there is no such flow.
    pub fn remove_flow(&mut self, flow: FlowId) -> Result<(), Error> {
        let slot = self.slots.find(flow).ok_or(Error::UnknownFlow { flow })?;
        let Flow { way, seat, .. } = self.flows[slot];
        let moved = self.set(&self.flows[slot]).remove(way, seat);
        if let Some(moved) = moved {
            self.flows[moved].seat = seat;
        }
        self.slots.release(slot);
        Ok(())
    }

    /// Changes a link's capacity from the next iteration. A capacity of zero marks the link as
    /// failed. Errors give links by number: upward LinkBlocks first, and servers' links first in
    /// each.
    ///
    /// If there is no such link, or if the capacity is invalid.
    pub fn set_capacity(&mut self, link: ClosLink, capacity: f64) -> Result<(), Error> {
        let link = self.find(link)?;
        self.network.set_capacity(link, capacity)?;
        self.is_stale = true;
        Ok(())
    }

    /// Reserves this much of a link's capacity for traffic outside the allocation, from the next
    /// iteration. The amount replaces any earlier one.
    pub fn reserve(&mut self, link: ClosLink, amount: f64) -> Result<(), Error> {
        let link = self.find(link)?;
        self.network.reserve(link, amount)?;
        self.is_stale = true;
        Ok(())
    }

    /// Runs one iteration: rates from prices, prices from rates, and normalised rates.
    pub fn iterate(&mut self) {
        self.refresh();
        self.worker_pool.run();
    }

    /// A flow's normalised rate; `None` if there is no such flow.
    #[must_use]
    pub fn rate(&self, flow: FlowId) -> Option<f64> {
        let flow = &self.flows[self.slots.find(flow)?];
        Some(f64::from(self.set(flow).rate(flow.seat)))
    }

    /// The rates that differ from their last report by more than the threshold, and those of flows
    /// never reported, in the order of [`FlowId::slot`].
    pub fn changed_rates(&mut self) -> impl Iterator<Item = (FlowId, f64)> {
        let blocks = self.shape.blocks * self.shape.blocks;
        let sets: Vec<_> = (0..blocks).map(|block| self.square.flows(block)).collect();
        let Self { config, shape, slots, flows, reported, .. } = self;
        let slots = &*slots;
        slots.iter().filter_map(move |slot| {
            let flow = &flows[slot];
            let set = of_length(&sets[flow.block], is_near(shape, flow.source, flow.destination));
            let rate = f64::from(set.rate(flow.seat));
            reported.report(slot, rate, config.threshold).then(|| (slots.id(slot), rate))
        })
    }

    /// A link's price.
    ///
    /// # Errors
    /// If there is no such link.
    pub fn price(&self, link: ClosLink) -> Result<f64, Error> {
        let (way, block, link) = self.shape.find(link)?;
        Ok(f64::from(self.square.home(way, block).links.prices[link]))
    }

    /// Number of flows.
    #[must_use]
    pub fn flow_count(&self) -> usize {
        self.slots.taken()
    }

    /// Number of threads of an iteration.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.worker_pool.threads()
    }

    /// Data that FlowBlocks exchange in an iteration.
    #[must_use]
    pub fn exchange(&self) -> Exchange {
        let blocks = self.shape.blocks * self.shape.blocks;
        Exchange {
            steps: self.square.steps().len(),
            link_blocks: self.square.steps().iter().map(Vec::len).sum(),
            link_block_bytes: self.shape.links() * size_of::<Total>(),
            flow_block_bytes: (0..blocks).map(|block| self.square.flows(block).bytes()).sum(),
        }
    }

    fn find(&self, link: ClosLink) -> Result<LinkId, Error> {
        let (way, block, link) = self.shape.find(link)?;
        Ok(LinkId(flat(&self.shape, way, block, link)))
    }

    fn is_near(&self, source: u32, destination: u32) -> bool {
        is_near(&self.shape, source, destination)
    }

    /// The set that contains a flow.
    fn set(&self, flow: &Flow) -> Guarded<'_> {
        Guarded {
            block: self.square.flows(flow.block),
            is_near: self.is_near(flow.source, flow.destination),
        }
    }

    fn refresh(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        for way in [Way::Up, Way::Down] {
            for block in 0..self.shape.blocks {
                let first = flat(&self.shape, way, block, 0) as usize;
                let from = &self.network.usable()[first..first + self.shape.links()];
                let mut to = self.square.usable(way, block);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from as f32);
            }
        }
        for slot in self.slots.iter() {
            self.set_terms(&self.flows[slot]);
        }
    }

    /// The links of a flow, by number.
    fn path(&self, flow: &Flow) -> Vec<u32> {
        let Shape { servers_per_rack, .. } = self.shape;
        let (from, to) = (self.shape.server(flow.source), self.shape.server(flow.destination));
        let mut path = vec![
            flat(&self.shape, Way::Up, from.0, from.1),
            flat(&self.shape, Way::Down, to.0, to.1),
        ];
        if !self.is_near(flow.source, flow.destination) {
            for (way, (block, server)) in [(Way::Up, from), (Way::Down, to)] {
                let link = self.shape.spine_link(server / servers_per_rack, flow.spine as usize);
                path.push(flat(&self.shape, way, block, link));
            }
        }
        path
    }

    /// Sets the terms of a flow's rate other than prices.
    fn set_terms(&self, flow: &Flow) {
        self.set(flow).set_terms(flow.seat, self.terms(flow));
    }

    fn terms(&self, flow: &Flow) -> Terms {
        let bottleneck = self.network.bottleneck(&self.path(flow));
        let (weight, floor) = if bottleneck > 0.0 {
            (flow.weight, Utility::Log.marginal(flow.weight, self.config.rate_bound * bottleneck))
        } else {
            (0.0, 1.0)
        };
        Terms { weight: weight as f32, floor: floor as f32 }
    }

    /// "When flows arrive, their initial rates are computed using current prices" (§2).
    fn set_first_rate(&self, flow: &Flow) {
        let is_near = self.is_near(flow.source, flow.destination);
        let price = |way: Way, server: u32| {
            let server = self.shape.server(server).1;
            let [one, other] = self.shape.end(server, flow.spine as usize, is_near);
            let copy = self.square.copy(way, flow.block);
            copy.links.prices[one] + copy.links.prices[other]
        };
        let price = price(Way::Up, flow.source) + price(Way::Down, flow.destination);
        let Terms { weight, floor } = self.terms(flow);
        let most = self.network.bottleneck(&self.path(flow)) as f32;
        let rate = (weight * approximate_reciprocal(price.at_least(floor))).min(most);
        self.set(flow).set_rate(flow.seat, rate);
    }
}

/// A locked FlowBlock and the selection of one of its sets.
struct Guarded<'a> {
    block: MutexGuard<'a, FlowBlock>,
    is_near: bool,
}

impl Deref for Guarded<'_> {
    type Target = FlowSet;

    fn deref(&self) -> &FlowSet {
        of_length(&self.block, self.is_near)
    }
}

impl DerefMut for Guarded<'_> {
    fn deref_mut(&mut self) -> &mut FlowSet {
        if self.is_near { &mut self.block.near } else { &mut self.block.far }
    }
}

fn of_length(block: &FlowBlock, is_near: bool) -> &FlowSet {
    if is_near { &block.near } else { &block.far }
}

/// True if two servers are in one rack.
fn is_near(shape: &Shape, source: u32, destination: u32) -> bool {
    let rack = |server: u32| server as usize / shape.servers_per_rack;
    rack(source) == rack(destination)
}

/// The global number of a link.
fn flat(shape: &Shape, way: Way, block: usize, link: usize) -> u32 {
    ((way as usize * shape.blocks + block) * shape.links() + link) as u32
}

/// Capacities of all links, by number.
fn capacities(clos: &Clos, shape: &Shape) -> Vec<f64> {
    let link_block = || {
        let servers = std::iter::repeat_n(clos.server_capacity, shape.servers());
        servers.chain(std::iter::repeat_n(clos.spine_capacity, shape.links() - shape.servers()))
    };
    (0..2 * shape.blocks).flat_map(|_| link_block()).collect()
}
