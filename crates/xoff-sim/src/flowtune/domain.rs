//! What an allocator knows of the network: its links, their capacities, and the paths over them.

use std::sync::Arc;

use xoff_alloc::LinkId;
use xoff_host::hosts::HostSetup;
use xoff_net::topo::{Routes, Topology};

use super::{FlowtuneConfig, PathsKind};
use crate::paths::Paths;

/// The links of an allocator: one for each port of the topology, in that order, of which it only ever
/// uses those that paths in its domain take.
#[derive(Clone, Debug)]
pub struct Domain {
    topology: Arc<Topology>,
    routes: Arc<Routes>,
    paths: Arc<Paths>,
    knows: PathsKind,
    /// Gb/s on the wire.
    capacities: Vec<f64>,
    /// Bytes of an acknowledgement and of the packet it is for.
    ack_bytes: u64,
    packet_bytes: u64,
}

impl Domain {
    /// The links of a network.
    #[must_use]
    pub fn new(
        config: &FlowtuneConfig,
        (topology, routes): (&Arc<Topology>, &Arc<Routes>),
        paths: &Arc<Paths>,
        hosts: &HostSetup,
    ) -> Self {
        let free = 1.0 - config.reserve;
        let capacities = topology.ports.iter().map(|port| port.rate.0 as f64 / 1e9 * free);
        Self {
            capacities: capacities.collect(),
            topology: Arc::clone(topology),
            routes: Arc::clone(routes),
            paths: Arc::clone(paths),
            knows: config.paths,
            ack_bytes: u64::from(hosts.ack_bytes()),
            packet_bytes: hosts.frame.payload.0 + u64::from(hosts.overhead()),
        }
    }

    /// What there is to allocate of each link (Gb/s).
    #[must_use]
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// Switches take other routes.
    pub fn set_routes(&mut self, routes: &Arc<Routes>) {
        self.routes = Arc::clone(routes);
    }

    /// The links that a flowlet takes, as far as they are known.
    #[must_use]
    pub fn path(&self, src: u32, dst: u32, label: u32) -> Vec<LinkId> {
        let port = |host: u32| self.topology.first_port[host as usize];
        match self.knows {
            PathsKind::Known => {
                let ports = self.paths.follow(&self.topology, &self.routes, (src, dst, label));
                ports.map(LinkId).collect()
            }
            // "Flowtune would manage rates on the edge links between servers and the top-of-rack
            // switches, while TCP congestion control would handle contention in the core" (§6).
            PathsKind::BigSwitch => {
                vec![LinkId(port(src)), LinkId(self.topology.ports[port(dst) as usize].peer)]
            }
        }
    }

    /// What the acknowledgements of full packets at a rate take (bit/s).
    #[must_use]
    pub fn ack_rate(&self, rate: u64) -> u64 {
        (u128::from(rate) * u128::from(self.ack_bytes) / u128::from(self.packet_bytes)) as u64
    }
}
