//! The layers of a scenario, read together. Problems are collected while reading.

use std::collections::BTreeSet;

use xoff_core::knobs::{Knob, Knobs};

use crate::diagnostic::{Diagnostic, Place, Problems};
use crate::document::{Document, Item, Origin, Setting};
use crate::nearest::suggestion;
use apply::{apply, at_key, expected, heading_of, named, no_effect, wrong_form, wrong_value};
use table::change_entry;

pub use table::TableRef;

mod apply;
mod table;
#[cfg(test)]
mod tests;

/// A value that could not be read. The reason is already among the problems of the [`Layers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported;

/// Documents in increasing priority, and the problems found in them so far.
#[derive(Debug)]
pub struct Layers {
    documents: Vec<Document>,
    /// The top-level names that were read or explained.
    handled: BTreeSet<String>,
    problems: Vec<Diagnostic>,
}

impl Layers {
    /// Layers of these documents, in increasing priority.
    #[must_use]
    pub fn new(documents: Vec<Document>) -> Self {
        Self { documents, handled: BTreeSet::new(), problems: Vec::new() }
    }

    /// Reads a top-level key: the value of the highest layer that has it.
    ///
    /// # Errors
    /// A layer has a value that cannot be read, even if a higher layer overrides it.
    pub fn scalar<T: Knob>(&mut self, key: &str) -> Result<Option<T>, Reported> {
        self.handled.insert(key.into());
        let mut outcome = Ok(None);
        for setting in self.documents.iter().filter_map(|document| document.get(key)) {
            let read = match &setting.item {
                Item::Scalar(value) => T::read(value),
                other => Err(expected(&T::expects(), other)),
            };
            match read {
                Ok(value) => outcome = outcome.map(|_| Some(value)),
                Err(wrong) => {
                    self.problems.push(wrong_value(setting, "", &wrong, T::choices()));
                    outcome = Err(Reported);
                }
            }
        }
        outcome
    }

    /// Overrides the defaults of a section by each layer in turn.
    pub fn fill(&mut self, knobs: &mut dyn Knobs) {
        let section = knobs.section();
        self.handled.insert(section.into());
        let heading = format!("[{section}]");
        for setting in self.documents.iter().filter_map(|document| document.get(section)) {
            match &setting.item {
                Item::Section(settings) => {
                    self.problems.extend(apply(knobs, settings, &heading));
                }
                _ => self.problems.push(wrong_form(setting, "a section", &heading)),
            }
        }
    }

    /// The place of a key in the highest layer that sets it. The top level is the section `""`.
    #[must_use]
    pub fn has(&self, section: &str, key: &str) -> Option<Place> {
        self.documents
            .iter()
            .rev()
            .find_map(|document| document.get_in(section, key))
            .map(|setting| setting.key_place.clone())
    }

    /// Whether the user sets a key, as opposed to a preset.
    #[must_use]
    pub fn set_by_user(&self, section: &str, key: &str) -> bool {
        let mut own = self.documents.iter().filter(|document| document.is_users());
        own.any(|document| document.get_in(section, key).is_some())
    }

    /// The entries of a list of sections.
    ///
    /// The highest layer that has the list replaces all others. Overrides such as
    /// `traffic.0.load=0.8` then change single keys of single entries.
    pub fn tables(&mut self, name: &str) -> Vec<TableRef> {
        self.handled.insert(name.into());
        let heading = format!("[[{name}]]");
        let mut entries = Vec::new();
        let mut changes = Vec::new();
        for document in &self.documents {
            let Some(setting) = document.get(name) else {
                continue;
            };
            match &setting.item {
                Item::List(list) => entries.clone_from(list),
                Item::Section(section) if document.origin() == Origin::Override => {
                    changes.extend(section);
                }
                _ => self.problems.push(wrong_form(setting, "a list of sections", &heading)),
            }
        }
        for change in changes {
            self.problems.extend(change_entry(&mut entries, name, change));
        }
        entries.into_iter().map(|entry| TableRef::new(&heading, entry)).collect()
    }

    /// Reports that a section has no effect in this composition: an error if the user wrote it.
    pub fn unused(&mut self, section: &str, why: &str) {
        self.handled.insert(section.into());
        let found = self.documents.iter().filter(|document| document.is_users());
        let found = found.filter_map(|document| document.get(section));
        let dead = found.map(|setting| no_effect(setting, &heading_of(setting), why));
        self.problems.extend(dead);
    }

    /// Reports that a key has no effect in this composition: an error if the user wrote it. The top
    /// level is the section `""`.
    pub fn unused_key(&mut self, section: &str, key: &str, why: &str) {
        let heading = if section.is_empty() {
            self.handled.insert(key.into());
            String::new()
        } else {
            format!("[{section}]")
        };
        let found = self.documents.iter().filter(|document| document.is_users());
        let found = found.filter_map(|document| document.get_in(section, key));
        let dead = found.map(|setting| no_effect(setting, &named(key, &heading), why));
        self.problems.extend(dead);
    }

    /// Adds an error that depends on the composition.
    pub fn problem(
        &mut self,
        place: Option<Place>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.problems.push(Diagnostic { message: message.into(), place, help });
    }

    /// Ends the reading. `known_sections` are all sections that any composition has. If the reading
    /// was cut short (`whole` is false), unread sections are no error.
    ///
    /// # Errors
    /// All problems found, in the order of the layers and of their text.
    pub fn finish(mut self, known_sections: &[&str], whole: bool) -> Result<(), Problems> {
        let mut problems = std::mem::take(&mut self.problems);
        for document in &self.documents {
            let excused = |key: &str| !whole && known_sections.contains(&key);
            let unread = document.settings().iter();
            let unread = unread.filter(|s| !self.handled.contains(&s.key) && !excused(&s.key));
            problems
                .extend(unread.filter_map(|s| self.diagnose_unread(document, s, known_sections)));
        }
        problems.sort_by_key(|problem| self.position(problem));
        // Two parts of a composition that read the same section report each error twice.
        problems.dedup();
        if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) }
    }

    /// The error of a top-level setting that no part has read.
    fn diagnose_unread(
        &self,
        document: &Document,
        setting: &Setting,
        known_sections: &[&str],
    ) -> Option<Diagnostic> {
        if known_sections.contains(&setting.key.as_str()) {
            let why = "nothing in this scenario reads it";
            return document.is_users().then(|| no_effect(setting, &heading_of(setting), why));
        }
        let mut valid = known_sections.to_vec();
        valid.extend(self.handled.iter().map(String::as_str));
        valid.sort_unstable();
        valid.dedup();
        let message = match &setting.item {
            Item::Section(_) | Item::List(_) => format!("unknown section {}", heading_of(setting)),
            _ => format!("unknown key {:?}", setting.key),
        };
        Some(at_key(setting, message, suggestion(&setting.key, &valid)))
    }

    /// The position of a problem among all. A problem without a place comes last.
    fn position(&self, problem: &Diagnostic) -> (usize, usize) {
        let Some(place) = &problem.place else {
            return (usize::MAX, 0);
        };
        let layer = self.documents.iter().position(|document| document.contains(place));
        (layer.unwrap_or(self.documents.len()), place.span.start)
    }
}
