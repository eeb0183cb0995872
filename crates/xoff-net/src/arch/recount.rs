//! A switch's memory, and what its hop control counts, made again from its packets.

use xoff_core::invariant::{Checker, Violation, equal, holds};

use super::{AnySwitch, Switch};
use crate::recount::{Checked, Contents, WaitingPacket};
use crate::sched::{Scheduler, each_scheduler};

impl AnySwitch {
    /// Counts its memory, and what its flow control counts, again from its packets.
    ///
    /// # Errors
    /// A count that differs, or a pause without a reason.
    pub fn recount(&self, contents: &Contents<'_>) -> Checked {
        let memory = |waits: &WaitingPacket<'_>| {
            let scheduler = &self.egress()[usize::from(waits.egress)].scheduler;
            let bytes = waits.packet.wire_bytes;
            u64::from(each_scheduler!(scheduler, queues => queues.memory_bytes(bytes)))
        };
        // Credits wait inside an output-queued switch. They are no part of its memory.
        let has_ingress = self.hop().is_none();
        let inside = contents.before_egress().filter(|_| has_ingress);
        let inside: u64 = inside.map(|packet| u64::from(packet.wire_bytes)).sum();
        let used = contents.egress.iter().map(memory).sum::<u64>() + inside;
        let place = || "bytes of memory in use".to_owned();
        equal(Checker::Buffers, used, self.used_bytes(), place)?;
        self.recount_control(contents)
    }

    /// Whether it drops packets although its memory cannot fill up, or although pauses keep its
    /// ingresses within their headrooms (`is_paused`, asked only if it drops some).
    ///
    /// # Errors
    /// If it does.
    pub fn check_losses(&self, is_paused: impl FnOnce() -> bool) -> Checked {
        let drops = self.stats().drops;
        holds(drops == 0 || !(self.is_endless() || is_paused()), || {
            Violation::new(Checker::Losses, "packets dropped", 0, drops)
        })
    }
}
