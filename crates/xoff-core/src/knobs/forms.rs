//! What types of settings share when they read values.

use super::{Knob, Value, unit_error};

/// The outcome of reading a value: what was found in it, or what was expected.
///
/// # Errors
/// A description of the expected value, if nothing was found.
pub fn expected<K: Knob>(found: Option<K>, value: &Value) -> Result<K, String> {
    found.ok_or_else(|| unit_error(&K::expects(), value))
}

/// Reads a value that must be a text.
///
/// # Errors
/// A description of the expected value, if it is no text, or none that `parse` takes.
pub fn read_text<K: Knob>(
    value: &Value,
    parse: impl FnOnce(&str) -> Option<K>,
) -> Result<K, String> {
    let found = match value {
        Value::Text(text) => parse(text),
        _ => None,
    };
    expected(found, value)
}

/// Reads a text of pairs such as `26:3, 46:5`, with numbers before the colons. `None` if it has
/// another form, a number that is not below `end` or occurs twice, or a part that `read` refuses.
pub fn pairs<T>(text: &str, end: u8, read: impl Fn(&str) -> Option<T>) -> Option<Vec<(u8, T)>> {
    let mut found: Vec<(u8, T)> = Vec::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (number, part) = pair.split_once(':')?;
        let number = number.trim().parse().ok().filter(|&number| number < end)?;
        if found.iter().any(|&(other, _)| other == number) {
            return None;
        }
        found.push((number, read(part.trim())?));
    }
    Some(found)
}
