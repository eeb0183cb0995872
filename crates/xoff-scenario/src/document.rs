//! One layer of a scenario: a TOML text with the place of every key and value.

use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeArray, DeTable, DeValue};
use xoff_core::knobs::Value;

use crate::diagnostic::{Diagnostic, Place, Problems};

#[cfg(test)]
mod tests;

/// The file name shown for an override from the command line.
const OVERRIDE_FILE: &str = "--set";

/// Syntax errors of a text that are shown. A file of another kind has one in each byte.
const MOST_ERRORS: usize = 10;

/// The origin of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Shipped with the program. Its settings may have no effect in a user's composition.
    Preset,
    /// The user's file.
    File,
    /// An override from the command line.
    Override,
}

/// A parsed TOML text.
#[derive(Clone, Debug)]
pub struct Document {
    origin: Origin,
    text: Arc<str>,
    settings: Vec<Setting>,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) key: String,
    pub(crate) key_place: Place,
    pub(crate) value_place: Place,
    pub(crate) item: Item,
}

/// The value of a key.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Scalar(Value),
    Section(Vec<Setting>),
    List(Vec<Entry>),
    /// A value that no setting accepts, described for the error message.
    Other(&'static str),
}

/// One entry of a list of sections.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) place: Place,
    pub(crate) settings: Vec<Setting>,
}

impl Item {
    /// A description for an error message.
    pub(crate) fn describe(&self) -> String {
        match self {
            Item::Scalar(value) => value.describe(),
            Item::Section(_) => "a section".into(),
            Item::List(_) => "a list of sections".into(),
            Item::Other(description) => (*description).into(),
        }
    }
}

impl Document {
    /// Parses the user's file.
    ///
    /// # Errors
    /// All syntax errors.
    pub fn parse(file_name: &str, text: &str) -> Result<Self, Problems> {
        Self::read(Origin::File, file_name, text)
    }

    /// Parses a preset that is shipped with the program.
    ///
    /// # Errors
    /// All syntax errors.
    pub fn preset(name: &str, text: &str) -> Result<Self, Problems> {
        Self::read(Origin::Preset, name, text)
    }

    /// Parses overrides, each `section.key=value`, in increasing priority.
    ///
    /// A value that is not TOML is taken as text, so that a shell needs no second quotes. A value
    /// that begins like TOML (a quote, a bracket) must be TOML.
    ///
    /// # Errors
    /// All syntax errors of all overrides.
    pub fn from_overrides<S: AsRef<str>>(overrides: &[S]) -> Result<Vec<Self>, Problems> {
        let mut documents = Vec::new();
        let mut problems = Vec::new();
        for text in overrides {
            match Self::from_override(text.as_ref()) {
                Ok(document) => documents.push(document),
                Err(errors) => problems.extend(errors.0),
            }
        }
        if problems.is_empty() { Ok(documents) } else { Err(Problems(problems)) }
    }

    fn from_override(text: &str) -> Result<Self, Problems> {
        let source = Source::new(OVERRIDE_FILE, text);
        let settings = match text.split_once('=') {
            None => Vec::new(),
            Some((key, value)) => source.parse(text).or_else(|errors| {
                if value.trim_start().starts_with(['"', '\'', '[', '{']) {
                    return Err(errors);
                }
                source.parse_bare(key, value)
            })?,
        };
        if settings.is_empty() {
            let message =
                "an override must be written as KEY=VALUE, such as traffic.0.load=0.8".into();
            let place = Some(source.place(0..text.len()));
            return Err(Problems(vec![Diagnostic { message, place, help: None }]));
        }
        Ok(Self { origin: Origin::Override, text: source.text, settings })
    }

    fn read(origin: Origin, file_name: &str, text: &str) -> Result<Self, Problems> {
        // A byte order mark is not part of the first line.
        let source = Source::new(file_name, text.strip_prefix('\u{feff}').unwrap_or(text));
        let settings = source.parse(&source.text)?;
        Ok(Self { origin, text: source.text, settings })
    }

    /// The origin of the document.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether the user wrote this, so that settings without effect are reported.
    pub(crate) fn is_users(&self) -> bool {
        self.origin != Origin::Preset
    }

    /// Whether a place is in this document (all overrides have the same file name).
    pub(crate) fn contains(&self, place: &Place) -> bool {
        Arc::ptr_eq(&self.text, &place.text)
    }

    /// All top-level settings, in the order of the text.
    pub(crate) fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// The top-level key or section with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        find(&self.settings, name)
    }

    /// A key of a section. An empty `section` is the top level.
    pub(crate) fn get_in(&self, section: &str, key: &str) -> Option<&Setting> {
        match (section, self.get(section).map(|setting| &setting.item)) {
            ("", _) => self.get(key),
            (_, Some(Item::Section(settings))) => find(settings, key),
            _ => None,
        }
    }
}

/// The setting with this name.
pub(crate) fn find<'a>(settings: &'a [Setting], key: &str) -> Option<&'a Setting> {
    settings.iter().find(|setting| setting.key == key)
}

/// A file that is being read, and its places.
struct Source {
    file: Arc<str>,
    text: Arc<str>,
}

impl Source {
    fn new(file: &str, text: &str) -> Self {
        Self { file: file.into(), text: text.into() }
    }

    fn place(&self, span: Range<usize>) -> Place {
        Place { file: self.file.clone(), text: self.text.clone(), span }
    }

    /// Parses TOML with the positions of the source's text.
    fn parse(&self, toml: &str) -> Result<Vec<Setting>, Problems> {
        let (table, errors) = DeTable::parse_recoverable(toml);
        if errors.is_empty() {
            return Ok(self.section(table.get_ref()));
        }
        let diagnose = |error: &toml::de::Error| Diagnostic {
            message: error.message().into(),
            place: Some(self.place(error.span().unwrap_or_default())),
            help: None,
        };
        let mut problems: Vec<_> = errors.iter().map(diagnose).collect();
        problems.sort_by_key(|problem| problem.place.as_ref().map(|place| place.span.start));
        if problems.len() > MOST_ERRORS {
            let more = problems.len() - MOST_ERRORS;
            problems.truncate(MOST_ERRORS);
            let message = format!("{}: {more} more errors like these", self.file);
            problems.push(Diagnostic { message, place: None, help: None });
        }
        Err(Problems(problems))
    }

    /// Parses an override with its value as text.
    fn parse_bare(&self, key: &str, value: &str) -> Result<Vec<Setting>, Problems> {
        let mut settings = self.parse(&format!("{key}=0"))?;
        let start = self.text.len() - value.trim_start().len();
        let value = value.trim();
        let place = self.place(start..start + value.len());
        set_innermost(&mut settings, Value::Text(value.into()), place);
        Ok(settings)
    }

    fn section(&self, table: &DeTable<'_>) -> Vec<Setting> {
        let mut settings: Vec<_> = table
            .iter()
            .map(|(key, value)| Setting {
                key: key.get_ref().to_string(),
                key_place: self.place(key.span()),
                value_place: self.place(value.span()),
                item: self.item(value.get_ref()),
            })
            .collect();
        // The parser sorts by name.
        settings.sort_by_key(|setting| setting.key_place.span.start);
        settings
    }

    fn item(&self, value: &DeValue<'_>) -> Item {
        match value {
            DeValue::String(text) => Item::Scalar(Value::Text(text.to_string())),
            DeValue::Boolean(flag) => Item::Scalar(Value::Bool(*flag)),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or(Item::Other("a number of more than 64 bits"), |number| {
                    Item::Scalar(Value::Int(number))
                }),
            DeValue::Float(number) => {
                number.as_str().parse().map_or(Item::Other("a number out of range"), |number| {
                    Item::Scalar(Value::Float(number))
                })
            }
            DeValue::Datetime(_) => Item::Other("a date"),
            DeValue::Array(array) => self.list(array),
            DeValue::Table(table) => Item::Section(self.section(table)),
        }
    }

    fn list(&self, array: &DeArray<'_>) -> Item {
        array
            .iter()
            .map(|value| {
                let settings = self.section(value.get_ref().as_table()?);
                Some(Entry { place: self.place(value.span()), settings })
            })
            .collect::<Option<Vec<_>>>()
            .map_or(Item::Other("a list of values"), Item::List)
    }
}

/// Sets the value of the only key of an override.
fn set_innermost(settings: &mut [Setting], value: Value, place: Place) {
    match settings {
        [Setting { item: Item::Section(inner), .. }] => set_innermost(inner, value, place),
        [setting] => {
            setting.item = Item::Scalar(value);
            setting.value_place = place;
        }
        _ => {}
    }
}
