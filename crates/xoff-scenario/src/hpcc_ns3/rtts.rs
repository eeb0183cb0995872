//! Base RTTs and windows of pairs of hosts, as that simulator computes them before a run: in whole
//! nanoseconds, along the path that its breadth-first search from the receiver finds first.

use std::collections::{BTreeMap, BTreeSet};

use xoff_core::{HostId, NodeId, PortId};
use xoff_host::hosts::{GivenPath, GivenPaths};
use xoff_net::topo::{NextHops, Topology};
use xoff_workload::Arrival;

/// What lies between a node and the receiver of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    delay_ns: u64,
    sending_ns: u64,
    /// The rate of the slowest link (bit/s).
    pub(super) rate: u64,
}

impl Way {
    const NONE: Self = Self { delay_ns: 0, sending_ns: 0, rate: u64::MAX };

    /// Base RTT (ns) and bytes in flight. Its arithmetic has 64 bits.
    pub(super) fn rtt_and_bdp(&self) -> (u64, u64) {
        let rtt = self.delay_ns * 2 + self.sending_ns;
        (rtt, rtt.wrapping_mul(self.rate) / 1_000_000_000 / 8)
    }
}

/// Searches the network from its hosts.
pub(super) struct Search<'a> {
    topology: &'a Topology,
    payload: u64,
    /// The ports of each node, in the order in which a search follows them.
    ports: Vec<Vec<u32>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(topology: &'a Topology, payload: u64) -> Self {
        let of_node = |node: NodeId| {
            let mut ports: Vec<u32> = topology.port_ids_of(node).map(|port| port.0).collect();
            let given = |port: &u32| topology.given_number(topology.far_end(PortId(*port)));
            ports.sort_by_key(given);
            if topology.next_hops == NextHops::Descending {
                ports.reverse();
            }
            ports
        };
        Self { topology, payload, ports: topology.node_ids().map(of_node).collect() }
    }

    /// The same without the links of these ports.
    pub(super) fn without(mut self, down: &[PortId]) -> Self {
        for ports in &mut self.ports {
            ports.retain(|&port| !down.contains(&PortId(port)));
        }
        self
    }

    /// The way from each node to a receiver.
    fn to(&self, receiver: HostId) -> Vec<Option<Way>> {
        let mut ways: Vec<Option<Way>> = vec![None; self.topology.nodes() as usize];
        let mut found = vec![receiver.node()];
        ways[receiver.node().index()] = Some(Way::NONE);
        let mut next = 0;
        while let Some(&here) = found.get(next) {
            next += 1;
            let Some(way) = ways[here.index()] else { continue };
            for &port in &self.ports[here.index()] {
                let port = PortId(port);
                let (far, link) = (self.topology.far_end(port), self.topology.port(port));
                if ways[far.index()].is_some() {
                    continue;
                }
                ways[far.index()] = Some(Way {
                    delay_ns: way.delay_ns + link.delay.0 / 1000,
                    sending_ns: way.sending_ns + self.payload * 8_000_000_000 / link.rate.0,
                    rate: way.rate.min(link.rate.0),
                });
                // Packets do not pass hosts.
                if !self.topology.is_host(far) {
                    found.push(far);
                }
            }
        }
        ways
    }

    /// The longest base RTT of the network, and its largest window.
    pub(super) fn longest(&self) -> GivenPath {
        let mut longest = GivenPath { base_rtt: 0, window: 0 };
        let mut searched: BTreeSet<(NodeId, u64, u64)> = BTreeSet::new();
        for receiver in self.topology.host_ids() {
            let ports = self.topology.ports_of(receiver.node());
            if let [port] = ports {
                // Receivers with equal links at one switch are reached alike.
                let key = (self.topology.neighbour(port), port.rate.0, port.delay.0);
                if !searched.insert(key) {
                    continue;
                }
            }
            let ways = self.to(receiver);
            let hosts = self.topology.host_ids().filter(|&host| host != receiver);
            for way in hosts.filter_map(|host| ways[host.node().index()]) {
                let (rtt, bdp) = way.rtt_and_bdp();
                longest.base_rtt = longest.base_rtt.max(rtt * 1000);
                longest.window = longest.window.max(bdp);
            }
        }
        GivenPath { window: window(longest.window), ..longest }
    }

    /// Base RTT and window of each pair that has flows.
    pub(super) fn of_pairs(&self, flows: &[Arrival], has_window: bool) -> GivenPaths {
        let given = |(pair, way): ((HostId, HostId), Way)| {
            let (rtt, bdp) = way.rtt_and_bdp();
            let window = if has_window { window(bdp) } else { u64::MAX };
            (pair, GivenPath { base_rtt: rtt * 1000, window })
        };
        self.ways_of_pairs(flows).into_iter().map(given).collect()
    }

    /// The way of each pair that has flows.
    pub(super) fn ways_of_pairs(&self, flows: &[Arrival]) -> BTreeMap<(HostId, HostId), Way> {
        let senders: BTreeSet<(HostId, HostId)> =
            flows.iter().map(|flow| (flow.dst, flow.src)).collect();
        let mut pairs = BTreeMap::new();
        let mut last: Option<(HostId, Vec<Option<Way>>)> = None;
        for (dst, src) in senders {
            let (_, ways) = match last.take().filter(|(receiver, _)| *receiver == dst) {
                Some(found) => last.insert(found),
                None => last.insert((dst, self.to(dst))),
            };
            if let Some(way) = ways[src.node().index()] {
                pairs.insert((src, dst), way);
            }
        }
        pairs
    }
}

/// A window of that simulator has 32 bits, and 0 is none.
fn window(bdp: u64) -> u64 {
    match bdp & u64::from(u32::MAX) {
        0 => u64::MAX,
        window => window,
    }
}
