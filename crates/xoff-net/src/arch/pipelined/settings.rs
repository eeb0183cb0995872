//! Properties of the settings of a pipelined switch.

use xoff_core::Bytes;
use xoff_core::seam::{Need, SectionDoc, Sections, Settings, need};

use super::PipelineConfig;
use crate::arch::settings::{all, need_of_pauses, needs_of_ingress_queues, too_many_ports};
use crate::arch::{ArchitectureSettings, Problem};
use crate::hop::capfc::{CapfcConfig, Policy};
use crate::hop::pfc::{PauseConfig, Reaction, Scope, Thresholds};
use crate::packet::CLASSES;

/// Sections `pipeline`, `capfc` and `pause`.
#[derive(Clone, Debug, Default)]
pub struct PipelinedSettings {
    /// Processor and memory.
    pub config: PipelineConfig,
    /// Inputs that its egress queues blame for congestion.
    pub capfc: CapfcConfig,
    /// Flow control.
    pub pause: PauseConfig,
}

impl Settings for PipelinedSettings {
    fn read(sections: &mut impl Sections) -> Self {
        let config = sections.read();
        let pause = sections.read();
        Self { config, pause, capfc: sections.read() }
    }

    fn sections() -> Vec<SectionDoc> {
        vec![
            SectionDoc::of::<PipelineConfig>(),
            SectionDoc::of::<PauseConfig>(),
            SectionDoc::of::<CapfcConfig>(),
        ]
    }
}

impl ArchitectureSettings for PipelinedSettings {
    fn check(&self) -> Result<(), Vec<Problem>> {
        let mut problems = Vec::new();
        if self.pause.scope == Scope::Port {
            let message = "scope = \"port\": a pipelined switch counts the bytes of each class, so \
                           it pauses classes: set scope = \"class\"";
            problems.push((PauseConfig::SECTION, "scope", message.into()));
        }
        if self.capfc.policy != Policy::None && self.pause.scope == Scope::None {
            let message = "CaPFC asks neighbours to pause classes: set pause.scope = \"class\"";
            problems.push((CapfcConfig::SECTION, "policy", message.into()));
        }
        all(problems)
    }

    fn check_network(&self, mtu: u64, ports: usize) -> Result<(), Vec<Problem>> {
        let mut problems: Vec<Problem> = too_many_ports(ports).into_iter().collect();
        if let Err((key, message)) = self.config.check(Bytes(mtu)) {
            problems.push((PipelineConfig::SECTION, key, message));
        } else if self.capfc.policy != Policy::None
            && let Err((key, message)) = self.capfc.check(self.config.capacities()[1])
        {
            problems.push((CapfcConfig::SECTION, key, message));
        }
        all(problems)
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = needs_of_ingress_queues();
        let reason = "it has one egress queue per class";
        needs.push(need(("switch", "scheduler"), &["ets", "fifo"], reason));
        needs.extend(need_of_pauses(&self.pause));
        needs
    }

    fn has_ingress_queues(&self) -> bool {
        true
    }

    fn pause(&self) -> Option<&PauseConfig> {
        Some(&self.pause)
    }

    fn thresholds(&self, reaction: &Reaction) -> Result<Thresholds, (&'static str, String)> {
        self.config.thresholds(&self.pause, reaction)
    }

    fn pair_bytes(&self) -> u128 {
        CLASSES as u128 * 4
    }
}
