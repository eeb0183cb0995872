//! What to simulate, complete and checked: nothing here has a default.

mod pipelined;

use std::sync::{Arc, Mutex};

use xoff_core::rng::{Purpose, Rng};
use xoff_core::{FirstOfStreams, Ps, Wheel};
use xoff_host::cc::{Carries, ControlConfig};
use xoff_host::driven::DrivenConfig;
use xoff_host::hosts::{BaseRtts, HostSetup, HostTags, StreamSpec};
use xoff_host::{Hosts, TransportConfig};
use xoff_net::arch::{
    AnySwitch, CapfcConfig, Crossbar, CrossbarConfig, CrossbarParts, Destination, Forwarding,
    InBand, OutputQueued, Parts, PauseConfig, PipelineConfig, Reaction, Thresholds,
};
use xoff_net::balance::{Adaptive, AlbConfig, Ecmp, Spray, SprayConfig};
use xoff_net::buffer::{Buffer, BufferConfig};
use xoff_net::credit::{CreditQueue, CreditShape};
use xoff_net::fabric::{Fabric, FabricTags, Instants, Peer, PortSpec, Rounding, serialisation};
use xoff_net::hop::{
    AnyHop, BackpressureKind, Bfc, BfcConfig, BfcPort, Carried, Deployment, Eliding, FRAME_BYTES,
    Pfc, PfcConfig, PfcPort, Sfc, SfcConfig, SfcPort, Tofino, TofinoConfig, Uncontrolled,
};
use xoff_net::mark::{Draws, EcnConfig, MarkAt, RedEcn};
use xoff_net::packet::CLASSES;
use xoff_net::sched::{
    AnyScheduler, Drr, DrrFlows, Egress, Ets, EtsPlan, Fifo, PFabric, PerFlow, PerFlowSrf,
    Priorities, QueueMask, SfqCodel, SfqCodelConfig, Srf, TrafficManager,
};
use xoff_net::telemetry::HOPS_MAX;
use xoff_net::topo::{Routes, Topology, Turns};
use xoff_net::trim::{Trim, TrimConfig};
use xoff_net::xcp;

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

/// Which scheduler every egress port has.
#[derive(Clone, Debug)]
pub enum Scheduling {
    /// First in, first out, by class.
    Fifo,
    /// Deficit round robin over the hop control's queues.
    Drr,
    /// Deficit round robin over flows.
    PerFlow,
    /// Shortest remaining flow first over the hop control's queues.
    Srf,
    /// Shortest remaining flow first over flows.
    PerFlowSrf,
    /// pFabric.
    PFabric,
    /// Stochastic fair queueing with CoDel, with derived settings.
    SfqCodel(SfqCodelConfig),
    /// Enhanced transmission selection.
    Ets(EtsPlan),
    /// So many strict priorities, which packets carry.
    Strict(u8),
}

/// Which hop control every switch has.
#[derive(Clone, Debug)]
pub enum HopSetup {
    /// None.
    None,
    /// Priority flow control.
    Pfc(PfcConfig),
    /// Backpressure flow control.
    Bfc(BfcConfig),
    /// Source flow control, with derived settings.
    Sfc(SfcConfig),
}

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

/// Switches with a crossbar between ingress and egress queues.
#[derive(Clone, Debug)]
pub struct CrossbarSetup {
    /// Their sizes and delays.
    pub config: CrossbarConfig,
    /// Their flow control.
    pub pause: PauseConfig,
    /// How they spread packets; none: flows, by ECMP.
    pub adaptive: Option<AlbConfig>,
}

/// Pipelined switches.
#[derive(Clone, Debug)]
pub struct PipelinedSetup {
    /// Their processor and memory.
    pub config: PipelineConfig,
    /// Whom their egress queues blame.
    pub capfc: CapfcConfig,
    /// Their flow control.
    pub pause: PauseConfig,
    /// How they spread packets; none: flows, by ECMP.
    pub adaptive: Option<AlbConfig>,
}

/// Every switch.
#[derive(Clone, Debug)]
pub struct SwitchSetup {
    /// Its ingress queues and crossbar; none: it is output-queued, and scheduling, buffer, trimming and
    /// hop control say how.
    pub crossbar: Option<CrossbarSetup>,
    /// Its ingress queues and processor, if it is pipelined.
    pub pipelined: Option<PipelinedSetup>,
    /// How it sprays packets, if it is output-queued; none: flows have one path, by ECMP.
    pub spray: Option<SprayConfig>,
    /// Scheduler of every egress port.
    pub scheduling: Scheduling,
    /// What a turn of round robin allows (bytes).
    pub quantum_bytes: u32,
    /// Packet memory.
    pub buffer: BufferConfig,
    /// What happens to a packet that finds no room: trimmed, or dropped. Its control queue is not 0.
    pub trim: Option<TrimConfig>,
    /// How switches shape credits, where receivers send some.
    pub credits: Option<CreditShape>,
    /// Hop control.
    pub hop: HopSetup,
    /// The limits of the hardware that BFC runs on, where it has any.
    pub tofino: Option<TofinoConfig>,
    /// Pairs of ports for which it is left out, if any are to be.
    pub elided: Option<Arc<Turns>>,
    /// ECN marking.
    pub ecn: EcnSetup,
    /// Where random marks come from.
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

/// Base RTT of the longest path: two propagation delays of each link and the serialisation of one
/// full packet's payload at each link on the way there (the HPCC simulator's definition).
#[must_use]
pub fn base_rtt(topology: &Topology, routes: &Routes, payload: u64) -> Ps {
    let ports = topology.ports.iter();
    let costs: Vec<u64> =
        ports.map(|port| 2 * port.delay.0 + port.rate.time_for(payload).0).collect();
    // Hosts of one switch have the same paths but for their own link, so only the two slowest links
    // of each switch count.
    let servers = topology.servers();
    let groups = routes.group_of[..servers as usize].iter().max();
    let groups = groups.map_or(0, |&group| group as usize + 1);
    let mut access = vec![(0, 0); groups];
    let mut leaves = vec![0; groups];
    for host in 0..servers {
        let group = routes.group_of[host as usize] as usize;
        let port = topology.first_port[host as usize] as usize;
        let (slowest, second) = access[group];
        access[group] = (slowest.max(costs[port]), second.max(slowest.min(costs[port])));
        leaves[group] = topology.ports[topology.ports[port].peer as usize].node;
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
    let ports = topology.ports.iter();
    let costs: Vec<u64> =
        ports.map(|port| 2 * port.delay.0 + port.rate.time_for(payload).0).collect();
    let servers = topology.servers() as usize;
    let group_of = routes.group_of[..servers].to_vec();
    let groups = group_of.iter().max().map_or(0, |&group| group as usize + 1);
    let link = |host: usize| topology.first_port[host] as usize;
    let leaf = |host: usize| topology.ports[topology.ports[link(host)].peer as usize].node;
    let mut between = vec![0; groups * groups];
    for from in 0..groups {
        let host = group_of.iter().position(|&group| group as usize == from).unwrap_or(0);
        for to in (0..groups).filter(|&to| to != from) {
            between[from * groups + to] = cost_between(topology, routes, &costs, leaf(host), to);
        }
    }
    let access = (0..servers).map(|host| costs[link(host)]).collect();
    BaseRtts { access, group_of, between, groups }
}

/// What the links of a shortest path (the first choice at every switch) cost together, from the
/// switch `node` to the one that a group of hosts hangs on.
fn cost_between(
    topology: &Topology,
    routes: &Routes,
    costs: &[u64],
    mut node: u32,
    group: usize,
) -> u64 {
    let mut sum = 0;
    loop {
        let switch = (node - topology.hosts) as usize;
        let route = routes.by_switch[switch][group];
        if route.count == 0 {
            return sum;
        }
        let number = routes.choices[switch][route.first as usize];
        let port = topology.first_port[node as usize] as usize + usize::from(number);
        sum += costs[port];
        node = topology.ports[topology.ports[port].peer as usize].node;
    }
}

/// The links of a shortest path (the first choice at every switch).
#[must_use]
pub fn path(topology: &Topology, routes: &Routes, src: u32, dst: u32) -> Vec<crate::ideal::Leg> {
    let mut legs = Vec::new();
    let mut port = topology.ports_of(src)[0];
    loop {
        legs.push(crate::ideal::Leg { rate: port.rate.0, delay: port.delay });
        let node = topology.ports[port.peer as usize].node;
        if node == dst {
            return legs;
        }
        let switch = (node - topology.hosts) as usize;
        let route = routes.by_switch[switch][routes.group_of[dst as usize] as usize];
        let number = if route.count == 0 {
            routes.access_port[dst as usize]
        } else {
            routes.choices[switch][route.first as usize]
        };
        port = topology.ports_of(node)[number as usize];
    }
}

/// Adds a port without a link that stands for a switch's arbiter: it is asked when an instant ends, as
/// ports are, and after them all. Returns its number.
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

/// Deficit round robin as a kind of BFC needs it.
fn bfc_turns(bfc: &BfcConfig, tofino: Option<&TofinoConfig>, quantum: u32) -> AnyScheduler {
    if let Some(tofino) = tofino {
        return AnyScheduler::TrafficManager(TrafficManager::new(
            bfc.data_queues(),
            quantum,
            tofino.cell.0 as u16,
            tofino.egress_fifo.0 as u32,
        ));
    }
    match (bfc.division(), bfc.backpressure) {
        (Some(division), _) => AnyScheduler::DrrClasses(Drr::with_classes(division, quantum)),
        (None, BackpressureKind::Flows) => {
            AnyScheduler::DrrFlows(DrrFlows::new(bfc.data_queues(), quantum))
        }
        (None, _) => AnyScheduler::Drr(Drr::new(bfc.data_queues(), quantum)),
    }
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
            driven: tag::DRIVEN,
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
            let built = match (&self.switch.crossbar, &self.switch.pipelined) {
                (None, None) => self.build_switch(&mut fabric, node, first, shared.clone())?,
                (None, Some(setup)) => self.build_pipelined(&mut fabric, node, first, setup)?,
                (Some(setup), _) => {
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

    fn build_switch(
        &self,
        fabric: &mut Fabric,
        node: u32,
        first_port: u32,
        shared: Option<Draws>,
    ) -> Result<AnySwitch, String> {
        let ports = self.topology.ports_of(node);
        let first_timer = self.add_switch_timers(fabric, node, first_port);
        let stream = |purpose| self.stream(purpose, node);
        let bin_seed = stream(Purpose::QueueAssignment).u64() as u32;
        let forwarding = self.forwarding(node);
        let spray = |config| Spray::new(config, forwarding.groups(), stream(Purpose::Spraying));
        Ok(AnySwitch::OutputQueued(OutputQueued::new(Parts {
            first_port,
            egress: ports.iter().map(|_| Egress::new(self.scheduler(bin_seed))).collect(),
            buffer: Buffer::new(&self.buffer(node)),
            hop: self.hop(node)?,
            ecn: self.ecn(node)?,
            trim: self
                .switch
                .trim
                .as_ref()
                .map(|config| Box::new(Trim::new(config, ports.len(), stream(Purpose::Trimming)))),
            credits: self.credits(fabric, first_port, ports.len()),
            in_band: self.in_band(node),
            control_acks: self.hosts.transport.ack_class == xoff_host::transport::AckClass::Control,
            spray: self.switch.spray.as_ref().map(|config| Box::new(spray(config))),
            forwarding,
            marking: shared.unwrap_or_else(|| Draws::Own(stream(Purpose::Marking))),
            assignment: stream(Purpose::QueueAssignment),
            control_frame: self.control_frame(),
            control_loss: self.control_loss(node),
            first_timer,
        })))
    }

    fn build_crossbar(
        &self,
        fabric: &mut Fabric,
        node: u32,
        (first_port, arbiter): (u32, u32),
        setup: &CrossbarSetup,
    ) -> Result<AnySwitch, String> {
        let first_timer = self.add_switch_timers(fabric, node, first_port);
        let mtu = self.hosts.longest_packet();
        let (forwarding, adaptive) = self.balancing(node, setup.adaptive.as_ref());
        let parts = CrossbarParts {
            config: setup.config.clone(),
            pause: setup.pause.clone(),
            thresholds: self.thresholds(node, &setup.pause, |reaction| {
                setup.pause.thresholds(&setup.config, reaction)
            })?,
            first_port,
            arbiter,
            first_id: self.topology.first_port[node as usize],
            stage_tag: tag::STAGE | first_port,
            mtu: u16::try_from(mtu).unwrap_or(u16::MAX),
            forwarding,
            adaptive,
            ecn: self.ecn(node)?,
            marking: Draws::Own(self.stream(Purpose::Marking, node)),
            control_frame: self.control_frame(),
            control_loss: self.control_loss(node),
            first_timer,
        };
        Ok(AnySwitch::Crossbar(Box::new(Crossbar::new(parts, fabric))))
    }

    /// A switch's memory.
    fn buffer(&self, node: u32) -> BufferConfig {
        self.switch.buffer.of(self.topology.is_gateway(node))
    }

    /// The credits of a switch's ports, where receivers send some.
    fn credits(&self, fabric: &Fabric, first_port: u32, ports: usize) -> Vec<CreditQueue> {
        let Some(shape) = &self.switch.credits else { return Vec::new() };
        let period = |port: u32| fabric.duration(port, shape.bytes_per_credit());
        let ports = first_port..first_port + ports as u32;
        ports.map(|port| CreditQueue::new(shape, period(port))).collect()
    }

    /// A switch's routes.
    fn forwarding(&self, node: u32) -> Forwarding {
        let switch = (node - self.topology.hosts) as usize;
        let routes = (self.routes.by_switch[switch].clone(), self.routes.choices[switch].clone());
        Forwarding::new(routes.0, routes.1, self.ecmp(node))
    }

    /// The routes of a switch that spreads packets, or does not, and what spreads them.
    fn balancing(&self, node: u32, config: Option<&AlbConfig>) -> (Forwarding, Option<Adaptive>) {
        let forwarding = self.forwarding(node);
        let Some(config) = config else { return (forwarding, None) };
        let ports = self.topology.ports_of(node).len();
        let adaptive = Adaptive::new(config, ports, self.stream(Purpose::Spraying, node));
        (forwarding.with_sets(), Some(adaptive))
    }

    /// When the ingresses of a switch ask for pauses.
    fn thresholds(
        &self,
        node: u32,
        pause: &PauseConfig,
        of: impl Fn(&Reaction) -> Result<Thresholds, (&'static str, String)>,
    ) -> Result<Vec<Thresholds>, String> {
        let (mtu, frame) = (self.hosts.longest_packet(), u64::from(self.control_frame()));
        let ports = self.topology.ports_of(node).iter();
        let reactions = ports.map(|port| pause.reaction(port.rate.0, port.delay, mtu, frame));
        reactions.map(|reaction| of(&reaction).map_err(|(_, message)| message)).collect()
    }

    /// Share of a switch's frames to its neighbours that are lost, and the stream that says which.
    fn control_loss(&self, node: u32) -> Option<(f64, Rng)> {
        let loss = self.switch.control_loss;
        (loss > 0.0).then(|| (loss, self.stream(Purpose::Faults, node)))
    }

    /// Adds the timers of a switch: one a port, and one for all. Returns the first.
    fn add_switch_timers(&self, fabric: &mut Fabric, node: u32, first_port: u32) -> u32 {
        let first_timer = fabric.wheel.timers();
        for number in 0..self.topology.ports_of(node).len() as u32 {
            let id = u64::from(self.topology.first_port[node as usize] + number);
            let rank = xoff_net::fabric::phase::TIMER | 1 << 58 | id;
            fabric.wheel.add_timer(rank, tag::SWITCH_TIMER | (first_port + number));
        }
        let rank = xoff_net::fabric::phase::TIMER | 1 << 57 | u64::from(node);
        fabric.wheel.add_timer(rank, tag::MIRROR | first_port);
        first_timer
    }

    fn in_band(&self, node: u32) -> InBand {
        let rates = self.topology.ports_of(node).iter().map(|port| port.rate.0);
        match &self.hosts.control {
            ControlConfig::Hpcc(_) => InBand::Int,
            ControlConfig::Xcp(config) => InBand::Xcp(xcp::Router::new(config, rates)),
            _ => InBand::None,
        }
    }

    fn scheduler(&self, bin_seed: u32) -> AnyScheduler {
        let quantum = self.switch.quantum_bytes;
        let queues = match &self.switch.hop {
            HopSetup::Bfc(bfc) => bfc.data_queues(),
            HopSetup::None | HopSetup::Pfc(_) | HopSetup::Sfc(_) => CLASSES as u8,
        };
        match &self.switch.scheduling {
            Scheduling::PerFlow => AnyScheduler::PerFlow(PerFlow::new(quantum)),
            Scheduling::Drr => match &self.switch.hop {
                HopSetup::Bfc(bfc) => bfc_turns(bfc, self.switch.tofino.as_ref(), quantum),
                HopSetup::None | HopSetup::Pfc(_) | HopSetup::Sfc(_) => {
                    AnyScheduler::Drr(Drr::new(queues, quantum))
                }
            },
            Scheduling::Srf => AnyScheduler::Srf(Srf::new(queues)),
            Scheduling::PerFlowSrf => AnyScheduler::PerFlowSrf(PerFlowSrf::default()),
            Scheduling::Fifo => AnyScheduler::Fifo(Fifo::default()),
            Scheduling::PFabric => AnyScheduler::PFabric(PFabric::default()),
            Scheduling::SfqCodel(config) => {
                AnyScheduler::SfqCodel(SfqCodel::new(config, quantum, bin_seed))
            }
            Scheduling::Ets(plan) => AnyScheduler::Ets(Ets::new(*plan, quantum)),
            Scheduling::Strict(priorities) => {
                AnyScheduler::Priorities(Priorities::new(*priorities))
            }
        }
    }

    fn hop(&self, node: u32) -> Result<AnyHop, String> {
        let ports = self.topology.ports_of(node);
        Ok(match &self.switch.hop {
            HopSetup::None if matches!(self.switch.scheduling, Scheduling::Strict(_)) => {
                AnyHop::Carried(Carried)
            }
            HopSetup::None => AnyHop::None(Uncontrolled),
            HopSetup::Pfc(config) => {
                let specs: Vec<PfcPort> = ports
                    .iter()
                    .map(|port| PfcPort { rate: port.rate.0, delay_ps: port.delay.0 })
                    .collect();
                let hosts = 0..self.topology.hosts;
                let nic_rate = hosts.map(|host| self.topology.ports_of(host)[0].rate.0).max();
                let buffer = self.buffer(node).size.0;
                let pfc = Pfc::new(config, &specs, buffer, nic_rate.unwrap_or(0))?;
                match self.elided(node) {
                    pairs if pairs.is_empty() => AnyHop::Pfc(pfc),
                    pairs => AnyHop::ElidingPfc(Eliding::new(pfc, ports.len(), pairs)),
                }
            }
            HopSetup::Bfc(config) => {
                let specs: Vec<BfcPort> = ports
                    .iter()
                    .map(|port| BfcPort { rate: port.rate.0, delay_ps: port.delay.0 })
                    .collect();
                match (config.division(), config.backpressure) {
                    (Some(division), _) => {
                        AnyHop::BfcClasses(Bfc::with_classes(config, division, &specs))
                    }
                    (None, BackpressureKind::Queues) => self.bfc(node, config, &specs),
                    (None, BackpressureKind::Occupancy) => {
                        AnyHop::BfcOccupancy(Bfc::by_occupancy(config, &specs))
                    }
                    (None, BackpressureKind::Flows) => {
                        AnyHop::BfcFlows(Bfc::by_flow(config, &specs))
                    }
                    (None, BackpressureKind::None) => {
                        AnyHop::BfcSilent(Bfc::silent(config, &specs))
                    }
                }
            }
            HopSetup::Sfc(config) => self.sfc(config, ports),
        })
    }

    /// BFC as the paper has it, on ideal switches or on hardware.
    fn bfc(&self, node: u32, config: &BfcConfig, ports: &[BfcPort]) -> AnyHop {
        let hardware = self.switch.tofino.as_ref();
        if hardware.is_none() && config.sampling >= 1.0 {
            let bfc = Bfc::new(config, ports);
            return match self.elided(node) {
                pairs if pairs.is_empty() => AnyHop::Bfc(bfc),
                pairs => AnyHop::ElidingBfc(Eliding::new(bfc, ports.len(), pairs)),
            };
        }
        let rng = self.stream(Purpose::Recirculation, node);
        AnyHop::Tofino(Tofino::new(config, hardware, ports, rng))
    }

    /// The pairs of ports at a switch for which its hop control is left out.
    fn elided(&self, node: u32) -> Vec<(u16, u16)> {
        let Some(turns) = &self.switch.elided else { return Vec::new() };
        let ports = (self.topology.first_port[node as usize]..).zip(self.topology.ports_of(node));
        let pairs = ports.flat_map(|(id, port)| turns.of(id).map(|egress| (port.number, egress)));
        pairs.collect()
    }

    fn sfc(&self, config: &SfcConfig, ports: &[xoff_net::topo::Port]) -> AnyHop {
        let is_host = |port: &xoff_net::topo::Port| {
            self.topology.ports[port.peer as usize].node < self.topology.hosts
        };
        let specs: Vec<SfcPort> =
            ports.iter().map(|port| SfcPort { rate: port.rate.0, host: is_host(port) }).collect();
        if config.deployment == Deployment::Tor && !specs.iter().any(|port| port.host) {
            return AnyHop::None(Uncontrolled);
        }
        AnyHop::Sfc(Sfc::new(config, &specs, self.topology.hosts as usize))
    }

    fn control_frame(&self) -> u16 {
        match &self.switch.hop {
            HopSetup::Pfc(config) => u16::try_from(config.frame_size.0).unwrap_or(u16::MAX),
            HopSetup::None | HopSetup::Bfc(_) | HopSetup::Sfc(_) => FRAME_BYTES,
        }
    }

    fn ecn(&self, node: u32) -> Result<(Vec<RedEcn>, MarkAt), String> {
        let ports = self.topology.ports_of(node);
        match &self.switch.ecn {
            EcnSetup::None => Ok((Vec::new(), MarkAt::Dequeue)),
            EcnSetup::Uniform(config) => Ok((vec![RedEcn::new(config); ports.len()], config.at)),
            EcnSetup::ByRate(table) => {
                let of_port = |port: &xoff_net::topo::Port| {
                    let entry = table.iter().find(|(rate, _)| *rate == port.rate.0);
                    entry.map(|(_, config)| RedEcn::new(config)).ok_or_else(|| {
                        format!("no ECN thresholds are given for links of {}", port.rate)
                    })
                };
                Ok((ports.iter().map(of_port).collect::<Result<_, _>>()?, MarkAt::Dequeue))
            }
        }
    }

    /// Sets of switch queues whose delays are told apart, with their names; the first one has all.
    #[must_use]
    pub fn queue_groups(&self) -> Vec<(&'static str, QueueMask)> {
        let mut groups = vec![("all", QueueMask::MAX)];
        if let Some(DrivenConfig::Homa(_, levels)) = &self.hosts.driven {
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
