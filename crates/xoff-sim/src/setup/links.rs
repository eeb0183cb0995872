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
    let mut members = vec![HostId(0); groups];
    for host in topology.server_ids() {
        let group = routes.group_of(host) as usize;
        members[group] = host;
        if let [_] = topology.ports_of(host.node()) {
            let cost = costs[topology.first_port(host.node()).index()];
            let (slowest, second) = access[group];
            access[group] = (slowest.max(cost), second.max(slowest.min(cost)));
        }
    }
    let mut longest = 0;
    for (from, &(here, second)) in access.iter().enumerate() {
        if second > 0 {
            longest = longest.max(here + second);
        }
        let joined = |to| to != from && routes.joins(members[from], members[to]);
        for (to, &(there, _)) in access.iter().enumerate().filter(|&(to, _)| joined(to)) {
            let cost = Cost::new(topology, routes, &costs, members[from], members[to]);
            longest = longest.max(cost.up.max(here) + cost.between + cost.down.max(there));
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
    let member = |group: usize| {
        let place = group_of.iter().position(|&other| other as usize == group);
        HostId(place.unwrap_or(0) as u32)
    };
    let members: Vec<HostId> = (0..groups).map(member).collect();
    let mut between = vec![0; groups * groups];
    for from in 0..groups {
        let joined = |&to: &usize| to != from && routes.joins(members[from], members[to]);
        for to in (0..groups).filter(joined) {
            let cost = Cost::new(topology, routes, &costs, members[from], members[to]);
            between[from * groups + to] = cost.between;
        }
    }
    let access = (0..servers).map(|host| costs[link(host).index()]).collect();
    BaseRtts { access, group_of, between, groups }
}

/// What the links of a shortest path (the first choice at every node) cost: the sender's, those
/// between switches together, and the receiver's.
struct Cost {
    up: u64,
    between: u64,
    down: u64,
}

impl Cost {
    fn new(topology: &Topology, routes: &Routes, costs: &[u64], src: HostId, dst: HostId) -> Self {
        let mut cost = Self { up: 0, between: 0, down: 0 };
        for port in routes.first_path(topology, src, dst) {
            let here = costs[port.index()];
            if topology.port(port).node == src.node() {
                cost.up = here;
            } else if topology.far_end(port) == dst.node() {
                cost.down = here;
            } else {
                cost.between += here;
            }
        }
        cost
    }
}

/// The links of a shortest path (the first choice at every node).
#[must_use]
pub fn path(
    topology: &Topology,
    routes: &Routes,
    src: HostId,
    dst: HostId,
) -> Vec<crate::ideal::Leg> {
    let ports = routes.first_path(topology, src, dst).map(|port| topology.port(port));
    ports.map(|port| crate::ideal::Leg { rate: port.rate.0, delay: port.delay }).collect()
}
