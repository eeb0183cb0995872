//! Properties of the settings of PFC with a shared pool.

use xoff_core::knobs::{Capabilities, Checked};
use xoff_core::seam::{Need, need};

use super::{Pfc, PfcConfig, PfcPort};
use crate::capability::{BACKPRESSURE, CONTROL_FRAMES, PFC_FRAMES};
use crate::hop::{AnyHop, Eliding, HopQueues, HopSettings, HopSite};

impl HopSettings for PfcConfig {
    fn check(&self) -> Checked {
        if self.threshold > 1.0 {
            return Err(("threshold", "threshold is a share of the free pool: 0 to 1".into()));
        }
        Ok(())
    }

    fn needs(&self) -> Vec<Need> {
        let shared = "PFC limits each ingress of a memory that ports share";
        vec![need(("buffer", "kind"), &["shared"], shared)]
    }

    fn provide(&self, capabilities: &mut Capabilities) {
        for capability in [CONTROL_FRAMES, PFC_FRAMES, BACKPRESSURE] {
            capabilities.provide(capability, true);
        }
    }

    fn queues(&self) -> HopQueues {
        HopQueues::Classes
    }

    fn backpressure(&self) -> Option<&'static str> {
        Some("PFC")
    }

    fn can_elide(&self) -> Result<(), &'static str> {
        Ok(())
    }

    fn survives_link_down(&self) -> bool {
        true
    }

    fn pauses_classes(&self) -> bool {
        true
    }

    fn limits_ingress(&self) -> bool {
        true
    }

    fn frame_bytes(&self) -> u16 {
        u16::try_from(self.frame_size.0).unwrap_or(u16::MAX)
    }

    fn build(&self, site: HopSite) -> Result<AnyHop, String> {
        let ports = site.ports.iter();
        let ports = ports.map(|port| PfcPort { rate: port.rate, delay_ps: port.delay_ps });
        let ports: Vec<PfcPort> = ports.collect();
        let pfc = Pfc::new(self, &ports, site.buffer_bytes, site.nic_rate)?;
        if site.elided.is_empty() {
            return Ok(AnyHop::Pfc(pfc));
        }
        Ok(AnyHop::ElidingPfc(Eliding::new(pfc, ports.len(), site.elided)))
    }
}
