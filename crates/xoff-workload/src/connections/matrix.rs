//! The grammar of a connection matrix (htsim, `sim/datacenter/connection_matrix.cpp`,
//! `ConnectionMatrix::load`). Words may be separated by any spaces, and numbers are read whole:
//! htsim reads a start as a 32-bit float, which rounds it.

use std::collections::HashSet;

use super::Connection;
use super::triggers::{Kind, Trigger, Triggers};
use crate::ENDLESS;
use crate::csv::TableError;

/// The tokens of a flow's line.
const FLOW: &str = "id, start, size, trigger, send_done_trigger, recv_done_trigger";

/// A connection matrix.
#[derive(Clone, Debug)]
pub struct ConnectionMatrix {
    /// The number of hosts.
    pub nodes: u32,
    /// The flows, in the order of the file.
    pub connections: Vec<Connection>,
}

/// The counts of the first lines.
#[derive(Default)]
struct Header {
    nodes: Option<u32>,
    connections: Option<(u64, usize)>,
    triggers: Option<(u64, usize)>,
}

/// A file while it is read.
struct Reader<'a> {
    origin: &'a str,
    line: usize,
    header: Header,
    connections: Vec<Connection>,
    triggers: Triggers,
    ids: HashSet<u32>,
}

impl ConnectionMatrix {
    /// Reads `text`, the content of the file `origin`.
    ///
    /// # Errors
    /// The line that cannot be read or obeyed; flows that never start.
    pub fn parse(origin: &str, text: &str) -> Result<Self, TableError> {
        let mut reader = Reader {
            origin,
            line: 0,
            header: Header::default(),
            connections: Vec::new(),
            triggers: Triggers::default(),
            ids: HashSet::new(),
        };
        for (line, content) in (1..).zip(text.lines()) {
            reader.line = line;
            let mut words = content.split_whitespace();
            match words.next() {
                Some(first) if !first.starts_with('#') => reader.read(first, words)?,
                _ => {}
            }
        }
        reader.finish()
    }

    /// True if a flow waits for a trigger.
    #[must_use]
    pub fn has_triggers(&self) -> bool {
        self.connections.iter().any(|connection| connection.waits.is_some())
    }

    /// The line of the first flow without end.
    #[must_use]
    pub fn first_endless(&self) -> Option<usize> {
        let mut endless = self.connections.iter().filter(|flow| flow.bytes == ENDLESS);
        endless.next().map(|flow| flow.line)
    }
}

impl Reader<'_> {
    fn error(&self, problem: impl Into<String>) -> TableError {
        self.error_at(self.line, problem)
    }

    fn error_at(&self, line: usize, problem: impl Into<String>) -> TableError {
        TableError { origin: self.origin.to_owned(), line, problem: problem.into() }
    }

    fn read<'w>(
        &mut self,
        first: &str,
        mut words: impl Iterator<Item = &'w str>,
    ) -> Result<(), TableError> {
        let is_second = match first {
            "Nodes" => {
                let nodes: u32 = self.number(first, words.next())?;
                self.header.nodes.replace(nodes).is_some()
            }
            "Connections" => {
                let count = (self.number(first, words.next())?, self.line);
                self.header.connections.replace(count).is_some()
            }
            "Triggers" => {
                let count = (self.number(first, words.next())?, self.line);
                self.header.triggers.replace(count).is_some()
            }
            "Failures" => {
                let count: u64 = self.number(first, words.next())?;
                if count > 0 {
                    return Err(self.error(FAILURES));
                }
                false
            }
            "failure" => return Err(self.error(FAILURES)),
            "trigger" => return self.trigger(words),
            _ => {
                let Some((src, dst)) = first.split_once("->") else {
                    let problem = format!(
                        "unknown \"{first}\": a line begins with Nodes, Connections, Triggers, \
                         src->dst, or trigger"
                    );
                    return Err(self.error(problem));
                };
                return self.connection(src, dst, words);
            }
        };
        if let Some(word) = words.next() {
            let problem = format!("\"{word}\" after the number of {first}: remove it");
            return Err(self.error(problem));
        }
        // Hosts were checked with the first number.
        if is_second {
            Err(self.error(format!("a second line {first}: remove it")))
        } else {
            Ok(())
        }
    }

    fn number<T: core::str::FromStr>(
        &self,
        name: &str,
        word: Option<&str>,
    ) -> Result<T, TableError> {
        let Some(word) = word else {
            return Err(self.error(format!("{name} has no number behind it")));
        };
        word.parse().map_err(|_| {
            self.error(format!("{name} \"{word}\" is not a whole number that fits here"))
        })
    }

    /// The id of a flow or a trigger.
    fn id(&self, name: &str, word: Option<&str>) -> Result<u32, TableError> {
        match self.number(name, word)? {
            0 => Err(self.error(format!("{name} 0 is not allowed: count from 1"))),
            id => Ok(id),
        }
    }

    /// Refuses a token that its line has already.
    fn once<'w>(&self, token: &'w str, read: &mut Vec<&'w str>) -> Result<(), TableError> {
        if read.contains(&token) {
            return Err(self.error(format!("a second {token}: remove one")));
        }
        read.push(token);
        Ok(())
    }

    fn connection<'w>(
        &mut self,
        src: &str,
        dst: &str,
        mut words: impl Iterator<Item = &'w str>,
    ) -> Result<(), TableError> {
        let (src, dst) = (self.host(src)?, self.host(dst)?);
        if src == dst {
            return Err(self.error(format!("a flow from host {src} to itself")));
        }
        let (mut start, mut bytes, mut trigger, mut id) = (None, None, None, None);
        let (mut sent, mut received) = (0, 0);
        let mut read = Vec::new();
        while let Some(token) = words.next() {
            self.once(token, &mut read)?;
            let value = words.next();
            match token {
                "start" => start = Some(self.start(value)?),
                "size" => bytes = Some(self.number(token, value)?),
                "id" => id = Some(self.id(token, value)?),
                "trigger" => trigger = Some(self.id(token, value)?),
                "send_done_trigger" => sent = self.id(token, value)?,
                "recv_done_trigger" => received = self.id(token, value)?,
                "prio" => return Err(self.error(PRIO)),
                "addon" => return Err(self.error(ADDON)),
                _ => return Err(self.error(format!("unknown \"{token}\": known are {FLOW}"))),
            }
        }
        let bytes = match bytes {
            None => return Err(self.error("the flow has no size")),
            Some(0) => ENDLESS,
            Some(bytes) if bytes < ENDLESS => bytes,
            Some(_) => return Err(self.error(format!("a size must be below {ENDLESS}"))),
        };
        if let Some(id) = id.filter(|&id| !self.ids.insert(id)) {
            return Err(self.error(format!("id {id} is that of an earlier flow too")));
        }
        let start_ps = match (start, trigger) {
            (Some(_), Some(_)) => return Err(self.error("a flow has a start or a trigger")),
            (None, None) => return Err(self.error("the flow has neither a start nor a trigger")),
            (start, _) => start.unwrap_or(0),
        };
        let (line, flow) = (self.line, self.connections.len());
        for (activated, event) in [(sent, "sent"), (received, "received")] {
            if activated > 0 {
                if bytes == ENDLESS {
                    return Err(self.error(format!("size 0 is a flow without end: never {event}")));
                }
                self.triggers.activated_by(activated, flow, line);
            }
        }
        let waits = trigger.map(|trigger| {
            self.triggers.start(trigger, flow, line);
            (trigger, 0)
        });
        self.connections.push(Connection {
            src,
            dst,
            bytes,
            start_ps,
            waits,
            sent,
            received,
            line,
        });
        Ok(())
    }

    fn host(&self, word: &str) -> Result<u32, TableError> {
        let host: u32 = self.number("host", Some(word))?;
        let Some(nodes) = self.header.nodes else {
            return Err(self.error("a flow stands before the line Nodes"));
        };
        if host >= nodes {
            let problem = format!("host {host} does not exist: hosts are numbered from 0");
            return Err(self.error(format!("{problem}, and Nodes is {nodes}")));
        }
        Ok(host)
    }

    /// A start in picoseconds. It may have a fraction, which is cut off as htsim does.
    fn start(&self, word: Option<&str>) -> Result<u64, TableError> {
        let whole = word.map(|word| match word.split_once('.') {
            Some((whole, rest)) if rest.bytes().all(|digit| digit.is_ascii_digit()) => whole,
            _ => word,
        });
        let start = self.number("start", whole)?;
        // Two months: sums with a run's times do not overflow.
        const MOST: u64 = u64::MAX / 4;
        if start > MOST {
            return Err(self.error(format!("start {start} is later than {MOST} ps")));
        }
        Ok(start)
    }

    fn trigger<'w>(&mut self, mut words: impl Iterator<Item = &'w str>) -> Result<(), TableError> {
        let (mut id, mut count, mut kind) = (None, None, None);
        let mut read = Vec::new();
        while let Some(token) = words.next() {
            self.once(token, &mut read)?;
            match token {
                "id" => id = Some(self.id(token, words.next())?),
                "count" => count = Some(self.id(token, words.next())?),
                "oneshot" | "multishot" | "barrier" => {
                    if kind.replace(token).is_some() {
                        return Err(self.error("a trigger has one kind"));
                    }
                }
                _ => {
                    let known = "id, oneshot, multishot, barrier, count";
                    return Err(self.error(format!("unknown \"{token}\": known are {known}")));
                }
            }
        }
        let id = id.ok_or_else(|| self.error("the trigger has no id"))?;
        let kind = match (kind, count) {
            (Some("oneshot"), None) => Kind::OneShot,
            (Some("multishot"), None) => Kind::MultiShot,
            (Some("barrier"), Some(count)) => Kind::Barrier { count },
            (Some(_), Some(_)) => return Err(self.error("only a barrier has a count")),
            (Some(_), None) => return Err(self.error("a barrier needs a count")),
            (None, _) => {
                return Err(self.error("the trigger has no kind: oneshot, multishot or barrier"));
            }
        };
        if !self.triggers.define(id, Trigger { kind, line: self.line }) {
            return Err(self.error(format!("trigger {id} is defined twice")));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ConnectionMatrix, TableError> {
        let last = self.line.max(1);
        let Some(nodes) = self.header.nodes else {
            return Err(self.error_at(last, "the line Nodes is missing"));
        };
        let Some(connections) = self.header.connections else {
            return Err(self.error_at(last, "the line Connections is missing"));
        };
        let triggers = self.header.triggers.unwrap_or((0, last));
        for (what, (count, line), found) in [
            ("Connections", connections, self.connections.len()),
            ("Triggers", triggers, self.triggers.defined()),
        ] {
            if count != found as u64 {
                let problem = format!("{what} is {count}, but the file has {found} of them");
                return Err(self.error_at(line, problem));
            }
        }
        if self.connections.is_empty() {
            return Err(self.error_at(last, "the file has no flow"));
        }
        let problem = self.triggers.resolve(&mut self.connections);
        problem.map_err(|(line, problem)| self.error_at(line, problem))?;
        Ok(ConnectionMatrix { nodes, connections: self.connections })
    }
}

const FAILURES: &str = "link failures are not read from here: remove the line, and add a [[fault]] \
    with kind = \"link-down\" and link = \"spine:3,core:1\" to a scenario with this file as \
    traffic (`xoff check` prints that scenario)";

const PRIO: &str = "prio is not modelled: receivers serve their flows in turn. Remove it from all \
    lines";

const ADDON: &str = "addon is not modelled: a trigger starts a flow, it adds nothing to one. Write \
    flows of their own";
