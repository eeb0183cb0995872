//! pFabric's switch (Alizadeh et al., "pFabric: minimal near-optimal datacenter transport", SIGCOMM
//! 2013, §4.1): a port considers all packets that it holds. It sends for the flow with
//! the fewest bytes left, and drops from the flow with the most.
//!
//! A packet's priority is the bytes its flow had left when it was sent, from this packet on
//! ("remaining flow size"). Acknowledgements are not handled here: they take the control queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use xoff_core::seam::{Need, need};
use xoff_core::{Bytes, knobs};

use super::{AnyScheduler, QueueMask, Scheduler, SchedulerSettings, SchedulerSite};
use crate::packet::{NONE, Pool};

knobs! {
    /// pFabric.
    pub struct PFabricSchedulerConfig;
}

impl SchedulerSettings for PFabricSchedulerConfig {
    fn needs(&self) -> Vec<Need> {
        let reason = "ports have a small memory each, in which it looks at every packet";
        vec![need(("buffer", "kind"), &["dedicated"], reason)]
    }

    /// "2xBDP" (pFabric §5).
    fn port_memory(&self, bandwidth_delay_product: Bytes) -> Option<(&'static str, Bytes)> {
        Some(("pfabric_buffer", Bytes(2 * bandwidth_delay_product.0)))
    }

    fn build(&self, _site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::PFabric(PFabric::default())
    }
}

/// A packet in the order of priorities: bytes that its flow had left, including this packet's
/// headers; the number of its arrival at the port; its place in `waiting`.
type Entry = (u64, u64, u32);

/// A packet that waits, in the list of its flow.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    id: u32,
    flow: u32,
    /// The number of its arrival; zero after it has left.
    arrival: u64,
    /// The packets of its flow that arrived before and after it; `NONE` at the ends.
    earlier: u32,
    later: u32,
}

/// The packets of a port.
#[derive(Debug, Default)]
pub struct PFabric {
    waiting: Vec<Waiting>,
    /// Unused places in `waiting`.
    free: Vec<u32>,
    /// Places of the first and the last packet of each flow.
    flows: FxHashMap<u32, (u32, u32)>,
    /// All packets, and some that have left: the least bytes left first, and the most.
    best: BinaryHeap<Reverse<Entry>>,
    worst: BinaryHeap<Entry>,
    /// Packets that have arrived so far.
    arrivals: u64,
    packets: usize,
    bytes: u32,
    paused: bool,
}

impl PFabric {
    /// The packet to send: "pFabric switches dequeue the earliest packet from the flow that has the
    /// highest priority packet in the queue". A later packet of a flow has a higher priority and
    /// would starve the earlier ones. Among equals the first to arrive goes first.
    fn next(&mut self) -> Option<u32> {
        while let Some(&Reverse(entry)) = self.best.peek() {
            if let Some(packet) = waits(&self.waiting, &entry) {
                let (earliest, _) = self.flows[&packet.flow];
                return Some(earliest);
            }
            self.best.pop();
        }
        None
    }

    /// The packet with the most bytes left; the last to arrive among equals.
    fn last(&mut self) -> Option<Entry> {
        while let Some(&entry) = self.worst.peek() {
            if waits(&self.waiting, &entry).is_some() {
                return Some(entry);
            }
            self.worst.pop();
        }
        None
    }

    /// Adds a packet to the end of its flow.
    fn append(&mut self, flow: u32, id: u32) -> u32 {
        let place = self.free.pop().unwrap_or(self.waiting.len() as u32);
        let ends = self.flows.entry(flow).or_insert((place, place));
        let earlier = std::mem::replace(&mut ends.1, place);
        let mut packet = Waiting { id, flow, arrival: self.arrivals, earlier, later: NONE };
        if earlier == place {
            packet.earlier = NONE;
        } else {
            self.waiting[earlier as usize].later = place;
        }
        match self.waiting.get_mut(place as usize) {
            Some(unused) => *unused = packet,
            None => self.waiting.push(packet),
        }
        place
    }

    fn take(&mut self, pool: &Pool, place: u32) -> u32 {
        let packet = self.waiting[place as usize];
        self.waiting[place as usize].arrival = 0;
        self.free.push(place);
        self.unlink(&packet);
        self.packets -= 1;
        self.bytes -= u32::from(pool[packet.id].wire_bytes);
        self.forget();
        packet.id
    }

    /// Removes packets that have left from the orders once they are the larger part.
    fn forget(&mut self) {
        let most = if self.packets == 0 { 0 } else { 2 * self.packets + 32 };
        if self.best.len() > most {
            self.best.retain(|Reverse(entry)| waits(&self.waiting, entry).is_some());
        }
        if self.worst.len() > most {
            self.worst.retain(|entry| waits(&self.waiting, entry).is_some());
        }
    }

    /// Removes a packet from the list of its flow.
    fn unlink(&mut self, packet: &Waiting) {
        let Waiting { flow, earlier, later, .. } = *packet;
        if earlier == NONE && later == NONE {
            self.flows.remove(&flow);
            return;
        }
        let ends = self.flows.get_mut(&flow).expect("a flow with packets is known");
        match self.waiting.get_mut(earlier as usize) {
            Some(before) => before.later = later,
            None => ends.0 = later,
        }
        match self.waiting.get_mut(later as usize) {
            Some(after) => after.earlier = earlier,
            None => ends.1 = earlier,
        }
    }
}

/// The packet of an entry, unless it has left.
fn waits<'a>(waiting: &'a [Waiting], &(_, arrival, place): &Entry) -> Option<&'a Waiting> {
    Some(&waiting[place as usize]).filter(|packet| packet.arrival == arrival)
}

impl Scheduler for PFabric {
    fn push(&mut self, pool: &mut Pool, id: u32) {
        let packet = &pool[id];
        self.bytes += u32::from(packet.wire_bytes);
        self.arrivals += 1;
        self.packets += 1;
        let left = packet.left();
        let place = self.append(packet.flow, id);
        self.best.push(Reverse((left, self.arrivals, place)));
        self.worst.push((left, self.arrivals, place));
    }

    fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        if self.paused {
            return None;
        }
        let place = self.next()?;
        Some(self.take(pool, place))
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.packets > 0 && !self.paused
    }

    #[inline]
    fn may_pass(&self, _queue: u8) -> bool {
        self.packets == 0 && !self.paused
    }

    /// "If the incoming packet has lower priority than all buffered packets, it is dropped;
    /// otherwise the packet with the lowest priority in the buffer is dropped." Among equals the
    /// last to arrive is dropped.
    fn evict(&mut self, pool: &mut Pool, arriving: u32) -> Option<u32> {
        let (left, _, worst) = self.last()?;
        (left > pool[arriving].left()).then(|| self.take(pool, worst))
    }

    /// Bytes of the port: its memory is not divided.
    fn queue_bytes(&self, _queue: u8) -> u32 {
        self.bytes
    }

    fn occupied(&self) -> QueueMask {
        QueueMask::from(self.packets > 0)
    }

    fn paused(&self) -> QueueMask {
        QueueMask::from(self.paused)
    }

    fn set_paused(&mut self, mask: QueueMask) {
        self.paused = mask != 0;
    }

    fn each_packet(&self, _pool: &Pool, visit: &mut dyn FnMut(u32, Option<u8>)) {
        let waiting = self.waiting.iter().filter(|packet| packet.arrival > 0);
        waiting.for_each(|packet| visit(packet.id, None));
    }

    fn active(&self) -> u32 {
        self.flows.len() as u32
    }
}

#[cfg(test)]
mod tests;
