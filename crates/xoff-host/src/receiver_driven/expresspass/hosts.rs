//! Hosts that run ExpressPass: receivers send credits, NICs shape them, senders use them.

use rustc_hash::FxHashMap;
use xoff_core::rng::Purpose;
use xoff_core::{BitRate, Rng, TimerId};
use xoff_net::credit::{CreditQueue, CreditShape};
use xoff_net::packet::flag;
use xoff_net::{Kind, Packet, Pool};

use super::receiver::{Half, Reply};
use super::sender::{CreditSender, Echo, Spent};
use super::{CreditCounts, ExpressPassConfig};
use crate::flow::Sender;
use crate::receiver_driven::{Address, Driven, DrivenHost, DrivenSetup, TransportContext};
use crate::recovery::RxProgress;
use crate::recovery::SenderHalf;

/// Timers with this number or above belong to receivers' halves, the others to NICs.
const HALVES: u32 = 1 << 27;

/// State of one host.
#[derive(Debug)]
struct Port {
    credits: CreditQueue,
    /// Time of a mean credit and its data packet on the link (ps).
    period: u64,
    /// Timer of the waiting credits.
    timer: TimerId,
    /// Random stream for gaps and sizes of credits.
    rng: Rng,
}

/// ExpressPass at all hosts of a partition.
#[derive(Debug)]
pub struct ExpressPassHosts {
    config: ExpressPassConfig,
    shape: CreditShape,
    setup: DrivenSetup,
    ports: Vec<Port>,
    /// By flow slot.
    senders: Vec<CreditSender>,
    halves: Vec<Half>,
    free: Vec<u32>,
    by_flow: FxHashMap<u32, u32>,
    counts: CreditCounts,
}

impl ExpressPassHosts {
    /// Creates it without hosts.
    #[must_use]
    pub fn new(config: &ExpressPassConfig, setup: &DrivenSetup) -> Self {
        Self {
            shape: config.shape(setup.payload + u64::from(setup.overhead)),
            config: config.clone(),
            setup: *setup,
            ports: Vec::new(),
            senders: Vec::new(),
            halves: Vec::new(),
            free: Vec::new(),
            by_flow: FxHashMap::default(),
            counts: CreditCounts::default(),
        }
    }

    /// Credit counters of the hosts.
    #[must_use]
    pub fn counts(&self) -> CreditCounts {
        let dropped = self.ports.iter().map(|port| port.credits.dropped).sum();
        CreditCounts { dropped, ..self.counts }
    }

    /// Number of credits that wait at NICs, and at senders for their packets' turns.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let at_ports = self.ports.iter().map(|port| u64::from(port.credits.waiting()));
        at_ports.chain(self.senders.iter().map(CreditSender::waiting)).sum()
    }

    /// Sends a sender's request for credits, or a credit stop if `wanted` is 0.
    fn request(&self, context: &mut TransportContext<'_>, id: u32, wanted: u64) {
        let flow = &context.flows[id as usize];
        let (start, nic) = (&flow.start, flow.nic);
        let mut packet = Packet::new(Kind::Request, self.setup.control_bytes);
        packet.stamp = start.bytes;
        packet.remaining = u32::try_from(wanted).unwrap_or(u32::MAX);
        packet.flow = start.id.0 as u32;
        packet.src = start.src.0;
        packet.dst = start.dst.0;
        packet.label = start.label;
        packet.sender = id;
        packet.flags = start.class << flag::CLASS_SHIFT;
        if self.senders[id as usize].has_reply() {
            packet.flags |= flag::PROGRESSED;
        }
        let packet = context.fabric.packets.insert(packet);
        context.send(nic, packet);
    }

    fn request_for_rest(&self, context: &mut TransportContext<'_>, id: u32) {
        let left = context.flows[id as usize].left_to_send();
        self.request(context, id, left.div_ceil(self.setup.payload));
    }

    /// Handles a sender's request or credit stop at a receiver.
    fn on_request(&mut self, context: &mut TransportContext<'_>, nic: u32, packet: &Packet) {
        let wanted = u64::from(packet.remaining);
        let id = match self.by_flow.get(&packet.flow) {
            Some(&id) => id,
            // A stop that the last packet overtook.
            None if wanted == 0 => return,
            // The sender has had credits from a half that is gone: the flow was complete.
            None if packet.has(flag::PROGRESSED) => {
                let answer = Address::of(packet).packet(Kind::Ack, self.setup.control_bytes);
                self.answer(context, nic, answer);
                return;
            }
            None => self.new_half(context, nic, packet, wanted),
        };
        let half = &mut self.halves[id as usize];
        half.sending = wanted > 0;
        let armed = context.fabric.wheel.armed(half.timer).is_some();
        if !half.sending {
            context.fabric.wheel.cancel(half.timer);
        } else if !armed {
            self.credit(context, id);
        }
    }

    /// Creates a half for the flow of this request.
    fn new_half(
        &mut self,
        context: &mut TransportContext<'_>,
        nic: u32,
        packet: &Packet,
        wanted: u64,
    ) -> u32 {
        let id = self.free.pop().unwrap_or(self.halves.len() as u32);
        // Packets contain only the low half of a flow's id. That is enough for an order.
        let rank = u64::from(packet.flow);
        let timer = match self.halves.get(id as usize) {
            Some(old) => {
                context.hand_over_receiver_timer(old.timer, rank);
                old.timer
            }
            None => context.add_receiver_timer(rank, HALVES | id),
        };
        let owner = (Address::of(packet), nic, timer);
        let half = Half::new(&self.config, owner, (packet.stamp, wanted), context.fabric.now);
        if let Some(place) = self.halves.get_mut(id as usize) {
            *place = half;
        } else {
            self.halves.push(half);
        }
        self.by_flow.insert(packet.flow, id);
        id
    }

    /// Sends the next credit of a flow and arms the timer of the one after.
    fn credit(&mut self, context: &mut TransportContext<'_>, id: u32) {
        let half = &mut self.halves[id as usize];
        let (nic, port) = (half.nic, &mut self.ports[half.nic as usize]);
        let now = context.fabric.now;
        let (number, gap) = half.credit(&self.config, now, port.period, &mut port.rng);
        context.fabric.wheel.arm(half.timer, now + gap);
        let spread = self.config.credit_size_spread.0;
        let bytes = self.shape.credit_bytes - spread + port.rng.below(2 * spread + 1);
        let mut packet = half.to.packet(Kind::Credit, bytes as u16);
        packet.remaining = number;
        packet.stamp = now;
        self.counts.sent += 1;
        let passes = idle_at(context, nic) <= now && port.credits.pass(now, packet.wire_bytes);
        let packet = context.fabric.packets.insert(packet);
        if passes {
            context.send(nic, packet);
        } else if !port.credits.push(&mut context.fabric.packets, packet) {
            context.fabric.packets.remove(packet);
        } else if port.credits.waiting() == 1 {
            self.release(context, nic);
        }
    }

    /// Sends the waiting credits of a NIC that are due, as a switch's port does, and arms the timer
    /// of the next one.
    fn release(&mut self, context: &mut TransportContext<'_>, nic: u32) {
        let port = &mut self.ports[nic as usize];
        let now = context.fabric.now;
        let mut idle_at = idle_at(context, nic);
        while let Some(ready) = port.credits.ready_at(&context.fabric.packets) {
            let due = ready.max(idle_at);
            if due > now {
                context.fabric.wheel.arm(port.timer, due);
                return;
            }
            let Some(id) = port.credits.pop(&context.fabric.packets, now) else { return };
            let bytes = u64::from(context.fabric.packets[id].wire_bytes);
            idle_at = now + context.fabric.duration(context.nics[nic as usize].port, bytes);
            context.send(nic, id);
        }
    }

    /// Handles a credit at a sender.
    fn on_credit(&mut self, context: &mut TransportContext<'_>, packet: &Packet) {
        let Some(id) = context.sender_of(packet) else {
            self.counts.wasted += 1;
            return;
        };
        let flow = &mut context.flows[id as usize];
        let echo = Echo { number: packet.remaining, sent_ps: packet.stamp };
        let rule = (self.setup.payload, self.config.early_stop);
        let spent = self.senders[id as usize].on_credit(flow, rule, context.fabric.now, echo);
        if spent == Spent::Wasted {
            // This is no progress: if the receiver has not got the stop, it may miss data too.
            self.counts.wasted += 1;
            return;
        }
        flow.progress_ps = context.fabric.now;
        // The NIC sends control packets ahead of data, even within one instant.
        if spent == Spent::Last {
            self.request(context, id, 0);
        }
        context.resume(id);
    }

    /// Handles a data packet at a receiver.
    fn on_data(&mut self, context: &mut TransportContext<'_>, nic: u32, packet: &Packet) {
        let (now, payload) =
            (context.fabric.now, u64::from(packet.wire_bytes - self.setup.overhead));
        context.nics[nic as usize].received_bytes += payload;
        let control_bytes = self.setup.control_bytes;
        let Some(&id) = self.by_flow.get(&packet.flow) else {
            // The packet was sent for a credit, so a half existed. It is gone, so the flow was
            // complete.
            let answer = Address::of(packet).packet(Kind::Ack, control_bytes);
            self.answer(context, nic, answer);
            return;
        };
        let half = &mut self.halves[id as usize];
        let echo = Echo { number: packet.remaining, sent_ps: packet.stamp };
        match half.on_data(now, packet.seq, payload, echo) {
            Reply::Nothing => {}
            Reply::Missing(seq) => {
                let mut answer = half.to.packet(Kind::Nack, control_bytes);
                answer.seq = seq;
                self.answer(context, nic, answer);
            }
            Reply::Whole => {
                let answer = half.to.packet(Kind::Ack, control_bytes);
                context.fabric.wheel.cancel(half.timer);
                self.by_flow.remove(&packet.flow);
                self.free.push(id);
                self.answer(context, nic, answer);
                context.arrived(nic, packet.flow);
            }
        }
    }

    fn answer(&self, context: &mut TransportContext<'_>, nic: u32, mut answer: Packet) {
        answer.stamp = context.fabric.now;
        let id = context.fabric.packets.insert(answer);
        context.send(nic, id);
    }

    /// Handles a receiver's positive or negative acknowledgement at a sender.
    fn on_answer(&mut self, context: &mut TransportContext<'_>, packet: &Packet) {
        let Some(id) = context.sender_of(packet) else { return };
        let flow = &mut context.flows[id as usize];
        let sender = &mut self.senders[id as usize];
        flow.progress_ps = context.fabric.now;
        if packet.kind == Kind::Ack {
            self.counts.wasted += sender.forget(flow);
            flow.snd_una = flow.start.bytes;
            context.finish(id, packet.stamp);
            return;
        }
        let stopped = sender.is_stopped();
        self.counts.wasted += sender.go_back(flow, packet.seq);
        if stopped {
            self.request_for_rest(context, id);
        }
    }
}

/// Time at which a NIC's port can start a packet that joins its control queue now (ps).
fn idle_at(context: &TransportContext<'_>, nic: u32) -> u64 {
    let nic = &context.nics[nic as usize];
    let before = context.fabric.duration(nic.port, u64::from(nic.acks.bytes()));
    context.fabric.busy_until(nic.port).max(context.fabric.now) + before
}

impl Driven for ExpressPassHosts {
    fn on_peer_rate(&mut self, context: &mut TransportContext<'_>, nic: u32, rate: u64) {
        let period = context.fabric.time_at(rate, self.shape.bytes_per_credit());
        self.ports[nic as usize].credits.set_period(context.fabric.now, period);
        self.release(context, nic);
    }

    fn add_host(&mut self, host: &DrivenHost) {
        let period = BitRate(host.line_rate).time_for(self.shape.bytes_per_credit()).0;
        self.ports.push(Port {
            credits: CreditQueue::new(&self.shape, period),
            period,
            timer: host.timer,
            rng: Rng::stream(self.setup.seed, Purpose::Credits, u64::from(host.host.0)),
        });
    }

    fn half(&self) -> SenderHalf {
        SenderHalf::GoBackN
    }

    fn on_start(&mut self, context: &mut TransportContext<'_>, id: u32) {
        if id as usize >= self.senders.len() {
            self.senders.resize_with(context.flows.len(), CreditSender::default);
        }
        self.senders[id as usize].start(&mut context.flows[id as usize], context.fabric.now);
        self.request_for_rest(context, id);
    }

    fn on_sent(&mut self, id: u32, _flow: &mut Sender, packet: &mut Packet, _payload: u64) {
        let echo = self.senders[id as usize].on_sent();
        packet.remaining = echo.number;
        packet.stamp = echo.sent_ps;
        self.counts.used += 1;
    }

    fn on_packet(&mut self, context: &mut TransportContext<'_>, nic: u32, id: u32) {
        let packet = context.fabric.packets[id];
        context.fabric.packets.remove(id);
        match packet.kind {
            Kind::Credit => self.on_credit(context, &packet),
            Kind::Data => self.on_data(context, nic, &packet),
            Kind::Request => self.on_request(context, nic, &packet),
            Kind::Ack | Kind::Nack => self.on_answer(context, &packet),
            kind => unreachable!("{kind:?} is not a packet of ExpressPass"),
        }
    }

    fn on_timer(&mut self, context: &mut TransportContext<'_>, number: u32) {
        if number & HALVES != 0 {
            self.credit(context, number & !HALVES);
        } else {
            self.release(context, number);
        }
    }

    /// Timeout: a request or a stop was lost or, if all data was sent, some of the data.
    fn on_timeout(&mut self, context: &mut TransportContext<'_>, id: u32) {
        let (flow, sender) = (&mut context.flows[id as usize], &mut self.senders[id as usize]);
        if flow.has_data() {
            sender.ask_again();
        } else {
            let seq = flow.snd_una;
            self.counts.wasted += sender.go_back(flow, seq);
        }
        self.request_for_rest(context, id);
    }

    fn each_packet(&self, pool: &Pool, visit: &mut dyn FnMut(u32)) {
        self.ports.iter().flat_map(|port| port.credits.packets(pool)).for_each(visit);
    }

    fn rx_progress(&self, flow: u32) -> Option<RxProgress> {
        let half = &self.halves[*self.by_flow.get(&flow)? as usize];
        Some(RxProgress { received: half.expected, delivered: half.expected })
    }
}
