//! BFC within the limits of its hardware (Goyal et al., NSDI 2022, §4, App. A.8). An ideal switch
//! does everything at once with its whole state. Tofino2 works in one of several ingress pipelines,
//! with the state of that pipeline, and once a packet's header has returned.
//!
//! - The flow table is split over the ingress pipelines, as the pause counters of each ingress are.
//! - A pipeline reads empty queues from a bitmap that is updated periodically ([`empty_queues`]).
//! - "The dequeue operations are executed on the recirculated packet header" ([`recirculation`]).
//! - Only some packets are recirculated (App. A.8): "Only increment the pause counter and size in
//!   the flow table for packets that should be recirculated." A flow may then change its queue
//!   while packets of it wait, and be reordered.
//!
//! Cells, and the hardware queues behind the egress pipeline, belong to the port
//! ([`TrafficManager`](crate::sched::TrafficManager)).
//!
//! Queue lengths and the number of active queues are always known: "the TM can communicate the
//! queue depth information for all the queues in the switch to all the ingress pipelines" (§4).

mod config;
mod empty_queues;
mod recirculation;

use xoff_core::Rng;

use super::assignment::FlowQueues;
use super::backpressure::{Backpressure, Upstream};
use super::{BfcConfig, BfcPort, BfcStats, PauseCounters, hrtt};
use crate::division::Undivided;
use crate::hop::{CopyUse, HopControl, Signal};
use crate::packet::{NONE, Packet, flag};
use crate::recount::{Checked, WaitingPacket};
use crate::sched::{QueueMask, Scheduler};
use empty_queues::EmptyQueues;
use recirculation::Recirculation;

pub use config::TofinoConfig;
pub use recirculation::RecirculationStats;

/// Counts that only hardware has, for the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TofinoStats {
    /// Headers that were recirculated.
    pub recirculation: RecirculationStats,
    /// Assignments of a queue that was wrongly taken for empty. These collisions are not counted in
    /// [`BfcStats`].
    pub unseen_collisions: u64,
}

impl TofinoStats {
    /// Adds another switch's counts.
    pub fn add(&mut self, other: &Self) {
        self.recirculation.add(&other.recirculation);
        self.unseen_collisions += other.unseen_collisions;
    }
}

/// The BFC state of one switch.
#[derive(Debug)]
pub struct Tofino {
    flows: FlowQueues<Undivided>,
    backpressure: PauseCounters,
    empty_queues: EmptyQueues,
    ports: u16,
    ports_a_pipeline: u16,
    /// Share of packets that are counted and recirculated, and its random stream.
    sampling: f64,
    rng: Rng,
    /// None: dequeue operations are executed at once.
    recirculation: Option<Recirculation>,
    unseen_collisions: u64,
}

impl Tofino {
    /// For a switch with these ports. Without limits of hardware it differs from an ideal switch
    /// only by the sampling of packets.
    #[must_use]
    pub fn new(
        config: &BfcConfig,
        hardware: Option<&TofinoConfig>,
        ports: &[BfcPort],
        rng: Rng,
    ) -> Self {
        let (hrtt, division) = (hrtt(config, ports), config.undivided());
        let pipelines = hardware.map_or(1, |hardware| hardware.pipelines);
        let rate = ports.iter().map(|port| port.rate).sum();
        let tables = ports.len() * usize::from(pipelines);
        let period = hardware.map_or(0, |hardware| hardware.bitmap_period.0);
        Self {
            flows: FlowQueues::new(config, division, ports.len(), hrtt).split(pipelines),
            backpressure: PauseCounters::new(config, division, ports, hrtt),
            empty_queues: EmptyQueues::new(period, ports.len(), tables),
            ports: ports.len() as u16,
            ports_a_pipeline: (ports.len() as u16).div_ceil(u16::from(pipelines)),
            sampling: config.sampling,
            rng,
            recirculation: hardware.map(|hardware| Recirculation::new(hardware, rate)),
            unseen_collisions: 0,
        }
    }

    /// The flow table of a packet at an egress port: "Since the state for a flow only needs to be
    /// accessed in a single pipeline, we can split the flow table" (§4).
    #[inline]
    fn table(&self, egress: u16, packet: &Packet) -> u16 {
        packet.ingress / self.ports_a_pipeline * self.ports + egress
    }

    /// The flow tables of an egress port, one per pipeline.
    fn tables(&self, egress: u16) -> impl Iterator<Item = u16> {
        let pipelines = self.ports.div_ceil(self.ports_a_pipeline);
        (egress..).step_by(usize::from(self.ports)).take(usize::from(pipelines))
    }

    /// "On a packet arrival (enqueue), sample to decide whether a packet should be recirculated or
    /// not" (App. A.8).
    #[inline]
    fn samples(&mut self) -> bool {
        self.sampling >= 1.0 || self.rng.unit() < self.sampling
    }

    /// The dequeue operations, on a counted packet or its header.
    #[inline]
    fn give_back(&mut self, now: u64, egress: u16, packet: &mut Packet) -> Option<Signal> {
        packet.flags &= !flag::RECIRCULATED;
        let table = self.table(egress, packet);
        self.flows.on_dequeue(now, table, packet);
        self.backpressure.on_dequeue(egress, packet)
    }

    /// The counts that an ideal switch has, too.
    #[must_use]
    pub fn stats(&self) -> BfcStats {
        BfcStats { assignment: self.flows.stats(), frames: self.backpressure.upstream().frames() }
    }

    /// The counts that only hardware has.
    #[must_use]
    pub fn hardware_stats(&self) -> TofinoStats {
        let recirculation = self.recirculation.as_ref();
        TofinoStats {
            recirculation: recirculation.map_or_else(Default::default, |link| link.stats),
            unseen_collisions: self.unseen_collisions,
        }
    }
}

impl HopControl for Tofino {
    fn queue_of<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &Packet,
        queues: &S,
        rng: &mut Rng,
    ) -> u8 {
        let table = self.table(egress, packet);
        let Self { flows, empty_queues, unseen_collisions, .. } = self;
        let occupied = queues.occupied();
        let mut known = None;
        let queue = flows.queue_of(
            now,
            table,
            packet,
            || *known.insert(empty_queues.known(now, egress, table, occupied)),
            rng,
        );
        if let Some(known) = known
            && known >> queue & 1 == 0
        {
            *unseen_collisions += (occupied >> queue & 1) as u64;
            empty_queues.give(now, table, queue);
        }
        queue
    }

    /// A packet that is not sampled changes only the time stamp of its flow.
    fn on_enqueue<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &mut Packet,
        queues: &S,
    ) -> Option<Signal> {
        self.empty_queues.on_change(now, egress, queues.occupied());
        let table = self.table(egress, packet);
        if !self.samples() {
            self.flows.on_pass(now, table, packet);
            return None;
        }
        packet.flags |= flag::RECIRCULATED;
        self.flows.on_enqueue(now, table, packet);
        self.backpressure.on_enqueue(egress, packet, queues)
    }

    /// With recirculation, a packet's dequeue operations come after its departure.
    fn pass(&mut self, now: u64, egress: u16, packet: &Packet) -> bool {
        if self.recirculation.is_some() || !self.backpressure.lets_pass(egress, packet) {
            return false;
        }
        // The packet passes whether it is sampled or not, but draws a number as if it had joined.
        self.samples();
        self.flows.on_pass(now, self.table(egress, packet), packet);
        true
    }

    fn on_dequeue(&mut self, now: u64, egress: u16, packet: &mut Packet) -> Option<Signal> {
        if self.recirculation.is_some() || !packet.has(flag::RECIRCULATED) {
            return None;
        }
        self.give_back(now, egress, packet)
    }

    fn mirror_departure<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &mut Packet,
        queues: &S,
    ) -> Option<Packet> {
        self.empty_queues.on_change(now, egress, queues.occupied());
        if !packet.has(flag::RECIRCULATED) {
            return None;
        }
        self.recirculation.as_mut()?.send(now);
        let mut header = Packet { record: NONE, next: NONE, ..*packet };
        header.as_recirculated_mut().set_egress(egress);
        packet.flags &= !(flag::RECIRCULATED | flag::COUNTED);
        Some(header)
    }

    fn mirror_delay(&self, now: u64) -> u64 {
        self.recirculation.as_ref().map_or(0, |link| link.time(now))
    }

    fn use_copy(&mut self, now: u64, header: &mut Packet) -> CopyUse {
        let egress = header.as_recirculated().egress();
        self.give_back(now, egress, header).map_or(CopyUse::Nothing, CopyUse::Signal)
    }

    fn next_timer(&self, now: u64) -> Option<u64> {
        self.backpressure.upstream().next_timer(now)
    }

    fn on_timer(&mut self, ingress: u16) -> (Option<Signal>, bool) {
        self.backpressure.upstream_mut().on_timer(ingress)
    }

    fn active_flows(&self, egress: u16) -> Option<u32> {
        Some(self.tables(egress).map(|table| self.flows.active(table)).sum())
    }

    fn sharing_flows(&self, egress: u16) -> Option<u32> {
        Some(self.flows.sharing(self.tables(egress)))
    }

    fn on_rate(&mut self, egress: u16, rate: u64) {
        self.backpressure.on_rate(egress, rate);
    }

    fn holds_paused(&self, ingress: u16) -> QueueMask {
        self.backpressure.upstream().paused(ingress)
    }

    /// Headers that have not come back still count.
    fn recount(&self, waiting: &[WaitingPacket<'_>], copies: &[&Packet]) -> Checked {
        let headers = copies.iter().map(|&packet| {
            let egress = packet.as_recirculated().egress();
            WaitingPacket { egress, packet }
        });
        let sampled = waiting.iter().copied().chain(headers);
        let sampled = sampled.filter(|held| held.packet.has(flag::RECIRCULATED));
        let in_table = |held: WaitingPacket<'_>| self.table(held.egress, held.packet);
        let counted: Vec<_> =
            sampled.map(|held| WaitingPacket { egress: in_table(held), ..held }).collect();
        self.flows.recount(&counted)?;
        self.backpressure.recount(&counted)
    }
}

#[cfg(test)]
mod tests;
