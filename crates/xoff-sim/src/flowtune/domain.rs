//! An allocator's knowledge of the network: links, capacities, and paths.

use std::sync::Arc;

use xoff_alloc::LinkId;
use xoff_core::{HostId, PortId};
use xoff_host::hosts::HostSetup;
use xoff_net::topo::{Port, Routes, Topology};

use super::pods::Pods;
use super::{FlowtuneSetup, PathsKind, Site};
use crate::paths::Paths;

/// The links of an allocator: one per port of the topology, in that order. It uses only those on
/// paths in its domain.
#[derive(Clone, Debug)]
pub struct Domain {
    topology: Arc<Topology>,
    routes: Arc<Routes>,
    paths: Arc<Paths>,
    knows: PathsKind,
    /// The links within the domain, by port; empty if all are.
    within: Vec<bool>,
    /// Capacities in Gb/s on the wire.
    capacities: Vec<f64>,
    /// The share of them that is allocated.
    free: f64,
    /// Size of an acknowledgement and of the packet that it acknowledges.
    ack_bytes: u64,
    packet_bytes: u64,
}

impl Domain {
    /// The knowledge of the allocator at a site.
    #[must_use]
    pub fn new(
        FlowtuneSetup { config, sites }: &FlowtuneSetup,
        site: &Site,
        (topology, routes): (&Arc<Topology>, &Arc<Routes>),
        paths: &Arc<Paths>,
        hosts: &HostSetup,
    ) -> Self {
        let free = 1.0 - config.reserve;
        let capacities = topology.ports().iter().map(|port| capacity(port.rate.0, free));
        Self {
            free,
            capacities: capacities.collect(),
            topology: Arc::clone(topology),
            routes: Arc::clone(routes),
            paths: Arc::clone(paths),
            knows: config.paths,
            within: if sites.len() > 1 { within(topology, site) } else { Vec::new() },
            ack_bytes: u64::from(hosts.ack_bytes()),
            packet_bytes: hosts.frame.payload.0 + u64::from(hosts.overhead()),
        }
    }

    /// Allocatable capacity of each link (Gb/s).
    #[must_use]
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// Sets the rate of a link (bit/s). Returns its capacity (Gb/s).
    pub fn set_rate(&mut self, port: PortId, rate: u64) -> f64 {
        let known = &mut self.capacities[port.index()];
        *known = capacity(rate, self.free);
        *known
    }

    /// Sets new routes.
    pub fn set_routes(&mut self, routes: &Arc<Routes>) {
        self.routes = Arc::clone(routes);
    }

    /// The links of a flowlet's path, as far as they are known.
    #[must_use]
    pub fn path(&self, src: HostId, dst: HostId, label: u32) -> Vec<LinkId> {
        let links = |ports: &mut dyn Iterator<Item = PortId>| {
            ports.filter(|&port| self.is_within(port)).map(|port| LinkId(port.0)).collect()
        };
        match self.knows {
            PathsKind::Known => {
                links(&mut self.paths.follow(&self.topology, &self.routes, (src, dst, label)))
            }
            // Flowtune manages "rates on the edge links between servers and the top-of-rack
            // switches, while TCP congestion control would handle contention in the core" (§6).
            PathsKind::BigSwitch => {
                let up = self.topology.first_port(src.node());
                let down = self.topology.port_of_host(dst).peer;
                links(&mut [up, down].into_iter())
            }
        }
    }

    fn is_within(&self, port: PortId) -> bool {
        self.within.is_empty() || self.within[port.index()]
    }

    /// The rate of acknowledgements for full packets at a rate (bit/s).
    #[must_use]
    pub fn ack_rate(&self, rate: u64) -> u64 {
        (u128::from(rate) * u128::from(self.ack_bytes) / u128::from(self.packet_bytes)) as u64
    }
}

/// The allocatable share of a rate in bit/s, in Gb/s.
fn capacity(rate: u64, free: f64) -> f64 {
    rate as f64 / 1e9 * free
}

/// True for each port whose link belongs to the pod of a site's servers: a link with an end in the
/// pod.
fn within(topology: &Topology, site: &Site) -> Vec<bool> {
    let pods = Pods::of(topology);
    let ends = |port: &Port| [port.node, topology.neighbour(port)];
    let is_within = |port| ends(port).iter().any(|&node| pods.of_node(node) == Some(site.index));
    topology.ports().iter().map(is_within).collect()
}

#[cfg(test)]
mod tests {
    use xoff_net::topo::{FatTreeConfig, fat_tree};

    use super::*;

    #[test]
    fn a_pod_has_its_downward_and_upward_links() {
        let topology = fat_tree(&FatTreeConfig { k: 4, ..Default::default() }).unwrap();
        let of_pod = |index| Site {
            index,
            nics: HostId(0)..HostId(0),
            servers: HostId(index * 4)..HostId((index + 1) * 4),
        };
        let pods = [0, 1, 2, 3].map(|index| within(&topology, &of_pod(index)));
        for pod in &pods {
            // 4 links of servers, 4 between edge and aggregation, 4 to the core, in both
            // directions.
            assert_eq!(pod.iter().filter(|&&within| within).count(), 24);
        }
        for port in 0..topology.ports().len() {
            assert_eq!(pods.iter().filter(|pod| pod[port]).count(), 1, "port {port}");
        }
    }
}
