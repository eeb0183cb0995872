//! The log: one JSON object per line.

use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

/// Lines in a second; a hostile endpoint must not fill a disk.
const LINES_PER_SECOND: u32 = 20;

/// A line: the time, the event and its fields, which are an object.
fn line(event: &str, fields: Value) -> Map<String, Value> {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut line = Map::new();
    line.insert("time".into(), json!(time.as_millis() as f64 / 1e3));
    line.insert("event".into(), json!(event));
    if let Value::Object(fields) = fields {
        line.extend(fields);
    }
    line
}

/// Writes a line by one call: up to what a pipe takes at once, 4,096 bytes, it is in one piece,
/// though several processes write. Errors, as of a full disk, stop no daemon. A full pipe that
/// no process reads does.
fn write(out: &mut dyn Write, line: Map<String, Value>) {
    let _ = out.write_all(format!("{}\n", Value::Object(line)).as_bytes());
    let _ = out.flush();
}

/// Writes a line to standard error, however many there are. `fields` is an object.
pub fn log(event: &str, fields: Value) {
    write(&mut std::io::stderr(), line(event, fields));
}

/// A log with at most 20 lines per second.
pub struct Log {
    out: Box<dyn Write + Send>,
    second: Instant,
    lines: u32,
    dropped: u64,
}

impl Log {
    /// Lines go to `out`.
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out, second: Instant::now(), lines: 0, dropped: 0 }
    }

    /// Writes a line, unless there were too many in this second. The next line has their number,
    /// `lines_dropped`. `fields` is an object.
    pub fn line(&mut self, event: &str, fields: Value) {
        if self.second.elapsed() >= Duration::from_secs(1) {
            (self.second, self.lines) = (Instant::now(), 0);
        }
        self.lines += 1;
        if self.lines > LINES_PER_SECOND {
            self.dropped += 1;
            return;
        }
        let mut line = line(event, fields);
        if self.dropped > 0 {
            line.insert("lines_dropped".into(), json!(std::mem::take(&mut self.dropped)));
        }
        write(&mut self.out, line);
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").field("dropped", &self.dropped).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    struct Sink(Sender<Value>);

    impl Write for Sink {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            self.0.send(serde_json::from_slice(text).unwrap()).unwrap();
            Ok(text.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_objects_and_too_many_are_counted() {
        let (sender, lines): (_, Receiver<Value>) = channel();
        let mut log = Log::new(Box::new(Sink(sender)));
        for number in 0..50 {
            log.line("event", json!({"number": number}));
        }
        assert!(log.dropped > 0);
        log.second -= Duration::from_secs(1);
        let dropped = log.dropped;
        log.line("last", json!({}));
        let lines: Vec<Value> = lines.try_iter().collect();
        assert_eq!((&lines[0]["event"], &lines[0]["number"]), (&json!("event"), &json!(0)));
        assert!(lines[0]["time"].as_f64().unwrap() > 1e9);
        assert_eq!(lines.len() as u64, 51 - dropped);
        assert_eq!(lines.last().unwrap()["lines_dropped"], json!(dropped));
    }
}
