//! Traffic classes of packets, and the code points of IP headers that choose them.

use xoff_core::ids::CLASSES;
use xoff_core::knobs::{Knob, Value, expected, pairs, read_text};

/// The traffic class of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Priority(u8);

impl Priority {
    const LARGEST: u8 = CLASSES as u8 - 1;

    /// The class with this number, from 0 to 7; `None` if there is no such class.
    #[must_use]
    pub fn new(number: u64) -> Option<Self> {
        u8::try_from(number).ok().filter(|&number| number <= Self::LARGEST).map(Self)
    }

    /// Its number, from 0 to 7.
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }
}

impl Knob for Priority {
    fn expects() -> String {
        format!("a traffic class from 0 to {}", Self::LARGEST)
    }
    fn read(value: &Value) -> Result<Self, String> {
        let found = match value {
            Value::Int(number) => u64::try_from(*number).ok().and_then(Self::new),
            _ => None,
        };
        expected(found, value)
    }
    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// Traffic classes by differentiated-services code point, as switches map them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DscpMap(Vec<(u8, Priority)>);

impl DscpMap {
    const LARGEST: u8 = 63;

    /// True if it maps no code point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The class of a code point; `None` if the map does not have it.
    #[must_use]
    pub fn class(&self, code_point: u64) -> Option<Priority> {
        self.0.iter().find(|&&(own, _)| u64::from(own) == code_point).map(|&(_, class)| class)
    }

    fn parse(text: &str) -> Option<Self> {
        let class = |text: &str| Priority::new(text.parse().ok()?);
        pairs(text, Self::LARGEST + 1, class).map(Self)
    }
}

impl Knob for DscpMap {
    fn expects() -> String {
        format!(
            "pairs of a DSCP from 0 to {}, each once, and a traffic class, such as \"26:3, 46:5\"",
            Self::LARGEST
        )
    }
    fn read(value: &Value) -> Result<Self, String> {
        read_text(value, Self::parse)
    }
    fn show(&self) -> String {
        let pairs = self.0.iter().map(|(own, class)| format!("{own}:{}", class.number()));
        format!("\"{}\"", pairs.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str) -> Result<DscpMap, String> {
        DscpMap::read(&Value::Text(text.into()))
    }

    #[test]
    fn there_are_eight_classes() {
        let read = |number| Priority::read(&Value::Int(number)).map(Priority::number);
        assert_eq!((read(0), read(7)), (Ok(0), Ok(7)));
        for number in [-1, 8, 255, 256 + 3] {
            let error = read(number).unwrap_err();
            assert!(error.starts_with("expected a traffic class from 0 to 7"), "{error}");
        }
    }

    #[test]
    fn several_code_points_may_have_one_class() {
        let found = map("26:3, 24:3,46:5").unwrap();
        let class = |own| found.class(own).map(Priority::number);
        assert_eq!([26, 24, 46, 0, 300].map(class), [Some(3), Some(3), Some(5), None, None]);
        assert_eq!(map(found.show().trim_matches('"')), Ok(found));
        assert!(map("").unwrap().is_empty());
    }

    #[test]
    fn a_map_of_other_things_is_refused() {
        for text in ["64:3", "26:8", "26", "26:3,26:4", "26-3", "a:1", "26:", "-1:2"] {
            let error = map(text).unwrap_err();
            assert!(error.starts_with("expected pairs of a DSCP from 0 to 63"), "{text}: {error}");
        }
    }
}
