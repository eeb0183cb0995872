//! The switch with ingress and egress queues around a crossbar (DeTail §5.1, Fig. 1, §7.1).
//!
//! The path of a packet: on arrival it enters the memory of its ingress, or is dropped if there is
//! no room. After the forwarding engine's delay its egress port is known, and it waits in the
//! ingress's queue for that port and class. iSlip matches it, and its bytes cross at the crossbar's
//! rate. It waits in the egress queue of its class, and leaves. Classes are served by strict
//! priority, the lowest number first.
//!
//! Instants: an ingress holds a packet from its arrival until it has crossed, an egress from the
//! start of its crossing until its transmission starts. A matching is made when an instant ends,
//! after ports have picked, so that it sees everything that became free.
//!
//! A full egress holds packets back or drops them ([`EgressOverflow`]). If it holds them back, its
//! room is reserved when a packet starts to cross, so an egress never drops. Each class leaves room
//! for one full packet of every more important class, so that paused packets of a less important
//! class cannot block them. If it drops, packets cross regardless of room, and `overflow.rs`
//! decides which of them stay.

mod config;
mod crossing;
mod egress;
mod islip;
mod overflow;
mod queues;
mod recount;
mod settings;

use self::crossing::FORWARDED;
use self::islip::{ISlip, Match};
use self::queues::VirtualOutputQueues;
use super::Destination;
use super::cioq::{Cioq, CioqParts, IngressQueued};
use crate::fabric::Fabric;
use crate::hop::IngressControl;
use crate::hop::pfc::{DrainBytes, Pfc};
use crate::packet::{CONTROL_QUEUE, Pool};
use crate::ports::PortMask;
use crate::recount::{Checked, Contents};

pub use config::{CrossbarConfig, EgressOverflow};
pub use settings::CrossbarSettings;

/// The parts of a crossbar switch.
#[derive(Debug)]
pub struct CrossbarParts {
    /// Settings.
    pub config: CrossbarConfig,
    /// Ports, routes and pauses.
    pub io: CioqParts,
    /// Fabric number of its arbiter: a port without a link, numbered after the ports of all links.
    pub arbiter: u32,
    /// Number of its first port in the whole topology.
    pub first_id: u32,
    /// Event tag of stages at its first port. The tags of the other ports follow.
    pub stage_tag: u32,
}

/// A crossbar switch.
#[derive(Debug)]
pub struct Crossbar {
    io: Cioq,
    arbiter: u32,
    first_id: u32,
    stage_tag: u32,
    /// The last class that is distinguished.
    last_class: u8,
    mtu: u32,
    ingress_size: u32,
    egress_size: u32,
    overflow: EgressOverflow,
    forwarding_ps: u64,
    /// Bits per second of the crossbar's lines, and picoseconds per byte if that is a whole number.
    line_rate: u64,
    line_ps_per_byte: u64,
    islip: ISlip,
    /// Inputs and outputs without a crossing.
    free_inputs: PortMask,
    free_outputs: PortMask,
    queues: VirtualOutputQueues,
    /// Output of each input's crossing.
    crossing_to: Vec<u16>,
    /// By output, bytes in its egress queues and on the way there.
    held: Vec<u32>,
    /// By output, the classes whose packets may cross.
    open: Vec<u8>,
    matched: Vec<Match>,
    /// Idle time of a port after a packet, in millionths of the packet's time.
    rest_ppm: u64,
    pfc: Pfc<DrainBytes>,
}

impl Crossbar {
    /// An empty switch with ports that are in the fabric already.
    #[must_use]
    pub fn new(parts: CrossbarParts, fabric: &Fabric) -> Self {
        let CrossbarParts { config, io, .. } = parts;
        let ports = io.egress.len();
        let rate = |port: usize| fabric.rate(io.first_port + port as u32);
        let fastest = (0..ports).map(rate).max().unwrap_or(1);
        let line_rate = (fastest as f64 * config.speedup) as u64;
        let all = PortMask::MAX >> (PortMask::BITS - ports as u32);
        let last_class = config.classes - 1;
        let classes = u8::MAX >> (7 - last_class);
        let bounded = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        Self {
            arbiter: parts.arbiter,
            first_id: parts.first_id,
            stage_tag: parts.stage_tag,
            last_class,
            mtu: u32::from(io.mtu),
            ingress_size: bounded(config.ingress_size.0),
            egress_size: bounded(config.egress_size.0),
            overflow: config.egress_overflow,
            forwarding_ps: config.forwarding_delay.0,
            line_rate,
            line_ps_per_byte: fabric.whole_ps_per_byte(line_rate),
            islip: ISlip::new(ports, config.iterations),
            free_inputs: all,
            free_outputs: all,
            queues: VirtualOutputQueues::new(ports, config.classes),
            crossing_to: vec![0; ports],
            held: vec![0; ports],
            rest_ppm: (1e6 / config.rate_limit) as u64 - 1_000_000,
            open: vec![classes; ports],
            matched: Vec::with_capacity(ports),
            pfc: Pfc::by_drain_bytes(io.pause.scope, config.classes, &io.thresholds),
            io: Cioq::new(io, fabric, classes),
        }
    }
}

impl IngressQueued for Crossbar {
    type Control = Pfc<DrainBytes>;

    fn control(&self) -> &Pfc<DrainBytes> {
        &self.pfc
    }

    #[inline(always)]
    fn io(&self) -> &Cioq {
        &self.io
    }

    #[inline(always)]
    fn io_mut(&mut self) -> &mut Cioq {
        &mut self.io
    }

    /// A packet enters the memory of its ingress, or is dropped.
    #[inline]
    fn take_in(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        ingress: u16,
        id: u32,
    ) -> Option<u32> {
        let now = fabric.now;
        let packet = &mut fabric.packets[id];
        let bytes = packet.wire_bytes;
        if self.pfc.held(ingress) + u32::from(bytes) > self.ingress_size {
            return self.io.lose(fabric, ingress, id);
        }
        let class = packet.class().min(self.last_class);
        // Its queue is known once it has passed the forwarding engine.
        packet.queue = CONTROL_QUEUE;
        self.io.buffer.take(now, bytes);
        if let Some(signal) = self.pfc.on_arrival(ingress, class, bytes) {
            self.signal(fabric, signal);
        }
        if self.forwarding_ps == 0 {
            self.forward(fabric, destinations, ingress, id);
        } else {
            self.post_stage(fabric, now + self.forwarding_ps, FORWARDED, ingress, id);
        }
        None
    }

    /// A packet has passed the forwarding engine, or crossed.
    #[inline]
    fn pass_stage(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        number: u16,
        id: u32,
    ) -> Option<u32> {
        if fabric.packets[id].queue == CONTROL_QUEUE {
            self.forward(fabric, destinations, number, id);
            None
        } else {
            self.on_crossed(fabric, number, id)
        }
    }

    fn each_before_egress(&self, pool: &Pool, visit: &mut dyn FnMut(u32)) {
        self.queues.packets(pool).for_each(visit);
    }

    fn recount_ports(&self, contents: &Contents<'_>) -> Checked {
        self.recount_memory(contents)
    }

    /// A port may send, or a matching is due.
    #[inline]
    fn pick_next(&mut self, fabric: &mut Fabric, number: u16) {
        if number as usize == self.io.egress.len() {
            self.arbitrate(fabric);
        } else {
            self.send_next(fabric, number);
        }
    }
}

#[cfg(test)]
mod tests;
