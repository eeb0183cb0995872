//! Pipeline parallelism: the layers of a model are divided into stages, and micro-batches pass
//! through them.

mod order;
mod stage;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use xoff_core::knobs::Effect;
use xoff_core::program::{Job, MESSAGES_MAX, Program};
use xoff_core::{Bytes, HostId, Ps};

pub use self::order::PipelineSchedule;
use self::order::{Pass, Work};
use self::stage::Stage;
use crate::ranks::{Placement, placed};
use crate::{CLASSES, Context, Crowd, Frequency, Mix, NoFlows, Offer, Priority, TrafficSettings};

xoff_core::knobs! {
    /// A training job with pipeline parallelism. Each host has a stage of the model. In every
    /// iteration, each of its micro-batches goes forward through all stages and then backward. A
    /// stage computes one pass of one micro-batch at a time, in the order of its schedule, when
    /// its input has arrived. Then it sends the output to the next stage, forward, or to the one
    /// before, backward, while it goes on computing. It begins the next iteration when its own
    /// passes are over and its messages are acknowledged. The flows are all measured, whenever they
    /// begin.
    ///
    /// If messages take no time, an iteration takes (micro_batches + stages - 1) (forward +
    /// backward) under both schedules. The part (stages - 1) is the bubble (Narayanan et al., SC
    /// 2021, §2.2.1).
    pub struct PipelineConfig in "pipeline" {
        /// The order of passes at a stage.
        schedule: PipelineSchedule = PipelineSchedule::OneForwardOneBackward,
        /// Micro-batches of an iteration.
        micro_batches: u32 = 8,
        /// Time of a stage for the forward pass of a micro-batch.
        forward: Ps = Ps::from_us(1000),
        /// Time of a stage for its backward pass.
        backward: Ps = Ps::from_us(2000),
        /// Most further time of each pass, drawn uniformly.
        jitter: Ps = Ps(0),
        /// Bytes of a message between two stages: the activations of a micro-batch, and backward
        /// their gradients. The default is that of 2,048 tokens of 4,096 values in 16 bits.
        bytes: Bytes = Bytes(16_777_216),
        /// The hosts, one for each stage: all, or numbers and ranges such as 0-3,7,9-12.
        hosts: String = "all".to_owned(),
        /// The order of stages on them.
        placement: Placement = Placement::Packed,
        /// Number of iterations.
        rounds: u32 = 1,
        /// Start of the job.
        start: Ps = Ps(0),
        /// The priority of the packets.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// The name of these flows in the results.
        class: String = "pipeline".to_owned(),
    }
}

impl TrafficSettings for PipelineConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let job = self.job(context)?;
        let mut mix = Mix::default();
        mix.add_flows(Frequency::InAll(job.messages() as f64), vec![self.bytes.0]);
        // A link has a message each way at a time.
        let crowd = Crowd::of(2.0 * f64::from(job.shape.links())).between(self.start, Ps(0));
        let job = Some(Arc::new(job) as _);
        Ok(Offer { sizes: Some(mix), job, ..Offer::new(NoFlows, crowd) })
    }
}

impl PipelineConfig {
    fn job(&self, context: &Context<'_>) -> Result<Pipeline, String> {
        let hosts = placed(&self.hosts, self.placement, context)?;
        if hosts.len() < 2 {
            return Err("hosts names one host: a pipeline needs at least 2 stages".into());
        }
        for (key, count) in [("rounds", self.rounds), ("micro_batches", self.micro_batches)] {
            if count == 0 {
                return Err(format!("{key} is 0: give at least 1 or leave the section out"));
            }
        }
        if self.bytes == Bytes(0) {
            return Err("bytes is 0B: a message has at least 1 byte".into());
        }
        let stages = hosts.len() as u32;
        let shape = Shape {
            stages,
            micro_batches: self.micro_batches,
            rounds: self.rounds,
            schedule: self.schedule,
            times: [self.forward, self.backward],
            jitter: self.jitter,
            bytes: self.bytes.0,
            seed: context.seed,
            source: context.source,
        };
        if shape.messages() > MESSAGES_MAX {
            return Err(format!(
                "rounds is {}: the job would have {} messages, but at most {MESSAGES_MAX} can be \
                 numbered; take fewer rounds or micro_batches",
                self.rounds,
                shape.messages()
            ));
        }
        let (start, priority) = (self.start, self.priority.number());
        Ok(Pipeline { shape, hosts: hosts.into(), start, priority })
    }
}

/// What all stages know.
#[derive(Clone, Copy, Debug)]
struct Shape {
    stages: u32,
    micro_batches: u32,
    rounds: u32,
    schedule: PipelineSchedule,
    /// Time of a forward and of a backward pass.
    times: [Ps; 2],
    jitter: Ps,
    bytes: u64,
    seed: u64,
    source: u16,
}

impl Shape {
    /// Links between stages.
    fn links(&self) -> u32 {
        self.stages - 1
    }

    /// Messages of a round.
    fn in_round(&self) -> u64 {
        2 * u64::from(self.micro_batches) * u64::from(self.links())
    }

    fn messages(&self) -> u64 {
        self.in_round().saturating_mul(u64::from(self.rounds))
    }

    /// The number of the message that a stage sends after its work in a round; `None` if there is
    /// no stage to send it to. A message goes over the link after its sender, or before it.
    fn message(&self, round: u32, stage: u32, work: Work) -> Option<u64> {
        let link = match work.pass {
            Pass::Forward => (stage < self.links()).then_some(stage),
            Pass::Backward => stage.checked_sub(1),
        }?;
        let step = u64::from(self.step(work));
        let in_round = step * u64::from(self.links()) + u64::from(link);
        Some(u64::from(round) * self.in_round() + in_round)
    }

    /// The message for which a stage waits before its work in a round; `None` if it has its input:
    /// the first stage reads it, and the last one computes it.
    fn input(&self, round: u32, stage: u32, work: Work) -> Option<u64> {
        let from = match work.pass {
            Pass::Forward => stage.checked_sub(1),
            Pass::Backward => (stage < self.links()).then_some(stage + 1),
        }?;
        self.message(round, from, work)
    }

    /// The step of some work's messages: forward by micro-batch, then backward by micro-batch.
    fn step(&self, work: Work) -> u32 {
        let before = if work.pass == Pass::Backward { self.micro_batches } else { 0 };
        before + work.micro_batch
    }
}

/// The job.
#[derive(Debug)]
struct Pipeline {
    shape: Shape,
    hosts: Arc<[HostId]>,
    start: Ps,
    priority: u8,
}

impl Job for Pipeline {
    fn start(&self) -> Ps {
        self.start
    }

    fn hosts(&self) -> &[HostId] {
        &self.hosts
    }

    fn messages(&self) -> u64 {
        self.shape.messages()
    }

    fn priority(&self) -> u8 {
        self.priority
    }

    fn rounds(&self) -> u32 {
        self.shape.rounds
    }

    fn step(&self, message: u64) -> (u32, u32) {
        let (round, in_round) = (message / self.shape.in_round(), message % self.shape.in_round());
        (round as u32, (in_round / u64::from(self.shape.links())) as u32)
    }

    fn messages_of_step(&self, _step: u32) -> u64 {
        self.shape.links().into()
    }

    fn measure(&self) -> Option<(u64, f64)> {
        None
    }

    fn each_pair(&self, see: &mut dyn FnMut(HostId, HostId)) {
        for pair in self.hosts.windows(2) {
            see(pair[0], pair[1]);
            see(pair[1], pair[0]);
        }
    }

    fn program(&self, rank: u32) -> Box<dyn Program> {
        Box::new(Stage::new(self.shape, Arc::clone(&self.hosts), rank))
    }
}
