//! Metrics in Prometheus' text format.

use std::fmt::Write as _;

/// A text with metrics, whose names begin alike.
#[derive(Debug)]
pub struct Metrics {
    prefix: &'static str,
    text: String,
}

impl Metrics {
    /// Without metrics so far.
    #[must_use]
    pub fn new(prefix: &'static str) -> Self {
        Self { prefix, text: String::new() }
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let name = format!("{}{name}", self.prefix);
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn put(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.head(name, kind, help);
        let _ = writeln!(self.text, "{}{name} {value}", self.prefix);
    }

    /// Adds a value that rises and falls.
    pub fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.put(name, "gauge", help, value);
    }

    /// Adds a value that only rises.
    pub fn counter(&mut self, name: &str, help: &str, value: f64) {
        self.put(name, "counter", help, value);
    }

    /// Adds a metric of a kind with one value for each text of a label.
    pub fn labelled<'a>(
        &mut self,
        (name, kind, help): (&str, &str, &str),
        label: &str,
        values: impl IntoIterator<Item = (&'a str, f64)>,
    ) {
        self.head(name, kind, help);
        for (text, value) in values {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = writeln!(self.text, "{}{name}{{{label}=\"{text}\"}} {value}", self.prefix);
        }
    }

    /// The text that Prometheus reads.
    #[must_use]
    pub fn text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_quoted() {
        let mut metrics = Metrics::new("x_");
        metrics.gauge("height", "Height.", 1.5);
        metrics.labelled(("links", "counter", "Links."), "name", [("a\"b\\\n", 2.0)]);
        let expected = "# HELP x_height Height.\n# TYPE x_height gauge\nx_height 1.5\n\
                        # HELP x_links Links.\n# TYPE x_links counter\n\
                        x_links{name=\"a\\\"b\\\\\\n\"} 2\n";
        assert_eq!(metrics.text(), expected);
    }
}
