//! Properties of SFC's settings, and the SFC of a switch built from them.

use xoff_core::knobs::{Capabilities, Checked};
use xoff_core::seam::{Need, need};

use super::{Deployment, Sfc, SfcConfig, SfcPort, SignalAt};
use crate::capability::{CONTROL_FRAMES, PFC_FRAMES};
use crate::hop::{
    AnyHop, Derived, HopContext, HopQueues, HopSettings, HopSite, NetworkSize, Uncontrolled,
};

/// Bytes of a switch's state for a receiver.
const RECEIVER_BYTES: u128 = 20;

impl HopSettings for SfcConfig {
    fn check(&self) -> Checked {
        if self.signal == SignalAt::Egress && (self.cache || self.estimator) {
            let message = "signal = \"egress\" sees only its own queue: set cache = false and \
                           estimator = false";
            return Err(("signal", message.into()));
        }
        Ok(())
    }

    /// A switch keeps no pause: each frame has the length of its own (§3.2).
    fn survives_link_down(&self) -> bool {
        true
    }

    /// A lost frame pauses no sender, and the pause of each frame ends by itself.
    fn survives_loss(&self) -> bool {
        true
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = vec![
            need(("transport", "flow_control"), &["none"], "both pause flows"),
            need(
                ("transport", "round_robin"),
                &["ready", "shortest"],
                "\"index\" models a simulator that cannot pause single flows",
            ),
        ];
        if self.to_pfc {
            let reason = "NICs must obey the frames of sfc.to_pfc = true";
            needs.push(need(("nic", "pfc"), &["true"], reason));
        }
        needs
    }

    fn provide(&self, capabilities: &mut Capabilities) {
        capabilities.provide(CONTROL_FRAMES, true);
        capabilities.provide(PFC_FRAMES, self.to_pfc);
    }

    fn queues(&self) -> HopQueues {
        HopQueues::Classes
    }

    fn needs_one_path(&self) -> Option<&'static str> {
        Some("the pause of a flow is computed from one queue on its path")
    }

    fn derives_from_base_rtt(&self) -> bool {
        [self.trigger.0, self.target.0].contains(&0)
            || self.filter_reset.0 == 0
            || self.estimator_tau.0 == 0
    }

    fn derive(&mut self, context: &HopContext) -> Result<Derived, (&'static str, String)> {
        let product = context.bandwidth_delay_product.0;
        *self = self.clone().derived(product, context.base_rtt);
        let named = |(key, message)| (key, format!("{key}: {message}"));
        SfcConfig::check(self, context.base_rtt).map_err(named)?;
        if let Some(most) = context.queue_limit.filter(|&most| self.trigger >= most) {
            let message = format!(
                "trigger ({}) is never exceeded: a queue holds {most} at \
                    most",
                self.trigger
            );
            return Err(("trigger", message));
        }
        Ok(vec![
            ("sfc_trigger", self.trigger.to_string()),
            ("sfc_target", self.target.to_string()),
            ("sfc_filter_reset", self.filter_reset.to_string()),
            ("sfc_estimator_tau", self.estimator_tau.to_string()),
        ])
    }

    fn bytes(&self, network: &NetworkSize) -> u128 {
        let cells = u64::from(self.filter_hashes) * u64::from(self.filter_cells);
        let filter = if self.filter { u128::from(cells) / 8 } else { 0 };
        let cache = if self.cache { u128::from(self.cache_entries) * RECEIVER_BYTES } else { 0 };
        let estimator = if self.estimator { network.hosts * RECEIVER_BYTES } else { 0 };
        network.switches * (filter + cache) + network.racks * estimator
    }

    fn build(&self, site: HopSite) -> Result<AnyHop, String> {
        if self.deployment == Deployment::Tor && !site.ports.iter().any(|port| port.host) {
            return Ok(AnyHop::None(Uncontrolled));
        }
        let ports = site.ports.iter();
        let ports: Vec<SfcPort> =
            ports.map(|port| SfcPort { rate: port.rate, host: port.host }).collect();
        Ok(AnyHop::Sfc(Sfc::new(self, &ports, site.hosts)))
    }
}

/// The reason that a setting of the filter has no effect, if it has none.
pub(super) fn without_filter(sfc: &SfcConfig) -> Option<String> {
    xoff_core::knobs::because(!sfc.filter, "sfc.filter = false")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hop::HopContext;
    use xoff_core::{BitRate, Bytes, Ps};

    /// A queue never exceeds a trigger of its greatest length.
    #[test]
    fn a_trigger_must_be_below_the_limit_of_a_queue() {
        let derive = |limit| {
            let context = HopContext {
                base_rtt: Ps::from_us(10),
                bandwidth_delay_product: Bytes(125_000),
                slowest: BitRate::from_gbps(100),
                host_rate: BitRate::from_gbps(100),
                queue_limit: Some(Bytes(limit)),
                longest_delays: (Ps::from_us(1), None),
            };
            SfcConfig::default().derive(&context).map_err(|(key, _)| key)
        };
        assert_eq!(derive(250_000).unwrap_err(), "trigger");
        let derived = derive(250_001).unwrap();
        assert_eq!(derived[0], ("sfc_trigger", Bytes(250_000).to_string()));
    }

    /// Each of four settings follows from the base RTT unless it is set.
    #[test]
    fn settings_that_are_not_set_derive_from_the_base_rtt() {
        let set = SfcConfig::default().derived(125_000, Ps::from_us(10));
        assert!(!set.derives_from_base_rtt());
        for unset in [
            SfcConfig { trigger: Bytes(0), ..set.clone() },
            SfcConfig { target: Bytes(0), ..set.clone() },
            SfcConfig { filter_reset: Ps(0), ..set.clone() },
            SfcConfig { estimator_tau: Ps(0), ..set },
        ] {
            assert!(unset.derives_from_base_rtt(), "{unset:?}");
        }
    }

    /// Three arrays of 65 536 bits, 32 768 entries of 20 B, and 20 B for each host at each rack.
    #[test]
    fn memory_is_that_of_filters_caches_and_estimators() {
        let network = NetworkSize { hosts: 16, switches: 1, racks: 1, switch_ports: 16 };
        let bytes = |change: fn(&mut SfcConfig)| {
            let mut config = SfcConfig::default();
            change(&mut config);
            config.bytes(&network)
        };
        assert_eq!(bytes(|_| {}), 24_576 + 655_360);
        assert_eq!(bytes(|sfc| sfc.estimator = true), 24_576 + 655_360 + 320);
        assert_eq!(bytes(|sfc| sfc.cache = false), 24_576);
        assert_eq!(bytes(|sfc| sfc.filter = false), 655_360);
    }
}
