//! Pipelined switches of a network.

use xoff_core::rng::Purpose;
use xoff_net::Fabric;
use xoff_net::arch::{AnySwitch, Forwarding, Pipelined, PipelinedParts};
use xoff_net::balance::Adaptive;
use xoff_net::fabric::phase;
use xoff_net::mark::Draws;
use xoff_net::sched::Egress;

use super::{PipelinedSetup, Setup};
use crate::partition::tag;

impl Setup {
    pub(super) fn build_pipelined(
        &self,
        fabric: &mut Fabric,
        node: u32,
        first_port: u32,
        setup: &PipelinedSetup,
    ) -> Result<AnySwitch, String> {
        let ports = self.topology.ports_of(node);
        let switch = (node - self.topology.hosts) as usize;
        let first_timer = self.add_switch_timers(fabric, node, first_port);
        // After the timers of ports and frames: what they resume or pause counts.
        let rank = phase::TIMER | 3 << 57 | u64::from(node);
        let stage_timer = fabric.wheel.add_timer(rank, tag::STAGE | first_port);
        let stream = |purpose| self.stream(purpose, node);
        let (loss, mtu) = (self.switch.control_loss, self.hosts.longest_packet());
        let thresholds = ports.iter().map(|port| {
            let frame = u64::from(self.control_frame());
            let reaction = setup.pause.reaction(port.rate.0, port.delay, mtu, frame);
            setup.config.thresholds(&setup.pause, &reaction).map_err(|(_, message)| message)
        });
        let routes = (self.routes.by_switch[switch].clone(), self.routes.choices[switch].clone());
        let forwarding = Forwarding::new(routes.0, routes.1, self.hash_seed(node));
        let adaptive = setup.adaptive.as_ref();
        let bin_seed = stream(Purpose::QueueAssignment).u64() as u32;
        let parts = PipelinedParts {
            config: setup.config.clone(),
            capfc: setup.capfc.clone(),
            pause: setup.pause.clone(),
            thresholds: thresholds.collect::<Result<_, _>>()?,
            first_port,
            mtu: u16::try_from(mtu).unwrap_or(u16::MAX),
            egress: ports.iter().map(|_| Egress::new(self.scheduler(bin_seed))).collect(),
            forwarding: if adaptive.is_some() { forwarding.with_sets() } else { forwarding },
            adaptive: adaptive
                .map(|config| Adaptive::new(config, ports.len(), stream(Purpose::Spraying))),
            ecn: self.ecn(node)?,
            marking: Draws::Own(stream(Purpose::Marking)),
            control_frame: self.control_frame(),
            control_loss: (loss > 0.0).then(|| (loss, stream(Purpose::Faults))),
            first_timer,
            stage_timer,
        };
        Ok(AnySwitch::Pipelined(Box::new(Pipelined::new(parts, fabric))))
    }
}
