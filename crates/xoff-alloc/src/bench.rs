//! Measures the time of an iteration of the parallel allocator.

use std::time::Instant;

use xoff_core::rng::SplitMix64;

use crate::error::Error;
use crate::parallel::{Clos, ParallelAllocator, ParallelConfig};

/// Racks as in the paper's simulations (§5.3): 16 servers, 4 spines, full bisection bandwidth.
const SERVERS_PER_RACK: u32 = 16;
const SPINES: u32 = 4;
const SERVER_GBPS: f64 = 40.0;

/// Iterations before the measured ones: they warm the caches and let prices converge.
const WARM_UP: usize = 50;

/// The result of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Number of threads.
    pub threads: usize,
    /// Median time of an iteration, in nanoseconds.
    pub median_ns: f64,
    /// Time of the fastest iteration, in nanoseconds: the time on an otherwise idle machine.
    pub least_ns: f64,
    /// Time of the slowest iteration, in nanoseconds.
    pub most_ns: f64,
    /// A hash of all rates, equal for any number of threads.
    pub digest: u64,
}

/// Measures iterations with `flows` flows in a network of `nodes` servers. Every flow crosses four
/// links. Its source, its destination in another rack and its spine are random.
///
/// A measured iteration is complete: rates, sums per link, prices and normalised rates.
///
/// # Errors
/// If `nodes` is not a whole number of racks, or if the network cannot be divided into `blocks`.
pub fn bench(
    nodes: u32,
    flows: usize,
    blocks: usize,
    threads: usize,
    iterations: usize,
) -> Result<Figures, Error> {
    if nodes < 2 * SERVERS_PER_RACK || !nodes.is_multiple_of(SERVERS_PER_RACK) {
        let expected = "a multiple of 16, at least 32";
        return Err(Error::Setting { name: "nodes", value: f64::from(nodes), expected });
    }
    let clos = Clos {
        racks: nodes / SERVERS_PER_RACK,
        servers_per_rack: SERVERS_PER_RACK,
        spines: SPINES,
        server_capacity: SERVER_GBPS,
        spine_capacity: SERVER_GBPS * f64::from(SERVERS_PER_RACK / SPINES),
    };
    let config = ParallelConfig { blocks, threads, ..ParallelConfig::default() };
    let mut allocator = ParallelAllocator::new(&clos, config)?;
    let mut random = SplitMix64(1);
    for _ in 0..flows {
        let source = random.below(nodes);
        // A random number of racks onwards, never a whole round.
        let racks = 1 + random.below(clos.racks - 1);
        let within = random.below(SERVERS_PER_RACK);
        let rack = (source / SERVERS_PER_RACK + racks) % clos.racks;
        allocator.add_flow(source, rack * SERVERS_PER_RACK + within, random.below(SPINES), 1.0)?;
    }
    (0..WARM_UP).for_each(|_| allocator.iterate());
    let mut times: Vec<f64> = (0..iterations.max(1))
        .map(|_| {
            let began = Instant::now();
            allocator.iterate();
            began.elapsed().as_nanos() as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    Ok(Figures {
        threads: allocator.threads(),
        median_ns: times[times.len() / 2],
        least_ns: times[0],
        most_ns: times[times.len() - 1],
        digest: digest(&mut allocator),
    })
}

/// A hash (FNV-1a) of all rates.
fn digest(allocator: &mut ParallelAllocator) -> u64 {
    allocator.changed_rates().fold(0xCBF2_9CE4_8422_2325, |hash, (_, rate)| {
        (hash ^ rate.to_bits()).wrapping_mul(0x0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_flows_get_the_same_rates_on_any_number_of_threads() {
        let alone = bench(64, 500, 2, 1, 3).unwrap();
        let together = bench(64, 500, 2, 2, 3).unwrap();
        assert_eq!((alone.threads, together.threads), (1, 2));
        assert_eq!(alone.digest, together.digest);
        assert!(alone.least_ns > 0.0 && alone.least_ns <= alone.median_ns);
    }

    #[test]
    fn networks_must_have_whole_racks() {
        assert!(bench(40, 10, 1, 1, 1).is_err());
        assert!(bench(16, 10, 1, 1, 1).is_err());
    }
}
