//! Pipelined switches of a network.

use xoff_core::rng::Purpose;
use xoff_net::Fabric;
use xoff_net::arch::{AnySwitch, Pipelined, PipelinedParts, PipelinedSettings};
use xoff_net::fabric::phase;
use xoff_net::mark::Draws;
use xoff_net::sched::Egress;

use super::Setup;
use crate::partition::tag;

impl Setup {
    pub(super) fn build_pipelined(
        &self,
        fabric: &mut Fabric,
        node: u32,
        first_port: u32,
        setup: &PipelinedSettings,
    ) -> Result<AnySwitch, String> {
        let ports = self.topology.ports_of(node);
        let first_timer = self.add_switch_timers(fabric, node, first_port);
        // After the timers of ports and frames: what they resume or pause counts.
        let rank = phase::TIMER | 3 << 57 | u64::from(node);
        let stage_timer = fabric.wheel.add_timer(rank, tag::STAGE | first_port);
        let stream = |purpose| self.stream(purpose, node);
        let (forwarding, adaptive) = self.balancing(node);
        let bin_seed = stream(Purpose::QueueAssignment).u64() as u32;
        let parts = PipelinedParts {
            config: setup.config.clone(),
            capfc: setup.capfc.clone(),
            pause: setup.pause.clone(),
            thresholds: self.thresholds(node, &setup.pause)?,
            first_port,
            mtu: u16::try_from(self.hosts.longest_packet()).unwrap_or(u16::MAX),
            egress: ports.iter().map(|_| Egress::new(self.scheduler(bin_seed))).collect(),
            forwarding,
            adaptive,
            ecn: self.ecn(node)?,
            marking: Draws::Own(stream(Purpose::Marking)),
            control_frame: self.control_frame(),
            control_loss: self.control_loss(node),
            first_timer,
            stage_timer,
        };
        Ok(AnySwitch::Pipelined(Box::new(Pipelined::new(parts, fabric))))
    }
}
