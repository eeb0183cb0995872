//! What the settings of a switch architecture say about it.

use xoff_core::knobs::{Capabilities, Knobs as _};
use xoff_core::seam::{Need, SectionDoc, Sections, Settings, need};
use xoff_core::{Bytes, knobs};

use super::{
    CapfcConfig, CrossbarConfig, PauseConfig, PipelineConfig, Policy, Reaction, Scope, Thresholds,
};
use crate::capability::{CONTROL_FRAMES, PFC_FRAMES};
use crate::packet::CLASSES;
use crate::ports::PORTS_MAX;

/// A problem with a setting: section, key, and what to write instead.
pub type Problem = (&'static str, &'static str, String);

/// What the rest of the program asks the settings of a switch architecture.
pub trait ArchitectureSettings {
    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// All problems.
    fn check(&self) -> Result<(), Vec<Problem>> {
        Ok(())
    }

    /// Checks the settings with packets of up to `mtu` bytes and switches of up to `ports` ports.
    ///
    /// # Errors
    /// All problems.
    fn check_network(&self, _mtu: u64, _ports: usize) -> Result<(), Vec<Problem>> {
        Ok(())
    }

    /// Values that it needs other settings to have.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Capabilities that it provides.
    fn provide(&self, capabilities: &mut Capabilities) {
        let pauses = self.pause().is_some_and(|pause| pause.scope != Scope::None);
        capabilities.provide(CONTROL_FRAMES, pauses);
        capabilities.provide(PFC_FRAMES, pauses);
    }

    /// True if packets wait at their ingress, too. Its own section then has the memory, and it writes no
    /// headers of congestion controls.
    fn has_ingress_queues(&self) -> bool {
        false
    }

    /// Flow control of its ingress queues, if it has any.
    fn pause(&self) -> Option<&PauseConfig> {
        None
    }

    /// Traffic classes that it tells apart.
    fn classes(&self) -> u8 {
        CLASSES as u8
    }

    /// When an ingress asks for pauses, for a link with this reaction.
    ///
    /// # Errors
    /// The key of section `pause` that loses packets or makes no sense, and what to write instead.
    fn thresholds(&self, _reaction: &Reaction) -> Result<Thresholds, (&'static str, String)> {
        Ok(Thresholds::NEVER)
    }

    /// Estimated memory for each pair of ports of a switch (bytes).
    fn pair_bytes(&self) -> u128 {
        0
    }
}

/// Values that every switch with ingress queues needs.
fn needs_of_ingress_queues() -> Vec<Need> {
    vec![
        need(("switch", "hop"), &["none"], "section pause is its flow control"),
        need(("switch", "overflow"), &["drop"], "a full ingress queue drops"),
        need(("transport", "allocator"), &["none"], "an allocator is not modelled on it"),
        need(
            ("nic", "receive_rate"),
            &["0bps"],
            "it obeys no pauses without an end, which a NIC with a receive_rate sends",
        ),
    ]
}

/// NICs must obey the pauses of their switches.
fn need_of_pauses(pause: &PauseConfig) -> Option<Need> {
    let reason = "hosts must obey the pauses of their switches";
    (pause.scope != Scope::None).then(|| need(("nic", "pfc"), &["true"], reason))
}

fn too_many_ports(ports: usize) -> Option<Problem> {
    let message = format!("such a switch has up to {PORTS_MAX} ports, and one here has {ports}");
    (ports > PORTS_MAX).then_some(("switch", "architecture", message))
}

fn all(problems: Vec<Problem>) -> Result<(), Vec<Problem>> {
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

knobs! {
    /// Packets join their egress queue when they arrive.
    pub struct OutputQueuedConfig;
}

impl ArchitectureSettings for OutputQueuedConfig {}

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
        needs.push(need(("switch", "scheduler"), &["fifo"], "it serves classes strictly"));
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
            let message = "scope = \"port\": a pipelined switch counts the bytes of each class, so it \
                           pauses classes: set scope = \"class\"";
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
        let reason = "its egress queues are those of classes";
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

xoff_core::seam! {
    /// Switch architectures: how packets cross a switch.
    pub enum ArchitectureConfig: dyn ArchitectureSettings, named by ArchitectureKind {
        /// A packet joins its egress queue when it arrives.
        OutputQueued(OutputQueuedConfig) = "output-queued",
        /// A packet waits at its ingress, crosses, and waits at its egress, section `crossbar`.
        Crossbar(CrossbarSettings) = "crossbar",
        /// A packet waits at its ingress, passes a processor of a fixed rate, and waits at its egress,
        /// section `pipeline`.
        Pipelined(PipelinedSettings) = "pipelined",
    }
}
