//! Backpressure of the strawman (BFC §3.2): "pause a queue whenever its buffer exceeds the 1-hop
//! bandwidth-delay product".
//!
//! While a queue is above the threshold, a switch pauses the upstream queue of every packet that
//! joins it. All of these resume once the queue is no longer above the threshold. An upstream queue
//! that feeds several such queues resumes with the last of them.

use xoff_core::invariant::{Checker, Part, equal};

use super::super::Signal;
use super::backpressure::Backpressure;
use super::threshold::Thresholds;
use super::upstream_queues::UpstreamQueues;
use super::{BfcConfig, BfcPort};
use crate::packet::{CONTROL_QUEUE, Packet};
use crate::recount::{Checked, WaitingPacket, of_part};
use crate::sched::Scheduler;

/// A queue of an egress port.
#[derive(Clone, Debug, Default)]
struct Held {
    bytes: u32,
    /// The upstream queues paused because of it: ingress port and the neighbour's queue.
    feeders: Vec<(u16, u8)>,
}

/// Pauses by the egress queue that caused them.
#[derive(Debug)]
pub struct Occupancy {
    held: Vec<Held>,
    /// Queues of a port.
    queues: u8,
    thresholds: Thresholds,
    upstream: UpstreamQueues,
    /// Further resumes to send.
    due: Vec<Signal>,
}

impl Occupancy {
    /// For a switch with these ports and this 1-hop RTT. The neighbours have the same number of
    /// queues.
    pub(super) fn new(config: &BfcConfig, ports: &[BfcPort], hrtt_ps: u64) -> Self {
        let queues = config.data_queues();
        Self {
            held: vec![Held::default(); ports.len() * queues as usize],
            queues,
            thresholds: Thresholds::new(config, ports, hrtt_ps),
            upstream: UpstreamQueues::new(config, ports.len()),
            due: Vec::new(),
        }
    }

    fn place(&self, port: u16, queue: u8) -> usize {
        port as usize * self.queues as usize + queue as usize
    }

    /// A queue is no longer above the threshold.
    fn release(&mut self, place: usize) -> Option<Signal> {
        while let Some((ingress, queue)) = self.held[place].feeders.pop() {
            self.due.extend(self.upstream.remove(ingress, queue));
        }
        self.due.pop()
    }
}

impl Backpressure for Occupancy {
    type Upstream = UpstreamQueues;

    fn upstream(&self) -> &UpstreamQueues {
        &self.upstream
    }

    fn upstream_mut(&mut self) -> &mut UpstreamQueues {
        &mut self.upstream
    }

    fn on_rate(&mut self, egress: u16, rate: u64) {
        self.thresholds.set_rate(egress, rate);
    }

    fn on_enqueue<S: Scheduler>(
        &mut self,
        egress: u16,
        packet: &mut Packet,
        _queues: &S,
    ) -> Option<Signal> {
        let place = self.place(egress, packet.queue);
        let held = &mut self.held[place];
        held.bytes += u32::from(packet.wire_bytes);
        let from = (packet.ingress, packet.upstream);
        if packet.upstream == CONTROL_QUEUE
            || held.bytes <= self.thresholds.at(egress, 1)
            || held.feeders.contains(&from)
        {
            return None;
        }
        held.feeders.push(from);
        self.upstream.add(packet.ingress, packet.upstream)
    }

    fn on_dequeue(&mut self, egress: u16, packet: &mut Packet) -> Option<Signal> {
        let place = self.place(egress, packet.queue);
        let held = &mut self.held[place];
        held.bytes -= u32::from(packet.wire_bytes);
        if held.feeders.is_empty() || held.bytes > self.thresholds.at(egress, 1) {
            return None;
        }
        self.release(place)
    }

    fn lets_pass(&self, egress: u16, packet: &Packet) -> bool {
        self.thresholds.lets_pass(egress, packet)
    }

    fn next_signal(&mut self) -> Option<Signal> {
        self.due.pop()
    }

    fn recount(&self, waiting: &[WaitingPacket<'_>]) -> Checked {
        let mut bytes = vec![0; self.held.len()];
        for &WaitingPacket { egress, packet } in waiting {
            bytes[self.place(egress, packet.queue)] += u32::from(packet.wire_bytes);
        }
        for (place, (&bytes, held)) in bytes.iter().zip(&self.held).enumerate() {
            let queues = usize::from(self.queues);
            let (egress, queue) = (place / queues, place % queues);
            let part = Part::queue(queue as u8).of(Part::port(egress as u16));
            let place = || format!("bytes of queue {queue} of egress {egress}");
            equal(Checker::Buffers, bytes, held.bytes, place).map_err(of_part(part))?;
            let place = || format!("neighbours paused for empty queue {queue} of egress {egress}");
            let paused = if bytes == 0 { held.feeders.len() } else { 0 };
            equal(Checker::Pauses, 0, paused, place).map_err(of_part(part))?;
        }
        self.upstream.recount_queues(self.held.iter().flat_map(|held| held.feeders.iter().copied()))
    }
}
