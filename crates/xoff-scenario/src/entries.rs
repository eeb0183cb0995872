//! Entries of lists, such as `[[traffic]]`. Each is an implementation of a seam.

use xoff_core::knobs::{Capability, Knob, Knobs, Value};
use xoff_core::seam::{Seam, Sections};

use crate::diagnostic::Place;
use crate::effective::Effective;
use crate::layers::{Layers, TableRef};
use crate::nearest::suggestion;

/// A list, with the source of its entries and the effective scenario.
pub(crate) struct Entries<'a> {
    /// The list's name.
    pub(crate) list: &'static str,
    pub(crate) layers: &'a mut Layers,
    pub(crate) effective: &'a mut Effective,
    /// Capabilities that the composition lacks, each with the reason.
    pub(crate) lacking: &'a [(Capability, &'a str)],
}

impl Entries<'_> {
    /// Reads an entry as the implementation named by its `kind`, and returns the place of that name
    /// too; `None` if there is no such implementation. Problems are in the layers.
    pub(crate) fn read<S: Seam>(&mut self, entry: &TableRef) -> Option<(S, Place)> {
        let (name, place) = entry.kind(self.layers).ok()?;
        let Ok(kind) = S::Kind::read(&Value::Text(name.clone())) else {
            let message = format!("unknown kind of {} \"{name}\"", self.list);
            let help = suggestion(&name, S::Kind::choices());
            self.layers.problem(Some(place), message, help);
            return None;
        };
        let mut settings = EntrySettings { entries: self, entry, name: &name };
        Some((S::read(kind, &mut settings), place))
    }
}

/// The settings of one entry, as the section of its kind.
struct EntrySettings<'a, 'b> {
    entries: &'a mut Entries<'b>,
    entry: &'a TableRef,
    name: &'a str,
}

impl Sections for EntrySettings<'_, '_> {
    fn fill(&mut self, settings: &mut dyn Knobs) {
        let Entries { list, layers, effective, lacking } = &mut *self.entries;
        self.entry.fill(layers, settings);
        let mut dead = settings.without_effect();
        for (key, capability) in settings.needs() {
            let lacking = lacking.iter().find(|(other, _)| *other == capability);
            dead.extend(lacking.map(|(_, reason)| (key, (*reason).to_owned())));
        }
        dead.iter().for_each(|(key, reason)| self.entry.unused_key(layers, key, reason));
        let unused: Vec<&str> = dead.iter().map(|(key, _)| *key).collect();
        effective.entry(list, self.name, settings, &unused);
    }

    fn unused(&mut self, section: &str, reason: &str) {
        self.entries.layers.unused(section, reason);
    }
}
