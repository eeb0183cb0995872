//! Hosts that run NDP: arriving data and headers are answered; answers and pulls let flows send.

use xoff_core::TimerId;
use xoff_net::packet::flag;
use xoff_net::{Kind, Packet};

use super::receiver::Pull;
use super::{NdpConfig, NdpSender, Pullers, Shape};
use crate::flow::Sender;
use crate::receiver_driven::{Driven, DrivenHost, DrivenSetup, TransportContext};
use crate::recovery::RxProgress;

/// NDP at all hosts of a partition.
#[derive(Debug)]
pub struct NdpHosts {
    shape: Shape,
    overhead: u16,
    control_bytes: u16,
    pull_rate: f64,
    /// By flow slot.
    senders: Vec<NdpSender>,
    receivers: Pullers,
    /// By NIC: the timer of its next pull.
    timers: Vec<TimerId>,
}

impl NdpHosts {
    /// Creates it without hosts.
    #[must_use]
    pub fn new(config: &NdpConfig, setup: &DrivenSetup) -> Self {
        let shape = Shape { payload: setup.payload, initial_window: config.initial_window.0 };
        Self {
            shape,
            overhead: setup.overhead,
            control_bytes: setup.control_bytes,
            pull_rate: config.pull_rate,
            senders: Vec::new(),
            receivers: Pullers::new(shape),
            timers: Vec::new(),
        }
    }

    /// Turns a packet into its answer, in place. If no other flow waits and the host may pull now,
    /// the answer includes the pull.
    fn answer(&mut self, context: &mut TransportContext<'_>, nic: u32, id: u32) {
        let now = context.fabric.now;
        let packet = &mut context.fabric.packets[id];
        let trimmed = packet.kind == Kind::Trimmed;
        if !trimmed {
            context.nics[nic as usize].received_bytes +=
                u64::from(packet.wire_bytes - self.overhead);
        }
        let (flow, size) = (packet.flow, packet.stamp);
        let idle = self.receivers.next_pull(nic).is_none();
        let answer = self.receivers.on_packet(nic, packet, trimmed);
        std::mem::swap(&mut packet.src, &mut packet.dst);
        packet.label = packet.label.rotate_left(16);
        let whole = answer.seq == size;
        packet.stamp = if whole { now } else { packet.seq };
        packet.seq = answer.seq;
        packet.remaining = answer.pulled;
        packet.kind = if answer.received { Kind::Ack } else { Kind::Nack };
        packet.wire_bytes = self.control_bytes;
        packet.flags &= 7 << flag::CLASS_SHIFT;
        if idle && let Some(due) = self.receivers.next_pull(nic) {
            if due > now {
                context.fabric.wheel.arm(self.timers[nic as usize], due);
            } else if let Some(pull) = self.take_pull(context, nic) {
                // The pull belongs to this flow, since no other flow waits.
                context.fabric.packets[id].remaining = pull.pulled;
            }
        }
        context.send(nic, id);
        if whole {
            context.arrived(nic, flow);
        }
    }

    /// Takes the pull that is due and sets the time of the next one: after the transmission time of
    /// the requested bytes.
    fn take_pull(&mut self, context: &mut TransportContext<'_>, nic: u32) -> Option<Pull> {
        let pull = self.receivers.pull(nic)?;
        let wire_bytes = pull.bytes + u64::from(self.overhead);
        let fabric = &mut context.fabric;
        let lasts = fabric.duration(context.nics[nic as usize].port, wire_bytes);
        let next = fabric.now + (lasts as f64 / self.pull_rate) as u64;
        self.receivers.wait_until(nic, next);
        if self.receivers.next_pull(nic).is_some() {
            fabric.wheel.arm(self.timers[nic as usize], next);
        }
        Some(pull)
    }

    /// Handles an answer, a pull or a returned header at a sender.
    fn on_reply(&mut self, context: &mut TransportContext<'_>, id: u32) {
        let packet = context.fabric.packets[id];
        context.fabric.packets.remove(id);
        let Some(number) = context.sender_of(&packet) else { return };
        let (shape, sender) = (self.shape, &mut self.senders[number as usize]);
        let flow = &mut context.flows[number as usize];
        flow.progress_ps = context.fabric.now;
        if packet.kind == Kind::Returned {
            sender.on_returned(&shape, flow, packet.seq);
        } else {
            let news = sender.on_answer(&shape, flow, &packet);
            if NdpSender::is_complete(flow) {
                // The answer to the whole flow has the arrival time of the last byte.
                let whole = packet.seq == flow.start.bytes;
                let received_ps = if whole { packet.stamp } else { context.fabric.now };
                context.finish(number, received_ps);
                return;
            }
            context.stats.acknowledged += u64::from(news);
        }
        sender.if_nothing_is_expected(flow);
        context.resume(number);
    }
}

impl Driven for NdpHosts {
    fn add_host(&mut self, host: &DrivenHost) {
        self.receivers.add_host();
        self.timers.push(host.timer);
    }

    fn on_start(&mut self, context: &mut TransportContext<'_>, id: u32) {
        if id as usize >= self.senders.len() {
            self.senders.resize_with(context.flows.len(), NdpSender::default);
        }
        self.senders[id as usize].start(&self.shape, &mut context.flows[id as usize]);
    }

    fn on_sent(&mut self, id: u32, flow: &mut Sender, packet: &mut Packet, payload: u64) {
        let sender = &mut self.senders[id as usize];
        sender.on_sent(payload);
        packet.stamp = flow.start.bytes;
        packet.remaining = u32::try_from(sender.returned()).unwrap_or(u32::MAX);
        if sender.has_reply() {
            packet.flags |= flag::PROGRESSED;
        }
    }

    fn on_packet(&mut self, context: &mut TransportContext<'_>, nic: u32, packet: u32) {
        match context.fabric.packets[packet].kind {
            Kind::Data | Kind::Trimmed => self.answer(context, nic, packet),
            _ => self.on_reply(context, packet),
        }
    }

    /// A pull of host `nic` is due.
    fn on_timer(&mut self, context: &mut TransportContext<'_>, nic: u32) {
        let Some(Pull { to, seq, pulled, .. }) = self.take_pull(context, nic) else { return };
        let mut packet = to.packet(Kind::Pull, self.control_bytes);
        packet.seq = seq;
        packet.remaining = pulled;
        let id = context.fabric.packets.insert(packet);
        context.send(nic, id);
    }

    fn on_timeout(&mut self, context: &mut TransportContext<'_>, id: u32) {
        self.senders[id as usize].on_timeout(&self.shape, &mut context.flows[id as usize]);
    }

    fn rx_progress(&self, flow: u32) -> Option<RxProgress> {
        self.receivers.rx_progress(flow)
    }
}
