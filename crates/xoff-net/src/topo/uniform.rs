//! The uniform traffic that a network of any shape can carry.

use xoff_core::{BitRate, HostId, NodeId, PortId};

use super::{Port, Routes, Topology};

/// The rate of all uniform traffic among the servers, pairs on one switch included, that fills the
/// busiest link between switches. A switch divides traffic evenly among its choices. 0 if no link
/// joins switches.
///
/// It takes time in proportion to the groups of hosts times the links between switches.
pub(super) fn uniform_capacity(topology: &Topology, routes: &Routes) -> BitRate {
    let loads = uniform_loads(topology, routes);
    let is_trunk =
        |port: &Port| !topology.is_host(port.node) && !topology.is_host(topology.neighbour(port));
    let loaded = topology.ports().iter().zip(loads);
    let fills = loaded
        .filter(|&(port, load)| load > 0.0 && is_trunk(port))
        .map(|(port, load)| port.rate.0 as f64 / load);
    BitRate(fills.min_by(f64::total_cmp).unwrap_or(0.0).round() as u64)
}

/// The share of uniform traffic that leaves by each port of a switch.
fn uniform_loads(topology: &Topology, routes: &Routes) -> Vec<f64> {
    let mut weights = vec![0.0; routes.group_count()];
    topology.server_ids().for_each(|host| weights[routes.group_of(host) as usize] += 1.0);
    let pairs = f64::from(topology.servers()).powi(2);
    let switches = topology.switch_ids().len();
    let mut flow = Flow {
        topology,
        routes,
        hosts: vec![0.0; switches],
        several: Vec::new(),
        at: vec![0.0; switches],
        senders: vec![0; switches],
        loads: vec![0.0; topology.ports().len()],
    };
    for host in topology.server_ids() {
        match topology.ports_of(host.node()) {
            [port] => flow.hosts[topology.switch_index(topology.neighbour(port))] += 1.0,
            _ => flow.several.push(host),
        }
    }
    for (group, weight) in weights.into_iter().enumerate() {
        flow.add(group, weight / pairs);
    }
    flow.loads
}

/// Traffic from all servers to one group.
struct Flow<'a> {
    topology: &'a Topology,
    routes: &'a Routes,
    /// Servers with one link at each switch.
    hosts: Vec<f64>,
    /// Servers with several links.
    several: Vec<HostId>,
    /// Traffic at each switch that has not been sent on.
    at: Vec<f64>,
    /// Switches that send to each switch and have not yet.
    senders: Vec<u32>,
    loads: Vec<f64>,
}

impl Flow<'_> {
    /// Adds `share` from each server to the loads of the ports on the way to a group. A switch
    /// sends after all switches that send to it: paths of the lowest cost have no cycle.
    fn add(&mut self, group: usize, share: f64) {
        let (topology, routes) = (self.topology, self.routes);
        self.inject(group, share);
        self.senders.fill(0);
        for switch in 0..self.at.len() {
            for (_, to) in next(topology, routes, switch, group) {
                to.into_iter().for_each(|to| self.senders[to] += 1);
            }
        }
        let is_first = |&switch: &usize| self.senders[switch] == 0;
        let mut ready: Vec<usize> = (0..self.at.len()).filter(is_first).collect();
        while let Some(switch) = ready.pop() {
            let traffic = std::mem::take(&mut self.at[switch]);
            let choices = next(topology, routes, switch, group);
            let each = traffic / choices.len().max(1) as f64;
            for (port, to) in choices {
                self.loads[port.index()] += each;
                let Some(to) = to else { continue };
                self.at[to] += each;
                self.senders[to] -= 1;
                (self.senders[to] == 0).then(|| ready.push(to));
            }
        }
    }

    /// Puts the traffic of each server at its switches.
    fn inject(&mut self, group: usize, share: f64) {
        for (switch, hosts) in self.hosts.iter().enumerate() {
            let is_there = self.routes.ports(switch, group).is_empty();
            self.at[switch] = if is_there { 0.0 } else { hosts * share };
        }
        for &host in &self.several {
            if self.routes.group_of(host) as usize == group {
                continue;
            }
            let ports = self.topology.ports_of(host.node());
            let chosen = self.routes.ports_of_group(host, group as u32);
            for &number in chosen {
                let switch = self.topology.neighbour(&ports[usize::from(number)]);
                self.at[self.topology.switch_index(switch)] += share / chosen.len() as f64;
            }
        }
    }
}

/// A switch's ports towards a group, and the switches at their other ends.
fn next<'a>(
    topology: &'a Topology,
    routes: &'a Routes,
    switch: usize,
    group: usize,
) -> impl ExactSizeIterator<Item = (PortId, Option<usize>)> + 'a {
    let node = NodeId(topology.hosts + switch as u32);
    routes.ports(switch, group).iter().map(move |&number| {
        let port = topology.port_at(node, number);
        let far = topology.far_end(port);
        (port, (!topology.is_host(far)).then(|| topology.switch_index(far)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{DumbbellConfig, LeafSpineConfig, StarConfig, TopologySettings};
    use super::*;

    fn capacity(settings: &dyn TopologySettings) -> BitRate {
        let topology = settings.build().unwrap();
        let routes = Routes::new(&topology).unwrap();
        uniform_capacity(&topology, &routes)
    }

    /// Of 128 hosts in 8 racks, 7 of 8 pairs cross the core. Each leaf has 8 uplinks of 100 Gb/s:
    /// 6400 Gb/s cross the core when they are full.
    #[test]
    fn a_leaf_spine_fabric_is_full_when_its_uplinks_are() {
        let all = 6400.0 / (7.0 / 8.0);
        let found = capacity(&LeafSpineConfig::default()).0 as f64 / 1e9;
        assert!((found - all).abs() < 1e-6, "{found} Gb/s, not {all}");
    }

    /// A quarter of the pairs crosses the middle each way.
    #[test]
    fn a_dumbbell_is_full_when_its_middle_is() {
        let config = DumbbellConfig { left_hosts: 4, right_hosts: 4, ..Default::default() };
        assert_eq!(capacity(&config).0, 4 * config.trunk_rate.0);
    }

    #[test]
    fn a_star_has_no_core() {
        assert_eq!(capacity(&StarConfig::default()), BitRate(0));
    }
}
