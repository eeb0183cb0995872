//! Switches of a network, put together from their parts.

use xoff_core::NodeId;
use xoff_core::rng::{Purpose, Rng};
use xoff_net::arch::{
    AnySwitch, CioqParts, Crossbar, CrossbarParts, CrossbarSettings, Forwarding, InBand,
    OutputQueued, Parts, PauseConfig, Thresholds,
};
use xoff_net::balance::{Adaptive, Place};
use xoff_net::buffer::{Buffer, BufferConfig};
use xoff_net::credit::CreditQueue;
use xoff_net::fabric::Fabric;
use xoff_net::mark::{Draws, MarkAt, RedEcn};
use xoff_net::phase;
use xoff_net::pint::WholeDraws;
use xoff_net::sched::{AnyScheduler, Egress, Fifo};
use xoff_net::topo::Port;
use xoff_net::trim::Trim;

use crate::setup::{EcnSetup, Setup};
use crate::tag;

/// Random numbers in one order over all switches and hosts of an uncut network, if they are.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedDraws {
    /// For marks.
    pub(super) marks: Option<Draws>,
    /// For telemetry.
    pub(super) whole: Option<WholeDraws>,
}

impl Setup {
    pub(super) fn build_switch(
        &self,
        fabric: &mut Fabric,
        node: NodeId,
        first_port: u32,
        shared: &SharedDraws,
    ) -> Result<AnySwitch, String> {
        let ports = self.topology.ports_of(node);
        let first_timer = self.add_switch_timers(fabric, node, first_port);
        let stream = |purpose| self.stream(purpose, node);
        let bin_seed = stream(Purpose::QueueAssignment).u64() as u32;
        Ok(AnySwitch::OutputQueued(OutputQueued::new(Parts {
            first_port,
            egress: ports.iter().map(|_| Egress::new(self.scheduler(bin_seed))).collect(),
            buffer: Buffer::new(&self.buffer(node)),
            hop: self.hop(node)?,
            ecn: self.ecn(node)?,
            trim: self
                .switch
                .overflow
                .trim()
                .map(|config| Box::new(Trim::new(config, ports.len(), stream(Purpose::Trimming)))),
            keeps: self.keep_in_service(fabric, first_port, ports.len()),
            credits: self.credits(fabric, first_port, ports.len()),
            in_band: self.in_band(node, shared),
            control_acks: self.hosts.transport.ack_class == xoff_host::transport::AckClass::Control,
            balancer: self.switch.balance.balancer(self.place(node)),
            forwarding: self.forwarding(node),
            marking: shared.marks.clone().unwrap_or_else(|| Draws::Own(stream(Purpose::Marking))),
            assignment: stream(Purpose::QueueAssignment),
            control_frame: self.control_frame(),
            control_loss: self.control_loss(node),
            first_timer,
        })))
    }

    pub(super) fn build_crossbar(
        &self,
        fabric: &mut Fabric,
        node: NodeId,
        (first_port, arbiter): (u32, u32),
        setup: &CrossbarSettings,
    ) -> Result<AnySwitch, String> {
        let fifo = || AnyScheduler::Fifo(Fifo::default());
        let timers = self.add_switch_timers(fabric, node, first_port);
        let parts = CrossbarParts {
            config: setup.config.clone(),
            arbiter,
            first_id: self.topology.first_port(node).0,
            stage_tag: tag::STAGE | first_port,
            io: self.cioq(node, (first_port, timers), &setup.pause, fifo)?,
        };
        Ok(AnySwitch::Crossbar(Box::new(Crossbar::new(parts, fabric))))
    }

    /// Ports, routes and pauses of a switch with ingress and egress queues, from its first port and
    /// timer, its pauses, and the scheduler of its egress ports.
    pub(super) fn cioq(
        &self,
        node: NodeId,
        (first_port, first_timer): (u32, u32),
        pause: &PauseConfig,
        scheduler: impl Fn() -> AnyScheduler,
    ) -> Result<CioqParts, String> {
        let thresholds = self.thresholds(node, pause)?;
        let (forwarding, adaptive) = self.balancing(node);
        Ok(CioqParts {
            pause: pause.clone(),
            egress: thresholds.iter().map(|_| Egress::new(scheduler())).collect(),
            thresholds,
            first_port,
            mtu: u16::try_from(self.hosts.longest_packet()).unwrap_or(u16::MAX),
            forwarding,
            adaptive,
            ecn: self.ecn(node)?,
            marking: Draws::Own(self.stream(Purpose::Marking, node)),
            control_frame: self.control_frame(),
            control_loss: self.control_loss(node),
            first_timer,
        })
    }

    /// A switch's memory.
    pub(super) fn buffer(&self, node: NodeId) -> BufferConfig {
        self.switch.buffer.of(self.topology.is_gateway(node))
    }

    /// Lets the ports of a switch keep their packets until they have been sent, if so set.
    fn keep_in_service(&self, fabric: &mut Fabric, first_port: u32, ports: usize) -> bool {
        if self.switch.keeps {
            (first_port..first_port + ports as u32)
                .for_each(|port| fabric.keep_in_service(port, false));
        }
        self.switch.keeps
    }

    /// The credits of a switch's ports, where receivers send some.
    fn credits(&self, fabric: &Fabric, first_port: u32, ports: usize) -> Vec<CreditQueue> {
        let Some(shape) = &self.switch.credits else { return Vec::new() };
        let period = |port: u32| fabric.duration(port, shape.bytes_per_credit());
        let ports = first_port..first_port + ports as u32;
        ports.map(|port| CreditQueue::new(shape, period(port))).collect()
    }

    /// A switch's routes.
    fn forwarding(&self, node: NodeId) -> Forwarding {
        let switch = self.topology.switch_index(node);
        let routes = (self.routes.by_switch[switch].clone(), self.routes.choices[switch].clone());
        Forwarding::new(routes.0, routes.1, self.ecmp(node))
    }

    /// A switch, as its load balancer sees it.
    fn place(&self, node: NodeId) -> Place {
        let ports = self.topology.ports_of(node);
        let routes = &self.routes.by_switch[self.topology.switch_index(node)];
        let is_trunk = |port: &&Port| !self.topology.is_host(self.topology.neighbour(port));
        Place {
            groups: routes.len(),
            own: (0..).zip(routes).find(|(_, route)| route.count == 0).map(|(group, _)| group),
            rates: ports.iter().map(|port| port.rate.0).collect(),
            trunks: ports.iter().filter(is_trunk).map(|port| port.number).collect(),
            rng: self.stream(Purpose::Spraying, node),
        }
    }

    /// The routes of a switch, and its adaptive load balancer if it has one.
    fn balancing(&self, node: NodeId) -> (Forwarding, Option<Adaptive>) {
        let forwarding = self.forwarding(node);
        let Some(config) = self.switch.balance.adaptive() else { return (forwarding, None) };
        let ports = self.topology.ports_of(node).len();
        let adaptive = Adaptive::new(config, ports, self.stream(Purpose::Spraying, node));
        (forwarding.with_sets(), Some(adaptive))
    }

    /// When the ingresses of a switch ask for pauses.
    pub(super) fn thresholds(
        &self,
        node: NodeId,
        pause: &PauseConfig,
    ) -> Result<Vec<Thresholds>, String> {
        let (mtu, frame) = (self.hosts.longest_packet(), u64::from(self.control_frame()));
        let ports = self.topology.ports_of(node).iter();
        let reactions = ports.map(|port| pause.reaction(port.rate.0, port.delay, mtu, frame));
        let architecture = &self.switch.architecture;
        let thresholds = reactions.map(|reaction| architecture.thresholds(&reaction));
        thresholds.map(|found| found.map_err(|(_, message)| message)).collect()
    }

    /// Share of a switch's frames to its neighbours that are lost, and the stream that says which.
    fn control_loss(&self, node: NodeId) -> Option<(f64, Rng)> {
        let loss = self.switch.control_loss;
        (loss > 0.0).then(|| (loss, self.stream(Purpose::Faults, node)))
    }

    /// Adds the timers of a switch: one a port, and one for all. Returns the first.
    pub(super) fn add_switch_timers(
        &self,
        fabric: &mut Fabric,
        node: NodeId,
        first_port: u32,
    ) -> u32 {
        let first_timer = fabric.wheel.timers();
        for (number, id) in (0..).zip(self.topology.port_ids_of(node)) {
            let rank = phase::TIMER | phase::kind(4) | u64::from(id.0);
            fabric.wheel.add_timer(rank, tag::SWITCH_TIMER | (first_port + number));
        }
        let rank = phase::TIMER | phase::kind(2) | u64::from(node.0);
        fabric.wheel.add_timer(rank, tag::SWITCH_DELAY | first_port);
        first_timer
    }

    fn in_band(&self, node: NodeId, shared: &SharedDraws) -> InBand {
        let own = || WholeDraws::Own(self.stream(Purpose::Telemetry, node));
        let ports = self.topology.ports_of(node).iter();
        let rates: Vec<u64> = ports.map(|port| port.rate.0).collect();
        self.hosts.control.in_band(&rates, shared.whole.clone().unwrap_or_else(own))
    }

    fn ecn(&self, node: NodeId) -> Result<(Vec<RedEcn>, MarkAt), String> {
        let ports = self.topology.ports_of(node);
        match &self.switch.ecn {
            EcnSetup::None => Ok((Vec::new(), MarkAt::Dequeue)),
            EcnSetup::Uniform(config) => Ok((vec![RedEcn::new(config); ports.len()], config.at)),
            EcnSetup::ByRate(table) => {
                let of_port = |port: &Port| {
                    let entry = table.iter().find(|(rate, _)| *rate == port.rate.0);
                    entry.map(|(_, config)| RedEcn::new(config)).ok_or_else(|| {
                        format!("no ECN thresholds are given for links of {}", port.rate)
                    })
                };
                Ok((ports.iter().map(of_port).collect::<Result<_, _>>()?, MarkAt::Dequeue))
            }
        }
    }
}
