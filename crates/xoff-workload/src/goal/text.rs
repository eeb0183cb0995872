//! The text form of GOAL schedules, as LogGOPSim reads it (Hoefler, Siebert and Lumsdaine, "Group
//! Operation Assembly Language", ICPP 2009; LogGOPSim, `txt2bin`).

use std::collections::HashMap;

use xoff_core::Ps;

use crate::dag::{Edge, Mistake, Op, RankOps, Schedule};

/// Reads a schedule of at most `most` ranks; `file` names it in errors.
///
/// # Errors
/// The first mistake, with its line.
pub(super) fn parse(file: &str, text: &str, most: u32) -> Result<Schedule, String> {
    let mut reader = Reader { most, ..Reader::default() };
    let text = without_comments(text)
        .map_err(|line| format!("{file}:{line}: this comment has no end: add `*/`"))?;
    for (line, content) in (1u32..).zip(text.lines()) {
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
    let left_out = reader.begun.iter().position(|begun| !begun);
    if let Some(rank) = left_out {
        return Err(format!(
            "{file}: it has no `rank {rank} {{`, but num_ranks is {}: a rank without operations \
             has braces with nothing between them",
            schedule.ranks.len()
        ));
    }
    let at = |Mistake { place, problem, .. }| format!("{file}:{place}: {problem}");
    schedule.check().map_err(at)?;
    Ok(schedule)
}

/// The text with comments as spaces, and all its lines.
///
/// # Errors
/// The line of a comment without an end.
fn without_comments(text: &str) -> Result<String, usize> {
    let mut found = String::with_capacity(text.len());
    // A search goes no further than the next slash, so that each byte is read once.
    let (mut rest, mut from) = (text, 0);
    while let Some(slash) = rest[from..].find('/').map(|place| from + place) {
        let comment = &rest[slash..];
        let end = if comment.starts_with("//") {
            comment.find('\n').unwrap_or(comment.len())
        } else if let Some(inside) = comment.strip_prefix("/*") {
            // Its end does not share the asterisk of its begin.
            let before = &text[..text.len() - comment.len()];
            let end = inside.find("*/").map(|end| end + 4);
            end.ok_or_else(|| 1 + before.matches('\n').count())?
        } else {
            from = slash + 1;
            continue;
        };
        found += &rest[..slash];
        found.extend(comment[..end].chars().filter(|&character| character == '\n'));
        found.push(' ');
        (rest, from) = (&comment[end..], 0);
    }
    Ok(found + rest)
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    /// Most ranks.
    most: u32,
    schedule: Schedule,
    /// The rank whose operations are being read, and the line of its brace.
    open: Option<(u32, u32)>,
    /// Whether each rank has begun.
    begun: Vec<bool>,
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
        self.begun = vec![false; ranks as usize];
        Ok(())
    }

    fn begin_rank(&mut self, rank: &str, line: u32) -> Result<(), String> {
        let ranks = self.schedule.ranks.len();
        let found = number(rank).filter(|&rank| (rank as usize) < ranks);
        let Some(found) = found else {
            return Err(format!("there is no rank {rank}: num_ranks is {ranks}"));
        };
        if std::mem::replace(&mut self.begun[found as usize], true) {
            return Err(format!("a second rank {rank}"));
        }
        self.labels.clear();
        self.open = Some((found, line));
        Ok(())
    }

    fn add(&mut self, rank: u32, words: &[&str], line: u32) -> Result<u32, String> {
        let op = operation(words)?;
        let own = &mut self.schedule.ranks[rank as usize];
        Ok(own.add(op, u64::from(line)))
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
            Ok(Op::Calc { time: Ps(long(time)? * 1000), cpu: options.cpu })
        }
        ["send", size, "to", rank, rest @ ..] => {
            let options = Options::read(rest, &["tag", "cpu", "nic"])?;
            let to = rank_of(rank)?;
            let tag = options.tag.ok_or("tag -1 is any tag, which only a `recv` has")?;
            Ok(Op::Send { bytes: bytes(size)?, to, tag })
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
    let found = digits.then(|| text.parse().ok()).flatten();
    longest(found.ok_or_else(|| format!("{text} is no number, or too large"))?)
}

/// Checks that a number of nanoseconds fits in picoseconds.
pub(super) fn longest(value: u64) -> Result<u64, String> {
    if value < u64::MAX / 1_000_000 {
        return Ok(value);
    }
    Err(format!("{value} is too large"))
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
        let (mut pairs, mut read) = (words.chunks_exact(2), Vec::new());
        for pair in &mut pairs {
            let (name, value) = (pair[0], pair[1]);
            if !known.contains(&name) {
                return Err(format!("{name}: expected {}", known.join(" or ")));
            }
            if read.contains(&name) {
                return Err(format!("a second {name}: remove one"));
            }
            read.push(name);
            let read = || number(value).ok_or_else(|| format!("{name} {value}: expected a number"));
            match name {
                "tag" if value == ANY => options.tag = None,
                // The largest number is any tag in the binary form.
                "tag" => match read()? {
                    u32::MAX => return Err(format!("tag {value} is too large")),
                    tag => options.tag = Some(tag),
                },
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
