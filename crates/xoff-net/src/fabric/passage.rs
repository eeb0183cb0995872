//! A packet at a port that may send it at once.

use xoff_core::{Event, Wheel};

use super::{Fabric, Port};
use crate::packet::{Kind, NONE, Packet};
use crate::record::RecordTable;
use crate::telemetry::IntHop;

/// A packet, the port that may send it, and what that takes: each is looked up once.
#[derive(Debug)]
pub struct Passage<'a> {
    /// The packet.
    pub packet: &'a mut Packet,
    /// The current time (ps).
    pub now: u64,
    port: &'a mut Port,
    records: &'a mut RecordTable,
    wheel: &'a mut Wheel,
    /// Whether no port waits for the end of this instant.
    settled: bool,
}

impl Fabric {
    /// A packet at a port of this fabric.
    #[inline(always)]
    #[must_use]
    pub fn at(&mut self, port: u32, id: u32) -> Passage<'_> {
        Passage {
            settled: self.is_settled(),
            packet: &mut self.packets[id],
            now: self.now,
            port: &mut self.ports[port as usize],
            records: &mut self.records,
            wheel: &mut self.wheel,
        }
    }
}

impl Passage<'_> {
    /// Whether the packet could leave at once, as [`Fabric::is_free`].
    #[inline(always)]
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.port.busy_until <= self.now && self.settled && !self.wheel.may_be_due(self.now)
    }

    /// Writes the port's INT entry into a data packet that collects them. The port has
    /// `queue_bytes` in its queues.
    #[inline(always)]
    pub fn push_hop(&mut self, queue_bytes: u32) {
        if self.packet.record == NONE || self.packet.kind != Kind::Data {
            return;
        }
        let hop = IntHop {
            time_ps: self.now,
            tx_bytes: self.port.tx_bytes,
            queue_bytes,
            rate_mbps: self.port.rate_mbps,
        };
        self.records.push_hop(self.packet.record, hop);
    }

    /// Starts the packet, which has this number, on an idle port. Returns false and does nothing if
    /// it does not simply arrive in this partition, or if its time on the link takes a division.
    /// [`Fabric::finish`] does the rest.
    #[inline(always)]
    #[must_use]
    pub fn start(self, id: u32) -> bool {
        let Self { packet, now, port, wheel, .. } = self;
        if port.ps_per_byte == 0 || port.partition != NONE {
            return false;
        }
        let bytes = u64::from(packet.wire_bytes);
        let time = port.send(now, bytes * u64::from(port.ps_per_byte), bytes) + port.delay;
        wheel.post(Event { time, rank: port.arrival_rank, tag: port.arrival_tag, item: id });
        true
    }
}
