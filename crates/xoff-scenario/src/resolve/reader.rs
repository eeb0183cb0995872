//! Reads sections from the layers of a scenario, and stores their values for the effective
//! scenario.

use std::collections::{BTreeMap, BTreeSet};

use xoff_core::knobs::{Capabilities, Condition, Knobs};
use xoff_core::seam::{Seam, Sections};

use crate::diagnostic::Place;
use crate::effective::Effective;
use crate::layers::Layers;

/// The layers of a scenario and the effective scenario, while both are processed.
pub(crate) struct Reader<'a> {
    pub(crate) layers: &'a mut Layers,
    pub(crate) effective: Effective,
    /// The value of every setting that was read, as TOML.
    values: BTreeMap<(&'static str, &'static str), String>,
    /// The conditions under which settings have an effect.
    conditions: Vec<(&'static str, &'static str, Vec<Condition>)>,
    /// The settings without effect.
    dead: BTreeSet<(&'static str, &'static str)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(layers: &'a mut Layers) -> Self {
        let (values, conditions, dead) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
        Self { layers, effective: Effective::default(), values, conditions, dead }
    }

    /// Reads the implementation of a seam named by the setting `key`.
    pub(super) fn choose<S: Seam>(&mut self, key: &str, kind: S::Kind) -> S {
        S::choose(key, kind, self)
    }

    /// The value of a setting, as TOML; `None` if its section has no effect.
    pub(super) fn value(&self, section: &str, key: &str) -> Option<&str> {
        let found = self.values.iter().find(|((of, name), _)| *of == section && *name == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Replaces the values of a section that another part decides.
    pub(super) fn overrule(&mut self, section: &dyn Knobs) {
        for (key, value) in section.show() {
            self.values.insert((section.section(), key), value);
        }
    }

    /// A problem with a key of a section, or with the section as a whole.
    pub(super) fn problem(&mut self, section: &str, key: &str, message: impl AsRef<str>) {
        let place = self.layers.has(section, key);
        let message = format!("[{section}] {}", message.as_ref());
        self.layers.problem(place, message, None);
    }

    /// A problem at the first of these settings that the user wrote. If the user wrote none, at the
    /// first that is written in a layer, or else at the last one.
    pub(super) fn problem_at(&mut self, settings: &[(&str, &str)], message: impl AsRef<str>) {
        if let Some((section, key)) = self.to_blame(settings) {
            self.problem(section, key, message);
        }
    }

    /// The same for a message that names its settings with their sections.
    pub(super) fn clash_at(&mut self, settings: &[(&str, &str)], message: String) {
        let place =
            self.to_blame(settings).and_then(|(section, key)| self.layers.has(section, key));
        self.layers.problem(place, message, None);
    }

    fn to_blame<'s>(&self, settings: &[(&'s str, &'s str)]) -> Option<(&'s str, &'s str)> {
        let mut all = settings.iter().copied();
        let by_user = all.clone().find(|(section, key)| self.layers.set_by_user(section, key));
        let written = || all.clone().find(|(section, key)| self.layers.has(section, key).is_some());
        by_user.or_else(written).or_else(|| all.next_back())
    }

    /// A problem at a place of the text.
    pub(super) fn problem_in(&mut self, place: Place, message: impl Into<String>) {
        self.layers.problem(Some(place), message, None);
    }

    /// A setting has no effect in this composition, which is an error if the user wrote it.
    pub(super) fn without_effect(&mut self, section: &str, key: &str, reason: &str) {
        self.layers.unused_key(section, key, reason);
        self.effective.leave_out(section, key);
    }

    /// True if a setting has no effect. For use after [`Self::check_effects`].
    pub(super) fn is_dead(&self, section: &'static str, key: &'static str) -> bool {
        self.dead.contains(&(section, key))
    }

    /// Finds the settings without effect. The reason is the first condition that does not hold.
    pub(super) fn check_effects(&mut self, capabilities: &Capabilities) {
        for (section, key, conditions) in std::mem::take(&mut self.conditions) {
            let reason = conditions.into_iter().find_map(|condition| match condition {
                Condition::Unmet(reason) => Some(reason),
                Condition::Needs(capability) => capabilities.missing(capability),
            });
            if let Some(reason) = reason {
                self.dead.insert((section, key));
                self.without_effect(section, key, &reason);
            }
        }
    }
}

impl Sections for Reader<'_> {
    fn fill(&mut self, section: &mut dyn Knobs) {
        self.layers.fill(section);
        self.effective.section(section);
        self.overrule(section);
        let conditions = section.conditions().into_iter();
        self.conditions.extend(conditions.map(|(key, all)| (section.section(), key, all)));
    }

    fn unused(&mut self, section: &str, reason: &str) {
        self.layers.unused(section, reason);
    }
}
