//! Transmissions where the events of one instant happen in the order of setting.

use xoff_core::Event;

use super::Fabric;
use super::far_end::{IMPAIRED, IN_SEQUENCE, KEEPS};

impl Fabric {
    /// Sets the end of a transmission and then the arrival. The port stays busy until its wake-up
    /// event: packets of the same instant that arrive before it find the port busy.
    #[cold]
    pub(super) fn transmit_in_sequence(&mut self, port: u32, id: u32) {
        let Some(sequence) = &mut self.sequence else { return };
        let state = &mut self.ports[port as usize];
        let is_impaired = state.partition == IMPAIRED;
        let keeps = state.partition == KEEPS;
        debug_assert!(state.partition >= IN_SEQUENCE, "an uncut network");
        let (time, rank) = (state.busy_until, sequence.next(self.now));
        state.waking = true;
        let tag = if keeps { self.tags.sent } else { self.tags.wake };
        self.wheel.post(Event { time, rank, tag, item: port });
        state.busy_until += 1;
        if keeps {
            self.serve(port, id);
            return;
        }
        let (time, rank) = (time + state.delay, sequence.next(self.now));
        if is_impaired {
            self.cross_impaired(port, id, time);
            return;
        }
        let tag = state.arrival_tag;
        if tag == self.tags.checked
            && let Some(errors) = &self.receive_errors
        {
            self.packets[id].next = errors.peer(port);
        }
        self.wheel.post(Event { time, rank, tag, item: id });
    }
}
