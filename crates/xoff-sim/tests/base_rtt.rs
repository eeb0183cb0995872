//! The base RTT is that of the longest of all pairs' paths, though not all pairs are walked. Each
//! pair's base RTT is the sum of its path's links.

use xoff_core::{BitRate, NodeId, Ps};
use xoff_net::topo::{
    DumbbellConfig, FatTreeConfig, LeafSpineConfig, Link, Routes, StarConfig, Topology,
    TorusConfig, TwoDcConfig, dumbbell, fat_tree, leaf_spine, star, torus, two_dc,
};
use xoff_sim::setup::{base_rtt, base_rtts, path};

const PAYLOAD: u64 = 1000;

fn over_all_pairs(topology: &Topology, routes: &Routes) -> Ps {
    let rtts = base_rtts(topology, routes, PAYLOAD);
    let mut longest = 0;
    for src in topology.host_ids() {
        for dst in topology.host_ids().filter(|&dst| dst != src) {
            let legs = path(topology, routes, src, dst);
            let cost = |rate, delay: Ps| 2 * delay.0 + BitRate(rate).time_for(PAYLOAD).0;
            let sum = legs.iter().map(|leg| cost(leg.rate, leg.delay)).sum();
            assert_eq!(rtts.of(src, dst), sum, "{src} to {dst}");
            longest = longest.max(sum);
        }
    }
    Ps(longest)
}

/// Two switches with one link between them; each host has its own link.
fn two_switches(hosts: &[(u32, u64, u64)], between_us: u64) -> Topology {
    let count = hosts.len() as u32;
    let link = |a, b, gbps, us| Link {
        a: NodeId(a),
        b: NodeId(b),
        rate: BitRate::from_gbps(gbps),
        delay: Ps::from_us(us),
    };
    let mut links = vec![link(count, count + 1, 100, between_us)];
    links.extend((0..).zip(hosts).map(|(a, &(on, gbps, us))| link(a, count + on, gbps, us)));
    let tiers = [vec![0; hosts.len()], vec![1; 2]].concat();
    Topology::new(count, tiers, &links).unwrap()
}

#[test]
fn the_base_rtt_is_the_longest_of_all_pairs() {
    let slow = BitRate::from_gbps(10);
    for topology in [
        star(&StarConfig::default()).unwrap(),
        leaf_spine(&LeafSpineConfig { hosts_per_leaf: 1, ..Default::default() }).unwrap(),
        fat_tree(&FatTreeConfig { k: 4, core_rate: slow, ..Default::default() }).unwrap(),
        dumbbell(&DumbbellConfig { side_hosts: 2, right_rate: slow, ..Default::default() })
            .unwrap(),
        two_dc(&TwoDcConfig { hosts_per_leaf: 2, ..Default::default() }).unwrap(),
        torus(&TorusConfig { columns: 5, planes: 3, ..Default::default() }).unwrap(),
        // The slowest two hosts are attached to one switch, or one of them is alone.
        two_switches(&[(0, 1, 9), (0, 100, 1), (0, 10, 8), (1, 100, 1)], 1),
        two_switches(&[(0, 100, 1), (0, 100, 2), (1, 10, 9)], 1),
        two_switches(&[(0, 100, 9), (1, 100, 1)], 3),
    ] {
        let routes = Routes::new(&topology).unwrap();
        assert_eq!(base_rtt(&topology, &routes, PAYLOAD), over_all_pairs(&topology, &routes));
    }
}
