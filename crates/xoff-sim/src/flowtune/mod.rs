//! Flowtune in the network: rate allocators, their NICs, and the domains they allocate.
//!
//! An allocator is a node. Its NICs are hosts attached to the top switches of its domain, and all
//! its messages are packets through them. [`allocator::Allocator`] computes rates once per
//! `iteration`: a state machine that gets flowlets and returns rates. A link carries both,
//! in TCP connections or in datagrams.

pub mod allocator;
mod config;
pub mod domain;
mod link;
pub(crate) mod node;
mod pods;
mod reserved;

use std::ops::Range;

use xoff_core::rng::mix64;
use xoff_core::{HostId, NodeId};
use xoff_host::Hosts;
use xoff_host::flowtune::agent::AgentStats;
use xoff_host::flowtune::stream::StreamStats;
use xoff_host::flowtune::stream_id::StreamId;
use xoff_net::topo::{Attachment, Topology};

use self::allocator::{Allocator, AllocatorStats};
use self::pods::Pods;

pub use config::{Allocators, FailuresKind, FlowtuneConfig, PathsKind, UtilityKind};

/// Counters of all allocators, agents and streams of a network in some period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowtuneCounts {
    /// Allocators.
    pub allocators: AllocatorStats,
    /// Servers' agents.
    pub agents: AgentStats,
    /// Streams to allocators, from allocators, and between them.
    pub streams: [StreamStats; 3],
}

impl FlowtuneCounts {
    /// The counters so far of these allocators and hosts.
    pub(crate) fn of<'a>(
        allocators: impl Iterator<Item = &'a Allocator>,
        hosts: impl Iterator<Item = &'a Hosts>,
    ) -> Self {
        let mut sum = Self::default();
        allocators.for_each(|one| sum.allocators.add(&one.stats));
        for hosts in hosts {
            if let Some((agents, streams)) = hosts.flowtune_stats() {
                sum.agents.add(&agents);
                sum.streams.iter_mut().zip(streams).for_each(|(sum, one)| sum.add(one));
            }
        }
        sum
    }

    /// The counters since an earlier time.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            allocators: self.allocators.since(&earlier.allocators),
            agents: self.agents.since(&earlier.agents),
            streams: std::array::from_fn(|kind| self.streams[kind].since(&earlier.streams[kind])),
        }
    }
}

/// An allocator's location in the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Index of the allocator.
    pub index: u32,
    /// Its NICs, as hosts.
    pub nics: Range<HostId>,
    /// The servers in its domain.
    pub servers: Range<HostId>,
}

impl Site {
    /// Its NICs.
    pub fn nic_ids(&self) -> impl ExactSizeIterator<Item = HostId> + use<> {
        (self.nics.start.0..self.nics.end.0).map(HostId)
    }

    /// The servers in its domain.
    pub fn server_ids(&self) -> impl ExactSizeIterator<Item = HostId> + use<> {
        (self.servers.start.0..self.servers.end.0).map(HostId)
    }

    /// The NIC of its connection with the server or the other allocator of this number.
    #[must_use]
    pub fn nic_for(&self, other: u32) -> HostId {
        HostId(self.nics.start.0 + other % self.nic_ids().len() as u32)
    }
}

/// A network with allocators.
#[derive(Clone, Debug)]
pub struct FlowtuneSetup {
    /// The settings.
    pub config: FlowtuneConfig,
    /// The locations of the allocators.
    pub sites: Vec<Site>,
}

impl FlowtuneSetup {
    /// Attaches the NICs of allocators to a network: one to each switch of the top layer of their
    /// domains, "using a 40 Gbits/s link to each of the spine switches" (§5.3), with the delay of
    /// that switch's links.
    ///
    /// # Errors
    /// If the network is unsuitable for allocators.
    pub fn attach(config: FlowtuneConfig, topology: &Topology) -> Result<(Topology, Self), String> {
        let servers = topology.hosts;
        if topology.switch_ids().any(|node| topology.is_gateway(node)) {
            return Err("an allocator's domain must be within one data centre; \
                        network.topology = \"two-dc\" has two"
                .into());
        }
        let top = topology.top_tier();
        let tier = match config.allocators {
            Allocators::One => top,
            Allocators::PerPod if top < 3 => {
                return Err("allocators = \"per-pod\" requires pods, as network.topology = \
                            \"fat-tree\" has them"
                    .into());
            }
            Allocators::PerPod => top - 1,
        };
        let switches: Vec<NodeId> =
            topology.switch_ids().filter(|&node| topology.tier(node) == tier).collect();
        let pods = match config.allocators {
            Allocators::One => 1,
            Allocators::PerPod => {
                Pods::of(topology).alike(topology, &switches).map_err(|message| {
                    format!("allocators = \"per-pod\" requires equal pods: {message}")
                })?
            }
        };
        let attachments: Vec<Attachment> = switches
            .into_iter()
            .map(|switch| Attachment {
                switch,
                rate: config.link_rate,
                delay: topology.ports_of(switch)[0].delay,
            })
            .collect();
        let (nics, here) = (attachments.len() as u32 / pods, servers / pods);
        let site = |index| Site {
            index,
            nics: HostId(servers + index * nics)..HostId(servers + (index + 1) * nics),
            servers: HostId(index * here)..HostId((index + 1) * here),
        };
        let sites = (0..pods).map(site).collect();
        Ok((topology.attach(&attachments)?, Self { config, sites }))
    }

    /// All streams, each with its writing and its reading host.
    pub fn streams(&self) -> impl Iterator<Item = (StreamId, HostId, HostId)> + '_ {
        let with_servers = self.sites.iter().flat_map(|site| {
            site.server_ids().flat_map(|server| {
                let nic = site.nic_for(server.0);
                let to = StreamId::to_allocator(server);
                let from = StreamId::from_allocator(server);
                [(to, server, nic), (from, nic, server)]
            })
        });
        let between = self.sites.iter().flat_map(|one| {
            let others = self.sites.iter().filter(|other| other.index != one.index);
            others.map(|other| {
                let stream = StreamId::between(one.index, other.index);
                (stream, one.nic_for(other.index), other.nic_for(one.index))
            })
        });
        with_servers.chain(between)
    }

    /// Source and destination port of the connection of two hosts, as seen from `src`.
    #[must_use]
    pub fn label(seed: u64, src: HostId, dst: HostId) -> u32 {
        let pair = u64::from(src.min(dst).0) << 32 | u64::from(src.max(dst).0);
        let label = mix64(mix64(seed) ^ pair) as u32;
        if src < dst { label } else { label.rotate_left(16) }
    }
}
