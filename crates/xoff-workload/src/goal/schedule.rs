//! The text form of GOAL schedules, as LogGOPSim reads it (Hoefler, Siebert and Lumsdaine, "Group
//! Operation Assembly Language", ICPP 2009; LogGOPSim, `txt2bin`).

use std::collections::{BTreeMap, HashMap};

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// Sends a message.
    Send {
        /// Bytes, perhaps none.
        bytes: u64,
        /// The receiving rank.
        to: u32,
        /// Its tag.
        tag: u32,
    },
    /// Waits for a message.
    Recv {
        /// The sending rank; `None`: any.
        from: Option<u32>,
        /// Its tag; `None`: any.
        tag: Option<u32>,
    },
    /// Computes.
    Calc {
        /// Nanoseconds.
        ns: u64,
        /// On this processor, which does one thing at a time.
        cpu: u32,
    },
}

/// A dependency: the first operation waits for the second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) waits: u32,
    pub(super) before: u32,
    /// The second one must have begun (`irequires`), not ended (`requires`).
    pub(super) at_begin: bool,
}

/// The operations of a rank, with the lines of the file that have them.
#[derive(Clone, Debug, Default)]
pub(super) struct RankOps {
    pub(super) ops: Vec<Op>,
    pub(super) lines: Vec<u32>,
    pub(super) edges: Vec<Edge>,
}

/// A schedule.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    pub(super) ranks: Vec<RankOps>,
}

impl Schedule {
    /// Reads a schedule of at most `most` ranks; `file` names it in errors.
    ///
    /// # Errors
    /// The first mistake, with its line.
    pub(super) fn parse(file: &str, text: &str, most: u32) -> Result<Self, String> {
        let mut reader = Reader { most, ..Reader::default() };
        for (line, content) in (1u32..).zip(without_comments(text).lines()) {
            let at = |problem: String| format!("{file}:{line}: {problem}");
            reader.line(line, content).map_err(at)?;
        }
        if let Some((rank, line)) = reader.open {
            return Err(format!("{file}:{line}: rank {rank} has no closing brace"));
        }
        let schedule = reader.schedule;
        if schedule.ranks.is_empty() {
            return Err(format!("{file}: it has no `num_ranks N`"));
        }
        schedule.check(file)?;
        Ok(schedule)
    }

    /// Checks that each message that a rank waits for is sent, and that no operation waits for
    /// itself.
    fn check(&self, file: &str) -> Result<(), String> {
        let ranks = self.ranks.len() as u32;
        // Messages minus receptions, by sender, receiver and tag, with a line.
        let mut left: BTreeMap<(u32, u32, u32), (i64, u32)> = BTreeMap::new();
        let mut any = false;
        for (rank, own) in (0..).zip(&self.ranks) {
            for (op, &line) in own.ops.iter().zip(&own.lines) {
                let (key, change) = match *op {
                    Op::Send { to, tag, .. } => ((rank, to, tag), 1),
                    Op::Recv { from: Some(from), tag: Some(tag) } => ((from, rank, tag), -1),
                    Op::Recv { .. } => {
                        any = true;
                        continue;
                    }
                    Op::Calc { .. } => continue,
                };
                if key.0.max(key.1) >= ranks {
                    let named = key.0.max(key.1);
                    return Err(format!(
                        "{file}:{line}: there is no rank {named}: num_ranks is {ranks}"
                    ));
                }
                let entry = left.entry(key).or_insert((0, line));
                entry.0 += change;
            }
            own.check_order(file)?;
        }
        match left.iter().find(|(_, (count, _))| !any && *count != 0) {
            Some(((from, to, tag), (count, line))) => {
                let (more, fewer) =
                    if *count > 0 { ("sent", "received") } else { ("received", "sent") };
                Err(format!(
                    "{file}:{line}: from rank {from} to rank {to} with tag {tag}, {} more are \
                     {more} than {fewer}",
                    count.abs()
                ))
            }
            None => Ok(()),
        }
    }
}

impl RankOps {
    /// Checks that some operation can always begin (Kahn's algorithm).
    fn check_order(&self, file: &str) -> Result<(), String> {
        let mut waiting = vec![0u32; self.ops.len()];
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); self.ops.len()];
        for edge in &self.edges {
            waiting[edge.waits as usize] += 1;
            after[edge.before as usize].push(edge.waits);
        }
        let mut ready: Vec<usize> = (0..waiting.len()).filter(|&op| waiting[op] == 0).collect();
        let mut begun = 0;
        while let Some(op) = ready.pop() {
            begun += 1;
            for &next in &after[op] {
                waiting[next as usize] -= 1;
                if waiting[next as usize] == 0 {
                    ready.push(next as usize);
                }
            }
        }
        if begun == self.ops.len() {
            return Ok(());
        }
        let stuck = waiting.iter().position(|&left| left > 0).unwrap_or(0);
        Err(format!("{file}:{}: this operation waits for itself", self.lines[stuck]))
    }
}

/// The text with comments as spaces, and all its lines.
fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut found = String::with_capacity(text.len());
    while let Some(start) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        found += &rest[..start];
        let comment = &rest[start..];
        let end = if comment.starts_with("//") {
            comment.find('\n').unwrap_or(comment.len())
        } else {
            comment.find("*/").map_or(comment.len(), |end| end + 2)
        };
        found.extend(comment[..end].chars().filter(|&character| character == '\n'));
        found.push(' ');
        rest = &comment[end..];
    }
    found + rest
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    /// Most ranks.
    most: u32,
    schedule: Schedule,
    /// The rank whose operations are being read, and the line of its brace.
    open: Option<(u32, u32)>,
    labels: HashMap<String, u32>,
}

impl Reader {
    fn line(&mut self, line: u32, content: &str) -> Result<(), String> {
        let content = content.replace(':', " : ").replace('{', " { ").replace('}', " } ");
        let words: Vec<&str> = content.split_whitespace().collect();
        match (words.as_slice(), self.open) {
            ([], _) => Ok(()),
            (["num_ranks", count], None) => self.set_ranks(count),
            (["rank", rank, "{"], None) => self.begin_rank(rank, line),
            (["}"], Some(_)) => {
                self.open = None;
                Ok(())
            }
            ([label, "requires", before], Some((rank, _))) => {
                self.depend(rank, label, before, false)
            }
            ([label, "irequires", before], Some((rank, _))) => {
                self.depend(rank, label, before, true)
            }
            ([label, ":", op @ ..], Some((rank, _))) => {
                let number = self.add(rank, op, line)?;
                match self.labels.insert((*label).to_owned(), number) {
                    Some(_) => Err(format!("rank {rank} has two operations {label}")),
                    None => Ok(()),
                }
            }
            (op, Some((rank, _))) => self.add(rank, op, line).map(|_| ()),
            (_, None) => Err("expected `num_ranks N` or `rank N {`".into()),
        }
    }

    fn set_ranks(&mut self, count: &str) -> Result<(), String> {
        let ranks = number(count).filter(|&ranks| ranks > 0 && ranks <= self.most);
        let Some(ranks) = ranks else {
            let most = self.most;
            return Err(format!(
                "num_ranks {count}: expected 1 to {most}, the hosts of the network"
            ));
        };
        if !self.schedule.ranks.is_empty() {
            return Err("a second num_ranks".into());
        }
        self.schedule.ranks = vec![RankOps::default(); ranks as usize];
        Ok(())
    }

    fn begin_rank(&mut self, rank: &str, line: u32) -> Result<(), String> {
        let ranks = self.schedule.ranks.len();
        let found = number(rank).filter(|&rank| (rank as usize) < ranks);
        let Some(found) = found else {
            return Err(format!("there is no rank {rank}: num_ranks is {ranks}"));
        };
        if !self.schedule.ranks[found as usize].ops.is_empty() {
            return Err(format!("a second rank {rank}"));
        }
        self.labels.clear();
        self.open = Some((found, line));
        Ok(())
    }

    fn add(&mut self, rank: u32, words: &[&str], line: u32) -> Result<u32, String> {
        let op = operation(words)?;
        let own = &mut self.schedule.ranks[rank as usize];
        own.ops.push(op);
        own.lines.push(line);
        Ok(own.ops.len() as u32 - 1)
    }

    fn depend(
        &mut self,
        rank: u32,
        label: &str,
        before: &str,
        at_begin: bool,
    ) -> Result<(), String> {
        let find = |label: &str| {
            let found = self.labels.get(label).copied();
            found.ok_or_else(|| format!("rank {rank} has no operation {label} above this line"))
        };
        let edge = Edge { waits: find(label)?, before: find(before)?, at_begin };
        self.schedule.ranks[rank as usize].edges.push(edge);
        Ok(())
    }
}

fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Reads an operation without its label.
fn operation(words: &[&str]) -> Result<Op, String> {
    let expected = "expected `send BYTESb to RANK`, `recv BYTESb from RANK` or `calc NANOSECONDS`";
    match words {
        ["calc", time, rest @ ..] => {
            let options = Options::read(rest, &["cpu"])?;
            let ns = long(time)?;
            Ok(Op::Calc { ns, cpu: options.cpu })
        }
        ["send", size, "to", rank, rest @ ..] => {
            let options = Options::read(rest, &["tag", "cpu", "nic"])?;
            let to = rank_of(rank)?;
            Ok(Op::Send { bytes: bytes(size)?, to, tag: options.tag.unwrap_or(0) })
        }
        ["recv", size, "from", rank, rest @ ..] => {
            let options = Options::read(rest, &["tag", "cpu", "nic"])?;
            bytes(size)?;
            let from = if *rank == ANY { None } else { Some(rank_of(rank)?) };
            Ok(Op::Recv { from, tag: options.tag })
        }
        _ => Err(expected.into()),
    }
}

/// Any rank, or any tag, in a `recv`.
const ANY: &str = "-1";

fn rank_of(text: &str) -> Result<u32, String> {
    number(text).ok_or_else(|| format!("{text} is no rank"))
}

fn long(text: &str) -> Result<u64, String> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    // Times in picoseconds must fit.
    let found = digits.then(|| text.parse().ok()).flatten();
    found
        .filter(|&value: &u64| value < u64::MAX / 1_000_000)
        .ok_or_else(|| format!("{text} is no number, or too large"))
}

fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.strip_suffix('b').ok_or_else(|| format!("{text}: expected bytes, as 8b"))?;
    long(digits)
}

/// What may follow an operation.
struct Options {
    /// `None`: any.
    tag: Option<u32>,
    cpu: u32,
}

impl Options {
    fn read(words: &[&str], known: &[&str]) -> Result<Self, String> {
        let mut options = Self { tag: Some(0), cpu: 0 };
        let mut pairs = words.chunks_exact(2);
        for pair in &mut pairs {
            let (name, value) = (pair[0], pair[1]);
            if !known.contains(&name) {
                return Err(format!("{name}: expected {}", known.join(" or ")));
            }
            let read = || number(value).ok_or_else(|| format!("{name} {value}: expected a number"));
            match name {
                "tag" => options.tag = if value == ANY { None } else { Some(read()?) },
                "cpu" => options.cpu = read()?,
                _ => drop(read()?),
            }
        }
        match pairs.remainder() {
            [] => Ok(options),
            rest => Err(format!("{}: expected a value after it", rest.join(" "))),
        }
    }
}
