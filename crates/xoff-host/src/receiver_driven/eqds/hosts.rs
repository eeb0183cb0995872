//! Hosts that run EQDS: arriving data and headers are answered; answers and pulls let flows send.

use xoff_core::TimerId;
use xoff_net::packet::flag;
use xoff_net::{Kind, Packet};

use super::receiver::{Pull, Reply};
use super::{EqdsConfig, EqdsReceivers, EqdsSender, Terms};
use crate::flow::Sender;
use crate::receiver_driven::{Driven, DrivenHost, DrivenSetup, TransportContext};
use crate::recovery::RxProgress;

/// EQDS at all hosts of a partition.
#[derive(Debug)]
pub struct EqdsHosts {
    terms: Terms,
    control_bytes: u16,
    /// Bytes on the link that the time between two pulls stands for, and its factor.
    pull_bytes: u64,
    pull_spacing: f64,
    /// By flow slot.
    senders: Vec<EqdsSender>,
    receivers: EqdsReceivers,
    /// By NIC: the timer of its next pull.
    timers: Vec<TimerId>,
}

impl EqdsHosts {
    /// Creates it without hosts.
    #[must_use]
    pub fn new(config: &EqdsConfig, setup: &DrivenSetup) -> Self {
        let terms = Terms::new(config, setup);
        let pull_bytes =
            if config.pull_bytes.0 == 0 { terms.full_packet() } else { config.pull_bytes.0 };
        Self {
            terms,
            control_bytes: setup.control_bytes,
            pull_bytes,
            pull_spacing: config.pull_spacing,
            senders: Vec::new(),
            receivers: EqdsReceivers::new(terms),
            timers: Vec::new(),
        }
    }

    /// Answers a packet of a sender, in place or not at all, and pulls if that is due.
    fn answer(&mut self, context: &mut TransportContext<'_>, nic: u32, id: u32) {
        let now = context.fabric.now;
        let packet = &mut context.fabric.packets[id];
        let (flow, size) = (packet.flow, packet.stamp);
        let idle = self.receivers.next_pull(nic).is_none();
        let reply = match packet.kind {
            Kind::Data => {
                let payload = u64::from(packet.wire_bytes) - self.terms.overhead;
                context.nics[nic as usize].received_bytes += payload;
                self.receivers.on_data(nic, packet)
            }
            Kind::Trimmed => self.receivers.on_trimmed(nic, packet),
            _ => self.receivers.on_request(nic, packet),
        };
        if reply == Reply::Nothing {
            context.fabric.packets.remove(id);
        } else {
            self.write(packet, reply, (size, now));
            context.send(nic, id);
        }
        if idle && let Some(due) = self.receivers.next_pull(nic) {
            if due > now {
                context.fabric.wheel.arm(self.timers[nic as usize], due);
            } else {
                self.send_pull(context, nic);
            }
        }
        if reply == Reply::Whole {
            context.arrived(nic, flow);
        }
    }

    /// Turns a packet of a flow of `size` bytes into the reply to it.
    fn write(&self, packet: &mut Packet, reply: Reply, (size, now): (u64, u64)) {
        std::mem::swap(&mut packet.src, &mut packet.dst);
        packet.label = packet.label.rotate_left(16);
        packet.wire_bytes = self.control_bytes;
        packet.flags &= 7 << flag::CLASS_SHIFT;
        packet.kind = match reply {
            Reply::Nack => Kind::Nack,
            Reply::Pull(_) => Kind::Pull,
            _ => Kind::Ack,
        };
        match reply {
            Reply::Whole => (packet.seq, packet.stamp) = (size, now),
            Reply::Ack { seq, first, bitmap } => {
                (packet.seq, packet.remaining, packet.stamp) = (seq, first, bitmap);
            }
            Reply::Pull(Pull { seq, pulled, .. }) => {
                (packet.seq, packet.remaining) = (seq, pulled);
            }
            // It names the packet that it answers.
            Reply::Nack | Reply::Nothing => {}
        }
    }

    /// Sends the pull that is due, and sets the time of the next one.
    fn send_pull(&mut self, context: &mut TransportContext<'_>, nic: u32) {
        let Some(Pull { to, seq, pulled }) = self.receivers.pull(nic) else { return };
        let fabric = &mut context.fabric;
        let lasts = fabric.duration(context.nics[nic as usize].port, self.pull_bytes);
        let next = fabric.now + (lasts as f64 * self.pull_spacing) as u64;
        self.receivers.wait_until(nic, next);
        if self.receivers.next_pull(nic).is_some() {
            fabric.wheel.arm(self.timers[nic as usize], next);
        }
        let mut packet = to.packet(Kind::Pull, self.control_bytes);
        (packet.seq, packet.remaining) = (seq, pulled);
        let id = fabric.packets.insert(packet);
        context.send(nic, id);
    }

    /// Handles a reply or a pull at a sender.
    fn on_reply(&mut self, context: &mut TransportContext<'_>, id: u32) {
        let packet = context.fabric.packets[id];
        context.fabric.packets.remove(id);
        let Some(number) = context.sender_of(&packet) else { return };
        let flow = &mut context.flows[number as usize];
        flow.progress_ps = context.fabric.now;
        let news = self.senders[number as usize].on_reply(&self.terms, flow, &packet);
        if flow.snd_una == flow.start.bytes {
            // The reply to the whole flow has the arrival time of the last byte.
            let whole = packet.kind == Kind::Ack && packet.seq == flow.start.bytes;
            let received_ps = if whole { packet.stamp } else { context.fabric.now };
            context.finish(number, received_ps);
            return;
        }
        context.stats.acknowledged += u64::from(news);
        context.resume(number);
    }

    /// Asks the receiver of a flow for credit.
    fn request(&mut self, context: &mut TransportContext<'_>, number: u32, again: u64) {
        let (flow, sender) = (&context.flows[number as usize], &mut self.senders[number as usize]);
        let mut packet = Packet::new(Kind::Request, self.control_bytes);
        packet.flow = flow.start.id.0 as u32;
        packet.src = flow.start.src.0;
        packet.dst = flow.start.dst.0;
        packet.label = flow.start.label;
        packet.sender = number;
        packet.flags = flow.flags;
        if sender.has_reply() {
            packet.flags |= flag::PROGRESSED;
        }
        (packet.seq, packet.stamp) = (again, flow.start.bytes);
        packet.remaining = sender.request(&self.terms, flow);
        let nic = flow.nic;
        let id = context.fabric.packets.insert(packet);
        context.send(nic, id);
    }
}

impl Driven for EqdsHosts {
    fn add_host(&mut self, host: &DrivenHost) {
        self.receivers.add_host();
        self.timers.push(host.timer);
    }

    fn on_start(&mut self, context: &mut TransportContext<'_>, id: u32) {
        if id as usize >= self.senders.len() {
            self.senders.resize_with(context.flows.len(), EqdsSender::default);
        }
        self.senders[id as usize].start(&self.terms, &mut context.flows[id as usize]);
    }

    fn on_sent(&mut self, id: u32, flow: &mut Sender, packet: &mut Packet, payload: u64) {
        let sender = &mut self.senders[id as usize];
        sender.on_sent(&self.terms, flow, packet, payload);
        if sender.has_reply() {
            packet.flags |= flag::PROGRESSED;
        }
    }

    fn on_packet(&mut self, context: &mut TransportContext<'_>, nic: u32, packet: u32) {
        match context.fabric.packets[packet].kind {
            Kind::Data | Kind::Trimmed | Kind::Request => self.answer(context, nic, packet),
            _ => self.on_reply(context, packet),
        }
    }

    /// A pull of host `nic` is due.
    fn on_timer(&mut self, context: &mut TransportContext<'_>, nic: u32) {
        self.send_pull(context, nic);
    }

    fn on_timeout(&mut self, context: &mut TransportContext<'_>, id: u32) {
        let flow = &mut context.flows[id as usize];
        if let Some(again) = self.senders[id as usize].on_timeout(&self.terms, flow) {
            self.request(context, id, again);
        }
    }

    fn rx_progress(&self, flow: u32) -> Option<RxProgress> {
        self.receivers.rx_progress(flow)
    }
}
