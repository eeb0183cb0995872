//! A switch's memory, and what its hop control counts, made again from its packets.

use xoff_core::invariant::{Checker, Violation, equal, holds};

use super::{AnySwitch, Switch};
use crate::recount::{Checked, WaitingPacket};
use crate::sched::{Scheduler, each_scheduler};

impl AnySwitch {
    /// Counts its memory, and what its hop control counts, again from the data packets at its
    /// egress ports and the bytes `inside` that have not reached one.
    ///
    /// # Errors
    /// A count that differs.
    pub fn recount(&self, waiting: &[WaitingPacket<'_>], inside: u64) -> Checked {
        let memory = |waits: &WaitingPacket<'_>| {
            let scheduler = &self.egress()[usize::from(waits.egress)].scheduler;
            let bytes = waits.packet.wire_bytes;
            u64::from(each_scheduler!(scheduler, queues => queues.memory_bytes(bytes)))
        };
        let used = waiting.iter().map(memory).sum::<u64>() + inside;
        let place = || "bytes of memory in use".to_owned();
        equal(Checker::Buffers, used, self.used_bytes(), place)?;
        self.hop().map_or(Ok(()), |hop| hop.recount(waiting))
    }

    /// Whether it drops packets although its memory cannot fill up.
    ///
    /// # Errors
    /// If it does.
    pub fn check_losses(&self) -> Checked {
        let drops = self.stats().drops;
        holds(!self.is_endless() || drops == 0, || {
            Violation::new(Checker::Losses, "packets dropped", 0, drops)
        })
    }
}
