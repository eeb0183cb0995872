//! Builds the partitions of a network from its description.

mod hops;
mod pipelined;
mod switches;

use std::sync::{Arc, Mutex};

use xoff_core::{FirstOfStreams, HostId, Mrg32k3a, Ps, Wheel};
use xoff_host::Hosts;
use xoff_host::cc::Carries;
use xoff_host::hosts::{HostTags, StreamSpec};
use xoff_net::arch::{ArchitectureConfig, Destination};
use xoff_net::fabric::{Fabric, FabricTags, Instants, Peer, PortSpec, serialisation};
use xoff_net::mark::Draws;
use xoff_net::pint::WholeDraws;
use xoff_net::telemetry::HOPS_MAX;

use self::switches::SharedDraws;
use crate::faults::Defect;
use crate::flowtune::allocator::Allocator;
use crate::flowtune::domain::Domain;
use crate::flowtune::node::Allocators;
use crate::flowtune::{FlowtuneSetup, Site};
use crate::partition::{Directory, Owner, Partition};
use crate::setup::{MarkDraws, Setup};
use crate::tag;

/// Tags of the events of hosts.
const HOST_TAGS: HostTags = HostTags {
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

/// Adds a port without a link that stands for a switch's arbiter. The arbiter is asked at the end
/// of an instant, after all ports. Returns its number.
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
    /// Builds the partitions. `records`: they record arrivals.
    ///
    /// # Errors
    /// The reason that the network cannot be built.
    pub fn build(&self, of_node: &[u32], records: bool) -> Result<Vec<Partition>, String> {
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
        let mut local = vec![0u32; topology.ports().len()];
        let mut counts = vec![0u32; partitions];
        for (index, port) in topology.ports().iter().enumerate() {
            let count = &mut counts[of_node[port.node.index()] as usize];
            local[index] = *count;
            *count += 1;
        }
        let directory = Arc::new(self.directory(of_node));
        (0..partitions)
            .map(|index| {
                self.build_partition((index as u32, partitions), &local, &directory, records)
            })
            .collect()
    }

    /// Two packets of one link must not arrive at one instant: their order would be
    /// undefined.
    fn check_durations(&self) -> Result<(), String> {
        let frames = [self.hosts.overhead() + 1, self.hosts.ack_bytes(), self.control_frame()];
        let shortest = u64::from(frames.into_iter().min().unwrap_or(0));
        let timeless =
            |port: &&xoff_net::topo::Port| serialisation(self.rounding, port.rate.0, shortest) == 0;
        match self.topology.ports().iter().find(timeless) {
            Some(port) if self.instants == Instants::Phases => Err(format!(
                "a frame of {shortest} bytes takes no time on a link of {}: set network.rounding = \
                 \"1ps-up\"",
                port.rate
            )),
            _ => Ok(()),
        }
    }

    fn directory(&self, of_node: &[u32]) -> Directory {
        let destination = |host| Destination {
            group: self.routes.group_of(host),
            access_port: self.routes.access_port(host),
        };
        let destinations = self.topology.host_ids().map(destination).collect();
        Directory::new(of_node.to_vec(), destinations, &self.topology)
    }

    /// The ports of a partition, in the order of the topology.
    fn fabric(
        &self,
        (index, partitions): (u32, usize),
        local: &[u32],
        directory: &Directory,
        records: bool,
    ) -> Fabric {
        let topology = &self.topology;
        let tags = FabricTags {
            arrival: if records { tag::RECORDED } else { tag::ARRIVAL },
            wake: tag::WAKE,
            sent: tag::SENT,
            next_arrival: tag::NEXT_ARRIVAL,
            checked: if records { tag::CHECKED_RECORDED } else { tag::CHECKED },
        };
        let mut fabric = Fabric::new(self.rounding, self.instants, partitions, Wheel::new(), tags);
        for (id, port) in topology.port_ids().zip(topology.ports()) {
            if directory.partition_of(port.node) != index {
                continue;
            }
            let far = directory.partition_of(topology.neighbour(port));
            let number = local[port.peer.index()];
            let peer = if far == index {
                Peer::Local(number)
            } else {
                Peer::Remote { partition: far, port: number }
            };
            fabric.add_port(&PortSpec {
                id: id.0,
                peer_id: port.peer.0,
                rate: port.rate.0,
                delay: port.delay,
                peer,
            });
        }
        for errors in &self.receive_errors {
            let ports: Vec<u32> = errors.ports.iter().map(|port| local[port.index()]).collect();
            let draws = Mrg32k3a::stream(1, 1, errors.stream);
            fabric.lose_on_arrival(&ports, errors.share, draws);
        }
        fabric
    }

    fn shared_draws(&self) -> SharedDraws {
        match self.switch.mark_draws {
            MarkDraws::Own => SharedDraws::default(),
            MarkDraws::FirstOfStreams(first) => {
                let streams = FirstOfStreams::new(1, 1, first);
                SharedDraws {
                    marks: Some(Draws::Shared(Arc::new(Mutex::new(streams)))),
                    whole: Some(WholeDraws::Shared(Arc::default())),
                }
            }
        }
    }

    fn build_partition(
        &self,
        (index, partitions): (u32, usize),
        local: &[u32],
        directory: &Arc<Directory>,
        records: bool,
    ) -> Result<Partition, String> {
        let topology = &self.topology;
        let mut fabric = self.fabric((index, partitions), local, directory, records);
        let mut hosts = Hosts::new(self.hosts.clone(), HOST_TAGS);
        if self.faults.iter().any(|fault| fault.defect == Defect::Gone) {
            let numbers = self.topology.node_ids().map(|node| self.topology.given_number(node));
            hosts.keep_order(numbers.collect());
        }
        if self.routes.has_several_links() {
            hosts.choose_links(&self.routes, self.host_hash());
        }
        let shared = self.shared_draws();
        if let Some(draws) = &shared.whole {
            hosts.share_draws(draws.clone());
        }
        let mut switches = Vec::new();
        let mut owners = vec![Owner::Host(0); fabric.port_count()];
        for node in topology.node_ids().filter(|&node| directory.partition_of(node) == index) {
            let first = local[topology.first_port(node).index()];
            if let Some(host) = topology.host(node) {
                for id in topology.port_ids_of(node) {
                    let own = local[id.index()];
                    owners[own as usize] = Owner::Host(hosts.add_nic(&mut fabric, host, id, own));
                    if self.switch.keeps && self.instants == Instants::AsSet {
                        fabric.keep_in_service(own, true);
                    }
                }
                continue;
            }
            let switch = switches.len() as u32;
            for number in 0..topology.ports_of(node).len() as u16 {
                owners[(first + u32::from(number)) as usize] = Owner::Switch(switch, number);
            }
            let built = match &self.switch.architecture {
                ArchitectureConfig::OutputQueued(_) => {
                    self.build_switch(&mut fabric, node, first, &shared)?
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
        if records {
            built.record_arrivals();
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
        let partition_of = |host: HostId| directory.partition_of(host.node());
        for (stream, src, dst) in flowtune.streams() {
            if partition_of(dst) == index {
                hosts.read_stream(stream);
            }
            if partition_of(src) == index {
                let label = FlowtuneSetup::label(self.seed, src, dst);
                let partition = Some(partition_of(dst)).filter(|&there| there != index);
                let spec = StreamSpec { stream, src, dst, label, partition };
                hosts.open_stream(fabric, directory.nic_of(src), spec);
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
        Ok((!all.is_empty()).then(|| {
            let payload = self.hosts.frame.payload;
            Allocators::new(all, (self.seed, payload), fabric)
        }))
    }
}
