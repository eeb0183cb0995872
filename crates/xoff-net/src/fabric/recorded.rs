//! Records of packets that ports send, and of frames with which neighbours pause and resume queues.

use super::Fabric;
use crate::header::Ask;
use crate::packet::{Packet, QueueMask};

/// A packet at the start of its transmission on a port.
#[derive(Clone, Copy, Debug)]
pub struct Captured {
    /// Start of the transmission (ps).
    pub time_ps: u64,
    /// The port's number in the whole topology.
    pub port: u32,
    /// The packet.
    pub packet: Packet,
}

/// A frame that pauses or resumes queues, at its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Time of its arrival (ps).
    pub time_ps: u64,
    /// The number in the whole topology of the port where it arrived.
    pub port: u32,
    /// What it asks for.
    pub ask: Ask,
    /// The queues that it names, unless it names a flow.
    pub queues: QueueMask,
}

impl Heard {
    /// Whether it pauses; otherwise it resumes.
    #[must_use]
    pub fn pauses(&self) -> bool {
        self.ask != Ask::Resume
    }
}

impl Fabric {
    /// Records the packets that a port sends from now on. The port then counts as one without whole
    /// picoseconds per byte, so that uncaptured ports need no check.
    pub fn capture(&mut self, port: u32) {
        let state = &mut self.ports[port as usize];
        state.captured = true;
        state.ps_per_byte = 0;
    }

    /// A frame from a port's neighbour has arrived there.
    #[inline(always)]
    pub fn hear(&mut self, port: u32, id: u32) {
        if self.heard.is_some() {
            self.record_heard(port, id);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_heard(&mut self, port: u32, id: u32) {
        let frame = self.packets[id].as_link_control();
        let (ask, queues) = (frame.ask(), frame.queues());
        let heard = Heard { time_ps: self.now, port: self.ports[port as usize].id, ask, queues };
        self.heard.get_or_insert_default().push(heard);
    }
}
