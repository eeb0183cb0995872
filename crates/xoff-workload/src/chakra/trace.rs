//! The files of all ranks.

use std::collections::HashMap;
use std::io::ErrorKind;

use xoff_core::digest::{Digest, bytes_digest};

use super::ChakraConfig;
use super::frames::Frames;
use super::groups::Groups;
use super::joint::Joints;
use super::nodes::{self, Meaning};
use super::schema::{GlobalMetadata, Node};
use crate::Context;
use crate::collective::Operation;
use crate::dag::{Edge, Mistake, RankOps, Schedule};

/// A trace.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) schedule: Schedule,
    /// The version of the schema that the first file names.
    pub(super) version: String,
    /// Its collective operations, by kind.
    pub(super) collectives: String,
    /// The kinds of these operations.
    pub(super) operations: Vec<Operation>,
    /// Whether it names a group that the file of groups has.
    pub(super) names_groups: bool,
    /// Of all files.
    pub(super) digest: u64,
}

/// Reads the files of a trace.
///
/// # Errors
/// The first mistake, with its file and place.
pub(super) fn read(
    config: &ChakraConfig,
    groups: &Groups,
    context: &Context<'_>,
) -> Result<Trace, String> {
    let files = files(&config.file, context)?;
    from_bytes(config, groups, &files, context.capacity.grouping.in_server)
}

/// The contents of the files that exist, up to one more than the network has hosts.
fn files(prefix: &str, context: &Context<'_>) -> Result<Vec<Vec<u8>>, String> {
    let mut found = Vec::new();
    while found.len() <= context.hosts() as usize {
        let path = context.files.path(&name(prefix, found.len()));
        match context.files.read(&path) {
            Ok(bytes) => found.push(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound && !found.is_empty() => break,
            Err(error) => return Err(format!("file = {prefix:?}: {}: {error}", path.display())),
        }
    }
    Ok(found)
}

pub(super) fn name(prefix: &str, rank: usize) -> String {
    format!("{prefix}.{rank}.et")
}

/// Reads the contents of the files of all ranks. `in_server`: the GPUs of a server of the fabric.
pub(super) fn from_bytes(
    config: &ChakraConfig,
    groups: &Groups,
    files: &[Vec<u8>],
    in_server: Option<u32>,
) -> Result<Trace, String> {
    let mut joints = Joints::new(config, groups, files.len() as u32, in_server);
    let mut trace = Trace::default();
    let mut digest = Digest::default();
    for (rank, bytes) in (0..).zip(files) {
        let at = |problem: String| format!("{}: {problem}", name(&config.file, rank as usize));
        joints.next_rank();
        digest.add(bytes_digest(bytes));
        let (metadata, ops) = read_rank(bytes, rank, &mut joints).map_err(at)?;
        if rank == 0 {
            trace.version = metadata.version;
        }
        trace.schedule.ranks.push(ops);
    }
    trace.digest = digest.value();
    let at = |rank: u32, node: u64, problem: &str| {
        format!("{}: node {node}: {problem}", name(&config.file, rank as usize))
    };
    joints.check().map_err(|(rank, node, problem)| at(rank, node, &problem))?;
    trace.collectives = joints.kinds();
    trace.operations = joints.operations().collect();
    trace.names_groups = joints.groups().any(|name| groups.has(name));
    trace.schedule.collectives = joints.collectives;
    let checked = trace.schedule.check();
    checked.map_err(|Mistake { rank, place, problem }| at(rank, place, &problem))?;
    Ok(trace)
}

/// What `gzip` writes first.
const GZIP: [u8; 2] = [0x1f, 0x8b];

fn read_rank(
    bytes: &[u8],
    rank: u32,
    joints: &mut Joints<'_>,
) -> Result<(GlobalMetadata, RankOps), String> {
    if bytes.starts_with(&GZIP) {
        return Err("it is compressed: run gunzip first".into());
    }
    let mut frames = Frames::of(bytes);
    let metadata = frames.take("GlobalMetadata of a Chakra trace")?;
    let (mut own, mut numbers) = (RankOps::default(), HashMap::new());
    // The nodes that each node waits for, by their ids.
    let mut waits: Vec<Vec<u64>> = Vec::new();
    while !frames.is_over() {
        let node: Node = frames.take("Node of a Chakra trace")?;
        let at = |problem: String| format!("node {}: {problem}", shown(&node));
        let op = match nodes::read(&node, rank).map_err(at)? {
            Meaning::Own(op) => op,
            Meaning::Joint(call, group) => joints.add(call, group, rank, node.id).map_err(at)?,
        };
        let number = own.add(op, node.id);
        if numbers.insert(node.id, number).is_some() {
            return Err(at("there are two nodes with this id".into()));
        }
        waits.push([node.ctrl_deps, node.data_deps].concat());
    }
    for (waiting, before) in (0..).zip(&mut waits) {
        // A node may be in both lists.
        before.sort_unstable();
        before.dedup();
        for id in before {
            let Some(&before) = numbers.get(id) else {
                let node = own.places[waiting as usize];
                return Err(format!("node {node}: it waits for node {id}, which is not there"));
            };
            own.edges.push(Edge { waits: waiting, before, at_begin: false });
        }
    }
    Ok((metadata, own))
}

fn shown(node: &Node) -> String {
    if node.name.is_empty() {
        node.id.to_string()
    } else {
        format!("{} ({:?})", node.id, node.name)
    }
}
