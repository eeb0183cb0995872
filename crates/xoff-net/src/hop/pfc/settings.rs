//! Properties of the settings of PFC with a shared pool.

use xoff_core::knobs::{Capabilities, Checked};
use xoff_core::seam::{Need, need};

use super::{Pfc, PfcConfig, PfcPort, Watchdog, Watched};
use crate::capability::{BACKPRESSURE, CONTROL_FRAMES, PFC_FRAMES};
use crate::hop::{AnyHop, Eliding, HopQueues, HopSettings, HopSite};

impl HopSettings for PfcConfig {
    fn check(&self) -> Checked {
        if self.threshold > 1.0 {
            return Err(("threshold", "threshold is a share of the free pool: 0 to 1".into()));
        }
        for (key, time) in [
            ("watchdog_detection", self.watchdog_detection),
            ("watchdog_restoration", self.watchdog_restoration),
        ] {
            if time.0 == 0 {
                return Err((key, format!("{key} must be more than zero")));
            }
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
        match self.watchdog {
            Watchdog::Off => Ok(()),
            _ => Err("pfc.watchdog breaks deadlocks in its own way: set it to \"off\""),
        }
    }

    fn releases_queues(&self) -> Option<&'static str> {
        (self.watchdog != Watchdog::Off).then_some("watchdog")
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

    fn set_aside(&self, ports: &[(u64, u64)]) -> u64 {
        let of_port = |&(rate, delay_ps)| self.set_aside_for(&PfcPort { rate, delay_ps });
        ports.iter().map(of_port).sum()
    }

    /// A lone ingress pauses when it holds its share of what it leaves free.
    fn explain(&self, memory: u64, ports: &[(u64, u64)]) -> Vec<(&'static str, u64)> {
        let pool = memory.saturating_sub(self.set_aside(ports));
        let alone = pool as f64 * self.threshold / (1.0 + self.threshold);
        vec![("pfc_pool", pool), ("pfc_pause_of_a_lone_ingress", alone as u64)]
    }

    fn frame_bytes(&self) -> u16 {
        u16::try_from(self.frame_size.0).unwrap_or(u16::MAX)
    }

    fn build(&self, site: HopSite) -> Result<AnyHop, String> {
        let ports = site.ports.iter();
        let ports = ports.map(|port| PfcPort { rate: port.rate, delay_ps: port.delay_ps });
        let ports: Vec<PfcPort> = ports.collect();
        let pfc = Pfc::new(self, &ports, site.buffer_bytes, site.nic_rate)?;
        if self.watchdog != Watchdog::Off {
            return Ok(AnyHop::WatchedPfc(Watched::new(pfc, self, ports.len())));
        }
        if site.elided.is_empty() {
            return Ok(AnyHop::Pfc(pfc));
        }
        Ok(AnyHop::ElidingPfc(Eliding::new(pfc, ports.len(), site.elided)))
    }
}
