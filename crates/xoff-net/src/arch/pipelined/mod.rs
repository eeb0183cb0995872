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

mod capfc;
mod combined;
mod config;
mod describe;
mod egress;
mod ingress;
mod memory;
mod passage;
mod processor;
mod stats;

use xoff_core::{Digest, Rng, TimerId};

use self::capfc::Capfc;
use self::combined::Combined;
use self::ingress::Ingress;
use self::memory::Memory;
use self::processor::Processor;
use self::stats::Waiting;
use super::crossbar::{PauseConfig, Scope, Thresholds};
use super::frames::{Frames, FramesSpec};
use super::{Destination, Forwarding, Switch, SwitchStats};
use crate::balance::Adaptive;
use crate::buffer::{Buffer, BufferConfig, BufferKind};
use crate::fabric::Fabric;
use crate::mark::{Draws, MarkAt, RedEcn};
use crate::packet::{Kind, Packet};
use crate::sched::{Egress, QueueMask};
use crate::topo::Route;

pub use capfc::{CapfcConfig, Policy};
pub use config::{MemoryKind, OnFull, PipelineConfig};
pub use stats::PipelineStats;

/// What a pipelined switch is put together from.
#[derive(Debug)]
pub struct PipelinedParts {
    /// Processor and memory.
    pub config: PipelineConfig,
    /// Whom congested egress queues blame.
    pub capfc: CapfcConfig,
    /// Settings of the flow control of ingress queues.
    pub pause: PauseConfig,
    /// By port, when an ingress queue is congested.
    pub thresholds: Vec<Thresholds>,
    /// The fabric's number of its first port; the others follow.
    pub first_port: u32,
    /// Bytes of the longest packet.
    pub mtu: u16,
    /// One a port.
    pub egress: Vec<Egress>,
    /// Where packets go.
    pub forwarding: Forwarding,
    /// How it spreads packets; none: by the hash of their flows.
    pub adaptive: Option<Adaptive>,
    /// ECN thresholds by port, and when they are looked at; empty: no marking.
    pub ecn: (Vec<RedEcn>, MarkAt),
    /// Where random marks come from.
    pub marking: Draws,
    /// Bytes of a link-control frame.
    pub control_frame: u16,
    /// Share of link-control frames that are lost, and the stream that says which.
    pub control_loss: Option<(f64, Rng)>,
    /// Timer of port 0; the others follow, and then the one of frames that take their time.
    pub first_timer: TimerId,
    /// The processor's timer, which has its stage come.
    pub stage_timer: TimerId,
}

/// A pipelined switch.
#[derive(Debug)]
pub struct Pipelined {
    first_port: u32,
    stage_timer: TimerId,
    stops_when_full: bool,
    /// Whether congested ingress queues pause their neighbours.
    pauses: bool,
    thresholds: Vec<Thresholds>,
    ingress: Ingress,
    processor: Processor,
    memory: Memory,
    capfc: Capfc,
    combined: Combined,
    egress: Vec<Egress>,
    forwarding: Forwarding,
    adaptive: Option<Adaptive>,
    frames: Frames,
    ecn: Vec<RedEcn>,
    mark_at: MarkAt,
    marking: Draws,
    /// Bytes in all its queues.
    buffer: Buffer,
    waiting: Waiting,
    stats: SwitchStats,
    own_stats: PipelineStats,
    digest: Digest,
}

impl Pipelined {
    /// A switch with nothing in it, whose ports are in the fabric already.
    #[must_use]
    pub fn new(parts: PipelinedParts, fabric: &Fabric) -> Self {
        let ports = parts.egress.len();
        let rates = (0..ports).map(|port| fabric.rate(parts.first_port + port as u32));
        let frames = FramesSpec {
            pause: &parts.pause,
            first_port: parts.first_port,
            first_timer: parts.first_timer,
            classes: u8::MAX,
            frame_bytes: parts.control_frame,
            mtu: parts.mtu,
            loss: parts.control_loss,
        };
        let unlimited = BufferConfig { kind: BufferKind::Unlimited, ..BufferConfig::default() };
        Self {
            first_port: parts.first_port,
            stage_timer: parts.stage_timer,
            stops_when_full: parts.config.on_full == OnFull::Stop,
            pauses: parts.pause.scope != Scope::None,
            thresholds: parts.thresholds,
            ingress: Ingress::new(ports),
            processor: Processor::new(&parts.config),
            memory: Memory::new(&parts.config, ports),
            capfc: Capfc::new(&parts.capfc, ports),
            combined: Combined::new(ports),
            egress: parts.egress,
            forwarding: parts.forwarding,
            adaptive: parts.adaptive,
            frames: Frames::new(frames, rates),
            ecn: parts.ecn.0,
            mark_at: parts.ecn.1,
            marking: parts.marking,
            buffer: Buffer::new(&unlimited),
            waiting: Waiting::default(),
            stats: SwitchStats::default(),
            own_stats: PipelineStats::default(),
            digest: Digest::default(),
        }
    }
}

impl Switch for Pipelined {
    #[inline(never)]
    fn on_packet(
        &mut self,
        fabric: &mut Fabric,
        _destinations: &[Destination],
        ingress: u16,
        id: u32,
    ) -> Option<u32> {
        let packet = &mut fabric.packets[id];
        packet.ingress = ingress;
        if packet.kind == Kind::LinkControl {
            self.frames.on_frame(fabric, ingress, id);
            return None;
        }
        self.take_in(fabric, ingress, id)
    }

    /// The processor has something to do.
    #[inline(never)]
    fn on_stage(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        _number: u16,
        _id: u32,
    ) -> Option<u32> {
        self.process(fabric, destinations)
    }

    #[inline(never)]
    fn pick(&mut self, fabric: &mut Fabric, number: u16) -> Option<u32> {
        self.send_next(fabric, number);
        None
    }

    fn on_timer(&mut self, fabric: &mut Fabric, number: u16) {
        let held = self.combined.paused(number);
        let (frames, mut way) = self.frames(fabric);
        frames.on_port_timer(&mut way, number, held);
    }

    fn on_mirror_timer(&mut self, fabric: &mut Fabric, _destinations: &[Destination]) {
        let (frames, mut way) = self.frames(fabric);
        frames.on_frame_timer(&mut way);
    }

    #[inline(never)]
    fn prefetch(&self, packet: &Packet, destinations: &[Destination], _ingress: u16) {
        self.forwarding.prefetch(packet, destinations);
    }

    fn set_routes(&mut self, routes: &[Route], choices: &[u16]) {
        self.forwarding.set_routes(routes, choices);
    }

    fn egress(&self) -> &[Egress] {
        &self.egress
    }

    fn egress_mut(&mut self) -> &mut [Egress] {
        &mut self.egress
    }

    fn used_bytes(&self) -> u64 {
        self.buffer.used()
    }

    fn take_watermark(&mut self) -> u64 {
        self.buffer.take_watermark()
    }

    fn holds_paused(&self, ingress: u16) -> QueueMask {
        QueueMask::from(self.combined.paused(ingress))
    }

    fn active_flows(&self, number: u16) -> u32 {
        self.egress[number as usize].active()
    }

    fn stats(&self) -> &SwitchStats {
        &self.stats
    }

    fn digest(&self) -> u64 {
        self.digest.value()
    }
}

#[cfg(test)]
mod tests;
