//! Lists of sections, such as `[[traffic]]`.

use xoff_core::knobs::{Knob, Knobs, Value};

use super::apply::{apply, at_key, expected, named, no_effect, wrong_value};
use super::{Layers, Reported};
use crate::diagnostic::{Diagnostic, Place};
use crate::document::{Entry, Item, Setting, find};

/// The key with the kind of a list's entry.
const KIND: &str = "kind";

/// One entry of a list of sections.
#[derive(Clone, Debug)]
pub struct TableRef {
    heading: String,
    entry: Entry,
}

impl TableRef {
    pub(super) fn new(heading: &str, entry: Entry) -> Self {
        Self { heading: heading.into(), entry }
    }

    /// The kind of the entry, with the place of that value.
    ///
    /// # Errors
    /// The entry has no `kind`, or it is not text.
    pub fn kind(&self, layers: &mut Layers) -> Result<(String, Place), Reported> {
        let diagnostic = match find(&self.entry.settings, KIND) {
            Some(Setting { item: Item::Scalar(Value::Text(kind)), value_place, .. }) => {
                return Ok((kind.clone(), value_place.clone()));
            }
            Some(setting) => {
                let wrong = expected(&String::expects(), &setting.item);
                wrong_value(setting, &self.heading, &wrong, &[])
            }
            None => Diagnostic {
                message: format!("missing key {}", named(KIND, &self.heading)),
                place: Some(self.place()),
                help: None,
            },
        };
        layers.problems.push(diagnostic);
        Err(Reported)
    }

    /// Applies the entry's settings other than `kind`.
    pub fn fill(&self, layers: &mut Layers, knobs: &mut dyn Knobs) {
        let settings = self.entry.settings.iter().filter(|setting| setting.key != KIND);
        layers.problems.extend(apply(knobs, settings, &self.heading));
    }

    /// Reports that a key has no effect in this composition: an error if the entry has it.
    pub fn unused_key(&self, layers: &mut Layers, key: &str, why: &str) {
        let found = find(&self.entry.settings, key);
        let dead = found.map(|setting| no_effect(setting, &named(key, &self.heading), why));
        layers.problems.extend(dead);
    }

    /// The place of the entry's beginning.
    #[must_use]
    pub fn place(&self) -> Place {
        self.entry.place.clone()
    }

    /// The place of a key of the entry.
    #[must_use]
    pub fn has(&self, key: &str) -> Option<Place> {
        find(&self.entry.settings, key).map(|setting| setting.key_place.clone())
    }
}

/// Applies an override such as `traffic.0.load=0.8`. Its `change` is `0.load=0.8`.
pub(super) fn change_entry(
    entries: &mut [Entry],
    name: &str,
    change: &Setting,
) -> Option<Diagnostic> {
    let (Item::Section(changes), Ok(number)) = (&change.item, change.key.parse::<usize>()) else {
        let message = format!("[[{name}]] is a list: name the entry to change");
        let help = format!("{name}.0.key=value changes the first entry");
        return Some(at_key(change, message, Some(help)));
    };
    let count = entries.len();
    let Some(entry) = entries.get_mut(number) else {
        let message = format!("[[{name}]] has no entry {number}");
        let help = match count {
            0 => format!("there is none to change: add [[{name}]] to the file"),
            _ => format!("the entries are numbered 0 to {}", count - 1),
        };
        return Some(at_key(change, message, Some(help)));
    };
    for new in changes {
        entry.settings.retain(|old| old.key != new.key);
        entry.settings.push(new.clone());
    }
    None
}
