//! A partition of the network, with its own clock, events and packets.

mod links;
mod measured;
mod programs;
pub mod queue_lengths;
pub(crate) mod recent;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use xoff_core::prefetch::{prefetch, prefetch_whole};
use xoff_core::wheel::MAX_RANK;
use xoff_core::{HostId, NodeId, TimerId};
use xoff_host::flowtune::mail::ControlMail;
use xoff_host::{FlowStart, FlowStop, Hosts};
use xoff_net::Fabric;
use xoff_net::arch::{AnySwitch, Destination, Switch};
use xoff_net::fabric::{Captured, Crossings};
use xoff_net::packet::NONE;
use xoff_net::phase;
use xoff_net::topo::{Routes, Topology};

use self::queue_lengths::QueueLengths;
use self::recent::Ring;
use crate::flowtune::allocator::Allocator;
use crate::flowtune::node::Allocators;
use crate::loss_notice::LossNotice;
use crate::setup::Setup;
use crate::tag;

/// Prefetch distance in events.
const FAR_AHEAD: usize = 8;

/// The place of a port of the topology: its partition, and its number in that partition's fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) partition: u32,
    pub(crate) port: u32,
}

/// The owner of a port.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// A host of this partition: the NIC of the link.
    Host(u32),
    /// A switch of this partition, and the port's number there.
    Switch(u32, u16),
}

/// The messages from one partition to another at the end of a window.
#[derive(Debug, Default)]
pub(crate) struct PartitionMessages {
    crossings: Crossings,
    notices: Vec<LossNotice>,
    control: ControlMail,
}

/// Locations of nodes, shared by all partitions.
#[derive(Debug)]
pub(crate) struct Directory {
    /// The partition of each node.
    partition_of: Vec<u32>,
    /// The index of each host's first NIC in its partition.
    nic_of: Vec<u32>,
    /// The switch and port of each host.
    pub(crate) destinations: Vec<Destination>,
}

impl Directory {
    /// The locations of all nodes. There is a destination for each host. Each partition numbers the
    /// NICs of its hosts, one for each link, in the order of all hosts.
    pub(crate) fn new(
        partition_of: Vec<u32>,
        destinations: Vec<Destination>,
        topology: &Topology,
    ) -> Self {
        let mut counts = vec![0; partition_of.iter().max().map_or(1, |&last| last as usize + 1)];
        let nic_of = topology.host_ids().map(|host| {
            let count: &mut u32 = &mut counts[partition_of[host.index()] as usize];
            let first = *count;
            *count += topology.ports_of(host.node()).len() as u32;
            first
        });
        Self { nic_of: nic_of.collect(), partition_of, destinations }
    }

    /// The partition of a node.
    #[inline]
    pub(crate) fn partition_of(&self, node: NodeId) -> u32 {
        self.partition_of[node.index()]
    }

    /// The index of a host's first NIC in its partition.
    #[inline]
    pub(crate) fn nic_of(&self, host: HostId) -> u32 {
        self.nic_of[host.index()]
    }
}

/// A partition.
#[derive(Debug)]
pub struct Partition {
    /// Its index.
    pub index: u32,
    fabric: Fabric,
    hosts: Hosts,
    /// Switches with their node numbers.
    switches: Vec<(NodeId, AnySwitch)>,
    owners: Vec<Owner>,
    picking: Vec<u32>,
    starts: Vec<FlowStart>,
    next_start: usize,
    start_timer: TimerId,
    /// Flows that will stop.
    stops: BinaryHeap<Reverse<FlowStop>>,
    stop_timer: TimerId,
    notices: BinaryHeap<Reverse<LossNotice>>,
    message_timer: TimerId,
    /// Notices for hosts of other partitions, by partition.
    notice_outbox: Vec<Vec<LossNotice>>,
    topology: Arc<Topology>,
    routes: Arc<Routes>,
    directory: Arc<Directory>,
    perfect_recovery: bool,
    allocators: Option<Box<Allocators>>,
    queue_lengths: Option<Box<QueueLengths>>,
    /// The last packets of each port, if they are recorded.
    recent: Vec<Ring>,
}

impl Partition {
    /// Creates a partition.
    #[must_use]
    pub(crate) fn new(
        index: u32,
        setup: &Setup,
        mut fabric: Fabric,
        hosts: Hosts,
        switches: Vec<(NodeId, AnySwitch)>,
        owners: Vec<Owner>,
        directory: &Arc<Directory>,
    ) -> Self {
        // With `Instants::AsSet`, flows begin after all other events: that simulator starts them by
        // events without delay.
        let partitions = fabric.outbox.len();
        let start_rank =
            if fabric.picks_at_once() { MAX_RANK } else { phase::ARRIVAL | phase::kind(8) };
        let start_timer = fabric.wheel.add_timer(start_rank, tag::START);
        let message_timer = fabric.wheel.add_timer(phase::ARRIVAL | phase::kind(4), tag::MESSAGE);
        let stop_timer = fabric.wheel.add_timer(phase::ARRIVAL | phase::kind(12), tag::STOP);
        Self {
            index,
            fabric,
            hosts,
            switches,
            owners,
            picking: Vec::new(),
            starts: Vec::new(),
            next_start: 0,
            start_timer,
            stops: BinaryHeap::new(),
            stop_timer,
            notices: BinaryHeap::new(),
            message_timer,
            notice_outbox: vec![Vec::new(); partitions],
            topology: Arc::clone(&setup.topology),
            routes: Arc::clone(&setup.routes),
            directory: Arc::clone(directory),
            perfect_recovery: setup.hosts.recovery.relies_on_switches(),
            allocators: None,
            queue_lengths: None,
            recent: Vec::new(),
        }
    }

    /// Adds the flows that begin next, in the order of their starts.
    pub fn add_start(&mut self, start: FlowStart) {
        if self.next_start == self.starts.len() {
            self.starts.clear();
            self.next_start = 0;
            self.fabric.wheel.arm(self.start_timer, start.start_ps);
        }
        self.starts.push(start);
    }

    /// Adds a flow's stop, at any time before it.
    pub fn add_stop(&mut self, stop: FlowStop) {
        self.stops.push(Reverse(stop));
        self.await_stop();
    }

    fn await_stop(&mut self) {
        if let Some(Reverse(first)) = self.stops.peek() {
            self.fabric.wheel.arm(self.stop_timer, first.time_ps);
        }
    }

    /// Runs all events before `limit` (ps).
    pub fn run_before(&mut self, limit: u64) {
        loop {
            // Ports pick when no other event of this instant is left, or at once.
            let mut until = limit;
            if self.fabric.is_picking() {
                if !self.fabric.wheel.may_be_due(self.fabric.now) || self.fabric.picks_at_once() {
                    self.pick();
                    continue;
                }
                until = self.fabric.now + 1;
            }
            if let Some(event) = self.fabric.wheel.pop_before(until) {
                debug_assert!(event.time >= self.fabric.now, "an event in the past");
                if self.fabric.wheel.upcoming(FAR_AHEAD).is_some() {
                    self.look_ahead();
                }
                self.fabric.now = event.time;
                let mut port = event.tag;
                if event.tag >= tag::SINGLE {
                    match self.dispatch(event.tag, event.item) {
                        Some(arrived) => port = arrived,
                        None => continue,
                    }
                }
                // The only call, so that the path of a packet is compiled into this loop.
                self.arrive(port, event.item);
            } else if !self.fabric.is_picking() {
                break;
            }
        }
        self.fabric.now = limit;
    }

    /// Lower bound on the time of the next event (ps).
    pub(crate) fn not_before(&self) -> u64 {
        self.fabric.wheel.not_before()
    }

    /// With many waiting events: prefetches the data of the next arrivals. Each step uses data
    /// prefetched when its event was further ahead.
    #[inline]
    fn look_ahead(&self) {
        let arrival = |after: usize| {
            let (tag, item) = self.fabric.wheel.upcoming(after)?;
            (tag < tag::SINGLE).then_some((tag as usize, item))
        };
        if let Some((port, packet)) = arrival(FAR_AHEAD) {
            prefetch(&self.owners, port);
            self.fabric.packets.prefetch(packet);
        }
        if let Some((port, _)) = arrival(FAR_AHEAD / 2) {
            match self.owners[port] {
                Owner::Host(nic) => self.hosts.prefetch(nic),
                Owner::Switch(switch, _) => prefetch_whole(&self.switches[switch as usize]),
            }
        }
        if let Some((port, packet)) = arrival(FAR_AHEAD / 4)
            && let Owner::Switch(switch, ingress) = self.owners[port]
        {
            let packet = &self.fabric.packets[packet];
            let destinations = &self.directory.destinations;
            self.switches[switch as usize].1.prefetch(packet, destinations, ingress);
        }
    }

    /// Handles any event but an arrival. Rare handlers are out of line, so that the loop keeps its
    /// registers. Returns the port where a packet arrives after all, on a link that loses some.
    #[inline]
    fn dispatch(&mut self, event: u32, item: u32) -> Option<u32> {
        // Most of them.
        if event == tag::WAKE {
            if self.fabric.wake(item) {
                self.pick_at(item);
            }
            return None;
        }
        let (kind, number) = tag::split(event);
        match kind {
            tag::SINGLE => match event {
                tag::START => self.start_flows(),
                tag::STOP => self.stop_flows(),
                tag::MESSAGE => self.deliver_notices(),
                tag::NEXT_ARRIVAL => self.fabric.on_first_arrived(item),
                tag::SENT => {
                    if self.fabric.on_sent(item) {
                        self.pick_at(item);
                    }
                }
                tag::CHECKED => return self.fabric.check_arrival(item),
                tag::CHECKED_RECORDED => {
                    let port = self.fabric.check_arrival(item)?;
                    return Some(self.record_arrival(port, item));
                }
                tag::QUEUE_LENGTHS => self.sample_queue_lengths(),
                _ => self.allocate(event),
            },
            tag::RECORDED => return Some(self.record_arrival(number, item)),
            tag::PACE => self.hosts.on_pace(&mut self.fabric, number),
            tag::CONTROL => self.hosts.on_control_timer(&mut self.fabric, number),
            tag::TIMEOUT => self.hosts.on_timeout(&mut self.fabric, number),
            tag::INDEX => self.hosts.on_index_timer(&mut self.fabric, number),
            tag::RETRANSMISSION => self.hosts.on_retransmission_timer(&mut self.fabric, number),
            tag::DRIVEN => self.hosts.on_driven_timer(&mut self.fabric, number),
            tag::STAGE => self.on_stage(number, item),
            tag::SWITCH_TIMER => self.on_switch_timer(number),
            tag::SWITCH_DELAY => self.on_delay_timer(number),
            tag::PAUSE => self.hosts.on_pause_timer(&mut self.fabric, number),
            tag::AGENT => self.hosts.on_agent_timer(&mut self.fabric, number),
            tag::PROGRAM => self.hosts.on_program_timer(&mut self.fabric, number),
            tag::INTAKE => self.hosts.on_intake_timer(&mut self.fabric, number),
            other => unreachable!("an event of unknown kind {other:#x}"),
        }
        None
    }

    #[inline(always)]
    fn arrive(&mut self, port: u32, id: u32) {
        match self.owners[port as usize] {
            Owner::Host(nic) => self.hosts.on_packet(&mut self.fabric, nic, id),
            Owner::Switch(switch, ingress) => {
                let (node, state) = &mut self.switches[switch as usize];
                let dropped =
                    state.on_packet(&mut self.fabric, &self.directory.destinations, ingress, id);
                if let Some(id) = dropped {
                    let node = *node;
                    self.discard(node, id);
                }
            }
        }
    }

    #[inline]
    fn pick(&mut self) {
        if let Some(port) = self.fabric.take_only_picking() {
            self.pick_at(port);
            return;
        }
        self.pick_in_order();
    }

    /// Several ports pick at one instant.
    #[inline(never)]
    fn pick_in_order(&mut self) {
        let mut ports = std::mem::take(&mut self.picking);
        self.fabric.take_picking(&mut ports);
        for &port in &ports {
            self.fabric.begin_picking(port);
            self.pick_at(port);
        }
        ports.clear();
        self.picking = ports;
    }

    #[inline(always)]
    fn pick_at(&mut self, port: u32) {
        match self.owners[port as usize] {
            Owner::Host(nic) => self.hosts.pick(&mut self.fabric, nic),
            Owner::Switch(switch, number) => {
                let (node, state) = &mut self.switches[switch as usize];
                if let Some(id) = state.pick(&mut self.fabric, number) {
                    let node = *node;
                    self.discard(node, id);
                }
            }
        }
    }

    #[inline(never)]
    fn on_stage(&mut self, port: u32, id: u32) {
        let Owner::Switch(switch, number) = self.owners[port as usize] else { return };
        let (node, state) = &mut self.switches[switch as usize];
        let destinations = &self.directory.destinations;
        if let Some(id) = state.on_stage(&mut self.fabric, destinations, number, id) {
            let node = *node;
            self.discard(node, id);
        }
    }

    #[inline(never)]
    fn on_switch_timer(&mut self, port: u32) {
        if let Owner::Switch(switch, number) = self.owners[port as usize] {
            let (node, state) = &mut self.switches[switch as usize];
            if let Some(id) = state.on_port_timer(&mut self.fabric, number) {
                let node = *node;
                self.discard(node, id);
            }
        }
    }

    #[inline(never)]
    fn on_delay_timer(&mut self, port: u32) {
        if let Owner::Switch(switch, _) = self.owners[port as usize] {
            let destinations = &self.directory.destinations;
            self.switches[switch as usize].1.on_delay_timer(&mut self.fabric, destinations);
        }
    }

    #[inline(never)]
    fn start_flows(&mut self) {
        while let Some(&start) = self.starts.get(self.next_start) {
            if start.start_ps > self.fabric.now {
                self.fabric.wheel.arm(self.start_timer, start.start_ps);
                break;
            }
            self.next_start += 1;
            let nic = self.directory.nic_of(start.src);
            self.hosts.start_flow(&mut self.fabric, nic, start);
            if self.fabric.picks_at_once() {
                // The NIC picks before the next flow begins.
                self.pick();
            }
        }
    }

    #[cold]
    fn stop_flows(&mut self) {
        while let Some(&Reverse(stop)) = self.stops.peek()
            && stop.time_ps <= self.fabric.now
        {
            self.stops.pop();
            let nic = self.directory.nic_of(stop.src);
            self.hosts.stop_flow(&mut self.fabric, nic, &stop);
        }
        self.await_stop();
    }

    /// Handles a dropped packet and those linked after it.
    #[cold]
    #[inline(never)]
    fn discard(&mut self, node: NodeId, mut id: u32) {
        while id != NONE {
            let next = self.fabric.packets[id].next;
            self.discard_one(node, id);
            id = next;
        }
    }

    fn discard_one(&mut self, node: NodeId, id: u32) {
        if !self.recent.is_empty() {
            self.record_drop(node, id);
        }
        let packet = self.fabric.packets[id];
        let told = self.perfect_recovery;
        let records = &mut self.fabric.records;
        let carries = packet.record != NONE;
        let record = (told && carries).then(|| Box::new(records[packet.record]));
        if carries {
            records.remove(packet.record);
        }
        self.fabric.packets.remove(id);
        if !told {
            return;
        }
        // "On a packet drop, the switch informs the sender directly" (BFC §6.2.1): after the
        // propagation delay of the reverse path.
        let host = HostId(packet.src);
        let back = self.delay_to_host(node, host);
        let notice = LossNotice { time_ps: self.fabric.now + back, packet, record };
        let partition = self.directory.partition_of(host.node());
        if partition == self.index {
            self.add_notice(notice);
        } else {
            self.notice_outbox[partition as usize].push(notice);
        }
    }

    fn delay_to_host(&self, node: NodeId, host: HostId) -> u64 {
        let group = self.routes.group_of(host) as usize;
        let mut total = 0;
        let mut at = node;
        while at != host.node() {
            let ports = self.routes.ports(self.topology.switch_index(at), group);
            let to_host = || self.routes.access_port(host);
            let number = ports.first().copied().unwrap_or_else(to_host);
            let port = &self.topology.ports_of(at)[number as usize];
            total += port.delay.0;
            at = self.topology.neighbour(port);
        }
        total
    }

    /// Adds a loss notice for one of this partition's hosts.
    fn add_notice(&mut self, notice: LossNotice) {
        self.notices.push(Reverse(notice));
        if let Some(Reverse(first)) = self.notices.peek() {
            self.fabric.wheel.arm(self.message_timer, first.time_ps);
        }
    }

    fn deliver_notices(&mut self) {
        while let Some(Reverse(first)) = self.notices.peek() {
            if first.time_ps > self.fabric.now {
                self.fabric.wheel.arm(self.message_timer, first.time_ps);
                break;
            }
            let Some(Reverse(notice)) = self.notices.pop() else { break };
            let nic = self.directory.nic_of(HostId(notice.packet.src));
            self.hosts.on_loss(&mut self.fabric, nic, &notice.packet, notice.record.as_deref());
        }
    }

    /// Sets the allocators with NICs in this partition.
    pub(crate) fn add_allocators(&mut self, allocators: Allocators) {
        self.allocators = Some(Box::new(allocators));
    }

    #[cold]
    #[inline(never)]
    fn allocate(&mut self, event: u32) {
        if let Some(allocators) = &mut self.allocators {
            allocators.on_timer(&mut self.fabric, &mut self.hosts, event == tag::PUBLISH);
        }
    }

    /// The allocators with NICs in this partition.
    pub fn allocators(&self) -> impl Iterator<Item = &Allocator> {
        self.allocators.iter().flat_map(|allocators| allocators.all())
    }

    /// True if there are messages for another partition.
    pub(crate) fn has_mail(&self, to: usize) -> bool {
        !self.fabric.outbox[to].is_empty()
            || !self.notice_outbox[to].is_empty()
            || self.hosts.has_control_mail(to)
    }

    /// Swaps the messages for another partition with an empty value.
    pub(crate) fn swap_mail(&mut self, to: usize, messages: &mut PartitionMessages) {
        std::mem::swap(&mut self.fabric.outbox[to], &mut messages.crossings);
        std::mem::swap(&mut self.notice_outbox[to], &mut messages.notices);
        self.hosts.swap_control_mail(to, &mut messages.control);
    }

    /// Accepts the messages from another partition and leaves the value empty.
    pub(crate) fn receive(&mut self, messages: &mut PartitionMessages) {
        self.fabric.receive(&mut messages.crossings);
        for notice in messages.notices.drain(..) {
            self.add_notice(notice);
        }
        self.hosts.receive_control_mail(&mut messages.control);
    }

    /// Mutable access to its ports and links, for faults.
    pub(crate) fn fabric_mut(&mut self) -> &mut Fabric {
        &mut self.fabric
    }

    /// Its ports, links and packets.
    #[must_use]
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Starts capturing a port's packets.
    pub fn capture(&mut self, port: u32) {
        self.fabric.capture(port);
    }

    /// Moves the captured packets to the end of `all`.
    pub fn take_captured(&mut self, all: &mut Vec<Captured>) {
        all.append(&mut self.fabric.captured);
    }

    /// Its hosts.
    #[must_use]
    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// Mutable access to its hosts, to collect finished flows.
    pub fn hosts_mut(&mut self) -> &mut Hosts {
        &mut self.hosts
    }
}
