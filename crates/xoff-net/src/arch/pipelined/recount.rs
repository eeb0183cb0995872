//! The memory of a pipelined switch by queue, counted again.

use super::Pipelined;
use crate::recount::{Checked, Contents, bytes_by_class, equal_by_class};

impl Pipelined {
    /// Counts the memory of each ingress and egress queue, and the bytes of the pool.
    ///
    /// # Errors
    /// A count that differs, or a pause without a reason.
    pub(super) fn recount_memory(&self, contents: &Contents<'_>) -> Checked {
        let ports = self.io.egress.len();
        let at_ingress =
            contents.before_egress().map(|packet| (packet.ingress, packet.class(), packet));
        let at_egress =
            contents.egress.iter().map(|waits| (waits.egress, waits.packet.queue, waits.packet));
        let at_egress = bytes_by_class(ports, at_egress);
        self.capfc.recount(&bytes_by_class(ports, at_ingress), &at_egress)?;
        let memory = self.capfc.accounting();
        equal_by_class("egress", &at_egress, |port, class| memory.egress_bytes(port, class))?;
        memory.recount_pool()?;
        let loads: Vec<u32> = at_egress.iter().map(|classes| classes.iter().sum()).collect();
        self.io.recount_loads(&loads)
    }
}
