//! Traces of applications as Chakra execution traces.

mod frames;
pub(crate) mod fuzz;
mod groups;
mod joint;
mod nodes;
mod schema;
#[cfg(test)]
mod tests;
mod trace;

use xoff_core::knobs::{Effect, Knob as _};
use xoff_core::{Bytes, HostId, Ps};

use self::groups::Groups;
use self::trace::Trace;
use crate::collective::{Algorithm, CollectiveConfig, Operation};
use crate::dag::Dag;
use crate::ranks::{Placement, check_servers, placed_ranks};
use crate::{CLASSES, Context, Offer, Priority, TrafficSettings};

xoff_core::knobs! {
    /// The operations of ranks in a Chakra execution trace of MLCommons (protobuf, schema 0.0.4),
    /// with a file for each rank, as ASTRA-sim reads them. A node begins when all nodes in its
    /// `ctrl_deps` and `data_deps` have ended. A COMP_NODE takes its `duration_micros`, or those of
    /// its attribute `runtime`; nodes with and without `is_cpu_op` have a processor each, which
    /// does one thing at a time. A COMM_SEND_NODE is a flow, which ends when all its bytes are
    /// acknowledged. A COMM_RECV_NODE ends when a message with its `comm_src` and `comm_tag` has
    /// arrived. A COMM_COLL_NODE is an all-reduce, reduce-scatter, all-gather, all-to-all,
    /// broadcast or barrier of the ranks of its `pg_name`; the nth of a group at one rank belongs
    /// to the nth at the others, in the order of files. `comm_size` is the input of a rank. A
    /// METADATA_NODE takes no time. Other nodes are errors. Messages from one rank to another go
    /// one after another. The flows are all measured, whenever they begin.
    pub struct ChakraConfig in "chakra" {
        /// The path of the files without the number of the rank: PREFIX of PREFIX.0.et,
        /// PREFIX.1.et and so on.
        file: String = String::new(),
        /// The path of a JSON file with the ranks of each communicator group, as
        /// {"1": [0, 1], "2": [2, 3]}. Empty: none; all ranks are in the groups "" and "0".
        groups: String = String::new(),
        /// The algorithm of an all-reduce.
        all_reduce: Algorithm = Algorithm::Ring,
        /// The algorithm of a reduce-scatter.
        reduce_scatter: Algorithm = Algorithm::Ring,
        /// The algorithm of an all-gather.
        all_gather: Algorithm = Algorithm::Ring,
        /// The algorithm of an all-to-all.
        all_to_all: Algorithm = Algorithm::Direct,
        /// The algorithm of a broadcast, from the first rank of its group.
        broadcast: Algorithm = Algorithm::Ring,
        /// Number of lanes of a collective operation: parts of its bytes with messages of their
        /// own.
        lanes: u32 = 1,
        /// Chunks of each lane, which follow one another through the ranks.
        chunks: u32 = 1,
        /// The hosts: all, or numbers and ranges such as 0-3,7,9-12. Each rank needs one; of `all`,
        /// the first ones are used.
        hosts: String = "all".to_owned(),
        /// The order of ranks on them.
        placement: Placement = Placement::Packed,
        /// Start of the job.
        start: Ps = Ps(0),
        /// The priority of the packets.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// The name of these flows in the results.
        class: String = "chakra".to_owned(),
    }
}

impl TrafficSettings for ChakraConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let groups = match self.groups.as_str() {
            "" => Groups::default(),
            file => Groups::read(file, &context.files.text_of("groups", file)?)?,
        };
        let trace = trace::read(self, &groups, context)?;
        self.refuse_idle(&trace)?;
        let ranks = trace.schedule.ranks.len();
        let hosts = placed_ranks(&self.hosts, self.placement, ranks, &self.file, context)?;
        for collective in &trace.schedule.collectives {
            if let Some(in_server) = collective.pattern.in_server() {
                let of_ranks: Vec<HostId> =
                    collective.ranks.iter().map(|&rank| hosts[rank as usize]).collect();
                check_servers(&of_ranks, in_server)?;
            }
        }
        let dag = Dag::new(trace.schedule, hosts, self.start, self.priority.number());
        let derived = vec![
            ("digest", format!("{:016x}", trace.digest)),
            ("schema", format!("{:?}", trace.version)),
            ("collectives_by_kind", format!("{:?}", trace.collectives)),
        ];
        Ok(dag.offer(derived))
    }
}

impl ChakraConfig {
    /// Refuses settings of what this trace does not have.
    fn refuse_idle(&self, trace: &Trace) -> Result<(), String> {
        use Operation as O;
        let default = Self::default();
        for (key, algorithm, default, operation) in [
            ("all_reduce", self.all_reduce, default.all_reduce, O::AllReduce),
            ("reduce_scatter", self.reduce_scatter, default.reduce_scatter, O::ReduceScatter),
            ("all_gather", self.all_gather, default.all_gather, O::AllGather),
            ("all_to_all", self.all_to_all, default.all_to_all, O::AllToAll),
            ("broadcast", self.broadcast, default.broadcast, O::Broadcast),
        ] {
            if algorithm != default && !trace.operations.contains(&operation) {
                let (algorithm, name) = (algorithm.show(), operation.show());
                let name = name.trim_matches('"');
                return Err(format!(
                    "{key} = {algorithm} has no effect: the trace has no {name} of several ranks; \
                     remove it"
                ));
            }
        }
        let has_parts = trace.operations.iter().any(|&operation| operation != O::Barrier);
        for (key, count) in [("lanes", self.lanes), ("chunks", self.chunks)] {
            if count != 1 && !has_parts {
                return Err(format!(
                    "{key} = {count} has no effect: the trace has no collective operation of \
                     several ranks but barriers; remove it"
                ));
            }
        }
        if !self.groups.is_empty() && !trace.names_groups {
            return Err(format!(
                "groups = {:?} has no effect: the trace names none of its groups (pg_name); remove \
                 it",
                self.groups
            ));
        }
        Ok(())
    }

    /// A collective operation whose input has this many bytes at each of `ranks` ranks.
    fn collective(&self, operation: Operation, bytes: u64, ranks: u32) -> CollectiveConfig {
        let algorithm = match operation {
            Operation::AllReduce => self.all_reduce,
            Operation::ReduceScatter => self.reduce_scatter,
            Operation::AllGather => self.all_gather,
            Operation::AllToAll => self.all_to_all,
            Operation::Broadcast => self.broadcast,
            Operation::Barrier => Algorithm::Dissemination,
        };
        // An all-gather is measured by its output.
        let times = if operation == Operation::AllGather { u64::from(ranks) } else { 1 };
        let bytes = Bytes(bytes.saturating_mul(times));
        CollectiveConfig {
            operation,
            algorithm,
            bytes,
            lanes: self.lanes,
            chunks: self.chunks,
            ..CollectiveConfig::default()
        }
    }
}
