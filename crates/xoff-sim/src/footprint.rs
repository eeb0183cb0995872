//! Estimate of a simulation's memory, before any is allocated.
//!
//! Objects that exist once per port, host or switch are counted by the size that `build/` creates.
//! The constants are measurements of the resident memory of networks of up to 50 000 hosts. Packets
//! are those in flight in a round trip in which all hosts send. Queued packets are not counted,
//! because buffers are rarely full.

use core::mem::size_of;

use xoff_core::PortId;
use xoff_net::Packet;
use xoff_net::fabric::Captured;
use xoff_net::hop::NetworkSize;

use crate::setup::Setup;
use crate::simulation::Plan;

/// A port with its share of a switch or a NIC, of the event wheel and of results, for any scheme.
const PORT_BYTES: u128 = 1_200;

/// A switch without its ports.
const SWITCH_BYTES: u128 = 1_000;

/// The histograms of a monitored host's link, or of a port's delays.
const HISTOGRAMS_BYTES: u128 = 150_000;

/// Messages between two partitions, per window in progress.
const MAIL_BYTES: u128 = 600;

impl Setup {
    /// Estimated bytes of the simulation of this network, without nodes, links and routes, flows,
    /// and the items of the functions below.
    #[must_use]
    pub fn simulated_bytes(&self, plan: &Plan) -> u128 {
        let census = self.topology.census();
        let ports = 2 * census.links;
        let forwarding =
            census.switches * census.racks * size_of::<xoff_net::topo::Route>() as u128;
        let switch_ports: u128 = self.switch_ports().sum();
        let delays = if plan.link_delays { switch_ports * HISTOGRAMS_BYTES } else { 0 };
        let outages = self.faults.iter().filter(|fault| fault.defect.is_outage()).count();
        let routes = 2 * outages as u128 * census.bytes();
        [
            ports * PORT_BYTES,
            census.switches * SWITCH_BYTES,
            forwarding,
            self.queues(switch_ports),
            self.pairs_of_ports(),
            self.of_pairs_of_racks(),
            delays,
            routes,
            self.packets_on_their_way(),
        ]
        .into_iter()
        .fold(0, u128::saturating_add)
    }

    /// Estimated bytes of the results of `hosts` monitored hosts.
    #[must_use]
    pub fn watched_bytes(hosts: usize) -> u128 {
        hosts as u128 * HISTOGRAMS_BYTES
    }

    /// Estimated bytes of the partitions of a run with `threads` threads.
    #[must_use]
    pub fn partition_bytes(&self, plan: &Plan, threads: usize) -> u128 {
        let wanted = if plan.partitions > 0 { plan.partitions } else { threads.saturating_mul(2) };
        let partitions = self.topology.census().racks.min(wanted as u128);
        // A wheel has 5 x 1024 buckets.
        partitions * partitions * MAIL_BYTES + partitions * 5 * 1024 * 32
    }

    /// Estimated bytes of the packets of these ports captured in a step of the grid, in memory and
    /// in the file buffer.
    #[must_use]
    pub fn captured_bytes(&self, plan: &Plan, ports: &[PortId]) -> u128 {
        let rates = ports.iter().map(|&port| u128::from(self.topology.port(port).rate.0));
        let bits = rates.sum::<u128>().saturating_mul(plan.grid.0.into()) / 1_000_000_000_000;
        let packets = bits / 8 / u128::from(self.hosts.longest_packet().max(64));
        packets.saturating_mul(4 * size_of::<Captured>() as u128)
    }

    fn switch_ports(&self) -> impl Iterator<Item = u128> {
        let switches = self.topology.switch_ids();
        switches.map(|node| self.topology.ports_of(node).len() as u128)
    }

    /// Queues of switches, and the same number at NICs.
    fn queues(&self, switch_ports: u128) -> u128 {
        let census = self.topology.census();
        let network = NetworkSize {
            hosts: self.topology.hosts.into(),
            switches: census.switches,
            racks: census.racks,
            switch_ports,
        };
        self.switch.hop.bytes(&network) + switch_ports * self.switch.scheduler.port_bytes()
    }

    /// State of switches for each pair of their ports.
    fn pairs_of_ports(&self) -> u128 {
        let pairs: u128 = self.switch_ports().map(|ports| ports * ports).sum();
        let elided = u128::from(self.switch.elided.is_some());
        pairs * (self.switch.architecture.pair_bytes() + elided)
    }

    /// The base RTTs of all pairs of racks, if flows use their own.
    fn of_pairs_of_racks(&self) -> u128 {
        let racks = self.topology.census().racks;
        self.hosts.base_rtts.as_ref().map_or(0, |_| racks * racks * 8)
    }

    /// Packets and their events, of all hosts in a round trip.
    fn packets_on_their_way(&self) -> u128 {
        let (_, hosts) = self.topology.capacities();
        let frame = u128::from(self.hosts.longest_packet().max(64));
        let bytes =
            u128::from(hosts.0).saturating_mul(self.hosts.base_rtt.into()) / 8_000_000_000_000;
        (bytes / frame).saturating_mul(2 * size_of::<Packet>() as u128)
    }
}
