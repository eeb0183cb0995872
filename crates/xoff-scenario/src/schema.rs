//! The JSON schema of a scenario, which editors use for checks and completion.

use std::collections::BTreeMap;

use serde::Serialize;
use xoff_core::knobs::{Field, Knob as _, Knobs};
use xoff_core::seam::{Seam, SectionDoc};

use crate::named::Named;

#[cfg(test)]
mod tests;

/// A section in the schema.
#[derive(Clone, Debug)]
pub struct SectionSchema {
    /// The section's name; empty for the keys of the top level.
    pub name: String,
    /// Its description.
    pub doc: String,
    /// Its settings.
    pub fields: Vec<Field>,
    /// Whether it is an entry of a list, `[[name]]`. Several may share a name: each entry is then
    /// one of them.
    pub repeated: bool,
}

impl SectionSchema {
    /// The schema of a section with these settings.
    #[must_use]
    pub fn of<K: Knobs + Default>() -> Self {
        Self::once(SectionDoc::of::<K>())
    }

    /// The schema of a section that occurs once.
    pub(crate) fn once(SectionDoc { name, doc, fields }: SectionDoc) -> Self {
        Self { name: name.into(), doc, fields, repeated: false }
    }

    /// The schemas of the entries of the list `name`. The `kind` of an entry is an implementation
    /// of a seam.
    pub fn entries<S: Seam>(name: &str) -> impl Iterator<Item = Self> {
        let kinds = S::kinds().into_iter().zip(S::Kind::choices().chunks(1));
        kinds.flat_map(move |(kind, names)| {
            S::sections(kind).into_iter().map(move |section| Self::entry(name, names, section))
        })
    }

    /// The schema of one kind of entry, and the possible names of its `kind`.
    fn entry(
        name: &str,
        kind: &'static [&'static str],
        SectionDoc { doc, mut fields, .. }: SectionDoc,
    ) -> Self {
        let kind = Field {
            name: "kind",
            doc: "The kind of the entry.".into(),
            expects: format!("one of {}", kind.join(", ")),
            choices: kind,
            default: String::new(),
        };
        fields.insert(0, kind);
        Self { name: name.into(), doc, fields, repeated: true }
    }
}

/// The JSON schema of a scenario with these sections, as text.
///
/// # Panics
/// Never: its keys are texts.
#[must_use]
pub fn json_schema(title: &str, sections: &[SectionSchema]) -> String {
    let mut properties = Vec::new();
    let mut lists: BTreeMap<&str, Vec<Node>> = BTreeMap::new();
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
    let draft = "http://json-schema.org/draft-07/schema#";
    let schema = Schema { draft, title, top: Object::closed(None, properties) };
    serde_json::to_string_pretty(&schema).expect("the keys are texts") + "\n"
}

#[derive(Serialize)]
struct Schema<'a> {
    #[serde(rename = "$schema")]
    draft: &'a str,
    title: &'a str,
    #[serde(flatten)]
    top: Object,
}

/// A schema within another one.
#[derive(Serialize)]
#[serde(untagged)]
enum Node {
    Value(Value),
    Object(Object),
    List {
        #[serde(rename = "type")]
        kind: &'static str,
        items: AnyOf,
    },
}

#[derive(Serialize)]
struct Value {
    description: String,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "enum", skip_serializing_if = "<[_]>::is_empty")]
    choices: &'static [&'static str],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(rename = "type")]
    kind: &'static str,
    additional_properties: bool,
    properties: Named<Node>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AnyOf {
    any_of: Vec<Node>,
}

impl Object {
    /// An object that allows no other properties.
    fn closed(description: Option<String>, properties: Vec<(String, Node)>) -> Self {
        Self {
            description,
            kind: "object",
            additional_properties: false,
            properties: Named(properties),
            required: Vec::new(),
        }
    }
}

fn section_schema(section: &SectionSchema) -> Node {
    let properties = section.fields.iter().map(property).collect();
    let required = section.fields.iter().filter(|field| field.default.is_empty());
    Node::Object(Object {
        required: required.map(|field| field.name).collect(),
        ..Object::closed(Some(flowed(&section.doc)), properties)
    })
}

fn list_schema(kinds: Vec<Node>) -> Node {
    Node::List { kind: "array", items: AnyOf { any_of: kinds } }
}

fn property(field: &Field) -> (String, Node) {
    let mut description = format!("{} Expects {}.", flowed(&field.doc), field.expects);
    if !field.default.is_empty() {
        description.push_str(&format!(" Default: {}", field.default));
    }
    let value = Value { description, kind: json_type(field), choices: field.choices };
    (field.name.into(), Node::Value(value))
}

/// The type of a setting, taken from its default.
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
