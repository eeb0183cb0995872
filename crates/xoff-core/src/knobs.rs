//! Settings, each declared once.
//!
//! [`knobs!`](crate::knobs!) makes a configuration struct from one declaration. The declaration
//! gives the fields, their defaults and their documentation. From it come the parser for scenario
//! files, its error messages, the effective scenario and the JSON schema.
//! [`choices!`](crate::choices!) does the same for a setting with a few named values.

use std::collections::{BTreeMap, BTreeSet};

pub use forms::{expected, pairs, read_text};

use crate::quoted::quoted;
use crate::units::{BitRate, Bytes, Ps};

mod forms;

/// A value from a scenario file.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text, with a unit for quantities: `"100Gbps"`.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
}

impl Value {
    /// Describes the value for an error message.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Value::Text(text) => format!("the text \"{text}\""),
            Value::Int(number) => format!("the number {number} without a unit"),
            Value::Float(number) => format!("the number {number} without a unit"),
            Value::Bool(flag) => format!("{flag}"),
        }
    }
}

/// The type of a setting.
pub trait Knob: Sized {
    /// Description of a valid value: `a duration such as "2us"`.
    fn expects() -> String;
    /// The allowed names, for a setting with named values.
    fn choices() -> &'static [&'static str] {
        &[]
    }
    /// Parses a value.
    ///
    /// # Errors
    /// A description of the expected value.
    fn read(value: &Value) -> Result<Self, String>;
    /// Formats the value as in a scenario file (TOML).
    fn show(&self) -> String;
}

/// The outcome of a check of settings. The error is the key that is wrong, and what to write
/// instead.
pub type Checked = Result<(), (&'static str, String)>;

/// One setting of a section, for documentation and the schema.
#[derive(Clone, Debug)]
pub struct Field {
    /// Key of the setting.
    pub name: &'static str,
    /// Meaning, unit and source.
    pub doc: String,
    /// Description of a valid value.
    pub expects: String,
    /// The allowed names, for a setting with named values.
    pub choices: &'static [&'static str],
    /// Default, formatted as in a scenario file.
    pub default: String,
}

/// A property of a composition on which settings of several parts depend, such as "packets are
/// marked". Its text completes the sentence "the setting has no effect because ...", unless the
/// part that withholds the capability gives a better reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capability(pub &'static str);

/// Some queues of the network distinguish traffic classes.
pub const CLASSES: Capability = Capability("no queue distinguishes traffic classes");

/// The capabilities of a composition. Its parts provide them.
#[derive(Clone, Debug, Default)]
pub struct Capabilities {
    provided: BTreeSet<Capability>,
    reasons: BTreeMap<Capability, String>,
}

impl Capabilities {
    /// A part provides a capability, if a condition holds.
    pub fn provide(&mut self, capability: Capability, condition: bool) {
        if condition {
            self.provided.insert(capability);
        }
    }

    /// A part provides a capability, or says why it does not.
    pub fn provide_or(&mut self, capability: Capability, reason: Option<String>) {
        match reason {
            None => {
                self.provided.insert(capability);
            }
            Some(reason) => {
                self.reasons.entry(capability).or_insert(reason);
            }
        }
    }

    /// The reason to give if a capability is missing.
    pub fn explain(&mut self, capability: Capability, reason: impl Into<String>) {
        self.reasons.entry(capability).or_insert(reason.into());
    }

    /// Why a capability is missing, unless some part provides it.
    #[must_use]
    pub fn missing(&self, capability: Capability) -> Option<String> {
        if self.provided.contains(&capability) {
            return None;
        }
        let reason = self.reasons.get(&capability).map_or(capability.0, String::as_str);
        Some(reason.to_owned())
    }

    /// The capabilities that some part provides.
    pub fn provided(&self) -> impl Iterator<Item = Capability> {
        self.provided.iter().copied()
    }
}

/// A condition under which a setting has an effect. It is declared with the setting.
#[derive(Clone, Copy, Debug)]
pub enum Effect<K> {
    /// Other settings of the section decide. `Some`: the setting has no effect, for this reason.
    Unless(fn(&K) -> Option<String>),
    /// Another part of the composition must have this capability.
    Needs(Capability),
}

/// A condition of one setting of a section that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Other settings of the section leave it without effect, for this reason.
    Unmet(String),
    /// Another part must have this capability.
    Needs(Capability),
}

/// The reason of an [`Effect::Unless`] where a condition holds.
#[must_use]
pub fn because(condition: bool, reason: &str) -> Option<String> {
    condition.then(|| reason.to_owned())
}

/// A section of settings, made by [`knobs!`](crate::knobs!).
pub trait Knobs {
    /// Name of the section in a scenario file; empty if there are no settings.
    fn section(&self) -> &'static str;
    /// Description of the section.
    fn doc(&self) -> &'static str;
    /// The settings in the order of declaration, with their defaults.
    fn fields(&self) -> Vec<Field>;
    /// Sets one of them.
    ///
    /// # Errors
    /// A description of the expected value; `None` if there is no such setting.
    fn set(&mut self, name: &str, value: &Value) -> Result<(), Option<String>>;
    /// The settings as `(name, TOML value)`.
    fn show(&self) -> Vec<(&'static str, String)>;
    /// The conditions under which its settings have an effect, by setting, with those of this
    /// section decided. Settings without one always have an effect.
    fn conditions(&self) -> Vec<(&'static str, Vec<Condition>)>;

    /// The settings that other settings of this section leave without effect, and why.
    fn without_effect(&self) -> Vec<(&'static str, String)> {
        let first = |conditions: Vec<Condition>| {
            conditions.into_iter().find_map(|condition| match condition {
                Condition::Unmet(reason) => Some(reason),
                Condition::Needs(_) => None,
            })
        };
        let all = self.conditions().into_iter();
        all.filter_map(|(name, conditions)| Some((name, first(conditions)?))).collect()
    }

    /// The settings that need a capability of another part.
    fn needs(&self) -> Vec<(&'static str, Capability)> {
        let needs = self.conditions().into_iter().flat_map(|(name, conditions)| {
            conditions.into_iter().filter_map(move |condition| match condition {
                Condition::Unmet(_) => None,
                Condition::Needs(capability) => Some((name, capability)),
            })
        });
        needs.collect()
    }
}

impl<K> Effect<K> {
    /// The condition that is left once the section's own settings are known; `None` if they meet
    /// it.
    #[must_use]
    pub fn decide(&self, section: &K) -> Option<Condition> {
        match self {
            Self::Unless(reason) => reason(section).map(Condition::Unmet),
            Self::Needs(capability) => Some(Condition::Needs(*capability)),
        }
    }
}

fn unit_error(expects: &str, value: &Value) -> String {
    format!("expected {expects}, found {}", value.describe())
}

/// Splits `"12.5MB"` into the number as (digits, decimal places) and the unit.
fn split_unit(text: &str) -> Option<(u128, u32, &str)> {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    Some((digits, fraction.len() as u32, unit.trim()))
}

/// Parses a quantity exactly, in integers. A value with a fraction of the smallest unit is an
/// error.
fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (digits, places, unit) = split_unit(text)?;
    let factor = units.iter().find(|(name, _)| *name == unit)?.1;
    let scaled = digits.checked_mul(u128::from(factor))?;
    let divisor = 10u128.checked_pow(places)?;
    (scaled % divisor == 0).then(|| u64::try_from(scaled / divisor).ok()).flatten()
}

macro_rules! quantity_knob {
    ($type:ident, $expects:literal, $units:expr) => {
        impl Knob for $type {
            fn expects() -> String {
                $expects.into()
            }
            fn read(value: &Value) -> Result<Self, String> {
                match value {
                    Value::Text(text) => quantity(text, &$units).map($type),
                    _ => None,
                }
                .ok_or_else(|| unit_error($expects, value))
            }
            fn show(&self) -> String {
                format!("\"{self}\"")
            }
        }
    };
}

quantity_knob!(
    Ps,
    "a duration with its unit (s, ms, us, ns or ps), such as \"2us\"",
    [("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)]
);
quantity_knob!(
    BitRate,
    "a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as \"100Gbps\"",
    [
        ("Tbps", 1_000_000_000_000),
        ("Gbps", 1_000_000_000),
        ("Mbps", 1_000_000),
        ("Kbps", 1_000),
        ("bps", 1)
    ]
);
quantity_knob!(
    Bytes,
    "a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as \"12MB\"",
    [
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("KB", 1_000),
        ("kB", 1_000),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("B", 1)
    ]
);

macro_rules! whole_knob {
    ($($type:ty),*) => {$(
        impl Knob for $type {
            fn expects() -> String {
                // TOML's integers have a sign.
                format!("a whole number from 0 to {}", (<$type>::MAX as u64).min(i64::MAX as u64))
            }
            fn read(value: &Value) -> Result<Self, String> {
                let found = match value {
                    Value::Int(number) => <$type>::try_from(*number).ok(),
                    _ => None,
                };
                expected(found, value)
            }
            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
whole_knob!(u8, u16, u32, u64);

impl Knob for f64 {
    fn expects() -> String {
        "a non-negative number".into()
    }
    fn read(value: &Value) -> Result<Self, String> {
        let number = match value {
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        };
        expected(number.filter(|number| number.is_finite() && *number >= 0.0), value)
    }
    fn show(&self) -> String {
        format!("{self:?}")
    }
}

impl Knob for bool {
    fn expects() -> String {
        "true or false".into()
    }
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Bool(flag) => Ok(*flag),
            _ => Err(format!("expected true or false, found {}", value.describe())),
        }
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

impl Knob for String {
    fn expects() -> String {
        "a quoted string".into()
    }
    fn read(value: &Value) -> Result<Self, String> {
        let bare = match value {
            Value::Text(text) => return Ok(text.clone()),
            Value::Int(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
        };
        Err(format!("expected a quoted string, such as \"{bare}\""))
    }
    fn show(&self) -> String {
        quoted(self)
    }
}

/// Names that are known when the program starts, for [`choices!`](crate::choices!).
pub trait Names {
    /// These names.
    fn added() -> Vec<&'static str>;
    /// The names declared with `choices!`, and these.
    fn all() -> &'static [&'static str];

    /// The name that equals a text.
    #[must_use]
    fn find(text: &str) -> Option<&'static str> {
        Self::added().into_iter().find(|name| *name == text)
    }
}

/// Declares an enum whose values are names in a scenario file. `and Variant of Type` adds the names
/// of a type that implements [`Names`].
#[macro_export]
macro_rules! choices {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident {
            $( $(#[doc = $doc:literal])* $variant:ident = $text:literal ),+ $(,)?
        }
        $( and $other:ident of $others:ty )?
    ) => {
        $(#[$attribute])*
        #[allow(unreachable_pub)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $( $(#[doc = $doc])* $variant, )+
            $( #[doc = concat!("A name that [`", stringify!($others), "`] knows.")]
            $other(&'static str), )?
        }

        impl $name {
            /// The names declared here.
            #[allow(unreachable_pub, dead_code)]
            pub const NAMES: &'static [&'static str] = &[$($text),+];
        }

        impl $crate::knobs::Knob for $name {
            fn expects() -> String {
                format!("one of {}", Self::choices().join(", "))
            }
            #[allow(unused_variables)]
            fn choices() -> &'static [&'static str] {
                let names = Self::NAMES;
                $( let names = <$others as $crate::knobs::Names>::all(); )?
                names
            }
            fn read(value: &$crate::knobs::Value) -> Result<Self, String> {
                if let $crate::knobs::Value::Text(text) = value {
                    match text.as_str() {
                        $( $text => return Ok(Self::$variant), )+
                        _ => {}
                    }
                    $( if let Some(name) = <$others as $crate::knobs::Names>::find(text) {
                        return Ok(Self::$other(name));
                    } )?
                }
                Err(format!("expected {}, found {}", Self::expects(), value.describe()))
            }
            fn show(&self) -> String {
                match self {
                    $( Self::$variant => format!("\"{}\"", $text), )+
                    $( Self::$other(name) => format!("\"{}\"", name), )?
                }
            }
        }
    };
}

/// Declares a section of settings: struct, defaults, parser, formatter, documentation and schema.
///
/// A setting may end in `=> [EFFECT, ...]`, where each effect is an [`Effect`]: the conditions
/// under which the setting has an effect. A struct without `in "section"` has no settings.
#[macro_export]
macro_rules! knobs {
    (
        $(#[doc = $section_doc:literal])*
        pub struct $name:ident;
    ) => {
        $crate::knobs! { $(#[doc = $section_doc])* pub struct $name in "" {} }
    };
    (
        $(#[doc = $section_doc:literal])*
        pub struct $name:ident in $section:literal {
            $(
                $(#[doc = $doc:literal])*
                $field:ident : $type:ty = $default:expr $( => [ $($effect:expr),+ $(,)? ] )?
            ),* $(,)?
        }
    ) => {
        $(#[doc = $section_doc])*
        #[allow(unreachable_pub)]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $( $(#[doc = $doc])* pub $field: $type ),* }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default ),* }
            }
        }

        impl $name {
            /// Name of the section in a scenario file.
            #[allow(unreachable_pub, dead_code)]
            pub const SECTION: &'static str = $section;
        }

        impl $crate::knobs::Knobs for $name {
            fn section(&self) -> &'static str {
                Self::SECTION
            }

            fn doc(&self) -> &'static str {
                concat!($($section_doc, "\n"),*).trim()
            }

            #[allow(unused_variables)]
            fn fields(&self) -> Vec<$crate::knobs::Field> {
                let default = Self::default();
                vec![$( $crate::knobs::Field {
                    name: stringify!($field),
                    doc: concat!($($doc, "\n"),*).trim().to_string(),
                    expects: <$type as $crate::knobs::Knob>::expects(),
                    choices: <$type as $crate::knobs::Knob>::choices(),
                    default: $crate::knobs::Knob::show(&default.$field),
                } ),*]
            }

            fn conditions(&self) -> Vec<(&'static str, Vec<$crate::knobs::Condition>)> {
                vec![$( $( (
                    stringify!($field),
                    {
                        let effects: &[$crate::knobs::Effect<Self>] = &[$($effect),+];
                        effects.iter().filter_map(|effect| effect.decide(self)).collect()
                    },
                ), )? )*]
            }

            #[allow(unused_variables)]
            fn set(
                &mut self,
                name: &str,
                value: &$crate::knobs::Value,
            ) -> Result<(), Option<String>> {
                match name {
                    $( stringify!($field) => {
                        self.$field = <$type as $crate::knobs::Knob>::read(value).map_err(Some)?;
                        Ok(())
                    } )*
                    _ => Err(None),
                }
            }

            fn show(&self) -> Vec<(&'static str, String)> {
                vec![$( (stringify!($field), $crate::knobs::Knob::show(&self.$field)) ),*]
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choices! {
        /// A colour.
        pub enum Colour {
            /// The colour of blood.
            Red = "red",
            /// The colour of the sea.
            Blue = "blue",
        }
    }

    knobs! {
        /// A sample section.
        pub struct Sample in "sample" {
            /// A duration.
            delay: Ps = Ps::from_us(1),
            /// A named value.
            colour: Colour = Colour::Red,
            /// A number.
            count: u8 = 3 => [Effect::Unless(|sample| because(
                sample.colour == Colour::Blue,
                "colour = \"blue\"",
            )), Effect::Needs(Capability("nothing is counted"))],
        }
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn quantities_are_exact() {
        assert_eq!(Ps::read(&text("1.5us")), Ok(Ps(1_500_000)));
        assert_eq!(Bytes::read(&text("12MB")), Ok(Bytes(12_000_000)));
        assert_eq!(Bytes::read(&text("1KiB")), Ok(Bytes(1024)));
        assert_eq!(BitRate::read(&text("100 Gbps")), Ok(BitRate::from_gbps(100)));
        for wrong in ["0.5ps", "12", "-1us", "1us2", "us", "1.", "1..2us", "1e3us", "3MBps"] {
            assert!(Ps::read(&text(wrong)).is_err(), "{wrong}");
        }
        assert!(Ps::read(&Value::Int(3)).unwrap_err().contains("without a unit"));
        assert!(String::read(&Value::Int(0)).unwrap_err().ends_with("string, such as \"0\""));
    }

    #[test]
    fn a_section_reads_shows_and_documents_itself() {
        let mut sample = Sample::default();
        sample.set("colour", &text("blue")).unwrap();
        sample.set("count", &Value::Int(7)).unwrap();
        assert_eq!(sample, Sample { delay: Ps::from_us(1), colour: Colour::Blue, count: 7 });
        assert_eq!(sample.set("cuont", &Value::Int(7)), Err(None));
        assert!(sample.set("count", &Value::Int(-1)).unwrap_err().unwrap().contains("0 to 255"));
        assert!(sample.set("colour", &text("green")).unwrap_err().unwrap().contains("red, blue"));
        for (name, shown) in sample.show() {
            assert!(sample.fields().iter().any(|field| field.name == name), "{shown}");
        }
        assert_eq!(sample.fields()[0].default, "\"1us\"");
        assert_eq!(sample.doc(), "A sample section.");
    }

    #[test]
    fn a_setting_says_when_it_has_an_effect() {
        let red = Sample::default();
        assert_eq!(red.without_effect(), []);
        let blue = Sample { colour: Colour::Blue, ..red };
        assert_eq!(blue.without_effect(), [("count", "colour = \"blue\"".to_owned())]);
        assert_eq!(blue.needs(), [("count", Capability("nothing is counted"))]);
    }
}
