//! The switch with ingress and egress queues around a crossbar (DeTail §5.1, Fig. 1, §7.1).
//!
//! A packet's way: it is in the ingress's memory once it has arrived, or is dropped for want of room;
//! after the forwarding engine's delay its egress port is known, and it waits in the ingress's queue for
//! that port and class; iSlip matches it, and its bytes cross at the crossbar's rate; it waits in the
//! egress queue of its class, and leaves. Classes are served strictly, the lowest number first.
//!
//! Instants: an ingress holds a packet from its arrival until it has crossed, an egress from when it
//! begins to cross until it begins to leave. A matching is made when an instant ends, after ports have
//! picked, so that it sees all that came free.
//!
//! Room at an egress is reserved when a packet begins to cross, so none is ever dropped there. Each class
//! leaves room for one full packet of every more important one, lest paused packets of a less important
//! class shut those out.

mod config;
mod crossing;
mod egress;
mod islip;
mod pause;
mod queues;
mod signals;

use xoff_core::{Digest, Rng, TimerId};

use self::crossing::FORWARDED;
use self::islip::{ISlip, Match};
use self::pause::Pauses;
use self::queues::VirtualOutputQueues;
use super::frames::{Frames, FramesSpec};
use super::{Destination, Forwarding, Switch, SwitchStats};
use crate::balance::Adaptive;
use crate::buffer::{Buffer, BufferConfig, BufferKind};
use crate::fabric::Fabric;
use crate::mark::{Draws, MarkAt, RedEcn};
use crate::packet::{CONTROL_QUEUE, Kind, Packet};
use crate::ports::PortMask;
use crate::sched::{AnyScheduler, Egress, Fifo, QueueMask};
use crate::topo::Route;

pub use config::{CrossbarConfig, PauseConfig, Scope};
pub use pause::{Reaction, Thresholds};

/// What a crossbar switch is put together from.
#[derive(Debug)]
pub struct CrossbarParts {
    /// Settings.
    pub config: CrossbarConfig,
    /// Settings of its flow control.
    pub pause: PauseConfig,
    /// By port, when it pauses its neighbour.
    pub thresholds: Vec<Thresholds>,
    /// The fabric's number of its first port; the others follow.
    pub first_port: u32,
    /// The fabric's number of its arbiter: a port without a link, above those of all links.
    pub arbiter: u32,
    /// Number of its first port in the whole topology.
    pub first_id: u32,
    /// What the stages of packets at its first port are called in events; the other ports follow.
    pub stage_tag: u32,
    /// Bytes of the longest packet.
    pub mtu: u16,
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
}

/// A crossbar switch.
#[derive(Debug)]
pub struct Crossbar {
    first_port: u32,
    arbiter: u32,
    first_id: u32,
    stage_tag: u32,
    /// The last class that is told apart.
    last_class: u8,
    mtu: u32,
    ingress_size: u32,
    egress_size: u32,
    forwarding_ps: u64,
    /// Bits per second of the crossbar's lines, and picoseconds a byte takes there where they are whole.
    line_rate: u64,
    line_ps_per_byte: u64,
    forwarding: Forwarding,
    adaptive: Option<Adaptive>,
    islip: ISlip,
    /// Inputs and outputs between which nothing crosses.
    free_inputs: PortMask,
    free_outputs: PortMask,
    queues: VirtualOutputQueues,
    /// Where what crosses from an input goes.
    crossing_to: Vec<u16>,
    /// By output, bytes in its egress queues and on their way there.
    held: Vec<u32>,
    /// By output, the classes that it has room for.
    open: Vec<u8>,
    matched: Vec<Match>,
    egress: Vec<Egress>,
    /// For how long a port rests after a packet, in millionths of the packet's time.
    rest_ppm: u64,
    pauses: Pauses,
    frames: Frames,
    ecn: Vec<RedEcn>,
    mark_at: MarkAt,
    marking: Draws,
    buffer: Buffer,
    stats: SwitchStats,
    digest: Digest,
}

impl Crossbar {
    /// A switch with nothing in it, whose ports are in the fabric already.
    #[must_use]
    pub fn new(parts: CrossbarParts, fabric: &Fabric) -> Self {
        let ports = parts.thresholds.len();
        let (config, pause) = (&parts.config, &parts.pause);
        let rate = |port: usize| fabric.rate(parts.first_port + port as u32);
        let fastest = (0..ports).map(rate).max().unwrap_or(1);
        let line_rate = (fastest as f64 * config.speedup) as u64;
        let all = PortMask::MAX >> (PortMask::BITS - ports as u32);
        let last_class = config.classes - 1;
        let bounded = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let frames = FramesSpec {
            pause,
            first_port: parts.first_port,
            first_timer: parts.first_timer,
            classes: u8::MAX >> (7 - last_class),
            frame_bytes: parts.control_frame,
            mtu: parts.mtu,
            loss: parts.control_loss,
        };
        let unlimited = BufferConfig { kind: BufferKind::Unlimited, ..BufferConfig::default() };
        Self {
            first_port: parts.first_port,
            arbiter: parts.arbiter,
            first_id: parts.first_id,
            stage_tag: parts.stage_tag,
            last_class,
            mtu: u32::from(parts.mtu),
            ingress_size: bounded(config.ingress_size.0),
            egress_size: bounded(config.egress_size.0),
            forwarding_ps: config.forwarding_delay.0,
            line_rate,
            line_ps_per_byte: fabric.whole_ps_per_byte(line_rate),
            forwarding: parts.forwarding,
            adaptive: parts.adaptive,
            islip: ISlip::new(ports, config.iterations),
            free_inputs: all,
            free_outputs: all,
            queues: VirtualOutputQueues::new(ports, config.classes),
            crossing_to: vec![0; ports],
            held: vec![0; ports],
            rest_ppm: (1e6 / config.rate_limit) as u64 - 1_000_000,
            open: vec![u8::MAX >> (7 - last_class); ports],
            matched: Vec::with_capacity(ports),
            egress: (0..ports).map(|_| Egress::new(AnyScheduler::Fifo(Fifo::default()))).collect(),
            pauses: Pauses::new(pause.scope, config.classes, &parts.thresholds),
            frames: Frames::new(frames, (0..ports).map(rate)),
            ecn: parts.ecn.0,
            mark_at: parts.ecn.1,
            marking: parts.marking,
            buffer: Buffer::new(&unlimited),
            stats: SwitchStats::default(),
            digest: Digest::default(),
        }
    }
}

impl Switch for Crossbar {
    /// A packet has arrived at port `ingress`: it is in that port's memory from now on, or dropped.
    #[inline(never)]
    fn on_packet(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        ingress: u16,
        id: u32,
    ) -> Option<u32> {
        let now = fabric.now;
        let packet = &mut fabric.packets[id];
        packet.ingress = ingress;
        if packet.kind == Kind::LinkControl {
            self.frames.on_frame(fabric, ingress, id);
            return None;
        }
        let bytes = packet.wire_bytes;
        if self.pauses.held(ingress) + u32::from(bytes) > self.ingress_size {
            return self.lose(fabric, ingress, id);
        }
        let class = packet.class().min(self.last_class);
        // Its queue is known when it has passed the forwarding engine.
        packet.queue = CONTROL_QUEUE;
        self.buffer.take(now, bytes);
        let paused = self.pauses.join(ingress, class, bytes);
        if paused != 0 {
            self.pause(fabric, ingress, paused);
        }
        if self.forwarding_ps == 0 {
            self.forward(fabric, destinations, ingress, id);
        } else {
            self.post_stage(fabric, now + self.forwarding_ps, FORWARDED, ingress, id);
        }
        None
    }

    /// A packet has passed the forwarding engine, or crossed.
    #[inline(never)]
    fn on_stage(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        number: u16,
        id: u32,
    ) -> Option<u32> {
        if fabric.packets[id].queue == CONTROL_QUEUE {
            self.forward(fabric, destinations, number, id);
        } else {
            self.on_crossed(fabric, number, id);
        }
        None
    }

    /// A port may send, or a matching is to be made.
    #[inline(never)]
    fn pick(&mut self, fabric: &mut Fabric, number: u16) -> Option<u32> {
        if number as usize == self.egress.len() {
            self.arbitrate(fabric);
        } else {
            self.send_next(fabric, number);
        }
        None
    }

    fn on_timer(&mut self, fabric: &mut Fabric, number: u16) {
        self.on_port_timer(fabric, number);
    }

    fn on_mirror_timer(&mut self, fabric: &mut Fabric, _destinations: &[Destination]) {
        self.on_frame_timer(fabric);
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
        self.pauses.holds_paused(ingress)
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
