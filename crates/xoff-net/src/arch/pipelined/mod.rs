//! The pipelined switch of merchant silicon (CaPFC §II-A), with priority flow control from its ingress
//! queues or with CaPFC.
//!
//! A packet's way: it waits at its ingress, one queue a port in the order of arrival, whose bytes are
//! counted by class; ports take turns to have a packet admitted to the processor, at a fixed rate; when it
//! comes out its port is decided, and then there is no way back: it joins that port's egress queue of its
//! class, or, where that is full, it is dropped or the processor stops for all until there is room.
//!
//! Instants: a packet takes memory of its ingress from its arrival until it has come out of the processor,
//! and of its egress from then until it begins to leave. The processor has a timer that comes after all
//! arrivals of its instant: so turns do not depend on their order.

mod config;
mod describe;
mod egress;
mod ingress;
mod memory;
mod passage;
mod processor;
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

pub use config::{MemoryKind, OnFull, PipelineConfig};
pub use settings::PipelinedSettings;
pub use stats::PipelineStats;

/// What a pipelined switch is put together from.
#[derive(Debug)]
pub struct PipelinedParts {
    /// Processor and memory.
    pub config: PipelineConfig,
    /// Whom congested egress queues blame.
    pub capfc: CapfcConfig,
    /// Ports, routes and pauses.
    pub io: CioqParts,
    /// The processor's timer, which has its stage come.
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
    /// The memory, and what is asked of neighbours when it runs full.
    capfc: Capfc<Memory>,
    waiting: Waiting,
    own_stats: PipelineStats,
}

impl Pipelined {
    /// A switch with nothing in it, whose ports are in the fabric already.
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

    /// The processor has something to do.
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

    #[inline]
    fn pick_next(&mut self, fabric: &mut Fabric, number: u16) {
        self.send_next(fabric, number);
    }
}

#[cfg(test)]
mod tests;
