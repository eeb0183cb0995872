//! The meaning of a node.

use xoff_core::Ps;

use super::schema::{Attribute, COLLECTIVES, NODE_TYPES, Node, Value};
use crate::ENDLESS;
use crate::collective::Operation;
use crate::dag::Op;

/// A collective operation, as one rank has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) operation: Operation,
    /// `comm_size`.
    pub(super) bytes: u64,
}

/// What a node does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// An operation of its rank.
    Own(Op),
    /// A collective operation of this group.
    Joint(Call, String),
}

/// The processor of nodes with `is_cpu_op`, and that of others.
const CPU: u32 = 1;
const ACCELERATOR: u32 = 0;

/// About 11 days.
const LONGEST_MICROS: u64 = 1_000_000_000_000;

/// Reads a node of `rank`.
///
/// # Errors
/// What cannot be run.
pub(super) fn read(node: &Node, rank: u32) -> Result<Meaning, String> {
    let attributes = Attributes(&node.attr);
    let kind = usize::try_from(node.kind).ok().and_then(|kind| NODE_TYPES.get(kind)).copied();
    Ok(Meaning::Own(match kind {
        Some("METADATA_NODE") => Op::Join,
        Some("COMP_NODE") => computation(node, &attributes)?,
        Some("COMM_SEND_NODE") => {
            attributes.own("comm_src", rank)?;
            let (bytes, to) = (attributes.bytes()?, attributes.rank("comm_dst")?);
            Op::Send { bytes, to, tag: attributes.tag()? }
        }
        Some("COMM_RECV_NODE") => {
            attributes.own("comm_dst", rank)?;
            Op::Recv { from: Some(attributes.rank("comm_src")?), tag: Some(attributes.tag()?) }
        }
        Some("COMM_COLL_NODE") => {
            let group = attributes.text("pg_name")?;
            return Ok(Meaning::Joint(call(&attributes)?, group));
        }
        Some(name) => return Err(format!("a {name} cannot be run: only {RUN}")),
        None => return Err(format!("type {} is unknown: only {RUN}", node.kind)),
    }))
}

const RUN: &str = "COMP_NODE, COMM_SEND_NODE, COMM_RECV_NODE, COMM_COLL_NODE and METADATA_NODE can";

fn computation(node: &Node, attributes: &Attributes<'_>) -> Result<Op, String> {
    let micros = match node.duration_micros {
        0 => attributes.whole("runtime")?.unwrap_or(0),
        micros => micros,
    };
    if micros == 0 && attributes.whole("num_ops")?.is_some_and(|ops| ops > 0) {
        return Err("it has num_ops and no duration_micros: processors are not modelled, so give \
                    it the time that it takes"
            .into());
    }
    if micros > LONGEST_MICROS {
        return Err(format!("it takes {micros} us: at most {LONGEST_MICROS} can be run"));
    }
    // ASTRA-sim takes a node without the attribute as one of the CPU.
    let on_cpu = attributes.flag("is_cpu_op")?.unwrap_or(true);
    Ok(Op::Calc { time: Ps(micros * 1_000_000), cpu: if on_cpu { CPU } else { ACCELERATOR } })
}

fn call(attributes: &Attributes<'_>) -> Result<Call, String> {
    let kind = attributes.needed("comm_type")?;
    let operation = match usize::try_from(kind).ok().and_then(|kind| COLLECTIVES.get(kind)) {
        Some(&"ALL_REDUCE") => Operation::AllReduce,
        Some(&"ALL_GATHER") => Operation::AllGather,
        Some(&"BROADCAST") => Operation::Broadcast,
        Some(&"ALL_TO_ALL") => Operation::AllToAll,
        Some(&("REDUCE_SCATTER" | "REDUCE_SCATTER_BLOCK")) => Operation::ReduceScatter,
        Some(&"BARRIER") => return Ok(Call { operation: Operation::Barrier, bytes: 1 }),
        Some(name) => return Err(format!("comm_type {name} cannot be run: only {COLLECTIVE}")),
        None => return Err(format!("comm_type {kind} is unknown: only {COLLECTIVE}")),
    };
    Ok(Call { operation, bytes: attributes.bytes()? })
}

const COLLECTIVE: &str =
    "ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, BROADCAST and BARRIER can";

/// The attributes of a node.
struct Attributes<'a>(&'a [Attribute]);

impl Attributes<'_> {
    /// The size of a message: less than that of a flow without end.
    fn bytes(&self) -> Result<u64, String> {
        let bytes = self.needed("comm_size")?;
        match bytes < ENDLESS {
            true => Ok(bytes),
            false => Err(format!("comm_size = {bytes} is more than any message has")),
        }
    }

    /// The value of an attribute, if it is there.
    fn find(&self, name: &str) -> Result<Option<&Value>, String> {
        let found = self.0.iter().find(|attribute| attribute.name == name);
        let value = found.map(|attribute| attribute.value.as_ref().ok_or(()));
        let wrong = |()| {
            format!(
                "{name} has no value, or a value of another type than whole number, bool and text"
            )
        };
        value.transpose().map_err(wrong)
    }

    fn flag(&self, name: &str) -> Result<Option<bool>, String> {
        let Some(value) = self.find(name)? else { return Ok(None) };
        match (value, value.whole()) {
            (Value::Bool(flag), _) => Ok(Some(*flag)),
            (_, Some(number @ 0..=1)) => Ok(Some(number == 1)),
            _ => Err(format!("{name} is {value:?}: expected a bool, or 0 or 1")),
        }
    }

    fn whole(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(value) = self.find(name)? else { return Ok(None) };
        let whole = value.whole();
        whole.map(Some).ok_or_else(|| format!("{name} is {value:?}: expected a whole number"))
    }

    fn needed(&self, name: &str) -> Result<u64, String> {
        self.whole(name)?.ok_or_else(|| format!("it has no {name}"))
    }

    fn rank(&self, name: &str) -> Result<u32, String> {
        let rank = self.needed(name)?;
        u32::try_from(rank).map_err(|_| format!("{name} is {rank}: there is no such rank"))
    }

    fn tag(&self) -> Result<u32, String> {
        let tag = self.whole("comm_tag")?.unwrap_or(0);
        u32::try_from(tag).map_err(|_| format!("comm_tag is {tag}: a tag has 32 bits"))
    }

    fn text(&self, name: &str) -> Result<String, String> {
        match self.find(name)? {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(value) => Err(format!("{name} is {value:?}: expected a text")),
        }
    }

    /// Checks that an attribute, if it is there, names the rank itself.
    fn own(&self, name: &str, rank: u32) -> Result<(), String> {
        match self.whole(name)? {
            Some(found) if found != u64::from(rank) => {
                Err(format!("{name} is {found}, but this is the file of rank {rank}"))
            }
            _ => Ok(()),
        }
    }
}
