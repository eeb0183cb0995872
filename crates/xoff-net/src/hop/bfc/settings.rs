//! Properties of BFC's settings, and the BFC of a switch built from them.

use xoff_core::BitRate;
use xoff_core::knobs::{Capabilities, Capability, Checked, Knob as _};
use xoff_core::seam::{Need, SectionDoc, Sections, Settings, need};

use super::{
    Assignment, BackpressureKind, Bfc, BfcConfig, BfcPort, Hardware, Tofino, TofinoConfig,
};
use crate::capability::{BACKPRESSURE, CONTROL_FRAMES};
use crate::hop::{
    AnyHop, AssignedQueues, Derived, Eliding, FRAME_BYTES, HopContext, HopQueues, HopSettings,
    HopSite, NetworkSize, NicQueues,
};

/// Flows search for empty queues.
pub(super) const EMPTY_QUEUES: Capability = Capability("no flow searches for an empty queue");

/// Section `bfc`, and section `tofino` where BFC runs on Tofino2.
#[derive(Clone, Debug, Default)]
pub struct BfcSettings {
    /// BFC's own settings.
    pub config: BfcConfig,
    /// The limits of its hardware, if it is not ideal.
    pub tofino: Option<TofinoConfig>,
}

impl Settings for BfcSettings {
    fn read(sections: &mut impl Sections) -> Self {
        let config: BfcConfig = sections.read();
        if config.hardware == Hardware::Tofino {
            return Self { config, tofino: Some(sections.read()) };
        }
        sections.unused(TofinoConfig::SECTION, "bfc.hardware = \"ideal\"");
        Self { config, tofino: None }
    }

    fn sections() -> Vec<SectionDoc> {
        vec![SectionDoc::of::<BfcConfig>(), SectionDoc::of::<TofinoConfig>()]
    }
}

impl HopSettings for BfcSettings {
    fn check(&self) -> Checked {
        self.config.check().map_err(|(key, message)| (key, format!("{key}: {message}")))?;
        self.config.check_counters()
    }

    fn check_switches(
        &self,
        full_packet: u64,
        switches: &[(u32, usize)],
    ) -> Result<(), (&'static str, &'static str, String)> {
        let Some(tofino) = &self.tofino else { return Ok(()) };
        let in_section = |(key, message)| (TofinoConfig::SECTION, key, message);
        tofino.check(&self.config, full_packet).map_err(in_section)?;
        let pipelines = usize::from(tofino.pipelines.max(1));
        let Some((node, ports)) = switches.iter().find(|(_, ports)| ports % pipelines != 0) else {
            return Ok(());
        };
        let message = format!(
            "pipelines = {pipelines} does not divide the {ports} ports of switch {node}: every \
             pipeline has the same number of ports"
        );
        Err((TofinoConfig::SECTION, "pipelines", message))
    }

    fn needs(&self) -> Vec<Need> {
        if !self.config.pauses_flows() {
            return Vec::new();
        }
        vec![
            need(
                ("transport", "ack_class"),
                &["control"],
                "bfc.backpressure = \"flows\" pauses flows at their sender, which does not queue \
                 acknowledgements by flow",
            ),
            need(
                ("faults", "control_loss"),
                &["0.0"],
                "bfc.backpressure = \"flows\" does not repeat its frames, so the loss of one is \
                 permanent",
            ),
        ]
    }

    fn provide(&self, capabilities: &mut Capabilities) {
        capabilities.provide(CONTROL_FRAMES, !self.config.is_silent());
        capabilities.provide(BACKPRESSURE, true);
        capabilities.provide(EMPTY_QUEUES, self.config.assignment == Assignment::Dynamic);
    }

    fn queues(&self) -> HopQueues {
        HopQueues::Assigned(AssignedQueues {
            count: self.config.data_queues(),
            division: self.config.division(),
            pauses_flows: self.config.pauses_flows(),
            tofino: self.tofino.as_ref().map(TofinoConfig::memory),
        })
    }

    /// "BFC's NIC assigns flows to the same number of queues by the same rule as a switch". Without
    /// pauses of queues a NIC has one queue per class.
    fn nic_queues(&self, classes: u8) -> NicQueues {
        let queues = self.config.data_queues();
        let dynamic = self.config.assignment == Assignment::Dynamic;
        match self.config.division() {
            Some(division) if dynamic => NicQueues::DynamicByClass(division),
            Some(division) => NicQueues::HashedByClass(division),
            None if self.config.is_silent() => NicQueues::Classes(classes),
            None if dynamic && self.config.incast_queue => NicQueues::DynamicBesideIncast(queues),
            None if dynamic => NicQueues::Dynamic(queues),
            None => NicQueues::Hashed(queues),
        }
    }

    fn nics_obey(&self, _pfc: bool) -> bool {
        self.config.nics_obey
    }

    fn backpressure(&self) -> Option<&'static str> {
        (!self.config.is_silent()).then_some("BFC")
    }

    fn can_elide(&self) -> Result<(), &'static str> {
        if self.config.backpressure != BackpressureKind::Queues {
            return Err("elide leaves out pauses by counters: set bfc.backpressure = \"queues\"");
        }
        if self.config.sampling < 1.0 || self.tofino.is_some() {
            return Err(
                "elide leaves out counters of every packet: set bfc.hardware = \"ideal\" and \
                        bfc.sampling = 1",
            );
        }
        if self.config.classes > 1 {
            return Err("elide leaves out counters of one class: set bfc.classes = 1");
        }
        Ok(())
    }

    /// Rejects frames that arrive faster than a link sends them: their queue would grow without
    /// limit.
    fn check_rate(&self, rate: BitRate) -> Checked {
        let frame = rate.time_for(u64::from(FRAME_BYTES));
        if self.config.is_silent() || frame < self.config.refresh_period {
            return Ok(());
        }
        let message = format!(
            "refresh_period = {} is not longer than a pause frame takes on a link of {} ({frame}): \
             frames would queue without limit",
            self.config.refresh_period.show(),
            rate.show()
        );
        Err(("refresh_period", message))
    }

    fn survives_link_down(&self) -> bool {
        self.config.backpressure == BackpressureKind::Queues
    }

    fn pauses_queues(&self) -> bool {
        true
    }

    fn needs_one_path(&self) -> Option<&'static str> {
        Some("backpressure follows a flow's packets upstream")
    }

    fn reads_labels(&self) -> bool {
        self.config.incast_queue
    }

    fn derive(&mut self, context: &HopContext) -> Result<Derived, (&'static str, String)> {
        self.check_rate(context.slowest)?;
        let bfc = &self.config;
        let (longest, of_gateways) = context.longest_delays;
        let hrtt = |delay: xoff_core::Ps| xoff_core::Ps(2 * delay.0 + bfc.hop_processing.0);
        let mut derived = Derived::new();
        if let Some(delay) = of_gateways {
            derived.push(("bfc_1_hop_rtt_of_gateways", hrtt(delay).to_string()));
        }
        derived.push(("bfc_1_hop_rtt", hrtt(longest).to_string()));
        if !bfc.is_silent() {
            let threshold = context.host_rate.bytes_in(hrtt(longest));
            derived.push(("bfc_pause_threshold_one_queue", threshold.to_string()));
        }
        derived.push(("bfc_data_queues", bfc.data_queues().to_string()));
        if let Some(division) = bfc.division() {
            let (_, queues) = crate::division::Divided::range(division, 0);
            derived.push(("bfc_queues_a_class", queues.to_string()));
        }
        let entries = u32::from(bfc.queues) * bfc.table_factor;
        derived.push(("bfc_table_entries_a_port", entries.to_string()));
        Ok(derived)
    }

    fn bytes(&self, network: &NetworkSize) -> u128 {
        let tables = if self.tofino.is_some() { 4 } else { 1 };
        u128::from(self.config.data_queues()) * 24 * (network.switch_ports + network.hosts)
            + network.switch_ports * tables * 400
    }

    fn build(&self, site: HopSite) -> Result<AnyHop, String> {
        let config = &self.config;
        let ports = site.ports.iter();
        let ports = ports.map(|port| BfcPort { rate: port.rate, delay_ps: port.delay_ps });
        let ports: Vec<BfcPort> = ports.collect();
        if let Some(division) = config.division() {
            return Ok(AnyHop::BfcClasses(Bfc::with_classes(config, division, &ports)));
        }
        Ok(match config.backpressure {
            BackpressureKind::Occupancy => AnyHop::BfcOccupancy(Bfc::by_occupancy(config, &ports)),
            BackpressureKind::Flows => AnyHop::BfcFlows(Bfc::by_flow(config, &ports)),
            BackpressureKind::None => AnyHop::BfcSilent(Bfc::silent(config, &ports)),
            BackpressureKind::Queues if self.tofino.is_some() || config.sampling < 1.0 => {
                AnyHop::Tofino(Tofino::new(config, self.tofino.as_ref(), &ports, site.rng))
            }
            BackpressureKind::Queues if site.elided.is_empty() => {
                AnyHop::Bfc(Bfc::new(config, &ports))
            }
            BackpressureKind::Queues => {
                let bfc = Bfc::new(config, &ports);
                AnyHop::ElidingBfc(Eliding::new(bfc, ports.len(), site.elided))
            }
        })
    }
}

impl BfcConfig {
    /// Hardware and samples need pause counters.
    fn check_counters(&self) -> Checked {
        if self.backpressure == BackpressureKind::Queues {
            return Ok(());
        }
        let kind = self.backpressure.show();
        if self.sampling < 1.0 {
            let message = format!("sampling requires backpressure = \"queues\", not {kind}");
            return Err(("backpressure", message));
        }
        if self.hardware != Hardware::Ideal {
            let message = format!(
                "hardware = {} requires backpressure = \"queues\", not {kind}",
                self.hardware.show()
            );
            return Err(("backpressure", message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
