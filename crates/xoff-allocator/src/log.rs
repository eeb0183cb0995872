//! The log: one JSON object per line.

use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

/// Lines of one kind in a second; a hostile endpoint must not fill a disk.
const LINES_PER_SECOND: u32 = 20;

/// Writes lines.
pub(crate) struct Log {
    out: Box<dyn Write + Send>,
    second: Instant,
    lines: u32,
    dropped: u64,
}

impl Log {
    pub(crate) fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out, second: Instant::now(), lines: 0, dropped: 0 }
    }

    /// Writes a line, unless there were too many in this second. A log that cannot be written stops
    /// no allocator.
    pub(crate) fn line(&mut self, event: &str, fields: Value) {
        if self.second.elapsed() >= Duration::from_secs(1) {
            (self.second, self.lines) = (Instant::now(), 0);
        }
        self.lines += 1;
        if self.lines > LINES_PER_SECOND {
            self.dropped += 1;
            return;
        }
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut line = Map::new();
        line.insert("time".into(), json!(time.as_millis() as f64 / 1e3));
        line.insert("event".into(), json!(event));
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        if self.dropped > 0 {
            line.insert("lines_dropped".into(), json!(std::mem::take(&mut self.dropped)));
        }
        let _ = writeln!(self.out, "{}", Value::Object(line));
        let _ = self.out.flush();
    }
}
