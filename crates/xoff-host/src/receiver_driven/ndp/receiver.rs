//! Receivers: replies to packets, and one pull queue per host.
//!
//! Each arriving packet adds a pull to the host's queue. The queue serves flows fairly, paced so
//! that the pulled packets arrive at the rate of the host's link (NDP §3.2). A pull requests up to
//! a full packet, and the next pull waits for the transmission time of the requested bytes.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use xoff_net::packet::{Packet, flag};

use super::Shape;
use crate::receiver_driven::Address;
use crate::receiver_driven::arrived::Arrived;
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

/// The receiver's half of a flow.
#[derive(Debug)]
struct Half {
    to: Address,
    size: u64,
    received: Arrived,
    /// Bytes of packets that arrived, whole or trimmed, and of the trimmed ones.
    arrived: u64,
    trimmed: u64,
    /// Bytes returned by switches, as reported by the sender.
    returned: u64,
    pulled: u64,
    /// True while it waits in its host's queue.
    waiting: bool,
    /// True until the flow is complete.
    alive: bool,
}

impl Half {
    /// Bytes to pull now: as many as have arrived, limited to the bytes that the sender can use.
    fn owed(&self, shape: &Shape) -> u64 {
        let useful = self.size + self.trimmed + self.returned - shape.unasked(self.size);
        self.arrived.min(useful) - self.pulled
    }

    fn answer(&self, shape: &Shape, received: bool) -> Answer {
        let seq = shape.bytes_before(self.received.next(), self.size);
        Answer { seq, pulled: self.pulled as u32, received }
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
    halves: Vec<Half>,
    free: Vec<u32>,
    by_flow: FxHashMap<u32, u32>,
    queues: Vec<PullQueue>,
}

impl Pullers {
    /// Creates it without hosts.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            halves: Vec::new(),
            free: Vec::new(),
            by_flow: FxHashMap::default(),
            queues: Vec::new(),
        }
    }

    /// Adds a host.
    pub fn add_host(&mut self) {
        self.queues.push(PullQueue::default());
    }

    /// Number of flows being received.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_flow.len()
    }

    /// True if no flow is being received.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_flow.is_empty()
    }

    /// Receive progress of an incomplete flow.
    #[must_use]
    pub fn rx_progress(&self, flow: u32) -> Option<RxProgress> {
        let half = &self.halves[*self.by_flow.get(&flow)? as usize];
        let delivered = self.shape.bytes_before(half.received.next(), half.size);
        Some(RxProgress { received: half.arrived - half.trimmed, delivered })
    }

    /// Handles a packet of a flow that arrives at host `nic`, whole or trimmed.
    pub fn on_packet(&mut self, nic: u32, packet: &Packet, trimmed: bool) -> Answer {
        let (size, shape) = (packet.stamp, self.shape);
        let all = Answer { seq: size, pulled: 0, received: true };
        let id = match self.by_flow.entry(packet.flow) {
            Entry::Occupied(place) => *place.get(),
            // The sender has had a reply from this half, which is gone: the flow was complete.
            Entry::Vacant(_) if packet.has(flag::PROGRESSED) => return all,
            Entry::Vacant(_) if !trimmed && size <= shape.payload => return all,
            Entry::Vacant(place) => {
                *place.insert(new_half(&mut self.halves, &mut self.free, packet))
            }
        };
        let half = &mut self.halves[id as usize];
        half.returned = half.returned.max(u64::from(packet.remaining));
        let number = shape.packet_at(packet.seq);
        let twice = half.received.contains(number);
        if !twice {
            let payload = shape.payload_at(packet.seq, size);
            half.arrived += payload;
            if trimmed {
                half.trimmed += payload;
            } else {
                half.received.insert(number);
            }
        }
        if shape.bytes_before(half.received.next(), size) == size {
            self.end(id);
            return all;
        }
        if !half.waiting && half.owed(&shape) > 0 {
            half.waiting = true;
            self.queues[nic as usize].halves.push_back(id);
        }
        half.answer(&shape, twice || !trimmed)
    }

    /// Ends a complete flow. Its remaining pulls are dropped.
    fn end(&mut self, id: u32) {
        let half = &mut self.halves[id as usize];
        half.alive = false;
        self.by_flow.remove(&half.to.flow);
        if !half.waiting {
            self.free.push(id);
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
            let half = &mut self.halves[id as usize];
            if !half.alive {
                self.free.push(id);
                continue;
            }
            let owed = half.owed(&self.shape);
            let bytes = owed.min(self.shape.payload);
            half.pulled += bytes;
            half.waiting = owed > bytes;
            if half.waiting {
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

/// Creates a half for the flow of this packet.
fn new_half(halves: &mut Vec<Half>, free: &mut Vec<u32>, packet: &Packet) -> u32 {
    let to = Address::of(packet);
    let id = free.pop().unwrap_or(halves.len() as u32);
    let mut received = Arrived::default();
    if let Some(old) = halves.get_mut(id as usize) {
        received = std::mem::take(&mut old.received);
        received.restart();
    }
    let half = Half {
        to,
        size: packet.stamp,
        received,
        arrived: 0,
        trimmed: 0,
        returned: 0,
        pulled: 0,
        waiting: false,
        alive: true,
    };
    if let Some(place) = halves.get_mut(id as usize) {
        *place = half;
    } else {
        halves.push(half);
    }
    id
}
