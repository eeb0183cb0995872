//! The hop control and the scheduler of a switch.

use xoff_core::NodeId;
use xoff_core::rng::Purpose;
use xoff_net::hop::{AnyHop, HopPort, HopSite};
use xoff_net::packet::CLASSES;
use xoff_net::sched::{AnyScheduler, SchedulerSite};

use crate::setup::Setup;

impl Setup {
    /// The scheduler of an egress port.
    pub(super) fn scheduler(&self, bin_seed: u32) -> AnyScheduler {
        let levels = self.hosts.driver.levels();
        self.switch.scheduler.build(&SchedulerSite {
            queues: self.switch.hop.queues(),
            quantum: self.switch.quantum_bytes,
            bin_seed,
            priorities: levels.map_or(CLASSES as u8, |(priorities, _)| priorities),
        })
    }

    /// The hop control of a switch.
    pub(super) fn hop(&self, node: NodeId) -> Result<AnyHop, String> {
        let ports = self.topology.ports_of(node).iter().map(|port| HopPort {
            rate: port.rate.0,
            delay_ps: port.delay.0,
            host: self.topology.is_host(self.topology.neighbour(port)),
        });
        let mut hosts = self.topology.host_ids();
        let highest = || hosts.by_ref().map(|host| self.topology.port_of_host(host).rate.0).max();
        let nic_rate = self.switch.nic_rate.or_else(highest);
        self.switch.hop.build(HopSite {
            ports: ports.collect(),
            buffer: self.buffer(node),
            nic_rate: nic_rate.unwrap_or(0),
            hosts: self.topology.hosts as usize,
            elided: self.elided(node),
            carried_queues: self.hosts.driver.carries_priorities(),
            rng: self.stream(Purpose::Recirculation, node),
        })
    }

    /// The pairs of ports of a switch without backpressure.
    fn elided(&self, node: NodeId) -> Vec<(u16, u16)> {
        let Some(turns) = &self.switch.elided else { return Vec::new() };
        let ports = self.topology.port_ids_of(node).zip(self.topology.ports_of(node));
        let pairs = ports.flat_map(|(id, port)| turns.of(id).map(|egress| (port.number, egress)));
        pairs.collect()
    }

    /// Bytes of a frame to a neighbour on the wire.
    pub(super) fn control_frame(&self) -> u16 {
        self.switch.hop.frame_bytes()
    }
}
