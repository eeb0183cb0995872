//! The pipelined switch of merchant silicon (CaPFC §II-A), with priority flow control from its
//! ingress queues or with CaPFC.
//!
//! The path of a packet: it waits at its ingress, in one queue per port in the order of arrival,
//! with bytes counted by class. Ports take turns to have a packet admitted to the processor, at a
//! fixed rate. When the packet leaves the processor, its egress port is fixed. It joins that port's
//! egress queue of its class. If that queue is full, the packet is dropped, or the processor stops
//! for all packets until there is room.
//!
//! Instants: a packet occupies memory of its ingress from its arrival until it has left the
//! processor, and memory of its egress from then until its transmission starts. The processor's
//! timer fires after all arrivals of its instant, so turns do not depend on their order.

mod config;
mod describe;
mod egress;
mod ingress;
mod memory;
mod passage;
mod processor;
mod recount;
mod settings;
mod stats;

use xoff_core::TimerId;

use self::ingress::Ingress;
use self::memory::Memory;
use self::processor::Processor;
use self::stats::Waiting;
use super::Destination;
use super::cioq::{Cioq, CioqParts, IngressQueued};
use crate::fabric::Fabric;
use crate::hop::capfc::{Capfc, CapfcConfig};
use crate::hop::pfc::Pfc;
use crate::packet::Pool;
use crate::recount::{Checked, Contents};

pub use config::{MemoryKind, OnFull, PipelineConfig};
pub use settings::PipelinedSettings;
pub use stats::PipelineStats;

/// The parts of a pipelined switch.
#[derive(Debug)]
pub struct PipelinedParts {
    /// Processor and memory.
    pub config: PipelineConfig,
    /// Which inputs congested egress queues blame.
    pub capfc: CapfcConfig,
    /// Ports, routes and pauses.
    pub io: CioqParts,
    /// Timer of the processor's stage.
    pub stage_timer: TimerId,
}

/// A pipelined switch.
#[derive(Debug)]
pub struct Pipelined {
    io: Cioq,
    stage_timer: TimerId,
    stops_when_full: bool,
    ingress: Ingress,
    processor: Processor,
    /// The memory, and the requests to neighbours when it fills.
    capfc: Capfc<Memory>,
    waiting: Waiting,
    own_stats: PipelineStats,
}

impl Pipelined {
    /// An empty switch with ports that are in the fabric already.
    #[must_use]
    pub fn new(parts: PipelinedParts, fabric: &Fabric) -> Self {
        let PipelinedParts { config, capfc, io, stage_timer } = parts;
        let ports = io.egress.len();
        let pfc = Pfc::of(Memory::new(&config, ports), io.thresholds.iter().copied());
        Self {
            stage_timer,
            stops_when_full: config.on_full == OnFull::Stop,
            ingress: Ingress::new(ports),
            processor: Processor::new(&config),
            capfc: Capfc::new(&capfc, ports, pfc),
            waiting: Waiting::default(),
            own_stats: PipelineStats::default(),
            io: Cioq::new(io, fabric, u8::MAX),
        }
    }
}

impl IngressQueued for Pipelined {
    type Control = Capfc<Memory>;

    fn control(&self) -> &Capfc<Memory> {
        &self.capfc
    }

    #[inline(always)]
    fn io(&self) -> &Cioq {
        &self.io
    }

    #[inline(always)]
    fn io_mut(&mut self) -> &mut Cioq {
        &mut self.io
    }

    #[inline]
    fn take_in(
        &mut self,
        fabric: &mut Fabric,
        _destinations: &[Destination],
        ingress: u16,
        id: u32,
    ) -> Option<u32> {
        self.join_ingress(fabric, ingress, id)
    }

    /// The processor has work to do.
    #[inline]
    fn pass_stage(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        _number: u16,
        _id: u32,
    ) -> Option<u32> {
        self.process(fabric, destinations)
    }

    fn each_before_egress(&self, pool: &Pool, visit: &mut dyn FnMut(u32)) {
        self.ingress.packets(pool).chain(self.processor.packets(pool)).for_each(visit);
    }

    fn recount_ports(&self, contents: &Contents<'_>) -> Checked {
        self.recount_memory(contents)
    }

    #[inline]
    fn pick_next(&mut self, fabric: &mut Fabric, number: u16) {
        self.send_next(fabric, number);
    }
}

#[cfg(test)]
mod tests;
