//! Files made from declarations: `docs/settings.md`, parts of `docs/results.md`, and the Python
//! module `xoff.declared`. `make declared` writes them, and this test fails when they are old.

mod docs;
mod python;
mod settings;

use std::fs;
use std::path::PathBuf;

use xoff_run::summary::keys::{Described as _, Kind, Part};
use xoff_run::summary::{ConvergenceSummary, FluidSummary, Summary};

/// Compares a file with the text made from the declarations, or writes it.
fn compare(file: &str, generate: impl Fn(&str) -> String) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let written = fs::read_to_string(&file).unwrap_or_default();
    let found = generate(&written);
    if std::env::var_os("XOFF_UPDATE_DECLARED").is_some() {
        fs::write(&file, found).unwrap();
        return;
    }
    assert!(
        found == written,
        "{} does not match the declarations: run `make declared`",
        file.display()
    );
}

#[test]
fn the_documentation_is_as_declared() {
    compare("docs/results.md", |written| {
        let tables = docs::tables(&xoff_run::tables());
        let text = docs::replace(written, "tables", &tables);
        docs::replace(&text, "summary", &docs::summary(&summaries()))
    });
}

#[test]
fn the_settings_are_documented_as_declared() {
    compare("docs/settings.md", |_| settings::page());
}

#[test]
fn the_python_types_are_as_declared() {
    compare("python/xoff/declared.py", |_| python::module(&xoff_run::tables(), &summaries()));
}

/// The summaries of all engines.
fn summaries() -> Vec<Part> {
    let kinds = [Summary::kind(), FluidSummary::kind(), ConvergenceSummary::kind()];
    kinds.into_iter().flat_map(part_of).collect()
}

/// The object with declared keys that is the value or inside it.
fn part_of(kind: Kind) -> Option<Part> {
    match kind {
        Kind::OrNull(inner) | Kind::List(inner) | Kind::Map(inner) => part_of(*inner),
        Kind::Part(part) => Some(part),
        Kind::Integer | Kind::Number | Kind::Text | Kind::CdfPoint => None,
    }
}

/// The index of an object in a list with the objects within it.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Before,
    After,
}

/// Adds an object and those within it to a list, each once.
fn collect(part: &Part, order: Order, parts: &mut Vec<Part>) {
    if parts.iter().any(|known| known.name == part.name) {
        return;
    }
    if order == Order::Before {
        parts.push(part.clone());
    }
    for within in part.keys.iter().filter_map(|key| part_of(key.kind.clone())) {
        collect(&within, order, parts);
    }
    if order == Order::After {
        parts.push(part.clone());
    }
}

/// A doc comment as paragraphs without line breaks.
fn paragraphs(doc: &str) -> Vec<String> {
    let lines: Vec<&str> = doc.lines().map(str::trim).collect();
    lines.split(|line| line.is_empty()).map(|lines| lines.join(" ")).collect()
}

/// Words in lines of at most this many characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("a first line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.into());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines
}
