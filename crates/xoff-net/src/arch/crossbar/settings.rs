//! Properties of the settings of a crossbar switch.

use xoff_core::seam::{Need, SectionDoc, Sections, Settings, need};

use super::CrossbarConfig;
use crate::arch::settings::{all, need_of_pauses, needs_of_ingress_queues, too_many_ports};
use crate::arch::{ArchitectureSettings, Problem};
use crate::hop::pfc::{PauseConfig, Reaction, Thresholds};
use crate::packet::CLASSES;

/// Sections `crossbar` and `pause`.
#[derive(Clone, Debug, Default)]
pub struct CrossbarSettings {
    /// Sizes and delays.
    pub config: CrossbarConfig,
    /// Flow control.
    pub pause: PauseConfig,
}

impl Settings for CrossbarSettings {
    fn read(sections: &mut impl Sections) -> Self {
        Self { config: sections.read(), pause: sections.read() }
    }

    fn sections() -> Vec<SectionDoc> {
        vec![SectionDoc::of::<CrossbarConfig>(), SectionDoc::of::<PauseConfig>()]
    }
}

impl ArchitectureSettings for CrossbarSettings {
    fn check(&self) -> Result<(), Vec<Problem>> {
        let in_section = |(key, message)| vec![(CrossbarConfig::SECTION, key, message)];
        self.config.check().map_err(in_section)
    }

    fn check_network(&self, mtu: u64, ports: usize) -> Result<(), Vec<Problem>> {
        let mut problems: Vec<Problem> = too_many_ports(ports).into_iter().collect();
        if let Err((key, message)) = self.config.check_packet(mtu) {
            problems.push((CrossbarConfig::SECTION, key, message));
        }
        all(problems)
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = needs_of_ingress_queues();
        needs.push(need(
            ("switch", "scheduler"),
            &["fifo"],
            "it serves classes by strict \
            priority",
        ));
        needs.extend(need_of_pauses(&self.pause));
        needs
    }

    fn has_ingress_queues(&self) -> bool {
        true
    }

    fn pause(&self) -> Option<&PauseConfig> {
        Some(&self.pause)
    }

    fn classes(&self) -> u8 {
        self.config.classes.clamp(1, CLASSES as u8)
    }

    fn thresholds(&self, reaction: &Reaction) -> Result<Thresholds, (&'static str, String)> {
        self.config.thresholds(&self.pause, reaction)
    }

    fn pair_bytes(&self) -> u128 {
        CLASSES as u128 * 24
    }
}
