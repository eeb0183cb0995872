//! Traces of applications as GOAL schedules.

mod binary;
pub(crate) mod fuzz;
#[cfg(test)]
mod tests;
mod text;

use xoff_core::Ps;
use xoff_core::files::digest_of;
use xoff_core::knobs::Effect;

use crate::dag::{Dag, Schedule};
use crate::ranks::{Placement, placed_ranks};
use crate::{CLASSES, Context, Offer, Priority, TrafficSettings};

xoff_core::knobs! {
    /// The operations of ranks in a GOAL schedule, in the text form of LogGOPSim or in the binary
    /// form that its `txt2bin` writes; the file's first bytes tell which. A `send` is a
    /// flow that begins when all that it `requires` has ended and all that it `irequires` has
    /// begun; it ends when all its bytes are acknowledged. Messages from one rank to another go
    /// one after another. A `recv` ends when a message with its sender and tag has arrived; the
    /// first reception takes the first message. A `calc` takes its nanoseconds, one at a time
    /// on each `cpu`. `nic` has no effect, nor has the size of a `recv`: in traces of MPI it is
    /// that of the buffer, and the `send` has that of the message. A message of 0 bytes has 1. The
    /// flows are all measured, whenever they begin.
    pub struct GoalConfig in "goal" {
        /// The path of the file.
        file: String = String::new(),
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
        class: String = "goal".to_owned(),
    }
}

impl TrafficSettings for GoalConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let bytes = context.files.bytes_of("file", &self.file)?;
        let schedule = self.schedule(&bytes, context.hosts())?;
        let ranks = schedule.ranks.len();
        let hosts = placed_ranks(&self.hosts, self.placement, ranks, &self.file, context)?;
        let dag = Dag::new(schedule, hosts, self.start, self.priority.number());
        Ok(dag.offer(digest_of(&bytes)))
    }
}

impl GoalConfig {
    /// Reads the contents of the file, of at most `most` ranks.
    fn schedule(&self, bytes: &[u8], most: u32) -> Result<Schedule, String> {
        if binary::is_binary(bytes) {
            return binary::parse(&self.file, bytes, most);
        }
        let text = str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            format!("{}: byte {at}: it is neither text nor a schedule of txt2bin", self.file)
        })?;
        text::parse(&self.file, text, most)
    }
}
