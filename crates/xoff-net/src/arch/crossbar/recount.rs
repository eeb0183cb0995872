//! The memory of a crossbar switch by port, counted again.

use xoff_core::invariant::{Checker, Part, equal};

use super::Crossbar;
use crate::packet::{CONTROL_QUEUE, Packet};
use crate::recount::{Checked, Contents, bytes_by_class, of_part};

impl Crossbar {
    /// Counts the memory of each ingress by class, and that of each egress with what crosses to it.
    ///
    /// # Errors
    /// A count that differs, or a pause without a reason.
    pub(super) fn recount_memory(&self, contents: &Contents<'_>) -> Checked {
        let class = |packet: &Packet| packet.class().min(self.last_class);
        let at_ingress =
            contents.before_egress().map(|packet| (packet.ingress, class(packet), packet));
        self.pfc.recount(&bytes_by_class(self.held.len(), at_ingress))?;
        let mut held = vec![0; self.held.len()];
        for waits in &contents.egress {
            held[usize::from(waits.egress)] += u32::from(waits.packet.wire_bytes);
        }
        // A packet gets its queue from the forwarding engine, and waits before it crosses.
        for packet in contents.staged.iter().filter(|packet| packet.queue != CONTROL_QUEUE) {
            let output = self.crossing_to[usize::from(packet.ingress)];
            held[usize::from(output)] += u32::from(packet.wire_bytes);
        }
        for (output, (&bytes, &counted)) in (0..).zip(held.iter().zip(&self.held)) {
            let place = || format!("bytes at egress {output} and on the way there");
            let compared = equal(Checker::Buffers, bytes, counted, place);
            compared.map_err(of_part(Part::port(output)))?;
        }
        self.io.recount_loads(&held)
    }
}
