//! Numerical simulation of flowlets: closed forms, conservation, and guarantees of normalisers.

use std::sync::Arc;

use xoff_alloc::Normalizer;
use xoff_core::{BitRate, Ps};
use xoff_fluid::config::AllocatorConfig;
use xoff_fluid::{Finished, Fluid, FluidConfig, Iterates, RatesAre, StepRow};
use xoff_net::topo::{LeafSpineConfig, Routes, StarConfig, Topology, leaf_spine, star};
use xoff_workload::{
    Capacity, FlowList, ListConfig, LoadOn, OpenLoop, OpenLoopConfig, SizeTable, Traffic,
};

const SIZES: &str = "size_bytes,cdf\n100,0\n1000,0.5\n20000,0.9\n1000000,1\n";

fn exact() -> AllocatorConfig {
    AllocatorConfig { threshold: 0.0, ..AllocatorConfig::default() }
}

fn short() -> FluidConfig {
    FluidConfig { warmup: Ps(0), measure: Ps::from_us(2000), ..FluidConfig::default() }
}

fn fluid(
    topology: Topology,
    traffic: Traffic,
    allocator: &AllocatorConfig,
    config: FluidConfig,
) -> Fluid {
    let routes = Routes::new(&topology).unwrap();
    Fluid::new(Arc::new(topology), Arc::new(routes), traffic, 1, allocator, config).unwrap()
}

/// Hosts with 10 Gb/s links around a switch, and flowlets as (sender, receiver, bytes, start in
/// us).
fn listed(
    flows: &[(u32, u32, u64, u64)],
    allocator: &AllocatorConfig,
    config: FluidConfig,
) -> Fluid {
    let rows =
        flows.iter().map(|(src, dst, bytes, us)| format!("{src},{dst},{bytes},{us}000000\n"));
    let text = format!("src,dst,size_bytes,start_ps\n{}", rows.collect::<String>());
    let list = FlowList::from_csv(&ListConfig::default(), &text, 8, 0).unwrap();
    let rate = BitRate::from_gbps(10);
    let topology = star(&StarConfig { hosts: 8, rate, ..StarConfig::default() }).unwrap();
    fluid(topology, Traffic::new(vec![Box::new(list)]), allocator, config)
}

/// A small fabric under Poisson arrivals.
fn loaded(seed: u64, load: f64, allocator: &AllocatorConfig, config: FluidConfig) -> Fluid {
    let fabric = LeafSpineConfig {
        leaves: 3,
        spines: 2,
        hosts_per_leaf: 4,
        host_rate: BitRate::from_gbps(10),
        spine_rate: BitRate::from_gbps(20),
        ..LeafSpineConfig::default()
    };
    let topology = leaf_spine(&fabric).unwrap();
    let (core, _) = topology.capacities();
    let capacity = Capacity::new(core, vec![fabric.host_rate; 12]);
    let flows = OpenLoopConfig { load, load_on: LoadOn::Hosts, ..OpenLoopConfig::default() };
    let sizes = SizeTable::from_csv(SIZES, "test").unwrap();
    let source = OpenLoop::new(&flows, sizes, &capacity, seed, 0).unwrap();
    fluid(topology, Traffic::new(vec![Box::new(source)]), allocator, config)
}

fn run(mut fluid: Fluid) -> (Fluid, Vec<StepRow>, Vec<Finished>) {
    while fluid.step().unwrap() {}
    let (rows, finished) = (fluid.take_rows(), fluid.take_finished());
    (fluid, rows, finished)
}

#[test]
fn a_single_flowlet_takes_its_size_over_the_rate() {
    // The second flowlet shares no link with the first. Prices start at 1, so rates approach 10
    // Gb/s.
    let flows = [(0, 1, 1_250_000, 0), (2, 3, 1_250_000, 5)];
    let (fluid, _, finished) = run(listed(&flows, &exact(), short()));
    assert_eq!(finished.len(), 2);
    for flow in &finished {
        assert_eq!(flow.ideal, Ps::from_us(1000));
        let wait = fluid.measured().wait_us.quantile(1.0).unwrap();
        assert!((4.9..5.1).contains(&wait), "the second waits for the iteration at 10 us: {wait}");
        let us = flow.fct.0 as f64 * 1e-6;
        // The first iterations give less: a price of 1 on each of two links gives a rate of 1/2.
        assert!((1000.0..1100.0).contains(&us), "{us}");
    }
}

#[test]
fn flowlets_over_one_link_share_it() {
    let flows = [(0, 3, 1_250_000, 0), (1, 3, 1_250_000, 0), (2, 3, 1_250_000, 0)];
    let config = FluidConfig { measure: Ps::from_us(5000), ..short() };
    let (_, rows, finished) = run(listed(&flows, &exact(), config));
    assert_eq!(finished.len(), 3);
    for flow in &finished {
        let us = flow.fct.0 as f64 * 1e-6;
        assert!((3000.0..3200.0).contains(&us), "three share 10 Gb/s: {us}");
    }
    let settled = rows.iter().find(|row| row.time_ps == 1_000_000_000).unwrap();
    assert!((settled.carried_gbps - 10.0).abs() < 1e-3, "{settled:?}");
}

/// With a step at each change, rates are constant from row to row: carried bits equal sent bits.
#[test]
fn carried_bits_equal_delivered_bits() {
    let config =
        FluidConfig { iterate: Iterates::OnChange, measure: Ps::from_us(40_000), ..short() };
    let flows: Vec<(u32, u32, u64, u64)> = (0..60)
        .map(|n| (n % 7, 7 - n % 3, 5_000 + 9_000 * u64::from(n), 20 * u64::from(n)))
        .filter(|flow| flow.0 != flow.1)
        .collect();
    for normalizer in [Normalizer::Flow, Normalizer::None, Normalizer::Uniform] {
        let allocator = AllocatorConfig { normalizer, ..exact() };
        let (fluid, rows, finished) = run(listed(&flows, &allocator, config.clone()));
        assert_eq!((finished.len(), fluid.measured().unfinished), (flows.len(), 0));
        let sent: u64 = flows.iter().map(|flow| flow.2 * 8).sum();
        let steps =
            rows.windows(2).map(|pair| (pair[1].time_ps - pair[0].time_ps, pair[0].carried_gbps));
        let carried: f64 = steps.map(|(ps, gbps)| ps as f64 * gbps * 1e-3).sum();
        assert!(
            (carried / sent as f64 - 1.0).abs() < 1e-6,
            "{normalizer:?}: {carried} of {sent} bits"
        );
    }
}

#[test]
fn normalised_rates_exceed_no_capacity_and_others_do() {
    for (normalizer, exceeds) in [
        (Normalizer::Flow, false),
        (Normalizer::FlowAsPrinted, false),
        (Normalizer::Uniform, false),
        (Normalizer::None, true),
    ] {
        let allocator = AllocatorConfig { normalizer, ..exact() };
        let (fluid, rows, _) = run(loaded(1, 0.7, &allocator, short()));
        let most = fluid.measured().most_used_link.quantile(1.0).unwrap();
        assert_eq!(most > 1.0 + 1e-9, exceeds, "{normalizer:?}: {most}");
        let over = fluid.measured().over_capacity_gbps.quantile(1.0).unwrap();
        assert_eq!(over > 1e-6, exceeds, "{normalizer:?}: {over}");
        for row in &rows {
            assert!(row.carried_gbps <= row.allocated_gbps * (1.0 + 1e-9), "{row:?}");
            assert!(
                row.carried_gbps <= 120.0 * (1.0 + 1e-9),
                "above the capacity of twelve hosts: {row:?}"
            );
        }
    }
}

/// Under the same normaliser the compared rates are the rates in use.
#[test]
fn the_normaliser_in_use_is_among_those_compared() {
    let config = FluidConfig { optimum_every: 7, ..short() };
    for (normalizer, pick) in
        [(Normalizer::Flow, 0), (Normalizer::FlowAsPrinted, 1), (Normalizer::Uniform, 2)]
    {
        let allocator = AllocatorConfig { normalizer, ..exact() };
        let (fluid, ..) = run(loaded(2, 0.6, &allocator, config.clone()));
        let measured = fluid.measured();
        let by = &measured.normalized_share;
        let same = [&by.flow, &by.flow_as_printed, &by.uniform][pick];
        assert!(same.len() > 20 && measured.unsolved == 0);
        for (own, compared) in measured.optimum_share.values().iter().zip(same.values()) {
            assert!((own / compared - 1.0).abs() < 1e-9, "{normalizer:?}: {own} {compared}");
        }
        for (flow, printed) in by.flow.values().iter().zip(by.flow_as_printed.values()) {
            assert!(*printed >= flow * (1.0 - 1e-9), "scaling up gives no less");
        }
    }
}

#[test]
fn rates_of_long_flowlets_are_optimal_and_within_capacity() {
    let flows: Vec<_> = (0..12).map(|n| (n % 4, 4 + n % 3, 1_000_000_000, 0)).collect();
    let config = FluidConfig {
        warmup: Ps::from_us(1500),
        measure: Ps::from_us(500),
        optimum_every: 5,
        ..short()
    };
    let allocator = AllocatorConfig { normalizer: Normalizer::None, ..exact() };
    let (fluid, ..) = run(listed(&flows, &allocator, config));
    let measured = fluid.measured();
    assert!((measured.optimum_share.mean().unwrap() - 1.0).abs() < 1e-4);
    assert!((measured.normalized_share.uniform.mean().unwrap() - 1.0).abs() < 1e-4);
    assert!(measured.settled_over_capacity_gbps.quantile(1.0).unwrap() < 1e-3);
}

/// Fig. 1 (a): no link is over-allocated, but flowlets wait.
#[test]
fn converging_first_makes_flowlets_wait() {
    let wait = |rates| {
        let config = FluidConfig { rates, tolerance: 0.01, ..short() };
        let (fluid, ..) = run(loaded(3, 0.5, &exact(), config));
        let measured = fluid.measured().clone();
        let over = measured.most_used_link.quantile(1.0).unwrap();
        assert!(over <= 1.0 + 0.01 + 1e-9, "{rates:?}: {over}");
        measured.wait_us.mean().unwrap()
    };
    let (converged, intermediate) = (wait(RatesAre::Converged), wait(RatesAre::Intermediate));
    assert!(intermediate <= 10.0, "{intermediate}");
    assert!(converged > 5.0 * intermediate, "{converged} {intermediate}");
}

#[test]
fn equal_seeds_give_equal_digests() {
    let digest = |seed| run(loaded(seed, 0.6, &exact(), short())).0.digest();
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}
