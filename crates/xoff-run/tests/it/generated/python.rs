//! The Python module `xoff.declared`.

use std::fmt::Write as _;

use xoff_core::table::Declared;
use xoff_run::summary::keys::{Key, Kind, Part};

use super::{Order, collect, paragraphs, wrapped};

const WIDTH: usize = 100;

const HEAD: &str = r#""""The tables and summary keys of a run, as the engine declares them.

`make declared` writes this module from the declarations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import pyarrow as pa


class Tables:
    """The tables of a run by name."""

    def table(self, name: str) -> pa.Table:
        """Return a table. Raises `UsageError` where the run has none of this name."""
        raise NotImplementedError
"#;

/// Names that cannot be attributes of a class.
const KEYWORDS: [&str; 1] = ["class"];

pub(super) fn module(tables: &[Declared], summaries: &[Part]) -> String {
    let mut text = HEAD.to_string();
    let mut names: Vec<&str> = Vec::new();
    for table in tables {
        if !names.contains(&table.empty.name) {
            names.push(table.empty.name);
            text.push_str(&property(table));
        }
    }
    let mut parts = Vec::new();
    summaries.iter().for_each(|part| collect(part, Order::After, &mut parts));
    text.extend(parts.iter().map(class));
    text
}

fn property(table: &Declared) -> String {
    let name = table.empty.name;
    let mut doc = table.doc.clone();
    if let Some(optional) = table.optional {
        doc.push_str("\n\nRaises `UsageError` where the run has none: ");
        doc.push_str(optional);
        doc.push('.');
    }
    let doc = docstring(&doc, 8);
    format!(
        "\n    @property\n    def {name}(self) -> pa.Table:\n{doc}        \
         return self.table(\"{name}\")\n"
    )
}

/// The class of an object. It extends the classes of flattened objects, which come before it.
fn class(part: &Part) -> String {
    let (keywords, keys): (Vec<&Key>, Vec<&Key>) =
        part.keys.iter().partition(|key| KEYWORDS.contains(&key.name));
    let (flattened, keys): (Vec<&Key>, Vec<&Key>) = keys.iter().partition(|key| key.flattened);
    let mut text = String::new();
    let mut bases: Vec<String> = flattened.iter().map(|key| kind(&key.kind)).collect();
    if !keywords.is_empty() {
        let base = format!("_{}Keywords", part.name);
        let own = keywords.iter().map(|key| format!("\"{}\": {}", key.name, kind(&key.kind)));
        let own = own.collect::<Vec<_>>().join(", ");
        let _ = write!(text, "\n\n{base} = TypedDict(\"{base}\", {{{own}}})\n");
        bases.push(base);
    }
    if bases.is_empty() {
        bases.push("TypedDict".into());
    }
    let _ =
        write!(text, "\n\nclass {}({}):\n{}", part.name, bases.join(", "), docstring(&part.doc, 4));
    for (index, key) in keys.iter().enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        let _ =
            write!(text, "{gap}    {}: {}\n{}", key.name, kind(&key.kind), docstring(&key.doc, 4));
    }
    text
}

/// A docstring at this indentation, as ruff formats it.
fn docstring(doc: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let paragraphs = paragraphs(doc);
    let line = format!("{margin}\"\"\"{}\"\"\"\n", paragraphs.join(" "));
    if paragraphs.len() == 1 && line.chars().count() <= WIDTH + 1 {
        return line;
    }
    let wrapped: Vec<String> = paragraphs
        .iter()
        .map(|text| {
            // The first line begins with the quotes.
            let text = format!("\"\"\"{text}");
            let mut lines = wrapped(&text, WIDTH - indent);
            if (lines.len(), paragraphs.len()) == (1, 1) {
                // Quotes after a single line would make it too long.
                lines = wrapped(&text, WIDTH - indent - 3);
            }
            lines.iter().map(|line| format!("{margin}{line}\n")).collect::<String>()
        })
        .collect();
    let [first, rest @ ..] = &wrapped[..] else { unreachable!("a text has a paragraph") };
    let rest: String =
        rest.iter().map(|text| format!("\n{}", text.replacen("\"\"\"", "", 1))).collect();
    format!("{first}{rest}{margin}\"\"\"\n")
}

fn kind(of: &Kind) -> String {
    match of {
        Kind::Integer => "int".into(),
        Kind::Number => "float | None".into(),
        Kind::Text => "str".into(),
        Kind::CdfPoint => "list[float]".into(),
        Kind::OrNull(inner) if matches!(**inner, Kind::Number) => kind(inner),
        Kind::OrNull(inner) => format!("{} | None", kind(inner)),
        Kind::List(inner) => format!("list[{}]", kind(inner)),
        Kind::Map(inner) => format!("dict[str, {}]", kind(inner)),
        Kind::Part(part) => part.name.into(),
    }
}
