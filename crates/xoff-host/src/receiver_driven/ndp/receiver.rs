//! Receivers: replies to packets, and one pull queue per host.
//!
//! Each arriving packet adds a pull to the host's queue. The queue serves flows fairly, paced so
//! that the pulled packets arrive at the rate of the host's link (NDP §3.2). A pull requests up to
//! a full packet, and the next pull waits for the transmission time of the requested bytes.

use std::collections::VecDeque;

use xoff_net::packet::Packet;

use super::Shape;
use crate::receiver_driven::Address;
use crate::receiver_driven::halves::{self, Halves};
use crate::recovery::RxProgress;

/// The reply to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Bytes received without a gap.
    pub seq: u64,
    /// Bytes pulled so far, modulo 2^32.
    pub pulled: u32,
    /// True if the packet's payload has been received; otherwise the packet is refused.
    pub received: bool,
}

/// A pull to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pull {
    /// Destination of the pull.
    pub to: Address,
    /// Bytes received without a gap.
    pub seq: u64,
    /// Bytes pulled so far, modulo 2^32.
    pub pulled: u32,
    /// Bytes added by this pull.
    pub bytes: u64,
}

/// What a receiver keeps of a flow.
#[derive(Debug, Default)]
struct Pulls {
    /// Bytes of packets that arrived, whole or trimmed, and of the trimmed ones.
    arrived: u64,
    trimmed: u64,
    /// Bytes returned by switches, as reported by the sender.
    returned: u64,
    pulled: u64,
    /// True while it waits in its host's queue.
    waiting: bool,
    /// True once the flow is complete.
    is_complete: bool,
}

type Half = halves::Half<Pulls>;

impl Half {
    /// Bytes to pull now: as many as have arrived, limited to the bytes that the sender can use.
    fn owed(&self, shape: &Shape) -> u64 {
        let Pulls { arrived, trimmed, returned, pulled, .. } = self.state;
        let useful = self.size + trimmed + returned - shape.unasked(self.size);
        arrived.min(useful) - pulled
    }

    fn answer(&self, shape: &Shape, received: bool) -> Answer {
        Answer { seq: self.delivered(shape), pulled: self.state.pulled as u32, received }
    }
}

/// The pull queue of one host: flows with bytes to pull take turns.
#[derive(Debug, Default)]
struct PullQueue {
    halves: VecDeque<u32>,
    /// Earliest time of the next pull (ps).
    next_ps: u64,
}

/// All receivers of a partition.
#[derive(Debug)]
pub struct Pullers {
    shape: Shape,
    halves: Halves<Pulls>,
    queues: Vec<PullQueue>,
}

impl Pullers {
    /// Creates it without hosts.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self { shape, halves: Halves::default(), queues: Vec::new() }
    }

    /// Adds a host.
    pub fn add_host(&mut self) {
        self.queues.push(PullQueue::default());
    }

    /// True if no flow is being received.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.halves.is_empty()
    }

    /// Receive progress of an incomplete flow.
    #[must_use]
    pub fn rx_progress(&self, flow: u32) -> Option<RxProgress> {
        let half = self.halves.get(flow)?;
        let received = half.state.arrived - half.state.trimmed;
        Some(RxProgress { received, delivered: half.delivered(&self.shape) })
    }

    /// Handles a packet of a flow that arrives at host `nic`, whole or trimmed.
    pub fn on_packet(&mut self, nic: u32, packet: &Packet, trimmed: bool) -> Answer {
        let (size, shape) = (packet.stamp, self.shape);
        let all = Answer { seq: size, pulled: 0, received: true };
        let is_all = !trimmed && size <= shape.payload;
        let Some((id, _)) = self.halves.of(packet, is_all) else { return all };
        let half = &mut self.halves[id];
        half.state.returned = half.state.returned.max(u64::from(packet.remaining));
        let number = shape.packet_at(packet.seq);
        let twice = half.arrived.contains(number);
        if !twice {
            let payload = shape.payload_at(packet.seq, size);
            half.state.arrived += payload;
            if trimmed {
                half.state.trimmed += payload;
            } else {
                half.arrived.insert(number);
            }
        }
        if half.delivered(&shape) == size {
            self.end(id);
            return all;
        }
        if !half.state.waiting && half.owed(&shape) > 0 {
            half.state.waiting = true;
            self.queues[nic as usize].halves.push_back(id);
        }
        half.answer(&shape, twice || !trimmed)
    }

    /// Ends a complete flow. Its remaining pulls are dropped.
    fn end(&mut self, id: u32) {
        self.halves.end(id);
        let pulls = &mut self.halves[id].state;
        pulls.is_complete = true;
        if !pulls.waiting {
            self.halves.release(id);
        }
    }

    /// Time of host `nic`'s next pull (ps), if any flow waits for one.
    #[must_use]
    pub fn next_pull(&self, nic: u32) -> Option<u64> {
        let queue = &self.queues[nic as usize];
        (!queue.halves.is_empty()).then_some(queue.next_ps)
    }

    /// Takes the pull that is due at host `nic`.
    pub fn pull(&mut self, nic: u32) -> Option<Pull> {
        let queue = &mut self.queues[nic as usize];
        loop {
            let id = queue.halves.pop_front()?;
            let half = &mut self.halves[id];
            if half.state.is_complete {
                self.halves.release(id);
                continue;
            }
            let owed = half.owed(&self.shape);
            let bytes = owed.min(self.shape.payload);
            half.state.pulled += bytes;
            half.state.waiting = owed > bytes;
            if half.state.waiting {
                queue.halves.push_back(id);
            }
            let Answer { seq, pulled, .. } = half.answer(&self.shape, true);
            return Some(Pull { to: half.to, seq, pulled, bytes });
        }
    }

    /// Delays host `nic`'s next pull until this time (ps).
    pub fn wait_until(&mut self, nic: u32, time_ps: u64) {
        self.queues[nic as usize].next_ps = time_ps;
    }
}
