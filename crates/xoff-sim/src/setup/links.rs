//! What lies between hosts: base RTTs and the links of a path.

use xoff_core::{HostId, NodeId, PortId, Ps};
use xoff_host::hosts::BaseRtts;
use xoff_net::topo::{Routes, Topology};

/// Base RTT of the longest path: two propagation delays of each link and the serialisation of one
/// full packet's payload at each link on the way there (the HPCC simulator's definition).
#[must_use]
pub fn base_rtt(topology: &Topology, routes: &Routes, payload: u64) -> Ps {
    let costs = costs(topology, payload);
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
    let of_one_switch = access.iter().filter(|&&(_, second)| second > 0);
    let mut longest = of_one_switch.map(|&(slowest, second)| slowest + second).max().unwrap_or(0);
    let mut ways = Ways::new(topology, routes, &costs);
    for (to, &(there, _)) in access.iter().enumerate() {
        ways.lead_to(members[to]);
        let joined = |from| from != to && routes.joins(members[from], members[to]);
        for (from, &(here, _)) in access.iter().enumerate().filter(|&(from, _)| joined(from)) {
            let cost = ways.cost_of(members[from]);
            longest = longest.max(cost.up.max(here) + cost.between + cost.down.max(there));
        }
    }
    Ps(longest)
}

/// The base RTT of each pair of servers, counted as [`base_rtt`] does.
#[must_use]
pub fn base_rtts(topology: &Topology, routes: &Routes, payload: u64) -> BaseRtts {
    let costs = costs(topology, payload);
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
    let mut ways = Ways::new(topology, routes, &costs);
    for to in 0..groups {
        ways.lead_to(members[to]);
        let joined = |&from: &usize| from != to && routes.joins(members[from], members[to]);
        for from in (0..groups).filter(joined) {
            between[from * groups + to] = ways.cost_of(members[from]).between;
        }
    }
    let access = (0..servers).map(|host| costs[link(host).index()]).collect();
    BaseRtts { access, group_of, between, groups }
}

/// What each link adds to a base RTT, by port.
fn costs(topology: &Topology, payload: u64) -> Vec<u64> {
    let ports = topology.ports().iter();
    ports.map(|port| 2 * port.delay.0 + port.rate.time_for(payload).0).collect()
}

/// What the links of a shortest path (the first choice at every node) cost: the sender's, those
/// between switches together, and the receiver's.
struct Cost {
    up: u64,
    between: u64,
    down: u64,
}

/// The costs of the paths to one host. Paths that meet at a switch go on together, so each switch
/// is visited once for all senders.
struct Ways<'a> {
    topology: &'a Topology,
    routes: &'a Routes,
    costs: &'a [u64],
    dst: HostId,
    /// From each switch: the costs of the links between switches, and of the receiver's.
    known: Vec<Option<(u64, u64)>>,
    /// Links between switches, from the start of a walk to a switch with known costs.
    unknown: Vec<PortId>,
}

impl<'a> Ways<'a> {
    fn new(topology: &'a Topology, routes: &'a Routes, costs: &'a [u64]) -> Self {
        let known = vec![None; topology.switch_ids().len()];
        Self { topology, routes, costs, dst: HostId(0), known, unknown: Vec::new() }
    }

    fn lead_to(&mut self, dst: HostId) {
        self.dst = dst;
        self.known.fill(None);
    }

    fn cost_of(&mut self, src: HostId) -> Cost {
        let own = self.routes.first_port_of_host(self.topology, src, self.dst);
        let (between, down) = self.rest_of_way(self.topology.far_end(own));
        Cost { up: self.costs[own.index()], between, down }
    }

    fn rest_of_way(&mut self, switch: NodeId) -> (u64, u64) {
        let mut at = switch;
        let (mut between, down) = loop {
            if let Some(found) = self.known[self.topology.switch_index(at)] {
                break found;
            }
            let port = self.routes.first_port(self.topology, at, self.dst);
            let next = self.topology.far_end(port);
            if next == self.dst.node() {
                let found = (0, self.costs[port.index()]);
                self.known[self.topology.switch_index(at)] = Some(found);
                break found;
            }
            self.unknown.push(port);
            at = next;
        };
        while let Some(port) = self.unknown.pop() {
            between += self.costs[port.index()];
            let node = self.topology.port(port).node;
            self.known[self.topology.switch_index(node)] = Some((between, down));
        }
        (between, down)
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
