//! Switches with ingress and egress queues (combined input and output queueing): the common part of
//! a crossbar and a pipelined switch.
//!
//! They differ in the path of a packet from ingress to egress ([`IngressQueued`]). Ports, routes,
//! marking, pause frames and counts are the same ([`Cioq`]).

use xoff_core::invariant::{Checker, Part, equal};
use xoff_core::{Digest, Rng, TimerId};

use super::{Destination, Forwarding, Switch, SwitchStats};
use crate::balance::Adaptive;
use crate::buffer::{Buffer, BufferConfig, BufferKind};
use crate::fabric::Fabric;
use crate::hop::pfc::frames::{Frames, FramesSpec, Way};
use crate::hop::pfc::{PauseConfig, Thresholds};
use crate::hop::{FrameSender, IngressControl, Signal};
use crate::mark::{Draws, MarkAt, RedEcn};
use crate::packet::{CLASSES, Kind, NONE, Packet, Pool, flag};
use crate::recount::{Checked, Contents, of_part};
use crate::sched::{Egress, QueueMask};
use crate::topo::Route;

/// The common parts of both kinds of switches.
#[derive(Debug)]
pub struct CioqParts {
    /// Settings of the flow control of ingress queues.
    pub pause: PauseConfig,
    /// Pause and resume thresholds of each port's ingress.
    pub thresholds: Vec<Thresholds>,
    /// Fabric number of its first port. The other ports follow.
    pub first_port: u32,
    /// Bytes of the longest packet.
    pub mtu: u16,
    /// One per port.
    pub egress: Vec<Egress>,
    /// Routes of packets.
    pub forwarding: Forwarding,
    /// Adaptive load balancing; none: by the hash of flows.
    pub adaptive: Option<Adaptive>,
    /// ECN thresholds by port, and when they are checked; empty: no marking.
    pub ecn: (Vec<RedEcn>, MarkAt),
    /// Source of random marks.
    pub marking: Draws,
    /// Bytes of a link-control frame.
    pub control_frame: u16,
    /// Share of link-control frames that are lost, and its random stream.
    pub control_loss: Option<(f64, Rng)>,
    /// Timer of port 0. The timers of the other ports follow, then the timer of the switch.
    pub first_timer: TimerId,
}

/// Ports, routes and counts of a switch with ingress and egress queues.
#[derive(Debug)]
pub(super) struct Cioq {
    pub(super) first_port: u32,
    pub(super) egress: Vec<Egress>,
    pub(super) frames: Frames,
    forwarding: Forwarding,
    pub(super) adaptive: Option<Adaptive>,
    ecn: Vec<RedEcn>,
    pub(super) mark_at: MarkAt,
    marking: Draws,
    /// Bytes in all its queues.
    pub(super) buffer: Buffer,
    pub(super) stats: SwitchStats,
    digest: Digest,
}

impl Cioq {
    /// An empty switch with ports that are in the fabric already. `classes` are the classes that
    /// its egress ports distinguish, one bit each.
    pub(super) fn new(parts: CioqParts, fabric: &Fabric, classes: u8) -> Self {
        let rates = (0..parts.egress.len()).map(|port| fabric.rate(parts.first_port + port as u32));
        let frames = FramesSpec {
            pause: &parts.pause,
            link: FrameSender {
                first_port: parts.first_port,
                frame_bytes: parts.control_frame,
                loss: parts.control_loss,
            },
            first_timer: parts.first_timer,
            classes,
            mtu: parts.mtu,
        };
        let unlimited = BufferConfig { kind: BufferKind::Unlimited, ..BufferConfig::default() };
        Self {
            first_port: parts.first_port,
            frames: Frames::new(frames, rates),
            egress: parts.egress,
            forwarding: parts.forwarding,
            adaptive: parts.adaptive,
            ecn: parts.ecn.0,
            mark_at: parts.ecn.1,
            marking: parts.marking,
            buffer: Buffer::new(&unlimited),
            stats: SwitchStats::default(),
            digest: Digest::default(),
        }
    }

    /// Borrows the parts that frames need.
    #[inline(always)]
    pub(super) fn frames<'a>(&'a mut self, fabric: &'a mut Fabric) -> (&'a mut Frames, Way<'a>) {
        let Self { frames, egress, stats, .. } = self;
        (frames, Way { fabric, egress, stats })
    }

    /// The egress port of a packet of a class.
    #[inline]
    pub(super) fn route(
        &mut self,
        packet: &Packet,
        class: u8,
        destinations: &[Destination],
    ) -> u16 {
        match &mut self.adaptive {
            None => self.forwarding.ecmp(packet, destinations),
            Some(adaptive) => {
                adaptive.choose(class, self.forwarding.acceptable(packet, destinations))
            }
        }
    }

    /// Compares the bytes at each egress, and on the way to it, with the load balancer's counts.
    ///
    /// # Errors
    /// A count that differs.
    pub(super) fn recount_loads(&self, bytes: &[u32]) -> Checked {
        let Some(adaptive) = &self.adaptive else { return Ok(()) };
        for (port, &bytes) in (0..).zip(bytes) {
            let counted = adaptive.drain_bytes(port, CLASSES as u8 - 1);
            let place = || format!("bytes that the load balancer counts at egress {port}");
            let compared = equal(Checker::Buffers, bytes, counted, place);
            compared.map_err(of_part(Part::port(port)))?;
        }
        Ok(())
    }

    /// Marks a data packet if its egress queue of `queue_bytes` requires it.
    #[inline(always)]
    pub(super) fn mark(&mut self, egress: u16, queue_bytes: u32, packet: &mut Packet) {
        if let Some(red) = self.ecn.get(egress as usize)
            && red.marks(packet, queue_bytes, &mut self.marking)
            && packet.kind == Kind::Data
        {
            packet.flags |= flag::MARKED;
            self.stats.marks += 1;
        }
    }

    /// A data packet leaves its egress queue, which holds `queued` bytes without it.
    #[inline(always)]
    pub(super) fn leave(&mut self, now: u64, egress: u16, packet: &mut Packet, queued: u32) {
        self.buffer.release(now, packet.wire_bytes);
        if let Some(delays) = &mut self.egress[egress as usize].common.delays {
            delays.record(packet.queue, now - packet.time);
        }
        if self.mark_at == MarkAt::Dequeue {
            self.mark(egress, queued, packet);
        }
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.leave(egress, packet.queue, packet.wire_bytes);
        }
    }

    /// A packet's transmission starts.
    #[inline(always)]
    pub(super) fn depart(&mut self, now: u64, packet: &mut Packet) {
        packet.depart(now, &mut self.digest);
    }

    /// A packet finds no room and is lost. The drop is counted at a port.
    #[cold]
    pub(super) fn lose(&mut self, fabric: &mut Fabric, port: u16, id: u32) -> Option<u32> {
        self.stats.drops += 1;
        let packet = &mut fabric.packets[id];
        packet.next = NONE;
        self.egress[port as usize].count_drop(packet.wire_bytes);
        self.digest.add(!fabric.now ^ packet.seq);
        Some(id)
    }
}

/// The path of packets from ingress to egress.
pub(super) trait IngressQueued {
    /// The control that pauses the neighbours of ingresses.
    type Control: IngressControl;

    /// The common part of the switch.
    fn io(&self) -> &Cioq;
    /// The same, mutable.
    fn io_mut(&mut self) -> &mut Cioq;

    /// The control that pauses the neighbours of ingresses.
    fn control(&self) -> &Self::Control;

    /// Sends a request of the control to a neighbour.
    #[cold]
    fn signal(&mut self, fabric: &mut Fabric, signal: Signal) {
        let held = self.control().paused_queues(signal.port);
        let (frames, mut way) = self.io_mut().frames(fabric);
        frames.ask(&mut way, signal, held);
    }

    /// A packet other than a pause frame has arrived. It joins its ingress, or is dropped and
    /// returned.
    fn take_in(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        ingress: u16,
        id: u32,
    ) -> Option<u32>;

    /// A packet has passed a stage inside. Returns a packet that is dropped.
    fn pass_stage(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        number: u16,
        id: u32,
    ) -> Option<u32>;

    /// Calls `visit` with each packet that waits for its egress queue.
    fn each_before_egress(&self, pool: &Pool, visit: &mut dyn FnMut(u32));

    /// Counts its memory again by port and class, and checks the pauses of its neighbours.
    ///
    /// # Errors
    /// A count that differs, or a pause without a reason.
    fn recount_ports(&self, contents: &Contents<'_>) -> Checked;

    /// A port may send, or the switch acts at the end of an instant (a crossbar: makes a matching).
    fn pick_next(&mut self, fabric: &mut Fabric, number: u16);
}

impl<T: IngressQueued> Switch for T {
    #[inline(never)]
    fn on_packet(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        ingress: u16,
        id: u32,
    ) -> Option<u32> {
        let packet = &mut fabric.packets[id];
        packet.ingress = ingress;
        if packet.kind == Kind::LinkControl {
            self.io_mut().frames.on_frame(fabric, ingress, id);
            return None;
        }
        self.take_in(fabric, destinations, ingress, id)
    }

    #[inline(never)]
    fn pick(&mut self, fabric: &mut Fabric, number: u16) -> Option<u32> {
        self.pick_next(fabric, number);
        None
    }

    /// Pauses of a port end or need renewal.
    fn on_port_timer(&mut self, fabric: &mut Fabric, number: u16) -> Option<u32> {
        let held = self.control().paused_queues(number);
        let (frames, mut way) = self.io_mut().frames(fabric);
        frames.on_port_timer(&mut way, number, held);
        None
    }

    /// Sends or obeys the pause frames with a delay that ends now.
    fn on_delay_timer(&mut self, fabric: &mut Fabric, _destinations: &[Destination]) {
        let (frames, mut way) = self.io_mut().frames(fabric);
        frames.on_frame_timer(&mut way);
    }

    #[inline(never)]
    fn on_stage(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        number: u16,
        id: u32,
    ) -> Option<u32> {
        self.pass_stage(fabric, destinations, number, id)
    }

    #[inline(never)]
    fn prefetch(&self, packet: &Packet, destinations: &[Destination], _ingress: u16) {
        self.io().forwarding.prefetch(packet, destinations);
    }

    fn set_routes(&mut self, routes: &[Route], choices: &[u16]) {
        self.io_mut().forwarding.set_routes(routes, choices);
    }

    fn egress(&self) -> &[Egress] {
        &self.io().egress
    }

    fn egress_mut(&mut self) -> &mut [Egress] {
        &mut self.io_mut().egress
    }

    fn each_inside(&self, pool: &Pool, visit: &mut dyn FnMut(u32)) {
        self.each_before_egress(pool, visit);
    }

    fn recount_control(&self, contents: &Contents<'_>) -> Checked {
        self.recount_ports(contents)
    }

    fn used_bytes(&self) -> u64 {
        self.io().buffer.used()
    }

    fn take_watermark(&mut self) -> u64 {
        self.io_mut().buffer.take_watermark()
    }

    fn holds_paused(&self, ingress: u16) -> QueueMask {
        QueueMask::from(self.control().paused_queues(ingress))
    }

    fn active_flows(&self, number: u16) -> u32 {
        self.io().egress[number as usize].active()
    }

    fn stats(&self) -> &SwitchStats {
        &self.io().stats
    }

    fn digest(&self) -> u64 {
        self.io().digest.value()
    }
}
