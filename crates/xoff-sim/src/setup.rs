//! What to simulate, complete and checked: nothing here has a default.

mod hops;
mod links;
mod pipelined;
mod switches;

use std::sync::{Arc, Mutex};

use xoff_core::rng::{Purpose, Rng};
use xoff_core::{FirstOfStreams, Ps, Wheel};
use xoff_host::cc::Carries;
use xoff_host::hosts::{HostSetup, HostTags, StreamSpec};
use xoff_host::{Hosts, TransportConfig};
use xoff_net::arch::{ArchitectureConfig, Destination};
use xoff_net::balance::{BalanceConfig, Ecmp};
use xoff_net::buffer::BufferConfig;
use xoff_net::credit::CreditShape;
use xoff_net::fabric::{Fabric, FabricTags, Instants, Peer, PortSpec, Rounding, serialisation};
use xoff_net::hop::HopConfig;
use xoff_net::mark::{Draws, EcnConfig};
use xoff_net::sched::{QueueMask, SchedulerConfig};
use xoff_net::telemetry::HOPS_MAX;
use xoff_net::topo::{Routes, Topology, Turns};
use xoff_net::trim::OverflowConfig;

pub use links::{base_rtt, base_rtts, path};

use crate::faults::Fault;
use crate::flowtune::allocator::Allocator;
use crate::flowtune::domain::Domain;
use crate::flowtune::node::Allocators;
use crate::flowtune::{FlowtuneSetup, Site};
use crate::partition::{Directory, Owner, Partition, tag};
use crate::paths::Paths;

/// log2 of the width (ps) of the wheel's finest buckets: 2 ns, so that the arrivals of links of 1 us
/// all lie within its first level, and a bucket of a hundred hosts holds two or three events.
const BUCKET_SHIFT: u32 = 11;

/// ECN thresholds by link rate.
#[derive(Clone, Debug)]
pub enum EcnSetup {
    /// No marking.
    None,
    /// The same at every port.
    Uniform(EcnConfig),
    /// By the port's rate (bit/s), marked at dequeue.
    ByRate(Vec<(u64, EcnConfig)>),
}

/// Where switches draw their random marks from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkDraws {
    /// Each from a stream of its own.
    Own,
    /// Each draw is the first number of a new MRG32k3a stream (seed 1, run 1), counted over all
    /// switches from this one on: what the HPCC simulator does. For an uncut network only.
    FirstOfStreams(u64),
}

/// Where flows' 5-tuples come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    /// A hash of the run's seed and the flow's number.
    Hashed,
    /// A hash of the run's seed and the two hosts: all flows from one to another share a connection.
    Connections,
    /// As in the HPCC simulator's files: source ports count up from 10 000 for each pair of hosts,
    /// the destination port is 100.
    Pairs,
}

/// Every switch.
#[derive(Clone, Debug)]
pub struct SwitchSetup {
    /// How packets cross it.
    pub architecture: ArchitectureConfig,
    /// Which of several equal ports a packet takes.
    pub balance: BalanceConfig,
    /// Scheduler of every egress port, with derived settings.
    pub scheduler: SchedulerConfig,
    /// Bytes that a turn of round robin allows.
    pub quantum_bytes: u32,
    /// Packet memory.
    pub buffer: BufferConfig,
    /// What happens to a packet whose queue is full, with derived settings.
    pub overflow: OverflowConfig,
    /// How ports shape credits, if receivers send credits.
    pub credits: Option<CreditShape>,
    /// Hop control, with derived settings.
    pub hop: HopConfig,
    /// Pairs of ports without backpressure, if there are any.
    pub elided: Option<Arc<Turns>>,
    /// ECN marking.
    pub ecn: EcnSetup,
    /// Source of random marks.
    pub mark_draws: MarkDraws,
    /// Share of link-control frames lost on purpose.
    pub control_loss: f64,
    /// Seed the load balancer's hash with the switch's number alone, as the HPCC simulator does.
    pub hash_by_node: bool,
    /// Both directions of a flow take one path.
    pub symmetric_ecmp: bool,
}

/// A network with its traffic-independent settings.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Nodes and links.
    pub topology: Arc<Topology>,
    /// Shortest paths.
    pub routes: Arc<Routes>,
    /// Every switch.
    pub switch: SwitchSetup,
    /// Every host.
    pub hosts: HostSetup,
    /// How serialisation times are rounded.
    pub rounding: Rounding,
    /// In which order the events of one instant happen.
    pub instants: Instants,
    /// Where flows' 5-tuples come from.
    pub labels: Labels,
    /// The allocators that run it, if there are any.
    pub flowtune: Option<FlowtuneSetup>,
    /// Seed of the run.
    pub seed: u64,
    /// Faults of links, while none of which hosts are cut off.
    pub faults: Vec<Fault>,
}

/// Adds a port without a link that stands for a switch's arbiter. The arbiter is asked at the end of an
/// instant, after all ports. Returns its number.
fn add_arbiter(fabric: &mut Fabric) -> u32 {
    let number = fabric.port_count() as u32;
    fabric.add_port(&PortSpec {
        id: u32::MAX,
        peer_id: u32::MAX,
        rate: 8_000_000_000_000,
        delay: Ps(0),
        peer: Peer::Local(number),
    });
    number
}

impl Setup {
    /// Whether events or draws have one order over all switches: such a network cannot be cut.
    pub(crate) fn is_in_one_order(&self) -> bool {
        self.instants == Instants::AsSet || self.switch.mark_draws != MarkDraws::Own
    }

    /// Builds the partitions.
    ///
    /// # Errors
    /// What the network cannot be built with.
    pub fn build(&self, of_node: &[u32]) -> Result<Vec<Partition>, String> {
        let topology = &self.topology;
        let switches = self.routes.longest() as usize - 1;
        if self.hosts.control.carries() == Carries::Int && switches > HOPS_MAX {
            return Err(format!(
                "the longest path has {switches} switches, but an INT record holds {HOPS_MAX}"
            ));
        }
        self.check_durations()?;
        let partitions = of_node.iter().max().map_or(1, |&last| last as usize + 1);
        if partitions > 1 && self.is_in_one_order() {
            return Err(
                "events or draws in one order over all switches need an uncut network".into()
            );
        }
        // Each partition numbers its ports in the order of the topology.
        let mut local = vec![0u32; topology.ports.len()];
        let mut counts = vec![0u32; partitions];
        for (index, port) in topology.ports.iter().enumerate() {
            let count = &mut counts[of_node[port.node as usize] as usize];
            local[index] = *count;
            *count += 1;
        }
        let directory = Arc::new(self.directory(of_node, partitions));
        (0..partitions)
            .map(|index| self.build_partition(index as u32, partitions, &local, &directory))
            .collect()
    }

    /// Two packets of one link must not arrive at one instant: their order would be anybody's guess.
    fn check_durations(&self) -> Result<(), String> {
        let frames = [self.hosts.overhead() + 1, self.hosts.ack_bytes(), self.control_frame()];
        let shortest = u64::from(frames.into_iter().min().unwrap_or(0));
        let timeless =
            |port: &&xoff_net::topo::Port| serialisation(self.rounding, port.rate.0, shortest) == 0;
        match self.topology.ports.iter().find(timeless) {
            Some(port) if self.instants == Instants::Phases => Err(format!(
                "a frame of {shortest} bytes takes no time on a link of {}: set network.rounding = \
                 \"1ps-up\"",
                port.rate
            )),
            _ => Ok(()),
        }
    }

    fn directory(&self, of_node: &[u32], partitions: usize) -> Directory {
        let mut counts = vec![0; partitions];
        let nic_of = of_node[..self.topology.hosts as usize].iter().map(|&partition| {
            let count = &mut counts[partition as usize];
            *count += 1;
            *count - 1
        });
        let places = self.routes.group_of.iter().zip(&self.routes.access_port);
        Directory {
            partition_of: of_node.to_vec(),
            nic_of: nic_of.collect(),
            destinations: places
                .map(|(&group, &access_port)| Destination { group, access_port })
                .collect(),
        }
    }

    fn build_partition(
        &self,
        index: u32,
        partitions: usize,
        local: &[u32],
        directory: &Arc<Directory>,
    ) -> Result<Partition, String> {
        let of_node = &directory.partition_of;
        let topology = &self.topology;
        let tags = FabricTags { arrival: tag::ARRIVAL, wake: tag::WAKE };
        let mut fabric =
            Fabric::new(self.rounding, self.instants, partitions, Wheel::new(BUCKET_SHIFT), tags);
        for (id, port) in topology.ports.iter().enumerate() {
            if of_node[port.node as usize] != index {
                continue;
            }
            let far = of_node[topology.ports[port.peer as usize].node as usize];
            let number = local[port.peer as usize];
            let peer = if far == index {
                Peer::Local(number)
            } else {
                Peer::Remote { partition: far, port: number }
            };
            fabric.add_port(&PortSpec {
                id: id as u32,
                peer_id: port.peer,
                rate: port.rate.0,
                delay: port.delay,
                peer,
            });
        }
        let tags = HostTags {
            pace: tag::PACE,
            control: tag::CONTROL,
            timeout: tag::TIMEOUT,
            index: tag::INDEX,
            pause: tag::PAUSE,
            intake: tag::INTAKE,
            receiver_driven: tag::DRIVEN,
            retransmission: tag::RETRANSMISSION,
            agent: tag::AGENT,
        };
        let mut hosts = Hosts::new(self.hosts.clone(), tags);
        let shared = match self.switch.mark_draws {
            MarkDraws::Own => None,
            MarkDraws::FirstOfStreams(first) => {
                Some(Draws::Shared(Arc::new(Mutex::new(FirstOfStreams::new(1, 1, first)))))
            }
        };
        let mut switches = Vec::new();
        let mut owners = vec![Owner::Host(0); fabric.port_count()];
        for node in (0..topology.nodes()).filter(|&node| of_node[node as usize] == index) {
            let first = local[topology.first_port[node as usize] as usize];
            if node < topology.hosts {
                owners[first as usize] = Owner::Host(hosts.add_host(&mut fabric, node, first));
                continue;
            }
            let switch = switches.len() as u32;
            for number in 0..topology.ports_of(node).len() as u16 {
                owners[(first + u32::from(number)) as usize] = Owner::Switch(switch, number);
            }
            let built = match &self.switch.architecture {
                ArchitectureConfig::OutputQueued(_) => {
                    self.build_switch(&mut fabric, node, first, shared.clone())?
                }
                ArchitectureConfig::Pipelined(setup) => {
                    self.build_pipelined(&mut fabric, node, first, setup)?
                }
                ArchitectureConfig::Crossbar(setup) => {
                    let arbiter = add_arbiter(&mut fabric);
                    owners.push(Owner::Switch(switch, topology.ports_of(node).len() as u16));
                    self.build_crossbar(&mut fabric, node, (first, arbiter), setup)?
                }
            };
            switches.push((node, built));
        }
        let allocators = self.build_allocators(&mut fabric, &mut hosts, directory, index)?;
        let mut built = Partition::new(index, self, fabric, hosts, switches, owners, directory);
        if let Some(allocators) = allocators {
            built.add_allocators(allocators);
        }
        Ok(built)
    }

    /// Opens the control connections of a partition's hosts, and makes the allocators whose NICs it
    /// has.
    fn build_allocators(
        &self,
        fabric: &mut Fabric,
        hosts: &mut Hosts,
        directory: &Directory,
        index: u32,
    ) -> Result<Option<Allocators>, String> {
        let Some(flowtune) = &self.flowtune else { return Ok(None) };
        let partition_of = |host: u32| directory.partition_of[host as usize];
        for (stream, src, dst) in flowtune.streams() {
            if partition_of(dst) == index {
                hosts.read_stream(stream);
            }
            if partition_of(src) == index {
                let label = FlowtuneSetup::label(self.seed, src, dst);
                let partition = Some(partition_of(dst)).filter(|&there| there != index);
                let spec = StreamSpec { stream, src, dst, label, partition };
                hosts.open_stream(fabric, directory.nic_of[src as usize], spec);
            }
        }
        let here = flowtune.sites.iter().filter(|site| partition_of(site.nics.start) == index);
        let paths = Arc::new(self.paths());
        let network = (&self.topology, &self.routes);
        let allocator = |site: &Site| {
            let domain = Domain::new(flowtune, site, network, &paths, &self.hosts);
            Allocator::new(flowtune.config.clone(), site.clone(), domain)
        };
        let all = here.map(allocator).collect::<Result<Vec<_>, _>>()?;
        Ok((!all.is_empty()).then(|| Allocators::new(all, fabric)))
    }

    /// What says which path a flow takes.
    #[must_use]
    pub fn paths(&self) -> Paths {
        let switches = self.topology.hosts..self.topology.nodes();
        Paths::new(switches.map(|node| self.ecmp(node)).collect())
    }

    /// How a switch hashes. Where both directions of a flow are to take one path, switches of a layer
    /// make the same choice: up from either end by the same hash. The top layer goes down only, and
    /// where links are parallel, by the one that the layer below would take up.
    fn ecmp(&self, node: u32) -> Ecmp {
        if !self.switch.symmetric_ecmp {
            return Ecmp::new(self.hash_seed(node));
        }
        let top = self.topology.tiers.iter().copied().max().unwrap_or(0);
        let tier = self.topology.tiers[node as usize].min(top.saturating_sub(1));
        // No node has such a number.
        let layer = u64::MAX - u64::from(tier);
        let seed = Rng::stream(self.seed, Purpose::Balancing, layer).u64() as u32;
        Ecmp { seed, symmetric: true }
    }

    /// The seed of a switch's hash. Attached hosts move the numbers of switches, but not their seeds:
    /// flows take the same paths with them as without.
    fn hash_seed(&self, node: u32) -> u32 {
        if self.switch.hash_by_node {
            return node;
        }
        self.stream(Purpose::Balancing, node).u64() as u32
    }

    /// A switch's random stream, which attached hosts do not change either.
    fn stream(&self, purpose: Purpose, node: u32) -> Rng {
        Rng::stream(self.seed, purpose, u64::from(node - self.topology.attached))
    }

    /// Sets of switch queues whose delays are told apart, with their names; the first one has all.
    #[must_use]
    pub fn queue_groups(&self) -> Vec<(&'static str, QueueMask)> {
        let mut groups = vec![("all", QueueMask::MAX)];
        if let Some((_, levels)) = self.hosts.driver.levels() {
            let unscheduled = (1 << levels.unscheduled()) - 1;
            groups.extend([("unscheduled", unscheduled), ("scheduled", !unscheduled)]);
        }
        groups
    }

    /// The transport's settings.
    #[must_use]
    pub fn transport(&self) -> &TransportConfig {
        &self.hosts.transport
    }
}
