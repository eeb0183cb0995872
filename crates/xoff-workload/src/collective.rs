//! Collective operations of training jobs.

mod all_to_all;
mod halving;
mod hierarchical;
mod loads;
mod pass;
mod pattern;
mod ring;
mod staged;
#[cfg(test)]
mod tests;
mod tree;
mod two_steps;

use std::collections::BTreeMap;
use std::sync::Arc;

use xoff_core::files::digest_of;
use xoff_core::knobs::{Effect, because};
use xoff_core::program::{Job as _, MESSAGES_MAX};
use xoff_core::{Bytes, HostId, Ps, choices};

use self::all_to_all::{AllToAll, Dissemination};
use self::halving::Halving;
use self::hierarchical::Hierarchical;
use self::loads::{Loads, Popular};
pub(crate) use self::pass::{Links, Numbers, Pass};
use self::pattern::share;
pub(crate) use self::pattern::{Parts, Pattern};
use self::ring::{Chain, Ring};
use self::staged::{Pace, Staged};
use self::tree::Tree;
use self::two_steps::TwoSteps;
use crate::ranks::{Placement, check_servers, placed};
use crate::{
    CLASSES, Context, Crowd, Frequency, Mix, NoFlows, Offer, Priority, TrafficSettings, host_set,
};

choices! {
    /// A collective operation.
    pub enum Operation {
        /// All ranks get the sum of what each has.
        AllReduce = "all-reduce",
        /// Each rank gets its piece of the sum.
        ReduceScatter = "reduce-scatter",
        /// All ranks get the pieces of all.
        AllGather = "all-gather",
        /// Each rank has a piece for every other one.
        AllToAll = "all-to-all",
        /// All ranks get what the first one has.
        Broadcast = "broadcast",
        /// All ranks learn that all have come; of 1 byte.
        Barrier = "barrier",
    }
}

choices! {
    /// The algorithm of a collective operation.
    pub enum Algorithm {
        /// Neighbours pass pieces on: all-reduce, reduce-scatter, all-gather, broadcast.
        Ring = "ring",
        /// The same in both directions; lanes alternate: all-reduce, reduce-scatter, all-gather.
        BothWays = "both-ways",
        /// Partners exchange halves, then quarters: all-reduce, reduce-scatter, all-gather, for
        /// powers of two.
        Halving = "halving-doubling",
        /// A binary tree: all-reduce, broadcast.
        Tree = "tree",
        /// Two binary trees, one for every other lane, whose inner ranks are leaves of the other:
        /// all-reduce.
        DoubleTree = "double-tree",
        /// Rings within servers, across servers, and within servers again: all-reduce. First within
        /// servers, then between ranks at the same place of servers: all-to-all.
        Hierarchical = "hierarchical",
        /// A rank sends to all others at once: all-to-all.
        Direct = "direct",
        /// A rank sends to one other at a time: all-to-all.
        Pairwise = "pairwise",
        /// A rank tells others at doubling distances: barrier.
        Dissemination = "dissemination",
    }
}

xoff_core::knobs! {
    /// A collective operation of a job, in one or more rounds. A message begins at its sender when
    /// all that it depends on has arrived there. Messages of a lane from one rank to another go one
    /// after another: the next one begins when the last byte of the one before has left. A rank
    /// begins its next round when all messages to it have arrived, and its own are acknowledged.
    /// The flows are all measured, whenever they begin.
    pub struct CollectiveConfig in "collective" {
        /// The operation.
        operation: Operation = Operation::AllReduce,
        /// Its algorithm.
        algorithm: Algorithm = Algorithm::Ring,
        /// Bytes of each rank's buffer, as NCCL counts them: the input of an all-reduce,
        /// reduce-scatter, all-to-all or broadcast, the output of an all-gather.
        bytes: Bytes = Bytes(64_000_000) => [Effect::Unless(|job| because(
            job.operation == Operation::Barrier,
            "operation = \"barrier\"",
        ))],
        /// Number of lanes: parts of the bytes with messages of their own, side by side.
        lanes: u32 = 1 => [Effect::Unless(|job| because(
            job.operation == Operation::Barrier,
            "operation = \"barrier\"",
        ))],
        /// Chunks of each lane, as NCCL pipelines them: a rank passes a chunk on while the next one
        /// arrives. Chunks from one rank to another go one after another. A tree or a broadcast
        /// with 1 chunk takes the time of all its hops in turn.
        chunks: u32 = 1 => [Effect::Unless(|job| because(
            job.operation == Operation::Barrier,
            "operation = \"barrier\"",
        ))],
        /// Zipf exponent of the loads of an all-to-all, as of experts in a mixture: of what each
        /// rank sends, the k-th most popular rank gets a share in proportion to 1/k^skew. The seed
        /// decides which rank is how popular. 0: all get the same. From 0 to 10.
        skew: f64 = 0.0 => [EVEN, Effect::Unless(|job| because(
            !job.loads.is_empty(),
            "loads, which names a file",
        ))],
        /// Whether each round draws which ranks are popular; otherwise they are the same in all.
        redraw: bool = false => [Effect::Unless(|job| because(job.skew == 0.0, "skew = 0"))],
        /// A CSV file of loads of an all-to-all with the columns from,to,load: a rank shares its
        /// bytes out in proportion to its loads, which are whole numbers. What it has for itself
        /// stays, and pairs without a load exchange a message of one byte. Empty: `skew` decides.
        loads: String = String::new() => [EVEN],
        /// Successive ranks that share a server; 0: as many as the fabric's servers have GPUs
        /// (`network.topology = "rail"`).
        ranks_per_server: u32 = 0 => [Effect::Unless(|job| because(
            job.algorithm != Algorithm::Hierarchical,
            "another algorithm than \"hierarchical\"",
        ))],
        /// The hosts: all, or numbers and ranges such as 0-3,7,9-12.
        hosts: String = "all".to_owned(),
        /// The order of ranks on them.
        placement: Placement = Placement::Packed,
        /// Number of rounds.
        rounds: u32 = 1,
        /// Time that each rank computes before a round.
        compute: Ps = Ps(0),
        /// Most further time that a rank computes, drawn uniformly for each rank and round.
        jitter: Ps = Ps(0),
        /// Hosts that compute longer: numbers and ranges; empty: none.
        stragglers: String = String::new(),
        /// How much longer they compute.
        straggle: Ps = Ps::from_us(100) => [Effect::Unless(|job| because(
            job.stragglers.is_empty(),
            "stragglers = \"\"",
        ))],
        /// Start of the job.
        start: Ps = Ps(0),
        /// The priority of the packets.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// The name of these flows in the results.
        class: String = "collective".to_owned(),
    }
}

/// Other operations have pieces of one size.
const EVEN: Effect<CollectiveConfig> = Effect::Unless(|job| {
    because(job.operation != Operation::AllToAll, "another operation than \"all-to-all\"")
});

/// Far more than any library has channels, or chunks under way.
const MOST_LANES: u32 = 1024;

/// Far beyond any measured popularity.
const MOST_SKEW: f64 = 10.0;

impl TrafficSettings for CollectiveConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let given = match &*self.loads {
            "" => None,
            file => Some(context.files.text_of("loads", file)?),
        };
        let job = self.job(context, given.as_deref())?;
        let mix = self.mix(&job);
        let ranks = job.hosts().len() as f64;
        let together = ranks * f64::from(job.parts.lanes) * f64::from(job.pattern.fan());
        let crowd = Crowd::of(together).between(self.start, Ps(0));
        let job = Some(Arc::new(job) as _);
        let derived = given.map(|text| digest_of(&text)).unwrap_or_default();
        Ok(Offer { sizes: Some(mix), job, derived, ..Offer::new(NoFlows, crowd) })
    }
}

impl CollectiveConfig {
    /// The job; `given` is the text of its file of loads.
    pub(crate) fn job(&self, context: &Context<'_>, given: Option<&str>) -> Result<Staged, String> {
        let hosts = placed(&self.hosts, self.placement, context)?;
        let ranks = hosts.len() as u32;
        if ranks < 2 {
            return Err("hosts names one host: a collective operation needs at least 2".into());
        }
        if self.rounds == 0 {
            return Err("rounds is 0: give at least 1 or leave the section out".into());
        }
        let in_server = self.in_server(context.capacity.grouping.in_server)?;
        let pattern = self.pattern_of(ranks, in_server, self.loads_of(ranks, given, context)?)?;
        if let Some(in_server) = pattern.in_server().filter(|_| self.ranks_per_server == 0) {
            check_servers(&hosts, in_server)
                .map_err(|problem| format!("{problem}, or give ranks_per_server"))?;
        }
        self.check_bytes(ranks)?;
        let parts = self.parts();
        let pace = Pace {
            start: self.start,
            compute: self.compute,
            jitter: self.jitter,
            stragglers: self.stragglers(&hosts, context.hosts())?,
            straggle: self.straggle,
            seed: context.seed,
            source: context.source,
        };
        let measure = self.bus_factor(ranks).map(|factor| (self.bytes.0, factor));
        let (rounds, priority) = (self.rounds, self.priority.number());
        let job = Staged { pattern, hosts: hosts.into(), parts, rounds, pace, priority, measure };
        if job.messages() > MESSAGES_MAX {
            return Err(format!(
                "rounds is {rounds}: the job would have {} messages, but at most {MESSAGES_MAX} \
                 can be numbered; take fewer rounds, lanes, chunks or hosts",
                job.messages()
            ));
        }
        Ok(job)
    }

    /// The sizes of the messages of its job.
    fn mix(&self, job: &Staged) -> Mix {
        // All ranks send messages of the same sizes, unless some are more popular than others.
        let alike = self.loads.is_empty() && self.skew == 0.0;
        let different = if alike { 1 } else { job.hosts().len() as u32 };
        let pattern = &job.pattern;
        let of_rank = |rank| (0..pattern.stages()).map(move |stage| (stage, rank));
        let stages = (0..different).flat_map(of_rank);
        let sends = stages.flat_map(|(stage, rank)| pattern.stage(0, stage, rank).sends);
        // Many are of one size: of one byte, if they have none.
        let mut sizes = BTreeMap::new();
        sends.for_each(|(_, bytes)| *sizes.entry(bytes.max(1)).or_insert(0) += 1);
        let in_round = u64::from(job.parts.count()) * pattern.messages_in_all();
        let mut mix = Mix::default();
        mix.add_counted(Frequency::InAll(in_round as f64 * f64::from(job.rounds())), &sizes);
        mix
    }

    pub(crate) fn parts(&self) -> Parts {
        if self.operation == Operation::Barrier {
            return Parts { lanes: 1, chunks: 1 };
        }
        Parts { lanes: self.lanes, chunks: self.chunks }
    }

    /// The ranks that compute longer, in order.
    fn stragglers(&self, hosts: &[HostId], all: u32) -> Result<Vec<u32>, String> {
        if self.stragglers.is_empty() {
            return Ok(Vec::new());
        }
        let named = host_set::parse(&self.stragglers, all);
        let named = named.map_err(|problem| format!("stragglers: {problem}"))?;
        let rank = |host: &HostId| {
            let place = hosts.iter().position(|other| other == host);
            place.map(|rank| rank as u32).ok_or_else(|| {
                format!("stragglers: host {host} is not among the hosts of this job")
            })
        };
        let mut ranks = named.iter().map(rank).collect::<Result<Vec<u32>, String>>()?;
        ranks.sort_unstable();
        Ok(ranks)
    }

    /// How an all-to-all shares out bytes.
    fn loads_of(
        &self,
        ranks: u32,
        given: Option<&str>,
        context: &Context<'_>,
    ) -> Result<Loads, String> {
        if let Some(text) = given {
            return Loads::read(&self.loads, text, ranks);
        }
        if !(0.0..=MOST_SKEW).contains(&self.skew) {
            return Err(format!("skew is {}: it must be from 0 to {MOST_SKEW}", self.skew));
        }
        if self.skew == 0.0 {
            return Ok(Loads::Even { ranks });
        }
        let Context { seed, source, .. } = *context;
        Ok(Loads::Popular(Popular::new(ranks, self.skew, self.redraw, seed, source)))
    }

    /// Successive ranks that share a server, on a fabric whose servers have this number of GPUs.
    fn in_server(&self, of_fabric: Option<u32>) -> Result<u32, String> {
        let in_server = match self.ranks_per_server {
            0 => of_fabric.unwrap_or(0),
            given => given,
        };
        if in_server == 0 && self.algorithm == Algorithm::Hierarchical {
            return Err(
                "ranks_per_server is 0, and no hosts of this network are GPUs of a server: \
                        give the number of ranks that share a server, or set network.topology = \
                        \"rail\""
                    .into(),
            );
        }
        Ok(in_server)
    }

    /// The algorithm for this number of ranks, with pieces of one size, on a fabric whose servers
    /// have that number of GPUs.
    ///
    /// # Errors
    /// A combination of settings, or a number of ranks, that the algorithm cannot have.
    pub(crate) fn pattern(
        &self,
        ranks: u32,
        of_fabric: Option<u32>,
    ) -> Result<Arc<dyn Pattern>, String> {
        if of_fabric.is_none() && self.algorithm == Algorithm::Hierarchical {
            return Err(
                "algorithm = \"hierarchical\" needs a network whose hosts are GPUs of servers: set \
                 network.topology = \"rail\""
                    .into(),
            );
        }
        self.pattern_of(ranks, of_fabric.unwrap_or(0), Loads::Even { ranks })
    }

    fn pattern_of(
        &self,
        ranks: u32,
        in_server: u32,
        loads: Loads,
    ) -> Result<Arc<dyn Pattern>, String> {
        use Algorithm as A;
        use Operation as O;
        let lanes = self.bytes_of_parts()?;
        let (scatters, gathers) = match self.operation {
            O::AllReduce => (true, true),
            operation => (operation == O::ReduceScatter, operation == O::AllGather),
        };
        let passes = u32::from(scatters) + u32::from(gathers);
        Ok(match (self.operation, self.algorithm) {
            (O::AllReduce | O::ReduceScatter | O::AllGather, A::Ring | A::BothWays) => {
                let both_ways = self.algorithm == A::BothWays;
                if both_ways {
                    self.check_lanes("algorithm = \"both-ways\" gives each direction")?;
                }
                Arc::new(Ring { ranks, passes, lanes, both_ways })
            }
            (O::AllReduce | O::ReduceScatter | O::AllGather, A::Halving) => {
                if !ranks.is_power_of_two() {
                    return Err(format!(
                        "algorithm = \"halving-doubling\" needs a power of two of hosts, not \
                         {ranks}"
                    ));
                }
                Arc::new(Halving { ranks, scatters, gathers, lanes })
            }
            (O::AllReduce | O::Broadcast, A::Tree | A::DoubleTree) => {
                let mirrors = self.algorithm == A::DoubleTree;
                if mirrors {
                    self.check_lanes("algorithm = \"double-tree\" gives each tree")?;
                }
                if mirrors && self.operation == O::Broadcast {
                    return Err("algorithm = \"double-tree\" has two roots, a broadcast one: use \
                                \"tree\" or \"ring\""
                        .into());
                }
                Arc::new(Tree { ranks, reduces: self.operation == O::AllReduce, mirrors, lanes })
            }
            (O::AllReduce | O::AllToAll, A::Hierarchical) => {
                if in_server < 2 || !ranks.is_multiple_of(in_server) || ranks == in_server {
                    return Err(format!(
                        "algorithm = \"hierarchical\" needs at least 2 servers of at least 2 ranks \
                         each: {ranks} ranks are not several whole servers of {in_server}"
                    ));
                }
                let servers = ranks / in_server;
                if self.operation == O::AllReduce {
                    Arc::new(Hierarchical::new(in_server, servers, &lanes))
                } else {
                    Arc::new(TwoSteps { in_server, servers, lanes: lanes.into(), loads })
                }
            }
            (O::Broadcast, A::Ring) => Arc::new(Chain { ranks, lanes }),
            (O::AllToAll, A::Direct | A::Pairwise) => {
                let one_at_a_time = self.algorithm == A::Pairwise;
                Arc::new(AllToAll { ranks, one_at_a_time, lanes: lanes.into(), loads })
            }
            (O::Barrier, A::Dissemination) => Arc::new(Dissemination { ranks }),
            _ => return Err(self.no_such_algorithm()),
        })
    }

    /// Checks that every other lane can do something else.
    fn check_lanes(&self, said: &str) -> Result<(), String> {
        let Parts { lanes, chunks } = self.parts();
        if lanes < 2 {
            return Err(format!("{said} every other lane: set lanes to 2 or more"));
        }
        if chunks > 1 && lanes % 2 == 1 {
            return Err(format!(
                "{said} every other lane: with chunks = {chunks} set lanes to an even number"
            ));
        }
        Ok(())
    }

    /// The bytes of each part.
    fn bytes_of_parts(&self) -> Result<Vec<u64>, String> {
        let Parts { lanes, chunks } = self.parts();
        for (name, count) in [("lanes", lanes), ("chunks", chunks)] {
            if !(1..=MOST_LANES).contains(&count) {
                return Err(format!("{name} is {count}: it must be from 1 to {MOST_LANES}"));
            }
        }
        let parts = u64::from(self.parts().count());
        Ok((0..parts).map(|part| share(self.bytes.0, parts, part, part + 1)).collect())
    }

    /// Checks that no message is empty.
    fn check_bytes(&self, ranks: u32) -> Result<(), String> {
        let pieces = match (self.operation, self.algorithm) {
            (Operation::Barrier, _) => 0,
            (Operation::Broadcast, _) | (_, Algorithm::Tree | Algorithm::DoubleTree) => 1,
            _ => u64::from(ranks),
        };
        let Parts { lanes, chunks } = self.parts();
        if pieces * u64::from(self.parts().count()) > self.bytes.0 {
            let chunked = if chunks > 1 { format!(" of {chunks} chunks") } else { String::new() };
            return Err(format!(
                "bytes is {}, less than one for each of {pieces} pieces in {lanes} lanes{chunked}",
                self.bytes
            ));
        }
        Ok(())
    }

    fn no_such_algorithm(&self) -> String {
        use xoff_core::knobs::Knob as _;
        let fitting = match self.operation {
            Operation::AllReduce => {
                "\"ring\", \"both-ways\", \"halving-doubling\", \"tree\", \"double-tree\" or \
                 \"hierarchical\""
            }
            Operation::ReduceScatter | Operation::AllGather => {
                "\"ring\", \"both-ways\" or \"halving-doubling\""
            }
            Operation::AllToAll => "\"direct\", \"pairwise\" or \"hierarchical\"",
            Operation::Broadcast => "\"ring\" or \"tree\"",
            Operation::Barrier => "\"dissemination\"",
        };
        let (algorithm, operation) = (self.algorithm.show(), self.operation.show());
        format!("algorithm = {algorithm} cannot do operation = {operation}: use {fitting}")
    }

    /// The factor from algorithm bandwidth to bus bandwidth (NVIDIA, nccl-tests, PERFORMANCE.md):
    /// the share of the buffer that each rank must send at least.
    fn bus_factor(&self, ranks: u32) -> Option<f64> {
        let others = f64::from(ranks - 1) / f64::from(ranks);
        match self.operation {
            Operation::AllReduce => Some(2.0 * others),
            Operation::ReduceScatter | Operation::AllGather | Operation::AllToAll => Some(others),
            Operation::Broadcast => Some(1.0),
            Operation::Barrier => None,
        }
    }
}
