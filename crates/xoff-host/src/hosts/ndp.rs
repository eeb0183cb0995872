//! Hosts that run NDP: data and headers come in and are answered, answers and pulls let flows send.

use xoff_net::packet::flag;
use xoff_net::{Fabric, Kind, Packet};

use super::Hosts;
use crate::ndp::{NdpSender, Pullers, Shape, receiver::Pull};

/// What NDP's hosts have beside what all have.
#[derive(Debug)]
pub(super) struct NdpHosts {
    shape: Shape,
    /// By the number of the flow.
    senders: Vec<NdpSender>,
    pub(super) receivers: Pullers,
}

impl NdpHosts {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, senders: Vec::new(), receivers: Pullers::new(shape) }
    }
}

impl Hosts {
    /// A flow begins in the place of this number.
    pub(super) fn start_ndp(&mut self, id: u32) {
        let Some(ndp) = &mut self.ndp else { return };
        if id as usize == ndp.senders.len() {
            ndp.senders.push(NdpSender::default());
        }
        ndp.senders[id as usize].start(&ndp.shape, &mut self.flows[id as usize]);
    }

    /// What a data packet of NDP says that others do not.
    #[inline(never)]
    pub(super) fn send_ndp(&mut self, id: u32, packet: &mut Packet, payload: u64) {
        let Some(ndp) = &mut self.ndp else { return };
        let sender = &mut ndp.senders[id as usize];
        sender.on_sent(payload);
        packet.stamp = self.flows[id as usize].start.bytes;
        packet.remaining = u32::try_from(sender.returned()).unwrap_or(u32::MAX);
        if sender.is_heard() {
            packet.flags |= flag::PROGRESSED;
        }
    }

    /// A packet has arrived at a host that runs NDP.
    #[inline(never)]
    pub(super) fn on_ndp_packet(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        match fabric.packets[id].kind {
            Kind::Data | Kind::Trimmed => self.answer(fabric, nic, id),
            _ => self.hear(fabric, id),
        }
    }

    /// A packet becomes its own answer, in place. Where no other flow waits and the host may pull now,
    /// the answer is the pull as well.
    fn answer(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let Some(ndp) = &mut self.ndp else { return };
        let packet = &mut fabric.packets[id];
        let trimmed = packet.kind == Kind::Trimmed;
        if !trimmed {
            self.nics[nic as usize].received_bytes += u64::from(packet.wire_bytes - self.overhead);
        }
        let (flow, size) = (packet.flow, packet.stamp);
        let idle = ndp.receivers.next_pull(nic).is_none();
        let answer = ndp.receivers.on_packet(nic, packet, trimmed);
        std::mem::swap(&mut packet.src, &mut packet.dst);
        packet.label = packet.label.rotate_left(16);
        let whole = answer.seq == size;
        packet.stamp = if whole { fabric.now } else { packet.seq };
        packet.seq = answer.seq;
        packet.remaining = answer.pulled;
        packet.kind = if answer.received { Kind::Ack } else { Kind::Nack };
        packet.wire_bytes = self.ack_bytes;
        packet.flags &= 7 << flag::CLASS_SHIFT;
        if idle && let Some(due) = ndp.receivers.next_pull(nic) {
            if due > fabric.now {
                fabric.wheel.arm(self.nics[nic as usize].timers.pull, due);
            } else if let Some(pull) = self.take_pull(fabric, nic) {
                // It is this flow's: no other waits.
                fabric.packets[id].remaining = pull.pulled;
            }
        }
        self.send_control(fabric, nic, id);
        if whole && self.chains.await_arrivals() {
            self.on_arrived(fabric, nic, flow);
        }
    }

    /// A pull of a host is due.
    pub fn on_pull_timer(&mut self, fabric: &mut Fabric, nic: u32) {
        let Some(Pull { to, seq, pulled, .. }) = self.take_pull(fabric, nic) else { return };
        let mut packet = Packet::new(Kind::Pull, self.ack_bytes);
        packet.seq = seq;
        packet.remaining = pulled;
        packet.flow = to.flow;
        packet.src = self.nics[nic as usize].host;
        packet.dst = to.host;
        packet.label = to.label;
        packet.sender = to.sender;
        packet.flags = to.class << flag::CLASS_SHIFT;
        let id = fabric.packets.insert(packet);
        self.send_control(fabric, nic, id);
    }

    /// Takes the pull that is due, and sets the time of the next one: when what this one asks for has
    /// had its time on the link.
    fn take_pull(&mut self, fabric: &mut Fabric, nic: u32) -> Option<Pull> {
        let ndp = self.ndp.as_mut()?;
        let pull = ndp.receivers.pull(nic)?;
        let wire_bytes = pull.bytes + u64::from(self.overhead);
        let next = fabric.now + fabric.duration(self.nics[nic as usize].port, wire_bytes);
        ndp.receivers.wait_until(nic, next);
        if ndp.receivers.next_pull(nic).is_some() {
            fabric.wheel.arm(self.nics[nic as usize].timers.pull, next);
        }
        Some(pull)
    }

    /// A sender hears an answer or a pull, or has a header returned.
    fn hear(&mut self, fabric: &mut Fabric, id: u32) {
        let packet = fabric.packets[id];
        fabric.packets.remove(id);
        let Some(number) = self.sender_of(&packet) else { return };
        let Some(ndp) = &mut self.ndp else { return };
        let (shape, sender) = (ndp.shape, &mut ndp.senders[number as usize]);
        let flow = &mut self.flows[number as usize];
        let size = flow.start.bytes;
        flow.progress_ps = fabric.now;
        if packet.kind == Kind::Returned {
            sender.on_returned(&shape, flow, packet.seq);
        } else {
            let mut news = sender.on_all_before(&shape, flow, packet.seq);
            if packet.seq == size {
                self.stats.acknowledged += 1;
                self.finish(fabric, number, packet.stamp);
                return;
            }
            match packet.kind {
                Kind::Ack => news |= sender.on_received(&shape, flow, packet.stamp),
                Kind::Nack => sender.on_refused(&shape, flow, packet.stamp),
                _ => {}
            }
            self.stats.acknowledged += u64::from(news);
            sender.on_pulled(flow, packet.remaining);
        }
        sender.if_nothing_is_expected(flow);
        self.resume(fabric, number);
    }

    /// A flow has heard nothing for a timeout.
    pub(super) fn on_ndp_timeout(&mut self, id: u32) {
        let Some(ndp) = &mut self.ndp else { return };
        ndp.senders[id as usize].on_timeout(&ndp.shape, &mut self.flows[id as usize]);
    }
}
