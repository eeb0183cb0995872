//! Collective operations of the files of several ranks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ChakraConfig;
use super::groups::Groups;
use super::nodes::Call;
use crate::collective::Operation;
use crate::dag::{Collective, Op};

/// A collective operation, and where it was found first.
#[derive(Debug)]
struct Joint {
    call: Call,
    /// The number among those of the schedule; `None` if the group has one rank.
    number: Option<u32>,
    /// A rank and its node.
    first: (u32, u64),
    /// Ranks that have it.
    found: usize,
}

/// A group.
#[derive(Debug)]
struct Group {
    ranks: Arc<[u32]>,
    operations: Vec<Joint>,
}

/// All collective operations of a trace.
pub(super) struct Joints<'a> {
    config: &'a ChakraConfig,
    groups: &'a Groups,
    /// Ranks of the trace.
    all: u32,
    /// The GPUs of a server of the fabric, if hosts are GPUs.
    in_server: Option<u32>,
    found: BTreeMap<String, Group>,
    /// For each group, how many operations the rank that is being read has.
    nth: BTreeMap<String, usize>,
    pub(super) collectives: Vec<Collective>,
}

impl<'a> Joints<'a> {
    pub(super) fn new(
        config: &'a ChakraConfig,
        groups: &'a Groups,
        all: u32,
        in_server: Option<u32>,
    ) -> Self {
        let (found, nth) = (BTreeMap::new(), BTreeMap::new());
        Self { config, groups, all, in_server, found, nth, collectives: Vec::new() }
    }

    /// The file of the next rank begins.
    pub(super) fn next_rank(&mut self) {
        self.nth.clear();
    }

    /// The next operation of a group at a rank, at this node.
    ///
    /// # Errors
    /// The rank or the operation does not fit the group's.
    pub(super) fn add(
        &mut self,
        call: Call,
        name: String,
        rank: u32,
        node: u64,
    ) -> Result<Op, String> {
        if !self.found.contains_key(&name) {
            let group =
                Group { ranks: self.groups.ranks(&name, self.all)?, operations: Vec::new() };
            self.found.insert(name.clone(), group);
        }
        let group = self.found.get_mut(&name).expect("it was just added");
        if group.ranks.binary_search(&rank).is_err() {
            return Err(format!("rank {rank} is not in its group {name:?}"));
        }
        let nth = self.nth.entry(name).or_default();
        *nth += 1;
        if let Some(known) = group.operations.get_mut(*nth - 1) {
            known.found += 1;
            let (rank, node) = known.first;
            if known.call != call {
                return Err(format!(
                    "it is {}, but that number {nth} of its group is {} at rank {rank}, node \
                     {node}",
                    show(call),
                    show(known.call)
                ));
            }
            return Ok(known.number.map_or(Op::Join, Op::Collective));
        }
        let first = (rank, node);
        let mut joint = Joint { call, number: None, first, found: 1 };
        if group.ranks.len() > 1 {
            joint.number = Some(self.collectives.len() as u32);
            let ranks = &group.ranks;
            self.collectives.push(collective(self.config, call, ranks, self.in_server)?);
        }
        let op = joint.number.map_or(Op::Join, Op::Collective);
        group.operations.push(joint);
        Ok(op)
    }

    /// How many operations there are of each kind, such as `2 all-reduce, 1 barrier`; without those
    /// of a single rank, which do nothing.
    pub(super) fn kinds(&self) -> String {
        use xoff_core::knobs::Knob as _;
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for operation in self.operations() {
            *counts.entry(operation.show()).or_default() += 1;
        }
        let text = |(name, count): (&String, &u64)| format!("{count} {}", name.trim_matches('"'));
        counts.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    /// The operations of several ranks.
    pub(super) fn operations(&self) -> impl Iterator<Item = Operation> {
        let all = self.found.values().flat_map(|group| &group.operations);
        all.filter(|joint| joint.number.is_some()).map(|joint| joint.call.operation)
    }

    /// The names of the groups that have operations.
    pub(super) fn groups(&self) -> impl Iterator<Item = &String> {
        self.found.keys()
    }

    /// Checks that each operation is in the files of all its ranks. Otherwise returns an operation
    /// that is not: a rank that has it, its node there, and what is missing.
    pub(super) fn check(&self) -> Result<(), (u32, u64, String)> {
        for (name, group) in &self.found {
            let all = group.ranks.len();
            let missing = group.operations.iter().find(|joint| joint.found < all);
            if let Some(&Joint { call, first: (rank, node), found, .. }) = missing {
                let problem = format!(
                    "{} of group {name:?} is in the files of {found} of its {all} ranks",
                    show(call)
                );
                return Err((rank, node, problem));
            }
        }
        Ok(())
    }
}

fn collective(
    config: &ChakraConfig,
    call: Call,
    ranks: &Arc<[u32]>,
    in_server: Option<u32>,
) -> Result<Collective, String> {
    let count = ranks.len() as u32;
    let operation = config.collective(call.operation, call.bytes, count);
    let parts = operation.parts();
    let pattern = operation.pattern(count, in_server)?;
    Ok(Collective { pattern, parts, ranks: Arc::clone(ranks) })
}

fn show(Call { operation, bytes }: Call) -> String {
    use xoff_core::knobs::Knob as _;
    format!("{} of {bytes} bytes", operation.show().trim_matches('"'))
}
