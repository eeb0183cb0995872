//! Pipelined switches of a network.

use xoff_core::NodeId;
use xoff_core::rng::Purpose;
use xoff_net::Fabric;
use xoff_net::arch::{AnySwitch, Pipelined, PipelinedParts, PipelinedSettings};
use xoff_net::phase;

use crate::setup::Setup;
use crate::tag;

impl Setup {
    pub(super) fn build_pipelined(
        &self,
        fabric: &mut Fabric,
        node: NodeId,
        first_port: u32,
        setup: &PipelinedSettings,
    ) -> Result<AnySwitch, String> {
        let timers = self.add_switch_timers(fabric, node, first_port);
        // After the timers of ports and frames: what they resume or pause counts.
        let rank = phase::TIMER | phase::kind(6) | u64::from(node.0);
        let stage_timer = fabric.wheel.add_timer(rank, tag::STAGE | first_port);
        let bin_seed = self.stream(Purpose::QueueAssignment, node).u64() as u32;
        let scheduler = || self.scheduler(bin_seed);
        let parts = PipelinedParts {
            config: setup.config.clone(),
            capfc: setup.capfc.clone(),
            stage_timer,
            io: self.cioq(node, (first_port, timers), &setup.pause, scheduler)?,
        };
        Ok(AnySwitch::Pipelined(Box::new(Pipelined::new(parts, fabric))))
    }
}
