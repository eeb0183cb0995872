//! Properties of the settings of PFC with a shared pool.

use xoff_core::Bytes;
use xoff_core::knobs::{Capabilities, Checked};
use xoff_core::seam::{Need, need};

use super::{MemoryPlan, Pfc, PfcConfig, Watchdog, Watched};
use crate::buffer::{BufferConfig, Profile, check_ppm};
use crate::by_class::ByClass;
use crate::capability::{BACKPRESSURE, CLASS_MEMORY, CONTROL_FRAMES, PFC_FRAMES};
use crate::hop::{AnyHop, Eliding, HopQueues, HopSettings, HopSite, PfcPort};

impl HopSettings for PfcConfig {
    fn check(&self) -> Checked {
        if self.threshold > 1.0 {
            return Err(("threshold", "threshold is a share of the free pool: 0 to 1".into()));
        }
        check_ppm("threshold", self.threshold)?;
        if !(1..=1_500).contains(&self.frame_size.0) {
            return Err(("frame_size", "a pause frame has 1B to 1500B".into()));
        }
        let times = self.headroom_oversubscription;
        if times != 0.0 && times < 1.0 {
            let message = "headroom_oversubscription is 0, or 1 or more: headrooms over their pool";
            return Err(("headroom_oversubscription", message.into()));
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
        for capability in [CONTROL_FRAMES, PFC_FRAMES, BACKPRESSURE, CLASS_MEMORY] {
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
            Watchdog::Off if self.headroom_oversubscription > 0.0 => {
                Err("its table has no pool of headrooms: set pfc.headroom_oversubscription = 0")
            }
            Watchdog::Off => Ok(()),
            _ => Err("pfc.watchdog breaks deadlocks in its own way: set it to \"off\""),
        }
    }

    fn loses_packets(&self) -> Option<(&'static str, &'static str)> {
        if self.watchdog != Watchdog::Off {
            Some(("watchdog", "drops packets of queues that stay paused"))
        } else if self.headroom_oversubscription > 1.0 {
            Some(("headroom_oversubscription", "drops packets that find the headroom used up"))
        } else {
            None
        }
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

    fn headroom(&self, port: &PfcPort) -> Option<Bytes> {
        self.loses_packets().is_none().then(|| Bytes(self.headroom_bytes(port)))
    }

    fn set_aside(&self, buffer: &BufferConfig, ports: &[PfcPort]) -> u64 {
        MemoryPlan { pfc: Some(self), buffer }.aside(ports).bytes()
    }

    fn replaced(&self, classes: &ByClass<Profile>) -> Vec<&'static str> {
        let of_each = |has: fn(&Profile) -> bool| classes.every(|own| own.lossy || has(&own));
        let replaced = [
            ("threshold", of_each(|own| own.alpha.is_some())),
            ("reserve", of_each(|own| own.reserve.is_some())),
            ("resume_offset", of_each(|own| own.resume_offset.is_some())),
            ("headroom_factor", of_each(|own| own.headroom.is_some())),
            ("headroom_oversubscription", of_each(|own| own.lossy)),
        ];
        replaced.into_iter().filter(|(_, all)| *all).map(|(key, _)| key).collect()
    }

    fn explain(&self, buffer: &BufferConfig, ports: &[PfcPort]) -> Vec<(String, u64)> {
        MemoryPlan { pfc: Some(self), buffer }.explain(ports)
    }

    fn frame_bytes(&self) -> u16 {
        self.frame_size.0 as u16
    }

    fn build(&self, site: HopSite) -> Result<AnyHop, String> {
        let ports = site.pfc_ports();
        let plan = MemoryPlan { pfc: Some(self), buffer: &site.buffer };
        if self.watchdog != Watchdog::Off {
            let pfc = Pfc::by_class(plan, &ports, site.nic_rate)?;
            return Ok(AnyHop::WatchedPfc(Watched::new(pfc, self, ports.len())));
        }
        if plan.is_by_class() {
            return Ok(AnyHop::PfcByClass(Pfc::by_class(plan, &ports, site.nic_rate)?));
        }
        let pfc = Pfc::new(self, &site.buffer, &ports, site.nic_rate)?;
        if site.elided.is_empty() {
            return Ok(AnyHop::Pfc(pfc));
        }
        Ok(AnyHop::ElidingPfc(Eliding::new(pfc, ports.len(), site.elided)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked_at_their_bounds() {
        let check = |change: fn(&mut PfcConfig)| {
            let mut config = PfcConfig::default();
            change(&mut config);
            config.check().map_err(|(key, _)| key)
        };
        assert_eq!(check(|pfc| pfc.threshold = 1.0), Ok(()));
        assert_eq!(check(|pfc| pfc.threshold = 1.01), Err("threshold"));
        assert_eq!(check(|pfc| pfc.headroom_oversubscription = 1.0), Ok(()));
        let error = check(|pfc| pfc.headroom_oversubscription = 0.99);
        assert_eq!(error, Err("headroom_oversubscription"));
        assert_eq!(check(|pfc| pfc.watchdog_detection.0 = 0), Err("watchdog_detection"));
        assert_eq!(check(|pfc| pfc.watchdog_restoration.0 = 0), Err("watchdog_restoration"));
    }

    /// Headrooms that one pool holds in full lose nothing.
    #[test]
    fn a_pool_of_headrooms_and_a_watchdog_lose_packets_and_leave_no_pair_out() {
        for (times, watchdog, elides, loses) in [
            (0.0, Watchdog::Off, true, None),
            (1.0, Watchdog::Off, false, None),
            (1.5, Watchdog::Off, false, Some("headroom_oversubscription")),
            (0.0, Watchdog::Forward, false, Some("watchdog")),
        ] {
            let config =
                PfcConfig { headroom_oversubscription: times, watchdog, ..PfcConfig::default() };
            assert_eq!(config.can_elide().is_ok(), elides, "{times}");
            assert_eq!(config.loses_packets().map(|(key, _)| key), loses, "{times}");
        }
    }
}
