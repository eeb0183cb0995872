//! Structured log: one JSON object a line, on standard error.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

/// Writes a line: the time, the event and its fields.
pub(crate) fn line<const N: usize>(event: &str, fields: [(&str, Value); N]) {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut object = Map::new();
    object.insert("time".to_owned(), Value::from(since.as_millis() as u64 as f64 / 1000.0));
    object.insert("event".to_owned(), Value::from(event));
    object.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    // In one piece, as two processes write. A log that cannot be written is no reason to stop.
    let _ = std::io::stderr().write_all(format!("{}\n", Value::Object(object)).as_bytes());
}
