//! Reads sections from the layers of a scenario, and keeps what is read for the effective scenario.

use std::collections::{BTreeMap, BTreeSet};

use xoff_core::knobs::{Capabilities, Capability, Knobs};
use xoff_core::seam::{Seam, Sections};

use crate::diagnostic::Place;
use crate::effective::Effective;
use crate::layers::Layers;

/// The layers of a scenario as they are read, and the effective scenario as it grows.
pub(crate) struct Reader<'a> {
    pub(crate) layers: &'a mut Layers,
    pub(crate) effective: Effective,
    /// The value of every setting that was read, as TOML.
    values: BTreeMap<(&'static str, &'static str), String>,
    /// The settings that need a capability of another part.
    needs: Vec<(&'static str, &'static str, Capability)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(layers: &'a mut Layers) -> Self {
        let (values, needs) = (BTreeMap::new(), Vec::new());
        Self { layers, effective: Effective::default(), values, needs }
    }

    /// Reads the implementation of a seam that the setting `key` names.
    pub(super) fn choose<S: Seam>(&mut self, key: &str, kind: S::Kind) -> S {
        S::choose(key, kind, self)
    }

    /// The value of a setting, as TOML; `None` if its section has no effect.
    pub(super) fn value(&self, section: &str, key: &str) -> Option<&str> {
        let found = self.values.iter().find(|((of, name), _)| *of == section && *name == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Replaces the values of a section: another part decides them.
    pub(super) fn overrule<K: Knobs>(&mut self, section: &K) {
        for (key, value) in section.show() {
            self.values.insert((K::SECTION, key), value);
        }
    }

    /// A problem with a key of a section, or with the section as a whole.
    pub(super) fn problem(&mut self, section: &str, key: &str, message: impl AsRef<str>) {
        let place = self.layers.has(section, key);
        let message = format!("[{section}] {}", message.as_ref());
        self.layers.problem(place, message, None);
    }

    /// A problem at the first of these settings that is written down, or else at the last one.
    pub(super) fn problem_at(&mut self, settings: &[(&str, &str)], message: impl AsRef<str>) {
        let written =
            settings.iter().find(|(section, key)| self.layers.has(section, key).is_some());
        if let Some((section, key)) = written.or(settings.last()) {
            self.problem(section, key, message);
        }
    }

    /// A problem at a place of the text.
    pub(super) fn problem_in(&mut self, place: Place, message: impl Into<String>) {
        self.layers.problem(Some(place), message, None);
    }

    /// A setting has no effect in this composition: a mistake if the user wrote it.
    pub(super) fn without_effect(&mut self, section: &str, key: &str, reason: &str) {
        self.layers.unused_key(section, key, reason);
        self.effective.leave_out(section, key);
    }

    /// Finds the settings whose capability is missing.
    pub(super) fn check_capabilities(&mut self, capabilities: &Capabilities) {
        let mut dead = BTreeSet::new();
        for (section, key, capability) in std::mem::take(&mut self.needs) {
            if let Some(reason) = capabilities.missing(capability)
                && dead.insert((section, key))
            {
                self.without_effect(section, key, &reason);
            }
        }
    }
}

impl Sections for Reader<'_> {
    fn read<K: Knobs>(&mut self) -> K {
        let section: K = self.layers.section();
        let dead = section.without_effect();
        for (key, reason) in &dead {
            self.layers.unused_key(K::SECTION, key, reason);
        }
        let hidden: Vec<&str> = dead.iter().map(|(key, _)| *key).collect();
        self.effective.section(&section, &hidden);
        self.overrule(&section);
        let needs = K::needs().into_iter().filter(|(key, _)| !hidden.contains(key));
        self.needs.extend(needs.map(|(key, capability)| (K::SECTION, key, capability)));
        section
    }

    fn unused(&mut self, section: &str, reason: &str) {
        self.layers.unused(section, reason);
    }
}
