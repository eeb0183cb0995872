//! Flowtune in the network: allocators of rates, their NICs, and the domains they allocate.
//!
//! An allocator is a node: its NICs are hosts attached to the top switches of its domain, and all it
//! learns and says goes over them as packets. [`allocator::Allocator`] is what computes, once in
//! every `iteration`: a state machine that is told of flowlets and returns rates.

pub mod allocator;
mod config;
pub mod domain;
pub(crate) mod node;

use std::ops::Range;

use xoff_core::rng::mix64;
use xoff_host::flowtune::agent::AgentStats;
use xoff_host::flowtune::stream::{StreamId, StreamStats};
use xoff_net::topo::{Attachment, Topology};

use self::allocator::AllocatorStats;
use crate::partition::Partition;

pub use config::{
    Allocators, FailuresKind, FlowtuneConfig, NormalizerKind, OptimizerKind, PathsKind, UtilityKind,
};

/// What all allocators, agents and streams of a network did in some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowtuneCounts {
    /// The allocators.
    pub allocators: AllocatorStats,
    /// The servers.
    pub agents: AgentStats,
    /// What was sent to allocators.
    pub to_allocators: StreamStats,
    /// What they sent.
    pub from_allocators: StreamStats,
}

impl FlowtuneCounts {
    /// Everything so far.
    #[must_use]
    pub fn of(partitions: &[Partition]) -> Self {
        let mut sum = Self::default();
        for partition in partitions {
            partition.allocators().iter().for_each(|one| sum.allocators.add(&one.stats));
            if let Some((agents, to, from)) = partition.hosts().flowtune_stats() {
                sum.agents.add(agents);
                sum.to_allocators.add(to);
                sum.from_allocators.add(from);
            }
        }
        sum
    }

    /// What was done since an earlier time.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            allocators: self.allocators.since(&earlier.allocators),
            agents: self.agents.since(&earlier.agents),
            to_allocators: self.to_allocators.since(&earlier.to_allocators),
            from_allocators: self.from_allocators.since(&earlier.from_allocators),
        }
    }
}

/// An allocator's place in the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its NICs, as hosts.
    pub nics: Range<u32>,
    /// The servers whose flowlets it allocates.
    pub servers: Range<u32>,
}

impl Site {
    /// The NIC at the allocator's end of a server's connection.
    #[must_use]
    pub fn nic_of(&self, server: u32) -> u32 {
        self.nics.start + (server - self.servers.start) % self.nics.len() as u32
    }

    /// Both ends of both streams of each connection: the stream, who writes it and who reads it.
    pub fn streams(&self) -> impl Iterator<Item = (StreamId, u32, u32)> + '_ {
        self.servers.clone().flat_map(|server| {
            let nic = self.nic_of(server);
            let (to, from) = (StreamId::to_allocator(server), StreamId::from_allocator(server));
            [(to, server, nic), (from, nic, server)]
        })
    }
}

/// A network run by allocators.
#[derive(Clone, Debug)]
pub struct FlowtuneSetup {
    /// The settings.
    pub config: FlowtuneConfig,
    /// Where the allocators are.
    pub sites: Vec<Site>,
}

impl FlowtuneSetup {
    /// Attaches the NICs of allocators to a network: one to each switch of the top layer, "using a 40
    /// Gbits/s link to each of the spine switches" (§5.3), with the delay of that switch's links.
    ///
    /// # Errors
    /// What a NIC cannot be attached to.
    pub fn attach(config: FlowtuneConfig, topology: &Topology) -> Result<(Topology, Self), String> {
        let servers = topology.hosts;
        let top = topology.tiers.iter().copied().max().unwrap_or(0);
        let switches = servers..topology.nodes();
        let switches = switches.filter(|&node| topology.tiers[node as usize] == top);
        let attachments: Vec<Attachment> = switches
            .map(|switch| Attachment {
                switch,
                rate: config.link_rate,
                delay: topology.ports_of(switch)[0].delay,
            })
            .collect();
        let topology = topology.attach(&attachments)?;
        let sites = vec![Site { nics: servers..topology.hosts, servers: 0..servers }];
        Ok((topology, Self { config, sites }))
    }

    /// Source and destination port of a stream's connection: the same for both of its directions, as
    /// seen from the sender of each.
    #[must_use]
    pub fn label(seed: u64, stream: StreamId) -> u32 {
        let label = mix64(seed ^ u64::from(StreamId::to_allocator(stream.server()).flow()) << 32);
        if stream.is_to_allocator() { label as u32 } else { (label as u32).rotate_left(16) }
    }
}
