//! The output-queued switch: a packet goes to its egress queue the moment it has arrived.
//!
//! Instants: a packet is admitted and counted when it is enqueued; buffer, counters, ECN (unless
//! marked at enqueue), INT and hop control change when its transmission starts.

use hdrhistogram::Histogram;
use xoff_core::{Digest, Rng, SlotId};

use crate::balance;
use crate::buffer::Buffer;
use crate::fabric::Fabric;
use crate::hop::{AnyHop, Signal, obey};
use crate::mark::{Draws, MarkAt, RedEcn};
use crate::packet::{Kind, NONE, Packet, flag};
use crate::sched::Egress;
use crate::telemetry::IntHop;
use crate::topo::Route;

/// What a switch is put together from.
#[derive(Debug)]
pub struct Parts {
    /// The fabric's number of its first port; the others follow.
    pub first_port: u32,
    /// One a port.
    pub egress: Vec<Egress>,
    /// Its memory.
    pub buffer: Buffer,
    /// Its hop control.
    pub hop: AnyHop,
    /// ECN thresholds by port, and when they are looked at; empty: no marking.
    pub ecn: (Vec<RedEcn>, MarkAt),
    /// Whether it writes INT entries.
    pub telemetry: bool,
    /// Whether acknowledgements and notifications take the control queue.
    pub control_acks: bool,
    /// Routes by destination group, and the ports they refer to.
    pub routes: (Vec<Route>, Vec<u16>),
    /// Seed of the load balancer's hash.
    pub hash_seed: u32,
    /// Where random marks come from.
    pub marking: Draws,
    /// Stream for queue assignment.
    pub assignment: Rng,
    /// Bytes of a link-control frame.
    pub control_frame: u16,
    /// Share of link-control frames that are lost, and the stream that says which.
    pub control_loss: Option<(f64, Rng)>,
    /// Timer slot of port 0; the others follow.
    pub first_timer: SlotId,
}

/// What happened at a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchStats {
    /// Packets that found no room: data, and acknowledgements where they wait with the data.
    pub drops: u64,
    /// Data packets marked.
    pub marks: u64,
    /// Pause frames sent.
    pub pauses: u64,
    /// Link-control frames lost on purpose.
    pub control_lost: u64,
}

/// An output-queued switch.
#[derive(Debug)]
pub struct OutputQueued {
    parts: Parts,
    /// What happened so far.
    pub stats: SwitchStats,
    digest: Digest,
}

impl OutputQueued {
    /// A switch with nothing in it.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self { parts, stats: SwitchStats::default(), digest: Digest::default() }
    }

    /// A packet has arrived at port `ingress`. Returns it if it had to be dropped.
    #[inline]
    pub fn on_packet(
        &mut self,
        fabric: &mut Fabric,
        group_of: &[u32],
        access_port: &[u16],
        ingress: u16,
        id: u32,
    ) -> Option<u32> {
        let packet = &mut fabric.packets[id];
        if packet.kind == Kind::LinkControl {
            self.on_link_control(fabric, ingress, id);
            return None;
        }
        packet.ingress = ingress;
        let egress = self.route(packet, group_of[packet.dst as usize], access_port);
        if packet.kind != Kind::Data && self.parts.control_acks {
            self.parts.egress[egress as usize].push_control(&mut fabric.packets, id);
            fabric.kick(self.parts.first_port + u32::from(egress));
            return None;
        }
        self.enqueue(fabric, egress, id)
    }

    #[inline]
    fn route(&self, packet: &Packet, group: u32, access_port: &[u16]) -> u16 {
        let (routes, choices) = &self.parts.routes;
        let route = routes[group as usize];
        if route.count == 0 {
            return access_port[packet.dst as usize];
        }
        let choice = balance::ecmp(packet, self.parts.hash_seed, route.count);
        choices[(route.first + choice) as usize]
    }

    #[inline]
    fn enqueue(&mut self, fabric: &mut Fabric, egress: u16, id: u32) -> Option<u32> {
        let parts = &mut self.parts;
        let port = &mut parts.egress[egress as usize];
        let packet = &mut fabric.packets[id];
        packet.queue = parts.hop.queue_of(fabric.now, egress, packet, port, &mut parts.assignment);
        let room = parts.buffer.admits(port.queue_bytes(packet.queue), packet.wire_bytes);
        if !room || !parts.hop.admits(packet) {
            self.stats.drops += 1;
            self.digest.add(fabric.now ^ u64::from(packet.flow));
            return Some(id);
        }
        parts.buffer.take(packet.wire_bytes);
        if parts.ecn.1 == MarkAt::Enqueue {
            let bytes = port.queue_bytes(packet.queue) + u32::from(packet.wire_bytes);
            mark(&parts.ecn.0, egress, bytes, packet, &mut parts.marking, &mut self.stats);
        }
        port.push(&mut fabric.packets, id);
        let signal = parts.hop.on_enqueue(fabric.now, egress, &mut fabric.packets[id], port);
        fabric.kick(parts.first_port + u32::from(egress));
        if let Some(signal) = signal {
            self.stats.pauses += 1;
            self.signal(fabric, signal);
        }
        None
    }

    /// Port `number` may send: it picks its next packet.
    #[inline]
    pub fn pick(&mut self, fabric: &mut Fabric, number: u16) {
        let parts = &mut self.parts;
        let port = &mut parts.egress[number as usize];
        let own = parts.first_port + u32::from(number);
        let Some(id) = port.pop(&mut fabric.packets) else { return };
        let now = fabric.now;
        let packet = &mut fabric.packets[id];
        let mut signal = None;
        if packet.queue != crate::packet::CONTROL_QUEUE {
            parts.buffer.release(packet.wire_bytes);
            if parts.ecn.1 == MarkAt::Dequeue {
                let bytes = port.queue_bytes(packet.queue);
                mark(&parts.ecn.0, number, bytes, packet, &mut parts.marking, &mut self.stats);
            }
            signal = parts.hop.on_dequeue(now, number, packet);
            if let Some(delays) = &mut port.delays {
                delays.record(now - packet.time).expect("the histogram grows as needed");
            }
        }
        packet.upstream = packet.queue;
        self.digest.add(now ^ packet.seq.rotate_left(20) ^ u64::from(packet.flow) << 32);
        if parts.telemetry && packet.int != NONE && packet.kind == Kind::Data {
            let hop = IntHop {
                time_ps: now,
                tx_bytes: fabric.tx_bytes(own),
                queue_bytes: port.total_bytes(),
                rate_mbps: (fabric.rate(own) / 1_000_000) as u32,
            };
            let int = fabric.packets[id].int;
            fabric.ints.get_mut(int).push(hop);
        }
        fabric.transmit(own, id);
        if port.is_ready() {
            fabric.kick(own);
        }
        if let Some(signal) = signal {
            self.signal(fabric, signal);
        }
    }

    /// The hop control's timer of port `number` fires.
    pub fn on_timer(&mut self, fabric: &mut Fabric, number: u16) {
        let (signal, again) = self.parts.hop.on_timer(number);
        if let Some(signal) = signal {
            self.send(fabric, signal);
        }
        if again && let Some(next) = self.parts.hop.next_timer(fabric.now) {
            fabric.wheel.arm(self.parts.first_timer + u32::from(number), next);
        }
    }

    fn on_link_control(&mut self, fabric: &mut Fabric, number: u16, id: u32) {
        let port = &mut self.parts.egress[number as usize];
        let paused = obey(&fabric.packets[id], port.paused());
        port.set_paused(fabric.now, paused);
        fabric.packets.remove(id);
        if port.is_ready() {
            fabric.kick(self.parts.first_port + u32::from(number));
        }
    }

    /// Sends a signal of the hop control and starts the ingress's timer.
    fn signal(&mut self, fabric: &mut Fabric, signal: Signal) {
        let timer = self.parts.first_timer + u32::from(signal.port);
        self.send(fabric, signal);
        if fabric.wheel.armed(timer).is_none()
            && let Some(next) = self.parts.hop.next_timer(fabric.now)
        {
            fabric.wheel.arm(timer, next);
        }
    }

    fn send(&mut self, fabric: &mut Fabric, signal: Signal) {
        if let Some((share, rng)) = &mut self.parts.control_loss
            && rng.unit() < *share
        {
            self.stats.control_lost += 1;
            return;
        }
        // Where all share one sequence, each frame's identification is drawn from it.
        self.parts.marking.skip_shared();
        let id = fabric.packets.insert(signal.frame(self.parts.control_frame));
        self.parts.egress[signal.port as usize].push_control(&mut fabric.packets, id);
        fabric.kick(self.parts.first_port + u32::from(signal.port));
    }

    /// Starts recording the queueing delay of every data packet at a port: from its enqueue to the
    /// start of its transmission (ps).
    pub fn watch_delays(&mut self, number: u16) {
        let mut delays = Histogram::new(3).expect("three significant digits are allowed");
        delays.auto(true);
        self.parts.egress[number as usize].delays = Some(Box::new(delays));
    }

    /// Ends that and returns what was recorded.
    pub fn take_delays(&mut self, number: u16) -> Option<Histogram<u64>> {
        self.parts.egress[number as usize].delays.take().map(|delays| *delays)
    }

    /// Its egress ports.
    #[must_use]
    pub fn egress(&self) -> &[Egress] {
        &self.parts.egress
    }

    /// Its buffer.
    #[must_use]
    pub fn buffer(&self) -> &Buffer {
        &self.parts.buffer
    }

    /// Its hop control.
    #[must_use]
    pub fn hop(&self) -> &AnyHop {
        &self.parts.hop
    }

    /// Flows with packets at an egress port: told apart by the hop control where it can, by the
    /// scheduler otherwise.
    #[must_use]
    pub fn active_flows(&self, number: u16) -> u32 {
        self.parts
            .hop
            .active_flows(number)
            .unwrap_or_else(|| self.parts.egress[number as usize].active())
    }

    /// The hash of all it has sent and dropped.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest.value()
    }
}

#[inline]
fn mark(
    ecn: &[RedEcn],
    egress: u16,
    queue_bytes: u32,
    packet: &mut Packet,
    draws: &mut Draws,
    stats: &mut SwitchStats,
) {
    if let Some(red) = ecn.get(egress as usize)
        && red.marks(queue_bytes, draws)
        && packet.kind == Kind::Data
    {
        packet.flags |= flag::MARKED;
        stats.marks += 1;
    }
}
