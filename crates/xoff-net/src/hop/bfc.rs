//! Backpressure flow control (Goyal et al., NSDI 2022, §3.3): dynamic assignment of flows to queues
//! and per-queue pauses of the upstream queue a packet came from.

use xoff_core::{Ps, Rng, choices, knobs};

use super::flow_table::{Entry, FlowTable};
use super::{Ask, HopControl, Signal};
use crate::packet::{CONTROL_QUEUE, Packet, flag};
use crate::sched::{QueueMask, Scheduler};

choices! {
    /// How flows get their queues (BFC §6.1).
    pub enum Assignment {
        /// An empty queue if there is one, otherwise a random one (§3.3.1).
        Dynamic = "dynamic",
        /// The queue that a hash of the flow names, at every switch ("BFC + stochastic").
        Stochastic = "stochastic",
        /// All flows in one queue ("BFC + single").
        Single = "single",
    }
}

choices! {
    /// Which of several empty queues is taken. The paper does not say.
    pub enum EmptyQueueOrder {
        /// The next one after the queue assigned last, going round: a queue that has just emptied,
        /// to which a flow may still stick, is taken last.
        Rotating = "rotating",
        /// The one with the lowest number.
        Lowest = "lowest",
    }
}

knobs! {
    /// Backpressure flow control, at switches and NICs.
    pub struct BfcConfig in "bfc" {
        /// Queues of a port, with the control queue (§6.2.1: 32; Tofino2 has 128 at 400 Gb/s).
        queues: u8 = 32,
        /// Take one of them for pause and resume frames: "this reduces the number of queues available
        /// for dynamic queue assignment by 1" (§3.3.2). Off where classes divide all queues (App. A.3).
        reserve_control_queue: bool = true,
        /// How flows get their queues.
        assignment: Assignment = Assignment::Dynamic,
        /// Which of several empty queues is taken.
        empty_queue: EmptyQueueOrder = EmptyQueueOrder::Rotating,
        /// Flow-table entries of a port for each of its queues (§3.3.1: 100).
        table_factor: u32 = 100,
        /// A flow keeps its queue for this many 1-hop RTTs after its last packet (§3.3.2: 2).
        sticky_hrtts: f64 = 2.0,
        /// Pause threshold as a multiple of the 1-hop BDP at the queue's drain rate (§3.3.2: 1).
        threshold_factor: f64 = 1.0,
        /// Part of the 1-hop RTT beside the propagation delay both ways, such as a pipeline's latency
        /// (§6.2.1 counts none: 2 us over links of 1 us).
        hop_processing: Ps = Ps(0),
        /// The pause bitmap is sent this often while some queue is paused, and for a while after
        /// (§3.3.2, "periodically"; the period is not stated).
        refresh_period: Ps = Ps::from_us(10),
        /// How many bitmaps follow once no queue is paused any longer: each of them may be lost, as
        /// the resume frame may. The paper says nothing of an end.
        empty_refreshes: u16 = 10,
        /// Whether NICs obey pauses (App. A.8, "BFC - NIC", where they do not).
        nics_obey: bool = true,
    }
}

impl BfcConfig {
    /// Queues that flows are assigned to.
    #[must_use]
    pub fn data_queues(&self) -> u8 {
        match self.assignment {
            Assignment::Single => 1,
            _ => self.queues - u8::from(self.reserve_control_queue),
        }
    }

    /// Checks what the fields' types cannot.
    ///
    /// # Errors
    /// The field and what is wrong.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if !(2..=128).contains(&self.queues) {
            return Err(("queues", "a port has 2 to 128 queues".into()));
        }
        if !(1..=1_000_000).contains(&self.table_factor) {
            let message = "the flow table has 1 to 1000000 entries for each queue";
            return Err(("table_factor", message.into()));
        }
        if self.refresh_period == Ps(0) {
            return Err(("refresh_period", "the period must be longer than zero".into()));
        }
        Ok(())
    }
}

/// What BFC needs to know of a port.
#[derive(Clone, Copy, Debug)]
pub struct BfcPort {
    /// Bits per second.
    pub rate: u64,
    /// Propagation delay (ps).
    pub delay_ps: u64,
}

/// Time stamps of the flow table count units of 2^10 ps: 32 bits go round in 4.4 s. An entry that was
/// idle for a whole number of turns and not forgotten sticks to its queue once more, which harms
/// nobody.
const STAMP_SHIFT: u32 = 10;

/// What BFC has done, for the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BfcStats {
    /// Pause frames at 0 -> 1.
    pub pauses: u64,
    /// Resume frames at 1 -> 0.
    pub resumes: u64,
    /// Pause bitmaps.
    pub refreshes: u64,
    /// Queue assignments.
    pub assignments: u64,
    /// Assignments while no queue was empty.
    pub collisions: u64,
}

impl BfcStats {
    /// Adds another switch's counts.
    pub fn add(&mut self, other: &BfcStats) {
        self.pauses += other.pauses;
        self.resumes += other.resumes;
        self.refreshes += other.refreshes;
        self.assignments += other.assignments;
        self.collisions += other.collisions;
    }
}

/// Packets in this switch that exceeded the threshold, by the neighbour's queue they came from.
#[derive(Clone, Debug)]
struct PauseCounters {
    counts: Vec<u32>,
    paused: QueueMask,
    /// How many empty bitmaps are still to be sent.
    owed: u16,
}

/// What BFC knows of an egress port.
#[derive(Debug)]
struct EgressState {
    table: FlowTable,
    /// Entries with packets.
    active: u32,
    last_queue: u8,
    /// Which of the switch's lists of thresholds is this port's.
    rate_class: u8,
}

/// The BFC state of one switch.
#[derive(Debug)]
pub struct Bfc {
    egresses: Vec<EgressState>,
    table_size: u32,
    ingresses: Vec<PauseCounters>,
    /// Pause threshold in bytes by the rate of the egress port and the number of active queues.
    thresholds: Vec<u32>,
    queues: u8,
    assignment: Assignment,
    empty_queue: EmptyQueueOrder,
    sticky: u32,
    refresh_period: u64,
    empty_refreshes: u16,
    /// What has happened so far.
    pub stats: BfcStats,
}

impl Bfc {
    /// For a switch with these ports; neighbours may have up to `upstream_queues` queues.
    #[must_use]
    pub fn new(config: &BfcConfig, ports: &[BfcPort], upstream_queues: u8) -> Self {
        // "we use the max of HRTT across all the ingresses to calculate Th" (§3.3.2).
        let longest = ports.iter().map(|port| port.delay_ps).max().unwrap_or(0);
        let hrtt = 2 * longest + config.hop_processing.0;
        let queues = config.data_queues();
        let counters =
            PauseCounters { counts: vec![0; upstream_queues as usize], paused: 0, owed: 0 };
        let mut rates: Vec<u64> = ports.iter().map(|port| port.rate).collect();
        rates.sort_unstable();
        rates.dedup();
        let egress = |port: &BfcPort| EgressState {
            table: FlowTable::default(),
            active: 0,
            last_queue: queues - 1,
            rate_class: rates.partition_point(|&rate| rate < port.rate) as u8,
        };
        Self {
            egresses: ports.iter().map(egress).collect(),
            table_size: u32::from(config.queues) * config.table_factor,
            ingresses: vec![counters; ports.len()],
            thresholds: rates
                .iter()
                .flat_map(|&rate| thresholds(config.threshold_factor, hrtt, rate, queues))
                .collect(),
            queues,
            assignment: config.assignment,
            empty_queue: config.empty_queue,
            sticky: ((config.sticky_hrtts * hrtt as f64) as u64 >> STAMP_SHIFT) as u32,
            refresh_period: config.refresh_period.0,
            empty_refreshes: config.empty_refreshes,
            stats: BfcStats::default(),
        }
    }

    /// "an array indexed by the egress port of a flow and the hash of the FID" (§3.3.1).
    #[inline]
    fn entry(&mut self, now: u64, egress: u16, packet: &Packet) -> &mut Entry {
        let index = (u64::from(flow_hash(packet)) * u64::from(self.table_size)) >> 32;
        let table = &mut self.egresses[egress as usize].table;
        table.entry(index as u32, stamp(now), self.sticky)
    }

    #[inline]
    fn threshold(&self, egress: u16, active: u32) -> u32 {
        let class = u32::from(self.egresses[egress as usize].rate_class);
        self.thresholds[(class * (u32::from(self.queues) + 1) + active) as usize]
    }

    fn assign<S: Scheduler>(
        &mut self,
        egress: u16,
        packet: &Packet,
        queues: &S,
        rng: &mut Rng,
    ) -> u8 {
        self.stats.assignments += 1;
        let occupied = queues.occupied();
        let queue = match self.assignment {
            Assignment::Single => 0,
            Assignment::Stochastic => {
                ((u64::from(flow_hash(packet)) * u64::from(self.queues)) >> 32) as u8
            }
            Assignment::Dynamic => self.empty_queue(egress, occupied).unwrap_or_else(|| {
                // "we assign the flow to a random queue in this case" (§3.3.1).
                rng.below(u64::from(self.queues)) as u8
            }),
        };
        self.stats.collisions += u64::from(occupied >> queue & 1 == 1);
        queue
    }

    fn empty_queue(&mut self, egress: u16, occupied: QueueMask) -> Option<u8> {
        let all = QueueMask::MAX >> (128 - u32::from(self.queues));
        let empty = all & !occupied;
        if empty == 0 {
            return None;
        }
        let last = &mut self.egresses[egress as usize].last_queue;
        let later = match self.empty_queue {
            EmptyQueueOrder::Rotating => empty & (QueueMask::MAX << *last << 1),
            EmptyQueueOrder::Lowest => 0,
        };
        let from = if later != 0 { later } else { empty };
        *last = from.trailing_zeros() as u8;
        Some(*last)
    }
}

impl HopControl for Bfc {
    /// On Enqueue (§3.3.1, §3.3.2 "Sticky queue assignment"): the queue of the packet's flow. "A new
    /// queue assignment only happens if the size value in the flow table is 0, and the timestamp is
    /// older than a sticky threshold".
    #[inline]
    fn queue_of<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &Packet,
        queues: &S,
        rng: &mut Rng,
    ) -> u8 {
        let sticky = self.sticky;
        let entry = self.entry(now, egress, packet);
        if entry.keeps_queue(stamp(now), sticky) {
            return entry.queue;
        }
        let queue = self.assign(egress, packet, queues, rng);
        self.entry(now, egress, packet).queue = queue;
        queue
    }

    /// On Enqueue: the flow has one packet more here (§3.3.1), and "if its flow is assigned a queue
    /// that exceeds the pause threshold, we increment the pause counter at that index by 1" (§3.3.2).
    #[inline]
    fn on_enqueue<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &mut Packet,
        queues: &S,
    ) -> Option<Signal> {
        let entry = self.entry(now, egress, packet);
        entry.size += 1;
        entry.stamp = stamp(now);
        let woken = entry.size == 1;
        self.egresses[egress as usize].active += u32::from(woken);
        if packet.upstream == CONTROL_QUEUE {
            return None;
        }
        // "queues with data to transmit that are not paused" (§3.3.2, Pause threshold).
        let active = (queues.occupied() & !queues.paused()).count_ones();
        let threshold = self.threshold(egress, active);
        if queues.queue_bytes(packet.queue) <= threshold {
            return None;
        }
        packet.flags |= flag::COUNTED;
        let ingress = &mut self.ingresses[packet.ingress as usize];
        let count = &mut ingress.counts[packet.upstream as usize];
        *count += 1;
        if *count > 1 {
            return None;
        }
        let queues = 1 << packet.upstream;
        ingress.paused |= queues;
        ingress.owed = self.empty_refreshes;
        self.stats.pauses += 1;
        Some(Signal::new(packet.ingress, Ask::Pause, queues))
    }

    /// One packet in the one active queue: only the time stamp of its flow moves, unless the packet
    /// alone exceeds the threshold.
    #[inline]
    fn pass(&mut self, now: u64, egress: u16, packet: &Packet) -> bool {
        if u32::from(packet.wire_bytes) > self.threshold(egress, 1) {
            return false;
        }
        self.entry(now, egress, packet).stamp = stamp(now);
        true
    }

    /// On Dequeue (§3.3.1, §3.3.2): the flow has one packet less here, and a packet that had exceeded
    /// the threshold gives its count back.
    ///
    /// # Panics
    /// If a count goes negative: that is a bug.
    #[inline]
    fn on_dequeue(&mut self, now: u64, egress: u16, packet: &mut Packet) -> Option<Signal> {
        let entry = self.entry(now, egress, packet);
        entry.size = entry.size.checked_sub(1).expect("BFC's flow table went negative");
        entry.stamp = stamp(now);
        let emptied = entry.size == 0;
        self.egresses[egress as usize].active -= u32::from(emptied);
        if !packet.has(flag::COUNTED) {
            return None;
        }
        packet.flags &= !flag::COUNTED;
        let ingress = &mut self.ingresses[packet.ingress as usize];
        let count = &mut ingress.counts[packet.upstream as usize];
        *count = count.checked_sub(1).expect("BFC's pause counter went negative");
        if *count > 0 {
            return None;
        }
        let queues = 1 << packet.upstream;
        ingress.paused &= !queues;
        self.stats.resumes += 1;
        Some(Signal::new(packet.ingress, Ask::Resume, queues))
    }

    /// When the next pause bitmap is due after a change now.
    fn next_timer(&self, now: u64) -> Option<u64> {
        Some(now + self.refresh_period)
    }

    /// "we also periodically send a bitmap of the queues that should be paused at the upstream"
    /// (§3.3.2): also when the bitmap has become empty, so that a lost resume heals.
    fn on_timer(&mut self, ingress: u16) -> (Option<Signal>, bool) {
        let state = &mut self.ingresses[ingress as usize];
        if state.paused == 0 {
            let Some(left) = state.owed.checked_sub(1) else { return (None, false) };
            state.owed = left;
        }
        self.stats.refreshes += 1;
        let signal = Signal::new(ingress, Ask::Exactly, state.paused);
        (Some(signal), state.paused != 0 || state.owed > 0)
    }

    /// Flow-table entries with packets at an egress port.
    fn active_flows(&self, egress: u16) -> Option<u32> {
        Some(self.egresses[egress as usize].active)
    }

    /// The neighbour's queues held paused at an ingress port.
    fn holds_paused(&self, ingress: u16) -> QueueMask {
        self.ingresses[ingress as usize].paused
    }
}

#[inline]
fn stamp(now: u64) -> u32 {
    (now >> STAMP_SHIFT) as u32
}

/// A hash of the flow identifier, the same at every switch; other than the load balancer's.
#[inline]
fn flow_hash(packet: &Packet) -> u32 {
    let word = packet.label ^ packet.src.rotate_left(16) ^ packet.dst.rotate_left(8);
    let word = word.wrapping_mul(0x9e37_79b1);
    (word ^ word >> 15).wrapping_mul(0x85eb_ca77)
}

/// Th = HRTT x (mu / N_active) in bytes for every possible N_active (§3.3.2); with no active queue
/// (the packet's own is paused) the whole rate counts.
fn thresholds(factor: f64, hrtt_ps: u64, rate: u64, queues: u8) -> Vec<u32> {
    let one_hop_bdp = hrtt_ps as f64 * rate as f64 / 8e12;
    (0..=u32::from(queues))
        .map(|active| (factor * one_hop_bdp / f64::from(active.max(1))) as u32)
        .collect()
}

#[cfg(test)]
#[path = "bfc_tests.rs"]
mod tests;
