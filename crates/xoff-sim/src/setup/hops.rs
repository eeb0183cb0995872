//! Hop controls of a network, and the schedulers beside them.

use xoff_core::rng::Purpose;
use xoff_net::hop::{
    AnyHop, BackpressureKind, Bfc, BfcConfig, BfcPort, Carried, Deployment, Eliding, FRAME_BYTES,
    Pfc, PfcPort, Sfc, SfcConfig, SfcPort, Tofino, TofinoConfig, Uncontrolled,
};
use xoff_net::packet::CLASSES;
use xoff_net::sched::{
    AnyScheduler, Drr, DrrFlows, Ets, Fifo, PFabric, PerFlow, PerFlowSrf, Priorities, SfqCodel,
    Srf, TrafficManager,
};

use super::{HopSetup, Scheduling, Setup};

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
    pub(super) fn scheduler(&self, bin_seed: u32) -> AnyScheduler {
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

    pub(super) fn hop(&self, node: u32) -> Result<AnyHop, String> {
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

    pub(super) fn control_frame(&self) -> u16 {
        match &self.switch.hop {
            HopSetup::Pfc(config) => u16::try_from(config.frame_size.0).unwrap_or(u16::MAX),
            HopSetup::None | HopSetup::Bfc(_) | HopSetup::Sfc(_) => FRAME_BYTES,
        }
    }
}
