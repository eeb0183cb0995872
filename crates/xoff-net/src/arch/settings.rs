//! Properties of a switch architecture's settings.

use xoff_core::knobs::Capabilities;
use xoff_core::seam::{Need, need};

use crate::capability::{CONTROL_FRAMES, PFC_FRAMES};
use crate::hop::pfc::{PauseConfig, Reaction, Scope, Thresholds};
use crate::packet::CLASSES;
use crate::ports::PORTS_MAX;

/// A problem with a setting: section, key, and what to write instead.
pub type Problem = (&'static str, &'static str, String);

/// The interface of a switch architecture's settings.
pub trait ArchitectureSettings {
    /// Checks the settings on their own.
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

    /// Values that it needs in other settings.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Capabilities that it provides.
    fn provide(&self, capabilities: &mut Capabilities) {
        let pauses = self.pause().is_some_and(|pause| pause.scope != Scope::None);
        capabilities.provide(CONTROL_FRAMES, pauses);
        capabilities.provide(PFC_FRAMES, pauses);
    }

    /// True if packets also wait at their ingress. The memory is then set in the architecture's own
    /// section, and the switch writes no headers of congestion controls.
    fn has_ingress_queues(&self) -> bool {
        false
    }

    /// Flow control of its ingress queues, if it has any.
    fn pause(&self) -> Option<&PauseConfig> {
        None
    }

    /// Traffic classes that it distinguishes.
    fn classes(&self) -> u8 {
        CLASSES as u8
    }

    /// The thresholds at which an ingress requests pauses, for a link with this reaction.
    ///
    /// # Errors
    /// The key of section `pause` that loses packets or is invalid, and what to write instead.
    fn thresholds(&self, _reaction: &Reaction) -> Result<Thresholds, (&'static str, String)> {
        Ok(Thresholds::NEVER)
    }

    /// Estimated memory per pair of ports of a switch (bytes).
    fn pair_bytes(&self) -> u128 {
        0
    }
}

/// Values that every switch with ingress queues needs.
pub(super) fn needs_of_ingress_queues() -> Vec<Need> {
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
pub(super) fn need_of_pauses(pause: &PauseConfig) -> Option<Need> {
    let reason = "hosts must obey the pauses of their switches";
    (pause.scope != Scope::None).then(|| need(("nic", "pfc"), &["true"], reason))
}

pub(super) fn too_many_ports(ports: usize) -> Option<Problem> {
    let message = format!("such a switch has up to {PORTS_MAX} ports, and one here has {ports}");
    (ports > PORTS_MAX).then_some(("switch", "architecture", message))
}

pub(super) fn all(problems: Vec<Problem>) -> Result<(), Vec<Problem>> {
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
