//! Setting knobs from a section, and the possible errors of a setting.

use xoff_core::knobs::{Knobs, Value};

use crate::diagnostic::Diagnostic;
use crate::document::{Item, Setting};
use crate::nearest::{nearest, suggestion};

/// Sets the valid settings and returns the errors of the others.
pub(super) fn apply<'a>(
    knobs: &mut dyn Knobs,
    settings: impl IntoIterator<Item = &'a Setting>,
    heading: &str,
) -> Vec<Diagnostic> {
    settings.into_iter().filter_map(|setting| apply_one(knobs, setting, heading)).collect()
}

fn apply_one(knobs: &mut dyn Knobs, setting: &Setting, heading: &str) -> Option<Diagnostic> {
    let fields = knobs.fields();
    let field = fields.iter().find(|field| field.name == setting.key);
    let outcome = match (&setting.item, field) {
        (Item::Scalar(value), _) => knobs.set(&setting.key, value),
        (other, Some(field)) => Err(Some(expected(&field.expects, other))),
        (_, None) => Err(None),
    };
    match outcome {
        Ok(()) => None,
        Err(Some(wrong)) => {
            let choices = field.map_or(&[][..], |field| field.choices);
            Some(wrong_value(setting, heading, &wrong, choices))
        }
        Err(None) => {
            let names: Vec<_> = fields.iter().map(|field| field.name).collect();
            let message = format!("unknown key {}", named(&setting.key, heading));
            Some(at_key(setting, message, suggestion(&setting.key, &names)))
        }
    }
}

/// The error of a value of the wrong kind.
pub(super) fn expected(expects: &str, found: &Item) -> String {
    format!("expected {expects}, found {}", found.describe())
}

/// A key in messages, with its heading (empty: the top level).
pub(super) fn named(key: &str, heading: &str) -> String {
    if heading.is_empty() { format!("{key:?}") } else { format!("{key:?} in {heading}") }
}

/// A top-level setting in messages, as it is written.
pub(super) fn heading_of(setting: &Setting) -> String {
    let name = setting.key.escape_debug();
    match setting.item {
        Item::Section(_) => format!("[{name}]"),
        Item::List(_) => format!("[[{name}]]"),
        _ => format!("\"{name}\""),
    }
}

pub(super) fn at_key(setting: &Setting, message: String, help: Option<String>) -> Diagnostic {
    Diagnostic { message, place: Some(setting.key_place.clone()), help }
}

/// The error of a setting with a value that cannot be read. A misspelt choice gets the likely one.
pub(super) fn wrong_value(
    setting: &Setting,
    heading: &str,
    wrong: &str,
    choices: &[&str],
) -> Diagnostic {
    let meant = match &setting.item {
        Item::Scalar(Value::Text(text)) => nearest(text, choices),
        _ => None,
    };
    Diagnostic {
        message: format!("wrong value for {}: {wrong}", named(&setting.key, heading)),
        place: Some(setting.value_place.clone()),
        help: meant.map(|choice| format!("did you mean \"{choice}\"?")),
    }
}

/// The error of a top-level name of the wrong form, such as a section instead of a list.
pub(super) fn wrong_form(setting: &Setting, form: &str, heading: &str) -> Diagnostic {
    let message = expected(&format!("{form} {heading}"), &setting.item);
    at_key(setting, message, None)
}

/// The error of a setting that nothing in this composition reads.
pub(super) fn no_effect(setting: &Setting, name: &str, why: &str) -> Diagnostic {
    at_key(setting, format!("setting has no effect: {name} is not used because {why}"), None)
}
