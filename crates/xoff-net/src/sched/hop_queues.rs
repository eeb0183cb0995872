//! The queues that a scheduler serves for a hop control.

use crate::division::Division;
use crate::packet::CLASSES;

/// Queues of an egress port, as a hop control uses them.
#[derive(Clone, Debug)]
pub enum HopQueues {
    /// The hop control has no queues of its own, so every scheduler works.
    Any,
    /// One queue for each traffic class, in order of arrival.
    Classes,
    /// As many queues as the hop control assigns flows to.
    Assigned(AssignedQueues),
}

/// The queues of a hop control that assigns flows to queues.
#[derive(Clone, Debug)]
pub struct AssignedQueues {
    /// The number of queues.
    pub count: u8,
    /// The queues of each traffic class, if classes divide them.
    pub division: Option<Division>,
    /// True if flows are paused one by one inside a queue.
    pub pauses_flows: bool,
    /// Tofino2's memory, if the switch is not an ideal one.
    pub tofino: Option<TofinoMemory>,
}

/// Memory of Tofino2, and the FIFO behind its queues, which pauses do not reach (BFC §6.1).
#[derive(Clone, Copy, Debug)]
pub struct TofinoMemory {
    /// Size of a memory cell (bytes).
    pub cell_bytes: u16,
    /// The FIFO accepts packets while it holds less than this (bytes). 0: no FIFO.
    pub fifo_bytes: u32,
}

/// The number of traffic classes as the number of a port's queues.
pub(crate) const CLASS_QUEUES: u8 = CLASSES as u8;
