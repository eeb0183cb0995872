//! The JSON schema of a scenario, from which an editor checks and completes it.

use std::collections::BTreeMap;

use xoff_core::knobs::{Field, Knob as _, Knobs};
use xoff_core::seam::{Seam, SectionDoc};

#[cfg(test)]
mod tests;

/// A section as the schema describes it.
#[derive(Clone, Debug)]
pub struct SectionSchema {
    /// The section's name; empty for the keys of the top level.
    pub name: String,
    /// What it is about.
    pub doc: String,
    /// Its settings.
    pub fields: Vec<Field>,
    /// Whether it is an entry of a list, `[[name]]`. Several may share a name: an entry is then
    /// one of them.
    pub repeated: bool,
}

impl SectionSchema {
    /// The schema of a section with these settings.
    #[must_use]
    pub fn of<K: Knobs>() -> Self {
        Self::once(SectionDoc::of::<K>())
    }

    /// The schema of a section that occurs once.
    pub(crate) fn once(SectionDoc { name, doc, fields }: SectionDoc) -> Self {
        Self { name: name.into(), doc, fields, repeated: false }
    }

    /// The schemas of the entries of the list `name`, whose `kind` is an implementation of a seam.
    pub fn entries<S: Seam>(name: &str) -> impl Iterator<Item = Self> {
        let kinds = S::KINDS.iter().zip(S::Kind::choices().chunks(1));
        kinds.flat_map(move |(&kind, names)| {
            S::sections(kind).into_iter().map(move |section| Self::entry(name, names, section))
        })
    }

    /// The schema of one kind of entry, and the names that its `kind` can have.
    fn entry(
        name: &str,
        kind: &'static [&'static str],
        SectionDoc { doc, mut fields, .. }: SectionDoc,
    ) -> Self {
        let kind = Field {
            name: "kind",
            doc: "What the entry is.".into(),
            expects: format!("one of {}", kind.join(", ")),
            choices: kind,
            default: String::new(),
        };
        fields.insert(0, kind);
        Self { name: name.into(), doc, fields, repeated: true }
    }
}

/// The JSON schema of a scenario with these sections, as text.
#[must_use]
pub fn json_schema(title: &str, sections: &[SectionSchema]) -> String {
    let mut properties = Vec::new();
    let mut lists: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
    for section in sections {
        if section.name.is_empty() {
            properties.extend(section.fields.iter().map(property));
        } else if section.repeated {
            lists.entry(&section.name).or_default().push(section_schema(section));
        } else {
            properties.push((section.name.clone(), section_schema(section)));
        }
    }
    properties.extend(lists.into_iter().map(|(name, kinds)| (name.into(), list_schema(kinds))));
    let mut schema = vec![
        ("$schema".into(), Json::text("http://json-schema.org/draft-07/schema#")),
        ("title".into(), Json::text(title)),
    ];
    schema.extend(closed_object(properties));
    let mut out = String::new();
    Json::Object(schema).write(&mut out, 0);
    out.push('\n');
    out
}

/// A text as JSON, with its quotes.
#[must_use]
pub fn json_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The members of an object schema that allows no other properties.
fn closed_object(properties: Vec<(String, Json)>) -> Vec<(String, Json)> {
    vec![
        ("type".into(), Json::text("object")),
        ("additionalProperties".into(), Json::Bool(false)),
        ("properties".into(), Json::Object(properties)),
    ]
}

fn section_schema(section: &SectionSchema) -> Json {
    let mut schema = vec![("description".into(), Json::text(&flowed(&section.doc)))];
    schema.extend(closed_object(section.fields.iter().map(property).collect()));
    let required = section.fields.iter().filter(|field| field.default.is_empty());
    let required: Vec<_> = required.map(|field| Json::text(field.name)).collect();
    if !required.is_empty() {
        schema.push(("required".into(), Json::List(required)));
    }
    Json::Object(schema)
}

fn list_schema(kinds: Vec<Json>) -> Json {
    let any = Json::Object(vec![("anyOf".into(), Json::List(kinds))]);
    Json::Object(vec![("type".into(), Json::text("array")), ("items".into(), any)])
}

fn property(field: &Field) -> (String, Json) {
    let mut description = format!("{} Expects {}.", flowed(&field.doc), field.expects);
    if !field.default.is_empty() {
        description.push_str(&format!(" Default: {}", field.default));
    }
    let mut schema = vec![
        ("description".into(), Json::text(&description)),
        ("type".into(), Json::text(json_type(field))),
    ];
    if !field.choices.is_empty() {
        let choices = field.choices.iter().map(|choice| Json::text(choice)).collect();
        schema.push(("enum".into(), Json::List(choices)));
    }
    (field.name.into(), Json::Object(schema))
}

/// The type of a setting, which its default shows.
fn json_type(field: &Field) -> &'static str {
    let default = field.default.as_str();
    if matches!(default, "true" | "false") {
        "boolean"
    } else if default.parse::<i64>().is_ok() {
        "integer"
    } else if default.parse::<f64>().is_ok() {
        "number"
    } else {
        "string"
    }
}

/// A doc comment without its line breaks and indentation.
fn flowed(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

enum Json {
    Text(String),
    Bool(bool),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn text(text: &str) -> Self {
        Json::Text(text.into())
    }

    fn write(&self, out: &mut String, depth: usize) {
        match self {
            Json::Text(text) => out.push_str(&json_string(text)),
            Json::Bool(flag) => out.push_str(&flag.to_string()),
            Json::List(items) => {
                write_items(out, depth, ['[', ']'], items, |out, item| item.write(out, depth + 1));
            }
            Json::Object(members) => {
                write_items(out, depth, ['{', '}'], members, |out, (name, value)| {
                    out.push_str(&json_string(name));
                    out.push_str(": ");
                    value.write(out, depth + 1);
                });
            }
        }
    }
}

fn write_items<T>(
    out: &mut String,
    depth: usize,
    [open, close]: [char; 2],
    items: &[T],
    mut write: impl FnMut(&mut String, &T),
) {
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        write(out, item);
    }
    if !items.is_empty() {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    }
    out.push(close);
}
