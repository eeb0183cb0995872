//! The text of `summary.json`: one line, with a space after commas and colons.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

struct OneLine;

impl Formatter for OneLine {
    /// In decimal notation, whole numbers without a fraction.
    fn write_f64<W: ?Sized + Write>(&mut self, to: &mut W, value: f64) -> io::Result<()> {
        write!(to, "{value}")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(to, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }
}

/// A value as JSON. Numbers that are not finite become null.
pub(crate) fn json(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    value
        .serialize(&mut Serializer::with_formatter(&mut text, OneLine))
        .expect("the keys of a summary are texts, and writing to a Vec never fails");
    String::from_utf8(text).expect("JSON is UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_and_finite_or_null() {
        let numbers = [1.0, 0.25, 1e-7, 1e21, f64::NAN, f64::INFINITY];
        let text = "[1, 0.25, 0.0000001, 1000000000000000000000, null, null]";
        assert_eq!(json(&numbers), text);
        assert_eq!(
            json(&(u64::MAX, Some("a\"é"), None::<u64>)),
            "[18446744073709551615, \"a\\\"é\", null]"
        );
    }
}
