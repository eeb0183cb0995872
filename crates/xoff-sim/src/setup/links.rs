//! What lies between hosts: base RTTs and the links of a path.

use xoff_core::{HostId, NodeId, Ps};
use xoff_host::hosts::BaseRtts;
use xoff_net::topo::{Routes, Topology};

/// Base RTT of the longest path: two propagation delays of each link and the serialisation of one
/// full packet's payload at each link on the way there (the HPCC simulator's definition).
#[must_use]
pub fn base_rtt(topology: &Topology, routes: &Routes, payload: u64) -> Ps {
    let ports = topology.ports().iter();
    let costs: Vec<u64> =
        ports.map(|port| 2 * port.delay.0 + port.rate.time_for(payload).0).collect();
    // Hosts of one switch have the same paths but for their own link, so only the two slowest links
    // of each switch count.
    let servers = topology.servers();
    let groups = routes.groups()[..servers as usize].iter().max();
    let groups = groups.map_or(0, |&group| group as usize + 1);
    let mut access = vec![(0, 0); groups];
    let mut leaves = vec![NodeId(0); groups];
    for host in topology.server_ids() {
        let group = routes.group_of(host) as usize;
        let port = topology.first_port(host.node());
        let cost = costs[port.index()];
        let (slowest, second) = access[group];
        access[group] = (slowest.max(cost), second.max(slowest.min(cost)));
        leaves[group] = topology.far_end(port);
    }
    let mut longest = 0;
    for (from, &(here, second)) in access.iter().enumerate() {
        if second > 0 {
            longest = longest.max(here + second);
        }
        for (to, &(there, _)) in access.iter().enumerate().filter(|&(to, _)| to != from) {
            let between = cost_between(topology, routes, &costs, leaves[from], to);
            longest = longest.max(here + between + there);
        }
    }
    Ps(longest)
}

/// The base RTT of each pair of servers, counted as [`base_rtt`] does.
#[must_use]
pub fn base_rtts(topology: &Topology, routes: &Routes, payload: u64) -> BaseRtts {
    let ports = topology.ports().iter();
    let costs: Vec<u64> =
        ports.map(|port| 2 * port.delay.0 + port.rate.time_for(payload).0).collect();
    let servers = topology.servers() as usize;
    let group_of = routes.groups()[..servers].to_vec();
    let groups = group_of.iter().max().map_or(0, |&group| group as usize + 1);
    let link = |host: usize| topology.first_port(NodeId(host as u32));
    let leaf = |host: usize| topology.far_end(link(host));
    let mut between = vec![0; groups * groups];
    for from in 0..groups {
        let host = group_of.iter().position(|&group| group as usize == from).unwrap_or(0);
        for to in (0..groups).filter(|&to| to != from) {
            between[from * groups + to] = cost_between(topology, routes, &costs, leaf(host), to);
        }
    }
    let access = (0..servers).map(|host| costs[link(host).index()]).collect();
    BaseRtts { access, group_of, between, groups }
}

/// What the links of a shortest path (the first choice at every switch) cost together, from the
/// switch `node` to the one that a group of hosts hangs on.
fn cost_between(
    topology: &Topology,
    routes: &Routes,
    costs: &[u64],
    mut node: NodeId,
    group: usize,
) -> u64 {
    let mut sum = 0;
    loop {
        let switch = topology.switch_index(node);
        let route = routes.by_switch[switch][group];
        if route.count == 0 {
            return sum;
        }
        let number = routes.choices[switch][route.first as usize];
        let port = topology.port_at(node, number);
        sum += costs[port.index()];
        node = topology.far_end(port);
    }
}

/// The links of a shortest path (the first choice at every switch).
#[must_use]
pub fn path(
    topology: &Topology,
    routes: &Routes,
    src: HostId,
    dst: HostId,
) -> Vec<crate::ideal::Leg> {
    let mut legs = Vec::new();
    let mut port = topology.port_of_host(src);
    loop {
        legs.push(crate::ideal::Leg { rate: port.rate.0, delay: port.delay });
        let node = topology.neighbour(port);
        if node == dst.node() {
            return legs;
        }
        let switch = topology.switch_index(node);
        let route = routes.by_switch[switch][routes.group_of(dst) as usize];
        let number = if route.count == 0 {
            routes.access_port(dst)
        } else {
            routes.choices[switch][route.first as usize]
        };
        port = &topology.ports_of(node)[number as usize];
    }
}
