use super::*;
use xoff_core::{Ps, choices, knobs, seam};

choices! {
    /// A colour.
    pub enum Colour {
        /// Like blood.
        Red = "red",
    }
}

knobs! {
    /// Where packets
    /// travel.
    pub struct Sample in "sample" {
        /// How "long".
        delay: Ps = Ps::from_us(1),
        /// Which one.
        colour: Colour = Colour::Red,
        /// How many.
        count: u8 = 3,
        /// How full.
        load: f64 = 1e-9,
        /// Whether.
        on: bool = true,
    }
}

seam! {
    /// What an entry can be.
    enum Entry: dyn std::fmt::Debug, named by EntryKind {
        /// One thing.
        A(Sample) = "a",
        /// Another thing.
        B(Sample) = "b",
    }
}

const SAMPLE: &str = r#"    "sample": {
      "description": "Where packets travel.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "delay": {
          "description": "How \"long\". Expects a duration with its unit (s, ms, us, ns or ps), such as \"2us\". Default: \"1us\"",
          "type": "string"
        },
        "colour": {
          "description": "Which one. Expects one of red. Default: \"red\"",
          "type": "string",
          "enum": [
            "red"
          ]
        },
        "count": {
          "description": "How many. Expects a whole number from 0 to 255. Default: 3",
          "type": "integer"
        },
        "load": {
          "description": "How full. Expects a non-negative number. Default: 1e-9",
          "type": "number"
        },
        "on": {
          "description": "Whether. Expects true or false. Default: true",
          "type": "boolean"
        }
      }
    }"#;

#[test]
fn a_section_is_an_object_that_allows_nothing_else() {
    let head = r#"{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "a scenario",
  "type": "object",
  "additionalProperties": false,
  "properties": {
"#;
    let expected = format!("{head}{SAMPLE}\n  }}\n}}\n");
    assert_eq!(json_schema("a scenario", &[SectionSchema::of::<Sample>()]), expected);
    assert!(json_schema("a scenario", &[]).ends_with("\"properties\": {}\n}\n"));
}

#[test]
fn the_entries_of_a_list_may_be_of_several_kinds() {
    let kinds: Vec<_> = SectionSchema::entries::<Entry>("list").collect();
    let schema = json_schema("", &kinds);
    let list = "\"list\": {\n      \"type\": \"array\",\n      \"items\": {\n        \"anyOf\": [";
    assert_eq!(schema.matches(list).count(), 1);
    assert_eq!(schema.matches("\"required\": [\n              \"kind\"\n").count(), 2);
    assert!(schema.contains("The kind of the entry. Expects one of b.\""));
}

#[test]
fn the_unnamed_section_is_the_top_level() {
    let top = SectionSchema { name: String::new(), ..SectionSchema::of::<Sample>() };
    assert!(json_schema("", &[top]).contains("\n    \"on\": {\n"));
}
