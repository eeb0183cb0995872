//! Assignment of flows to the queues of an egress port (BFC §3.3.1, and "Sticky queue assignment"
//! in §3.3.2). It does not depend on pauses.

use rustc_hash::FxHashMap;
use xoff_core::Rng;
use xoff_core::invariant::{Checker, Part, equal};

use super::BfcConfig;
use super::config::{Assignment, EmptyQueueOrder};
use super::flow_table::{Entry, FlowTable};
use crate::division::{Divided, Undivided};
use crate::packet::{CLASSES, Kind, Packet, flag};
use crate::recount::{Checked, WaitingPacket, of_part};
use crate::sched::QueueMask;

/// Time stamps of the flow table count units of 2^10 ps: 32 bits wrap around after 4.4 s. An entry
/// that was idle for a whole number of wraps and was not forgotten keeps its queue once more, which
/// does no harm.
const STAMP_SHIFT: u32 = 10;
/// The longest sticky threshold in these units: half of their range, so that an entry that has been
/// idle for longer is recognised for as long again.
const MOST_STICKY: u64 = u32::MAX as u64 / 2;

/// Counts of queue assignment, for the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssignmentStats {
    /// Queue assignments.
    pub assignments: u64,
    /// Assignments of a queue that held packets.
    pub collisions: u64,
    /// Assignments to flows that had sent packets through here before. This is an upper bound of
    /// the queue changes in the middle of a flow.
    pub reassignments: u64,
    /// Packets that found their flow-table entry in use, last by another flow.
    pub table_collisions: u64,
}

impl AssignmentStats {
    /// Adds another switch's counts.
    pub(super) fn add(&mut self, other: &Self) {
        self.assignments += other.assignments;
        self.collisions += other.collisions;
        self.reassignments += other.reassignments;
        self.table_collisions += other.table_collisions;
    }
}

/// The flows of an egress port, or of one pipeline at that port.
#[derive(Clone, Debug)]
struct EgressFlows {
    table: FlowTable,
    /// Entries with packets.
    active: u32,
    /// The queue assigned last, for each class.
    last_queue: [u8; CLASSES],
}

/// The queue assignment of one switch: "The switch performs dynamic queue assignment for each class
/// independently" (App. A.3), if classes divide the queues.
#[derive(Debug)]
pub(super) struct FlowQueues<D> {
    egresses: Vec<EgressFlows>,
    /// Ports of the switch: each has one of `egresses`, or one for each pipeline.
    ports: u16,
    /// Entries of a port's flow table for each class. Flows of different classes never share an
    /// entry, because they would share a queue.
    table_size: u32,
    division: D,
    assignment: Assignment,
    empty_queue: EmptyQueueOrder,
    /// How long a flow without packets keeps its queue, in the table's unit of time.
    sticky: u32,
    stats: AssignmentStats,
}

impl FlowQueues<Undivided> {
    /// Splits the table of each port over `pipelines`. From now on the entries of a port in the
    /// n-th pipeline are those of the virtual port n x ports + port. Each pipeline starts its
    /// search for empty queues elsewhere: "with a different rotating starting point per pipeline"
    /// (§4).
    pub(super) fn split(self, pipelines: u8) -> Self {
        let Undivided { first, count } = self.division;
        let ports = self.egresses;
        let part = |pipeline: u8| {
            let before = u32::from(count) * u32::from(pipeline) / u32::from(pipelines);
            let last = first + if before == 0 { count } else { before as u8 } - 1;
            ports
                .iter()
                .map(move |port| EgressFlows { last_queue: [last; CLASSES], ..port.clone() })
        };
        Self {
            egresses: (0..pipelines).flat_map(part).collect(),
            table_size: self.table_size / u32::from(pipelines),
            ..self
        }
    }
}

impl<D: Divided> FlowQueues<D> {
    /// For a switch with `ports` ports and this 1-hop RTT.
    pub(super) fn new(config: &BfcConfig, division: D, ports: usize, hrtt_ps: u64) -> Self {
        let table_size = u32::from(config.queues) * config.table_factor;
        // The last queue of each class, so that the search starts at the first.
        let last = |class: usize| {
            let (first, count) = division.range((class as u8).min(config.classes - 1));
            first + count - 1
        };
        let last_queue = std::array::from_fn(last);
        let egress = || EgressFlows { table: FlowTable::default(), active: 0, last_queue };
        Self {
            egresses: (0..ports).map(|_| egress()).collect(),
            ports: ports as u16,
            table_size: table_size / u32::from(config.classes),
            division,
            assignment: config.assignment,
            empty_queue: config.empty_queue,
            sticky: sticky_units(config.sticky_hrtts(), hrtt_ps),
            stats: AssignmentStats::default(),
        }
    }

    /// The queue of a packet's flow. `occupied` marks the queues that are known to hold packets. "A
    /// new queue assignment only happens if the size value in the flow table is 0, and the
    /// timestamp is older than a sticky threshold" (§3.3.2).
    #[inline]
    pub(super) fn queue_of(
        &mut self,
        now: u64,
        egress: u16,
        packet: &Packet,
        occupied: impl FnOnce() -> QueueMask,
        rng: &mut Rng,
    ) -> u8 {
        let sticky = self.sticky;
        let entry = self.entry(now, egress, packet);
        if entry.keeps_queue(stamp(now), sticky) {
            let queue = entry.queue;
            if entry.flow != packet.flow as u16 {
                entry.flow = packet.flow as u16;
                self.on_shared_entry(packet);
            }
            return queue;
        }
        entry.flow = packet.flow as u16;
        let queue = self.assign(egress, packet, occupied, rng);
        self.entry(now, egress, packet).queue = queue;
        queue
    }

    /// "if two flows map to the same index they will use the same queue (collision)" (§3.3.1).
    /// Labelled flows share an entry on purpose.
    #[cold]
    fn on_shared_entry(&mut self, packet: &Packet) {
        self.stats.table_collisions += u64::from(!packet.has(flag::LABELLED));
    }

    /// Counts a packet more for the flow (§3.3.1).
    #[inline]
    pub(super) fn on_enqueue(&mut self, now: u64, egress: u16, packet: &Packet) {
        let index = self.index(packet);
        let port = &mut self.egresses[egress as usize];
        let entry = port.table.entry(index, stamp(now), self.sticky);
        entry.size += 1;
        entry.stamp = stamp(now);
        port.active += u32::from(entry.size == 1);
    }

    /// Counts a packet less for the flow (§3.3.1).
    ///
    /// # Panics
    /// If the count is zero already, which is a bug.
    #[inline]
    pub(super) fn on_dequeue(&mut self, now: u64, egress: u16, packet: &Packet) {
        let index = self.index(packet);
        let port = &mut self.egresses[egress as usize];
        let entry = port.table.entry(index, stamp(now), self.sticky);
        entry.size = entry.size.checked_sub(1).expect("BFC's flow table went negative");
        entry.stamp = stamp(now);
        port.active -= u32::from(entry.size == 0);
    }

    /// A packet passes without waiting: only the time stamp of its flow changes.
    #[inline]
    pub(super) fn on_pass(&mut self, now: u64, egress: u16, packet: &Packet) {
        self.entry(now, egress, packet).stamp = stamp(now);
    }

    /// Flow-table entries with packets at an egress port.
    pub(super) fn active(&self, egress: u16) -> u32 {
        self.egresses[egress as usize].active
    }

    /// Flows at an egress port that share their queue with another flow. Flows of one table entry
    /// count as one. `egresses` are all virtual ports of the port.
    pub(super) fn sharing(&self, egresses: impl IntoIterator<Item = u16>) -> u32 {
        let mut flows = [0u32; 128];
        let tables = egresses.into_iter().map(|egress| &self.egresses[egress as usize].table);
        for queue in tables.flat_map(FlowTable::queues_in_use) {
            flows[queue as usize] += 1;
        }
        flows.iter().filter(|&&flows| flows > 1).sum()
    }

    /// Counts the packets of each flow again, from all packets that it has not counted off. Their
    /// egress is a virtual port if the tables are split.
    ///
    /// # Errors
    /// A count that differs.
    pub(super) fn recount(&self, waiting: &[WaitingPacket<'_>]) -> Checked {
        let mut sizes = FxHashMap::<(u16, u32), u32>::default();
        for waits in waiting {
            *sizes.entry((waits.egress, self.index(waits.packet))).or_default() += 1;
        }
        let mut entries = 0;
        for (egress, port) in (0..).zip(&self.egresses) {
            let part = Part::port(egress % self.ports);
            let mut active = 0;
            for (index, size) in port.table.sizes() {
                let waiting = sizes.get(&(egress, index)).copied().unwrap_or_default();
                let place = || {
                    format!("packets of flow-table entry {index} of {}", self.table_name(egress))
                };
                equal(Checker::Buffers, waiting, size, place).map_err(of_part(part))?;
                active += 1;
            }
            let place =
                || format!("flow-table entries with packets of {}", self.table_name(egress));
            equal(Checker::Buffers, active, port.active, place).map_err(of_part(part))?;
            entries += active as usize;
        }
        let place = || "flow-table entries with packets".to_owned();
        equal(Checker::Buffers, sizes.len(), entries, place)
    }

    /// The flow table of a port, or of a virtual port.
    fn table_name(&self, egress: u16) -> String {
        let port = egress % self.ports;
        if self.egresses.len() == usize::from(self.ports) {
            return format!("egress {port}");
        }
        format!("egress {port}, pipeline {}", egress / self.ports)
    }

    /// Counts so far.
    pub(super) fn stats(&self) -> AssignmentStats {
        self.stats
    }

    /// "an array indexed by the egress port of a flow and the hash of the FID" (§3.3.1).
    #[inline]
    fn entry(&mut self, now: u64, egress: u16, packet: &Packet) -> &mut Entry {
        let index = self.index(packet);
        self.egresses[egress as usize].table.entry(index, stamp(now), self.sticky)
    }

    /// The index of a packet's flow in the array of its egress port.
    #[inline]
    fn index(&self, packet: &Packet) -> u32 {
        if packet.has(flag::LABELLED) {
            // The extra entry, which all labelled flows share.
            return self.table_size;
        }
        let class = u64::from(self.division.class_of(packet));
        let hash = class << 32 | u64::from(flow_hash(packet));
        ((hash * u64::from(self.table_size)) >> 32) as u32
    }

    fn assign(
        &mut self,
        egress: u16,
        packet: &Packet,
        occupied: impl FnOnce() -> QueueMask,
        rng: &mut Rng,
    ) -> u8 {
        if packet.has(flag::LABELLED) {
            return 0;
        }
        self.stats.assignments += 1;
        self.stats.reassignments +=
            u64::from(packet.kind == Kind::Data && packet.as_data().offset() > 0);
        let occupied = occupied();
        let class = self.division.class_of(packet);
        let (first, count) = self.division.range(class);
        let queue = match self.assignment {
            Assignment::Single => 0,
            Assignment::Stochastic => {
                first + ((u64::from(flow_hash(packet)) * u64::from(count)) >> 32) as u8
            }
            Assignment::Dynamic => {
                let empty = self.division.queues(class) & !occupied;
                self.empty_queue(egress, class, empty).unwrap_or_else(|| {
                    // "we assign the flow to a random queue in this case" (§3.3.1).
                    first + rng.below(u64::from(count)) as u8
                })
            }
        };
        self.stats.collisions += u64::from(occupied >> queue & 1 == 1);
        queue
    }

    /// An empty queue of a class, if there is one.
    fn empty_queue(&mut self, egress: u16, class: u8, empty: QueueMask) -> Option<u8> {
        if empty == 0 {
            return None;
        }
        let last = &mut self.egresses[egress as usize].last_queue[class as usize];
        let later = match self.empty_queue {
            EmptyQueueOrder::Rotating => empty & (QueueMask::MAX << *last << 1),
            EmptyQueueOrder::Lowest => 0,
        };
        let from = if later != 0 { later } else { empty };
        *last = from.trailing_zeros() as u8;
        Some(*last)
    }
}

/// The sticky threshold in units of stamps.
pub(super) fn sticky_units(hrtts: f64, hrtt_ps: u64) -> u32 {
    ((hrtts * hrtt_ps as f64) as u64 >> STAMP_SHIFT).min(MOST_STICKY) as u32
}

#[inline]
fn stamp(now: u64) -> u32 {
    (now >> STAMP_SHIFT) as u32
}

/// A hash of the flow identifier. It is the same at every switch and differs from the load
/// balancer's.
#[inline]
fn flow_hash(packet: &Packet) -> u32 {
    let word = packet.label ^ packet.src.rotate_left(16) ^ packet.dst.rotate_left(8);
    let word = word.wrapping_mul(0x9e37_79b1);
    (word ^ word >> 15).wrapping_mul(0x85eb_ca77)
}
