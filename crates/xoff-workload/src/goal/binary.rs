//! The binary form of GOAL schedules, as LogGOPSim's `txt2bin` writes it on x86 (spcl/LogGOPSim,
//! `Goal.hpp` and `Parser.hpp`): packed numbers, the lowest byte first.
//!
//! - The file: 4223 (64 bits). Offsets count from here. The number of ranks (32), most processors
//!   and NICs (8, 8), for each rank the offsets of its begin and end (64, 64), and the ranks.
//! - A rank: the numbers of its operations and of its roots (32, 32), the roots (32 each), the
//!   operations, and all successors, which are operations (32 each).
//! - An operation: the number of its predecessors (32), type (8), peer (32), size (64), tag (32),
//!   processor and NIC (8, 8), number and first place of the successors that wait for its end
//!   (32, 32), and of the successors that wait for its begin (32, 32).

use xoff_core::Ps;

use super::text::longest;
use crate::dag::{Edge, Mistake, Op, RankOps, Schedule};

const MAGIC: u64 = 4223;
/// What LogGOPSim writes over it with `--save-mem`, as it then uses the file as its memory.
const SPENT: u64 = 2342;
/// Bytes of an operation.
const OPERATION: u64 = 39;
/// The peer or tag of a `recv` of any.
const ANY: u32 = u32::MAX;

/// What to do about bytes that nothing reads.
const TOO_LONG: &str = "txt2bin writes none, so write the file again";

/// True for a file in this form. No text begins like that.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    [MAGIC, SPENT].iter().any(|magic| bytes.starts_with(&magic.to_le_bytes()))
}

/// Reads a schedule of at most `most` ranks; `file` names it in errors.
///
/// # Errors
/// The first mistake, with its rank and the number of its operation.
pub(super) fn parse(file: &str, bytes: &[u8], most: u32) -> Result<Schedule, String> {
    let schedule = read(bytes, most).map_err(|problem| format!("{file}: {problem}"))?;
    schedule.check().map_err(|Mistake { rank, place, problem }| {
        format!("{file}: rank {rank}, operation {place}: {problem}")
    })?;
    Ok(schedule)
}

fn read(bytes: &[u8], most: u32) -> Result<Schedule, String> {
    let mut head = Numbers { bytes, at: 0 };
    if head.u64()? == SPENT {
        return Err("LogGOPSim has used it up (--save-mem): write it again with txt2bin".into());
    }
    let bytes = &bytes[head.at..];
    let mut head = Numbers { bytes, at: 0 };
    let ranks = head.u32()?;
    if ranks == 0 || ranks > most {
        return Err(format!("{ranks} ranks: expected 1 to {most}, the hosts of the network"));
    }
    head.skip(2)?;
    // The ranks lie one behind the other, behind this table.
    let mut schedule = Schedule::default();
    let mut expected = head.at as u64 + 16 * u64::from(ranks);
    for rank in 0..ranks {
        let (begin, end) = (head.u64()?, head.u64()?);
        let own = usize::try_from(begin).ok().zip(usize::try_from(end).ok());
        let own = own.filter(|_| begin == expected).and_then(|(begin, end)| bytes.get(begin..end));
        let Some(own) = own else {
            return Err(format!(
                "rank {rank} has the place {begin} to {end}, but its place is from {expected} \
                 to at most {}",
                bytes.len()
            ));
        };
        expected = end;
        let ops = read_rank(Numbers { bytes: own, at: 0 });
        schedule.ranks.push(ops.map_err(|problem| format!("rank {rank}: {problem}"))?);
    }
    match bytes.len() as u64 - expected {
        0 => {}
        more => return Err(format!("{more} bytes follow its last rank: {TOO_LONG}")),
    }
    Ok(schedule)
}

fn read_rank(mut rest: Numbers<'_>) -> Result<RankOps, String> {
    let (count, roots) = (rest.u32()?, rest.u32()?);
    rest.skip(u64::from(roots) * 4)?;
    let mut operations = rest;
    rest.skip(u64::from(count) * OPERATION)?;
    let mut own = RankOps::default();
    let mut waits = Vec::new();
    for number in 0..count {
        let at = |problem: String| format!("operation {number}: {problem}");
        waits.push(operations.u32()?);
        own.add(operations.operation().map_err(at)?, u64::from(number));
        for at_begin in [false, true] {
            let (successors, first) = (operations.u32()?, operations.u32()?);
            // They lie one behind the other, so that they are no more than the file has.
            if successors > 0 && first as usize != own.edges.len() {
                return Err(at(format!(
                    "its successors have the place {first}, not {}",
                    own.edges.len()
                )));
            }
            for _ in 0..successors {
                let successor = rest.u32()?;
                if successor >= count {
                    return Err(at(format!("there is no operation {successor}, its successor")));
                }
                own.edges.push(Edge { waits: successor, before: number, at_begin });
            }
        }
    }
    match rest.bytes.len() - rest.at {
        0 => {}
        more => return Err(format!("{more} bytes follow its last successor: {TOO_LONG}")),
    }
    own.edges.iter().for_each(|edge| {
        let left = &mut waits[edge.waits as usize];
        *left = left.wrapping_sub(1);
    });
    match waits.iter().position(|&left| left != 0) {
        Some(number) => Err(format!(
            "operation {number}: the number of its predecessors is not that of the operations that \
             have it as a successor"
        )),
        None => Ok(own),
    }
}

/// Numbers one after another.
#[derive(Clone, Copy)]
struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Numbers<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let found = self.bytes[self.at..].first_chunk().copied();
        self.at += if found.is_some() { N } else { 0 };
        found.ok_or_else(|| self.ends())
    }

    fn ends(&self) -> String {
        format!("it ends after {} bytes, in the middle of something", self.bytes.len())
    }

    fn skip(&mut self, count: u64) -> Result<(), String> {
        if count > (self.bytes.len() - self.at) as u64 {
            return Err(self.ends());
        }
        self.at += count as usize;
        Ok(())
    }

    fn u8(&mut self) -> Result<u8, String> {
        self.take().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.take().map(u64::from_le_bytes)
    }

    /// From the type to the NIC.
    fn operation(&mut self) -> Result<Op, String> {
        let (kind, peer, size, tag) = (self.u8()?, self.u32()?, self.u64()?, self.u32()?);
        let cpu = u32::from(self.u8()?);
        self.skip(1)?;
        let some = |value: u32| Some(value).filter(|&value| value != ANY);
        let size = longest(size)?;
        match kind {
            1 if tag == ANY => Err("tag -1 is any tag, which only a recv has".into()),
            1 => Ok(Op::Send { bytes: size, to: peer, tag }),
            2 => Ok(Op::Recv { from: some(peer), tag: some(tag) }),
            3 => Ok(Op::Calc { time: Ps(size * 1000), cpu }),
            _ => Err(format!("type {kind} is none of 1 (send), 2 (recv) and 3 (calc)")),
        }
    }
}
