//! The generated parts of `docs/results.md`.

use std::fmt::Write as _;

use xoff_core::table::Declared;
use xoff_run::summary::keys::{Key, Kind, Part};

use super::{Order, collect, paragraphs, wrapped};

const WIDTH: usize = 100;

/// Puts a text between the marks of a part.
pub(super) fn replace(document: &str, part: &str, text: &str) -> String {
    let begin = format!("<!-- generated: {part}; `make declared` writes this part -->\n");
    let end = format!("<!-- end of {part} -->\n");
    let (head, rest) = document.split_once(&begin).unwrap_or_else(|| panic!("no mark {begin:?}"));
    let (_, tail) = rest.split_once(&end).unwrap_or_else(|| panic!("no mark {end:?}"));
    format!("{head}{begin}\n{text}\n{end}{tail}")
}

/// A section for each file, in the order of declaration. Engines may have different tables under
/// one name.
pub(super) fn tables(declared: &[Declared]) -> String {
    let mut names: Vec<&str> = declared.iter().map(|table| table.empty.name).collect();
    let mut seen = Vec::new();
    names.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    let sections = names.iter().map(|name| {
        let own = declared.iter().filter(|table| table.empty.name == *name).map(table);
        format!("### `{name}.parquet`\n\n{}", own.collect::<Vec<_>>().join("\n"))
    });
    sections.collect::<Vec<_>>().join("\n")
}

fn table(table: &Declared) -> String {
    let mut text = prose(&table.doc);
    if let Some(optional) = table.optional {
        text.push_str(&prose(&format!("Only in some runs: {optional}.")));
    }
    text.push_str("| column | type | meaning |\n|---|---|---|\n");
    for ((name, column), doc) in table.empty.columns.iter().zip(&table.column_docs) {
        let _ = writeln!(text, "| `{name}` | {} | {} |", column.kind(), paragraphs(doc).join(" "));
    }
    text
}

pub(super) fn prose(doc: &str) -> String {
    let wrapped = paragraphs(doc).into_iter().map(|text| wrapped(&text, WIDTH).join("\n"));
    wrapped.map(|text| text + "\n\n").collect()
}

/// A section for each summary, and one for each object within it.
pub(super) fn summary(summaries: &[Part]) -> String {
    let mut parts: Vec<Part> = Vec::new();
    summaries.iter().for_each(|part| collect(part, Order::Before, &mut parts));
    parts.iter().map(section).collect::<Vec<_>>().join("\n")
}

fn section(part: &Part) -> String {
    let head = format!("### {}\n\n{}", part.name, prose(&part.doc));
    let keys = part.keys.iter().map(row).collect::<String>();
    format!("{head}| key | type | meaning |\n|---|---|---|\n{keys}")
}

fn row(key: &Key) -> String {
    let doc = paragraphs(&key.doc).join(" ");
    if key.flattened {
        return format!("| the keys of {} | | {doc} |\n", kind(&key.kind));
    }
    format!("| `{}` | {} | {doc} |\n", key.name, kind(&key.kind))
}

fn kind(of: &Kind) -> String {
    match of {
        Kind::Integer => "integer".into(),
        Kind::Number => "number or null".into(),
        Kind::Text => "string".into(),
        Kind::CdfPoint => "[value, share]".into(),
        Kind::OrNull(inner) if matches!(**inner, Kind::Number) => kind(inner),
        Kind::OrNull(inner) => format!("{} or null", kind(inner)),
        Kind::List(inner) => format!("list of {}", kind(inner)),
        Kind::Map(inner) => format!("object of {}", kind(inner)),
        Kind::Part(part) => format!("[{}](#{})", part.name, part.name.to_lowercase()),
    }
}
