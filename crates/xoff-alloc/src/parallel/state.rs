//! State of the links of a LinkBlock, and of the ways over pairs of them.
//!
//! A flow between racks crosses four links: from its server to the rack's switch, on to a spine,
//! and two links back down. The first two are one of servers x spines upward *ways*; the other two
//! are a downward way. A FlowBlock reads prices and sums loads by way, which halves the work
//! compared with links. Converting between ways and links is a sequential pass through memory.

use super::clos::{MOST_INDICES, Shape};

/// The sum of rates, and its decrease per unit of price (`-H`). In double precision, whatever the
/// precision of rates: a link may have a million flows.
pub(crate) type Total = [f64; 2];

/// An array for which every 16-bit index is valid.
pub(crate) type Room<T> = Box<[T; MOST_INDICES]>;

fn room<T: Clone>(value: T) -> Room<T> {
    let Ok(array) = vec![value; MOST_INDICES].into_boxed_slice().try_into() else {
        unreachable!("the vector has this length")
    };
    array
}

/// Prices and factors of each link or way, and the totals of its flows.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) prices: Room<f32>,
    /// F-NORM's multiplier: capacity over load, at most one.
    pub(crate) factors: Room<f32>,
    pub(crate) totals: Room<Total>,
}

impl State {
    fn new() -> Self {
        Self { prices: room(0.0), factors: room(0.0), totals: room([0.0; 2]) }
    }
}

/// A FlowBlock's copy of a LinkBlock. After its links comes one more that is free and never full.
#[derive(Clone, Debug)]
pub(crate) struct LinkBlock {
    pub(crate) shape: Shape,
    pub(crate) links: State,
}

impl LinkBlock {
    pub(crate) fn new(shape: Shape, price: f32) -> Self {
        let mut links = State::new();
        links.prices[..shape.links()].fill(price);
        links.factors[..=shape.links()].fill(1.0);
        Self { shape, links }
    }

    pub(crate) fn clear_totals(&mut self) {
        self.links.totals[..=self.shape.links()].as_flattened_mut().fill(0.0);
    }

    /// Aggregation: adds another copy's totals to this one.
    pub(crate) fn absorb(&mut self, other: &Self) {
        let links = self.shape.links();
        for (own, other) in self.links.totals[..links].iter_mut().zip(&other.links.totals[..links])
        {
            add(own, *other);
        }
    }

    /// Distribution: copies another copy's prices and factors.
    pub(crate) fn follow(&mut self, other: &Self) {
        let links = self.shape.links();
        self.links.prices[..links].copy_from_slice(&other.links.prices[..links]);
        self.links.factors[..links].copy_from_slice(&other.links.factors[..links]);
    }

    /// NED's price update (equation 4) and F-NORM's factors (equation 6), on a copy with complete
    /// totals. The price of a link without flows stays unchanged.
    pub(crate) fn update_prices(&mut self, gamma: f32, usable: &[f32]) {
        let prices = self.links.prices[..usable.len()].iter_mut();
        let factors = self.links.factors[..usable.len()].iter_mut();
        let said = self.links.totals[..usable.len()].iter().zip(usable);
        for ((price, factor), (&[load, slope], &usable)) in prices.zip(factors).zip(said) {
            let (load, slope) = (load as f32, slope as f32);
            let moved = *price + gamma * (load - usable) / slope;
            let moved = if moved > 0.0 { moved } else { 0.0 };
            *price = if load > 0.0 { moved } else { *price };
            let full = usable / load;
            *factor = if full < 1.0 { full } else { 1.0 };
        }
    }
}

/// The downward ways over the links of a LinkBlock.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    shape: Shape,
    pub(crate) state: State,
}

impl Ways {
    pub(crate) fn new(shape: Shape) -> Self {
        Self { shape, state: State::new() }
    }

    /// Adds the totals of ways to their links and clears them.
    pub(crate) fn gather(&mut self, links: &mut State) {
        let Shape { servers_per_rack, spines, .. } = self.shape;
        let (servers, uplinks) = links.totals.split_at_mut(self.shape.servers());
        let ways = &mut self.state.totals[..self.shape.ways()];
        let racks =
            servers.chunks_exact_mut(servers_per_rack).zip(uplinks.chunks_exact_mut(spines));
        let rack_ways = ways.chunks_exact(servers_per_rack * spines);
        for ((servers, uplinks), ways) in racks.zip(rack_ways) {
            let (quads, rest) = uplinks.as_chunks_mut::<4>();
            let (quad_ways, rest_ways) = ways.split_at(4 * servers_per_rack * quads.len());
            for (uplinks, ways) in
                quads.iter_mut().zip(quad_ways.chunks_exact(4 * servers_per_rack))
            {
                add_ways_to_four(servers, uplinks, ways);
            }
            for (uplink, ways) in rest.iter_mut().zip(rest_ways.chunks_exact(servers_per_rack)) {
                add_ways(servers, uplink, ways);
            }
        }
        ways.as_flattened_mut().fill(0.0);
    }

    /// Computes the prices of ways from those of their links.
    pub(crate) fn spread_prices(&mut self, links: &State) {
        let to = &mut self.state.prices[..];
        spread(&self.shape, &links.prices[..], to, |server, uplink| server + uplink);
    }

    /// Computes the factors of ways from those of their links.
    pub(crate) fn spread_factors(&mut self, links: &State) {
        let to = &mut self.state.factors[..];
        spread(&self.shape, &links.factors[..], to, least);
    }
}

fn spread(shape: &Shape, links: &[f32], ways: &mut [f32], combine: impl Fn(f32, f32) -> f32) {
    let Shape { servers_per_rack, spines, .. } = *shape;
    let (servers, uplinks) = links[..shape.links()].split_at(shape.servers());
    let racks = servers.chunks_exact(servers_per_rack).zip(uplinks.chunks_exact(spines));
    let rack_ways = ways[..shape.ways()].chunks_exact_mut(servers_per_rack * spines);
    for ((servers, uplinks), ways) in racks.zip(rack_ways) {
        for (uplink, ways) in uplinks.iter().zip(ways.chunks_exact_mut(servers_per_rack)) {
            for (way, server) in ways.iter_mut().zip(servers) {
                *way = combine(*server, *uplink);
            }
        }
    }
}

/// Adds the totals of the ways between a rack's servers and a spine to their links.
#[inline]
fn add_ways(servers: &mut [Total], uplink: &mut Total, ways: &[Total]) {
    let mut sum = *uplink;
    for (server, own) in servers.iter_mut().zip(ways) {
        add(server, *own);
        add(&mut sum, *own);
    }
    *uplink = sum;
}

/// The same for four spines at once, which writes each server's sum once.
#[inline]
fn add_ways_to_four(servers: &mut [Total], uplinks: &mut [Total; 4], ways: &[Total]) {
    let (half, other_half) = ways.split_at(2 * servers.len());
    let (a, b) = half.split_at(servers.len());
    let (c, d) = other_half.split_at(servers.len());
    let mut sums = *uplinks;
    for ((((server, a), b), c), d) in servers.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        for (sum, own) in sums.iter_mut().zip([a, b, c, d]) {
            add(sum, *own);
        }
        *server =
            std::array::from_fn(|part| server[part] + ((a[part] + b[part]) + (c[part] + d[part])));
    }
    *uplinks = sums;
}

/// Adds both parts of a total.
#[inline]
pub(crate) fn add(total: &mut Total, own: Total) {
    total[0] += own[0];
    total[1] += own[1];
}

/// The smaller of two factors.
#[inline]
pub(crate) fn least(one: f32, other: f32) -> f32 {
    if one < other { one } else { other }
}
