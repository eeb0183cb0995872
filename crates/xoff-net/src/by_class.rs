//! Settings of single traffic classes, as "3: 20KB-80KB, 5: never".

use std::collections::BTreeMap;

use xoff_core::knobs::{Knob, Value, pairs, read_text};

use crate::packet::CLASSES;

/// A setting of a single class.
pub trait ClassSetting: Copy {
    /// Its forms, with an example of classes: `SIZE or never, such as "5: never"`.
    fn forms() -> String;
    /// Reads it; `None` if it has none of these forms.
    fn parse(text: &str) -> Option<Self>;
    /// It in one of these forms.
    fn show(self) -> String;
}

/// The classes with settings of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct ByClass<T>(BTreeMap<u8, T>);

impl<T> Default for ByClass<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Copy> ByClass<T> {
    /// True if no class has its own.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if every class has.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.0.len() == CLASSES
    }

    /// True if every class has its own, and one of this kind.
    #[must_use]
    pub fn every(&self, is_of_kind: impl Fn(T) -> bool) -> bool {
        self.is_complete() && self.0.values().all(|&own| is_of_kind(own))
    }

    /// What a class has of its own; `None`: what all classes have.
    #[must_use]
    pub fn of(&self, class: u8) -> Option<T> {
        self.0.get(&class).copied()
    }

    /// The classes with what they have, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u8, T)> {
        self.0.iter().map(|(&class, &own)| (class, own))
    }
}

impl<T: ClassSetting> Knob for ByClass<T> {
    fn expects() -> String {
        format!("classes from 0 to {}, each once, with {}", CLASSES - 1, T::forms())
    }
    fn read(value: &Value) -> Result<Self, String> {
        read_text(value, |text| {
            let found = pairs(text, CLASSES as u8, T::parse)?;
            Some(Self(found.into_iter().collect()))
        })
    }
    fn show(&self) -> String {
        let parts = self.iter().map(|(class, own)| format!("{class}: {}", own.show()));
        format!("\"{}\"", parts.collect::<Vec<_>>().join(", "))
    }
}
