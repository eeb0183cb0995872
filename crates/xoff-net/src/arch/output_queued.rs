//! The output-queued switch: a packet joins its egress queue the moment it has arrived.
//!
//! Instants: a packet is admitted and counted when it is enqueued. Buffer, counters, ECN (unless
//! marked at enqueue), INT and hop control change when its transmission starts.
//!
//! The packet path in and out ([`Memory::join`], [`Memory::leave`]) is compiled for each pair of
//! hop control and scheduler (`each_pair`). A packet looks the pair up once.

mod aside;
#[cfg(test)]
mod class_tests;
mod credits;
mod departure;
mod in_band;
#[cfg(test)]
mod in_band_tests;
mod overflow;
mod pairs;
#[cfg(test)]
mod rig;
mod settings;
mod signals;
mod waiting;
mod watchdog;

use xoff_core::{Digest, Rng, TimerId};

use self::aside::Aside;
use self::pairs::match_pair;
use super::forwarding::Forwarding;
use super::mirror::Mirror;
use super::{Switch, SwitchStats};
use crate::balance::{AnyBalancer, Balancer, each_balancer};
use crate::buffer::Buffer;
use crate::credit::CreditQueue;
use crate::destination::Destination;
use crate::fabric::Fabric;
use crate::hop::{AnyHop, CopyUse, FrameSender, HopControl, Signal, each_hop};
use crate::mark::{Draws, MarkAt, RedEcn};
use crate::packet::{CONTROL_QUEUE, Kind, NONE, Packet, Pool, SIGNALS};
use crate::recount::{Checked, Contents};
use crate::sched::{AnyScheduler, Egress, QueueMask, Scheduler, each_scheduler};
use crate::topo::Route;
use crate::trim::Trim;

pub use in_band::InBand;
pub use settings::OutputQueuedConfig;

/// The parts of a switch.
#[derive(Debug)]
pub struct Parts {
    /// Fabric number of its first port. The other ports follow.
    pub first_port: u32,
    /// One per port.
    pub egress: Vec<Egress>,
    /// Its memory.
    pub buffer: Buffer,
    /// Its hop control.
    pub hop: AnyHop,
    /// ECN thresholds by port, and when they are checked; empty: no marking.
    pub ecn: (Vec<RedEcn>, MarkAt),
    /// Trimming of data packets that find their queue full, if any.
    pub trim: Option<Box<Trim>>,
    /// Packets stay in their queues until they have been sent. The ports of the fabric then keep
    /// them.
    pub keeps: bool,
    /// The credit queue of each port, if receivers send credits; otherwise empty.
    pub credits: Vec<CreditQueue>,
    /// The data that it writes into packets.
    pub in_band: InBand,
    /// Whether acknowledgements and notifications take the control queue.
    pub control_acks: bool,
    /// Routes of packets.
    pub forwarding: Forwarding,
    /// Its load balancer, if the hash of a flow does not choose the path.
    pub balancer: Option<AnyBalancer>,
    /// Source of random marks.
    pub marking: Draws,
    /// Stream for queue assignment.
    pub assignment: Rng,
    /// Bytes of a link-control frame.
    pub control_frame: u16,
    /// Share of link-control frames that are lost, and its random stream.
    pub control_loss: Option<(f64, Rng)>,
    /// Timer of port 0. The timers of the other ports follow, then the timer of header copies.
    pub first_timer: TimerId,
}

/// When packets are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Enqueue,
    Dequeue,
    /// At the end of its transmission, by the queue with the packet itself.
    Sent,
}

/// A packet found no room.
struct Full;

/// A packet that starts to leave a port.
struct Leaving {
    packet: u32,
    /// Whether another packet may leave after it.
    more: bool,
}

/// State that all packets share: the memory in which they wait, and their records.
#[derive(Debug)]
struct Memory {
    first_port: u32,
    buffer: Buffer,
    ecn: Vec<RedEcn>,
    mark_at: When,
    marking: Draws,
    assignment: Rng,
    in_band: InBand,
    balancer: Option<Box<AnyBalancer>>,
    /// Whether it writes anything into packets: one test where that is rare.
    writes: bool,
    stats: SwitchStats,
    digest: Digest,
    /// Copies of headers on the way to the packets' senders.
    mirror: Mirror,
    /// The first of the packets that a port dropped instead of sending. Each links to the next.
    shed: u32,
    /// A signal to the neighbour of the packet that has just joined or left. Few packets cause one,
    /// so it is not returned with each.
    signal: Option<Signal>,
}

/// An output-queued switch.
#[derive(Debug)]
pub struct OutputQueued {
    memory: Memory,
    hop: AnyHop,
    egress: Vec<Egress>,
    /// What few switches do at each pick.
    aside: Option<Box<Aside>>,
    credits: Vec<CreditQueue>,
    forwarding: Forwarding,
    control_acks: bool,
    link: FrameSender,
    first_timer: TimerId,
    /// Whether the hop control or XCP has to see packets before they join their queues.
    watches_arrivals: bool,
    /// Kinds of packets that do not simply take the port of their hash.
    apart: u16,
}

/// Packets that are marked: data, and what opens its connection.
const MARKABLE: u16 = Kind::Data.bit() | Kind::Request.bit();

impl OutputQueued {
    /// An empty switch.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let delay_timer = parts.first_timer + parts.egress.len() as u32;
        let watches_arrivals = matches!(parts.in_band, InBand::Xcp(_))
            || each_hop!(&parts.hop, hop => hop.mirrors_arrivals());
        let mark_at = match parts.ecn.1 {
            MarkAt::Dequeue if parts.keeps => When::Sent,
            MarkAt::Dequeue => When::Dequeue,
            MarkAt::Enqueue => When::Enqueue,
        };
        let follows = parts.balancer.as_ref().is_some_and(
            |balancer| each_balancer!(balancer, balancer => balancer.follows_departures()),
        );
        debug_assert!(!follows || !matches!(parts.in_band, InBand::Int), "INT needs one path");
        let all = watches_arrivals
            || parts.keeps
            || parts.balancer.is_some()
            || !parts.forwarding.is_plain();
        Self {
            memory: Memory {
                first_port: parts.first_port,
                buffer: parts.buffer,
                ecn: parts.ecn.0,
                mark_at,
                marking: parts.marking,
                assignment: parts.assignment,
                writes: !matches!(parts.in_band, InBand::None) || follows,
                in_band: parts.in_band,
                balancer: parts.balancer.map(Box::new),
                stats: SwitchStats::default(),
                digest: Digest::default(),
                mirror: Mirror::new(delay_timer),
                shed: NONE,
                signal: None,
            },
            watches_arrivals,
            apart: if all { u16::MAX } else { SIGNALS },
            hop: parts.hop,
            egress: parts.egress,
            aside: Aside::new(parts.trim, parts.keeps),
            credits: parts.credits,
            forwarding: parts.forwarding,
            control_acks: parts.control_acks,
            link: FrameSender {
                first_port: parts.first_port,
                frame_bytes: parts.control_frame,
                loss: parts.control_loss,
            },
            first_timer: parts.first_timer,
        }
    }

    /// A packet has arrived that does not simply take the port of its hash. Out of line, so that
    /// other packets do not pay for the steps before it joins a queue.
    #[inline(never)]
    fn on_apart(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        ingress: u16,
        id: u32,
    ) -> Option<u32> {
        let packet = &mut fabric.packets[id];
        if SIGNALS & packet.kind.bit() != 0 {
            packet.ingress = ingress;
            return self.on_signal(fabric, destinations, ingress, id);
        }
        let egress = match &mut self.memory.balancer {
            Some(balancer) => {
                self.forwarding.balance(fabric, destinations, (ingress, id), balancer)
            }
            None => self.forwarding.path(packet, destinations),
        };
        let packet = &mut fabric.packets[id];
        packet.ingress = ingress;
        if packet.kind != Kind::Data && self.control_acks {
            return self.enqueue_control(fabric, egress, id);
        }
        if self.finds_service_full(fabric, egress, id) {
            let packet = &mut fabric.packets[id];
            packet.queue = packet.class();
            return self.on_full(fabric, egress, id);
        }
        if self.watches_arrivals {
            return self.watch_and_enqueue(fabric, ingress, egress, id);
        }
        self.enqueue(fabric, ingress, egress, id)
    }

    /// A packet joins a queue of port `egress`. Its arrival is counted, or may be signalled to its
    /// sender.
    fn watch_and_enqueue(
        &mut self,
        fabric: &mut Fabric,
        ingress: u16,
        egress: u16,
        id: u32,
    ) -> Option<u32> {
        if let InBand::Xcp(router) = &mut self.memory.in_band {
            let waiting = self.egress[egress as usize].common.total_bytes();
            router.on_arrival(fabric, egress, id, waiting);
        }
        let (now, packet) = (fabric.now, &fabric.packets[id]);
        if packet.kind == Kind::Data {
            each_hop!(&mut self.hop, hop => {
                if let Some(copy) = hop.mirror_arrival(now, egress, packet) {
                    let due = now + hop.mirror_delay(now);
                    self.memory.mirror.push(&mut fabric.wheel, copy, due);
                }
            });
        }
        self.enqueue(fabric, ingress, egress, id)
    }

    /// A frame from another switch, for this one or for a sender, or a credit has arrived. Returns
    /// a credit that is dropped.
    fn on_signal(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        ingress: u16,
        id: u32,
    ) -> Option<u32> {
        let packet = &fabric.packets[id];
        if packet.kind == Kind::LinkControl {
            self.on_link_control(fabric, ingress, id);
            return None;
        }
        let egress = self.forwarding.path(packet, destinations);
        if packet.kind == Kind::Credit {
            return self.on_credit(fabric, egress, id);
        }
        let signal = each_hop!(&mut self.hop, hop => {
            hop.remember(fabric.now, packet);
            hop.convert(egress, packet)
        });
        if let Some(signal) = signal {
            fabric.packets.remove(id);
            self.send(fabric, signal);
        } else {
            self.send_back(fabric, egress, id);
        }
        None
    }

    /// A frame to a sender joins the control queue of port `egress`: "BTS is routed through a
    /// high-priority queue" (SFC §3.1). It never leaves at once, because other frames may follow at
    /// this instant.
    fn send_back(&mut self, fabric: &mut Fabric, egress: u16, id: u32) {
        self.egress[egress as usize].push_control(&mut fabric.packets, id);
        fabric.kick(self.memory.first_port + u32::from(egress));
    }

    /// A packet joins the control queue of port `egress`. Returns it if it is dropped.
    #[inline]
    fn enqueue_control(&mut self, fabric: &mut Fabric, egress: u16, id: u32) -> Option<u32> {
        let own = self.memory.first_port + u32::from(egress);
        let port = &self.egress[egress as usize];
        if port.common.control.is_empty() && fabric.is_free(own) {
            fabric.packets[id].queue = CONTROL_QUEUE;
            let more = port.is_ready();
            self.memory.depart(fabric, own, id, &port.common, more);
            return None;
        }
        if let Some(trim) = self.trim()
            && !trim.admits(port.common.control.bytes(), fabric.packets[id].wire_bytes)
        {
            return self.on_full_control(fabric, egress, id);
        }
        self.egress[egress as usize].push_control(&mut fabric.packets, id);
        fabric.kick(own);
        None
    }

    /// A packet joins a queue of port `egress`. If it would be picked at the end of this instant
    /// and nothing else happens, it is sent at once.
    #[inline(always)]
    fn enqueue(&mut self, fabric: &mut Fabric, ingress: u16, egress: u16, id: u32) -> Option<u32> {
        let Self { memory, hop, egress: ports, .. } = self;
        let Egress { common, scheduler, .. } = &mut ports[egress as usize];
        let own = memory.first_port + u32::from(egress);
        let passage = fabric.at(own, id);
        let free = common.control.is_empty() && passage.is_free();
        let (now, packet) = (passage.now, &mut *passage.packet);
        packet.ingress = ingress;
        let passes = match_pair!(hop, scheduler, (hop, queues) =>
            memory.passes((now, egress), packet, hop, queues, free));
        if !passes {
            return self.join(fabric, egress, id);
        }
        if memory.mark_at == When::Enqueue {
            memory.mark(egress, u32::from(packet.wire_bytes), packet);
        }
        if let Some(delays) = &mut common.delays {
            delays.record(packet.queue, 0);
        }
        if !memory.begin(passage, id, common) {
            memory.depart_aside(fabric, own, id, common, false);
        }
        None
    }

    /// A packet has to wait in its queue, if there is room for it.
    #[inline(never)]
    fn join(&mut self, fabric: &mut Fabric, egress: u16, id: u32) -> Option<u32> {
        let Self { memory, hop, egress: ports, .. } = self;
        let Egress { common, scheduler, .. } = &mut ports[egress as usize];
        let joined = match_pair!(hop, scheduler, (hop, queues) =>
            memory.join(fabric, egress, id, hop, queues, common));
        if joined.is_err() {
            return self.on_full(fabric, egress, id);
        }
        fabric.kick(self.memory.first_port + u32::from(egress));
        if let Some(signal) = self.memory.signal.take() {
            self.memory.stats.pauses += 1;
            self.signal(fabric, signal);
        }
        None
    }

    /// Its hop control.
    #[must_use]
    pub fn hop(&self) -> &AnyHop {
        &self.hop
    }

    /// Whether nothing drops its packets: neither memory, nor hop control, nor schedulers.
    pub(super) fn is_endless(&self) -> bool {
        let sheds = |port: &Egress| matches!(port.scheduler, AnyScheduler::SfqCodel(_));
        !self.egress.iter().any(sheds)
            && self.memory.buffer.is_endless()
            && matches!(self.hop, AnyHop::None(_) | AnyHop::Bfc(_))
    }

    /// The data that it writes into packets.
    #[must_use]
    pub fn in_band(&self) -> &InBand {
        &self.memory.in_band
    }
}

impl Switch for OutputQueued {
    #[inline(always)]
    fn on_packet(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        ingress: u16,
        id: u32,
    ) -> Option<u32> {
        // The packet is written to in `enqueue` only, so that it is looked up once.
        let packet = &fabric.packets[id];
        if self.apart & packet.kind.bit() != 0 {
            return self.on_apart(fabric, destinations, ingress, id);
        }
        let egress = self.forwarding.ecmp(packet, destinations);
        if packet.kind != Kind::Data && self.control_acks {
            fabric.packets[id].ingress = ingress;
            return self.enqueue_control(fabric, egress, id);
        }
        self.enqueue(fabric, ingress, egress, id)
    }

    #[inline(never)]
    fn pick(&mut self, fabric: &mut Fabric, number: u16) -> Option<u32> {
        let control_waits = self.aside.is_some() && self.before_pick(fabric, number);
        let Self { memory, hop, egress, .. } = self;
        let Egress { common, scheduler, .. } = &mut egress[number as usize];
        let own = memory.first_port + u32::from(number);
        if !control_waits && let Some(id) = common.control.pop(&fabric.packets) {
            let more = !common.control.is_empty()
                || each_scheduler!(scheduler, queues => queues.is_ready());
            memory.depart(fabric, own, id, common, more);
            return None;
        }
        let picked = match_pair!(hop, scheduler, (hop, queues) =>
            memory.leave(fabric, number, hop, queues, common));
        let Some(Leaving { packet, more }) = picked else {
            return self.take_shed(fabric, number);
        };
        memory.depart(fabric, own, packet, common, more || control_waits);
        if let Some(signal) = self.memory.signal.take() {
            self.signal(fabric, signal);
        }
        self.take_shed(fabric, number)
    }

    fn on_port_timer(&mut self, fabric: &mut Fabric, number: u16) -> Option<u32> {
        if !self.credits.is_empty() {
            self.release_credits(fabric, number);
            return None;
        }
        let now = fabric.now;
        let (signal, next) = each_hop!(&mut self.hop, hop => {
            let (signal, again) = hop.on_timer(number);
            (signal, hop.next_timer(now).filter(|_| again))
        });
        if let Some(signal) = signal {
            self.send(fabric, signal);
        }
        if let Some(next) = next {
            fabric.wheel.arm(self.first_timer + u32::from(number), next);
        }
        self.watch_pauses(fabric, number)
    }

    // Copies leave the egress builder and are routed like any packet: "we recirculate the BTS
    // packets to the ingress where the forwarding tables decide a correct output port" (SFC §4).
    fn on_delay_timer(&mut self, fabric: &mut Fabric, destinations: &[Destination]) {
        while let Some(mut copy) = self.memory.mirror.pop(fabric) {
            match each_hop!(&mut self.hop, hop => hop.use_copy(fabric.now, &mut copy)) {
                CopyUse::Nothing => continue,
                CopyUse::Signal(signal) => {
                    self.send(fabric, signal);
                    continue;
                }
                CopyUse::ToSender => {}
            }
            let egress = self.forwarding.path(&copy, destinations);
            let signal = each_hop!(&mut self.hop, hop => hop.convert(egress, &copy));
            if let Some(signal) = signal {
                self.send(fabric, signal);
            } else if !self.loses_control() {
                let id = fabric.packets.insert(copy);
                self.send_back(fabric, egress, id);
            }
        }
    }

    #[inline(always)]
    fn prefetch(&self, packet: &Packet, destinations: &[Destination], ingress: u16) {
        self.forwarding.prefetch(packet, destinations);
        each_hop!(&self.hop, hop => hop.prefetch(ingress));
    }

    fn set_routes(&mut self, routes: &[Route], choices: &[u16]) {
        self.forwarding.set_routes(routes, choices);
    }

    fn on_link_down(&mut self, fabric: &mut Fabric, number: u16) {
        self.lose_frames(fabric, number);
        self.end_pauses(fabric, number);
        self.link.wake(fabric, &self.egress, number);
        each_hop!(&mut self.hop, hop => hop.on_link_down(number));
    }

    fn on_rate(&mut self, number: u16, rate: u64) {
        self.memory.in_band.set_rate(number, rate);
        if let Some(balancer) = &mut self.memory.balancer {
            each_balancer!(&mut **balancer, balancer => balancer.on_rate(number, rate));
        }
        each_hop!(&mut self.hop, hop => hop.on_rate(number, rate));
    }

    fn on_peer_rate(&mut self, fabric: &mut Fabric, number: u16, rate: u64) {
        self.pace_credits(fabric, number, rate);
    }

    fn egress(&self) -> &[Egress] {
        &self.egress
    }

    fn egress_mut(&mut self) -> &mut [Egress] {
        &mut self.egress
    }

    fn each_inside(&self, pool: &Pool, visit: &mut dyn FnMut(u32)) {
        self.credits.iter().flat_map(|credits| credits.packets(pool)).for_each(visit);
    }

    fn recount_control(&self, contents: &Contents<'_>) -> Checked {
        let copies: Vec<_> = self.memory.mirror.copies().collect();
        self.hop.recount(&contents.egress, &copies)
    }

    fn used_bytes(&self) -> u64 {
        self.memory.buffer.used()
    }

    // A hop control that counts flows itself may count some whose packets have left.
    fn is_empty(&self) -> bool {
        self.used_bytes() == 0 && self.hop.active_flows(0).is_none()
    }

    fn take_watermark(&mut self) -> u64 {
        self.memory.buffer.take_watermark()
    }

    fn holds_paused(&self, ingress: u16) -> QueueMask {
        self.hop.holds_paused(ingress)
    }

    fn active_flows(&self, number: u16) -> u32 {
        self.hop.active_flows(number).unwrap_or_else(|| self.egress[number as usize].active())
    }

    fn stats(&self) -> &SwitchStats {
        &self.memory.stats
    }

    fn digest(&self) -> u64 {
        self.memory.digest.value()
    }
}
