//! The parallel allocator gives the same rates on any number of threads, and those of the
//! sequential allocator.

use proptest::prelude::*;
use xoff_alloc::{
    Allocator, Clos, ClosLink, Config, Error, FlowId, LinkId, ParallelAllocator, ParallelConfig,
};

use crate::common::{assert_near, path, whole};
use crate::optimal::Random;

const CLOS: Clos =
    Clos { racks: 8, servers_per_rack: 4, spines: 3, server_capacity: 10.0, spine_capacity: 15.0 };

const SERVERS: u32 = 32;

/// An operation on an allocator.
#[derive(Clone, Copy, Debug)]
enum Step {
    Add { source: u32, destination: u32, spine: u32, weight: f64 },
    Remove(usize),
    Fail(u32),
    Restore(u32),
    Iterate,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..SERVERS, 0..SERVERS, 0..3_u32, 0.1..10.0)
            .prop_map(|(source, destination, spine, weight)| {
                Step::Add { source, destination, spine, weight }
            }),
        2 => any::<usize>().prop_map(Step::Remove),
        1 => (0..SERVERS).prop_map(Step::Fail),
        1 => (0..SERVERS).prop_map(Step::Restore),
        3 => Just(Step::Iterate),
    ]
}

/// Runs the steps on `blocks` and `threads`; returns rates and prices after each iteration.
fn run(steps: &[Step], blocks: usize, threads: usize) -> Vec<f64> {
    let config = ParallelConfig { blocks, threads, ..ParallelConfig::default() };
    let mut allocator = ParallelAllocator::new(&CLOS, config).unwrap();
    let mut flows: Vec<FlowId> = Vec::new();
    let mut seen = Vec::new();
    for &step in steps {
        match step {
            Step::Add { source, destination, .. } if source == destination => {}
            Step::Add { source, destination, spine, weight } => {
                flows.push(allocator.add_flow(source, destination, spine, weight).unwrap());
            }
            Step::Remove(_) if flows.is_empty() => {}
            Step::Remove(which) => {
                let flow = flows.remove(which % flows.len());
                allocator.remove_flow(flow).unwrap();
            }
            Step::Fail(server) => {
                allocator.set_capacity(ClosLink::ToServer(server), 0.0).unwrap();
            }
            Step::Restore(server) => {
                allocator.set_capacity(ClosLink::ToServer(server), 10.0).unwrap();
            }
            Step::Iterate => allocator.iterate(),
        }
        seen.extend(flows.iter().map(|&flow| allocator.rate(flow).unwrap()));
        seen.extend(allocator.changed_rates().map(|(flow, rate)| rate + flow.slot() as f64));
        seen.extend(
            (0..3).map(|spine| allocator.price(ClosLink::ToSpine { rack: 2, spine }).unwrap()),
        );
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn rates_are_the_same_to_the_last_bit_on_any_number_of_threads(
        steps in proptest::collection::vec(step(), 1..60),
        log_blocks in 0..4_u32,
    ) {
        let blocks = 1 << log_blocks;
        let alone = run(&steps, blocks, 1);
        prop_assert!(alone.iter().all(|number| number.is_finite()));
        for threads in [2, 3, 5] {
            let bits = |seen: &[f64]| seen.iter().map(|rate| rate.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&alone), bits(&run(&steps, blocks, threads)));
        }
    }
}

/// Links of a flow in the sequential allocator: upward servers, upward spines, downward spines,
/// downward servers.
fn links(source: u32, destination: u32, spine: u32) -> Vec<LinkId> {
    let uplinks = CLOS.racks * CLOS.spines;
    let (from, to) = (source / CLOS.servers_per_rack, destination / CLOS.servers_per_rack);
    if from == to {
        return path(&[source, SERVERS + 2 * uplinks + destination]);
    }
    let up = SERVERS + from * CLOS.spines + spine;
    let down = SERVERS + uplinks + to * CLOS.spines + spine;
    path(&[source, up, down, SERVERS + 2 * uplinks + destination])
}

fn plain(config: Config) -> Allocator {
    let uplinks = (2 * CLOS.racks * CLOS.spines) as usize;
    let mut capacities = vec![CLOS.server_capacity; SERVERS as usize];
    capacities.extend(vec![CLOS.spine_capacity; uplinks]);
    capacities.extend(vec![CLOS.server_capacity; SERVERS as usize]);
    Allocator::new(&capacities, config).unwrap()
}

#[test]
fn it_agrees_with_the_plain_allocator() {
    for blocks in [1, 2, 4, 8] {
        let config =
            ParallelConfig { blocks, threads: 2, threshold: 0.0, ..ParallelConfig::default() };
        let mut parallel = ParallelAllocator::new(&CLOS, config).unwrap();
        let mut plain = plain(whole());
        let mut random = Random(3);
        let mut pairs = Vec::new();
        for round in 0..30 {
            for _ in 0..10 {
                let source = random.below(u64::from(SERVERS)) as u32;
                let destination =
                    (source + 1 + random.below(u64::from(SERVERS) - 1) as u32) % SERVERS;
                let (spine, weight) = (random.below(3) as u32, 0.5 + random.unit());
                let flow = parallel.add_flow(source, destination, spine, weight).unwrap();
                let same = plain.add_flow(&links(source, destination, spine), weight).unwrap();
                pairs.push((flow, same));
            }
            if round > 5 {
                for _ in 0..9 {
                    let (flow, same) = pairs.swap_remove(random.below(pairs.len() as u64) as usize);
                    parallel.remove_flow(flow).unwrap();
                    plain.remove_flow(same).unwrap();
                }
            }
            parallel.iterate();
            plain.iterate();
        }
        for _ in 0..500 {
            parallel.iterate();
            plain.iterate();
        }
        for (flow, same) in pairs {
            assert_near(parallel.rate(flow).unwrap(), plain.rate(same).unwrap(), 1e-3);
        }
    }
}

#[test]
fn no_capacity_is_exceeded() {
    let config = ParallelConfig { blocks: 4, ..ParallelConfig::default() };
    let mut allocator = ParallelAllocator::new(&CLOS, config).unwrap();
    let mut random = Random(5);
    let mut flows = Vec::new();
    for _ in 0..200 {
        for _ in 0..5 {
            let source = random.below(u64::from(SERVERS)) as u32;
            let destination = (source + 1 + random.below(31) as u32) % SERVERS;
            let spine = random.below(3) as u32;
            let flow = allocator.add_flow(source, destination, spine, 1.0).unwrap();
            flows.push((flow, links(source, destination, spine)));
        }
        allocator.iterate();
        let mut loads = std::collections::BTreeMap::<LinkId, f64>::new();
        for (flow, links) in &flows {
            let rate = allocator.rate(*flow).unwrap();
            links.iter().for_each(|&link| *loads.entry(link).or_default() += rate);
        }
        for (link, load) in loads {
            let is_server = link.0 < SERVERS || link.0 >= SERVERS + 2 * 24;
            let usable = 0.99 * if is_server { 10.0 } else { 15.0 };
            assert!(load <= usable * (1.0 + 1e-6), "{link} carries {load}");
        }
    }
}

#[test]
fn a_failed_link_stops_its_flows_only() {
    let mut allocator = ParallelAllocator::new(&CLOS, ParallelConfig::default()).unwrap();
    let over = allocator.add_flow(0, 30, 1, 1.0).unwrap();
    let beside = allocator.add_flow(0, 31, 2, 1.0).unwrap();
    (0..100).for_each(|_| allocator.iterate());
    assert_near(allocator.rate(over).unwrap(), 4.95, 1e-3);
    let link = ClosLink::FromSpine { rack: 7, spine: 1 };
    allocator.set_capacity(link, 0.0).unwrap();
    (0..100).for_each(|_| allocator.iterate());
    assert_eq!(allocator.rate(over), Some(0.0));
    assert_near(allocator.rate(beside).unwrap(), 9.9, 1e-3);
    allocator.set_capacity(link, 2.0).unwrap();
    (0..100).for_each(|_| allocator.iterate());
    assert_near(allocator.rate(over).unwrap(), 1.98, 1e-3);
    allocator.reserve(link, 1.0).unwrap();
    (0..100).for_each(|_| allocator.iterate());
    assert_near(allocator.rate(over).unwrap(), 0.99, 1e-3);
}

#[test]
fn exchanged_data_does_not_grow_with_flows() {
    for (blocks, steps) in [(1, 0), (2, 1), (4, 2), (8, 3)] {
        let config = ParallelConfig { blocks, ..ParallelConfig::default() };
        let mut allocator = ParallelAllocator::new(&CLOS, config).unwrap();
        let empty = allocator.exchange();
        assert_eq!(empty.steps, steps);
        // Each of the n x n copies of both kinds except the complete ones is sent once.
        assert_eq!(empty.link_blocks, 2 * blocks * (blocks - 1));
        // A server's part of a LinkBlock is its link and 3/4 of a link to a spine, of 16 bytes
        // each.
        assert_eq!(empty.link_block_bytes * blocks, SERVERS as usize * 28);
        for flow in 0..100 * SERVERS {
            allocator.add_flow(flow % SERVERS, (flow + 5) % SERVERS, flow % 3, 1.0).unwrap();
        }
        let full = allocator.exchange();
        assert_eq!(
            (full.link_blocks, full.link_block_bytes),
            (empty.link_blocks, empty.link_block_bytes)
        );
        assert!(full.flow_block_bytes > 50 * full.link_block_bytes * blocks);
    }
}

#[test]
fn invalid_calls_are_rejected() {
    let refused = |clos: Clos, config: ParallelConfig, text: &str| {
        let message = ParallelAllocator::new(&clos, config).unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
    };
    let base = ParallelConfig::default();
    refused(CLOS, ParallelConfig { blocks: 3, ..base }, "blocks");
    refused(CLOS, ParallelConfig { blocks: 16, ..base }, "blocks");
    refused(CLOS, ParallelConfig { threads: 0, ..base }, "threads");
    refused(CLOS, ParallelConfig { gamma: -1.0, ..base }, "gamma");
    refused(Clos { spines: 0, ..CLOS }, base, "spines");
    refused(Clos { server_capacity: f64::NAN, ..CLOS }, base, "capacity");
    refused(Clos { racks: 10_000, servers_per_rack: 48, ..CLOS }, base, "65 536");
    let mut allocator = ParallelAllocator::new(&CLOS, base).unwrap();
    assert_eq!(allocator.add_flow(1, 1, 0, 1.0), Err(Error::EmptyPath));
    for (source, destination, spine, weight) in
        [(32, 0, 0, 1.0), (0, 32, 0, 1.0), (0, 1, 3, 1.0), (0, 1, 0, 0.0)]
    {
        assert!(allocator.add_flow(source, destination, spine, weight).is_err());
    }
    assert!(allocator.set_capacity(ClosLink::ToSpine { rack: 8, spine: 0 }, 1.0).is_err());
    let flow = allocator.add_flow(0, 9, 0, 1.0).unwrap();
    allocator.remove_flow(flow).unwrap();
    assert_eq!(allocator.remove_flow(flow), Err(Error::UnknownFlow { flow }));
    assert_eq!(allocator.rate(flow), None);
}
