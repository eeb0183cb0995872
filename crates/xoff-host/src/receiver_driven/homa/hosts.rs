//! Hosts that run Homa: arriving data triggers grants, and grants let messages send.

use xoff_core::TimerId;
use xoff_net::packet::flag;
use xoff_net::{Kind, Packet};

use super::HomaConfig;
use super::receiver::{Grant, GrantStats, Granters};
use super::sender::HomaSender;
use crate::flow::Sender;
use crate::receiver::LINGER;
use crate::receiver_driven::Levels;
use crate::receiver_driven::{Address, Driven, DrivenHost, DrivenSetup, Shape, TransportContext};
use crate::recovery::RxProgress;

/// Counters of Homa's hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HomaStats {
    /// Counters of the grants.
    pub granted: GrantStats,
    /// Unscheduled payload sent, including retransmissions (bytes).
    pub unscheduled_bytes: u64,
    /// Scheduled payload sent, including retransmissions (bytes).
    pub scheduled_bytes: u64,
}

impl HomaStats {
    /// Adds the counters of other hosts.
    pub fn add(&mut self, other: &Self) {
        self.granted.grants += other.granted.grants;
        self.granted.bytes += other.granted.bytes;
        self.granted.most_at_once = self.granted.most_at_once.max(other.granted.most_at_once);
        self.granted.resends += other.granted.resends;
        self.unscheduled_bytes += other.unscheduled_bytes;
        self.scheduled_bytes += other.scheduled_bytes;
    }
}

/// Homa at all hosts of a partition.
#[derive(Debug)]
pub struct HomaHosts {
    shape: Shape,
    levels: Levels,
    /// Number of last bytes of a message that get an unscheduled priority.
    boosted: u64,
    overhead: u16,
    control_bytes: u16,
    /// Timeout after which a receiver requests missing bytes (ps); 0: never.
    timeout: u64,
    /// By flow slot.
    senders: Vec<HomaSender>,
    receivers: Granters,
    /// By NIC: the timer of requests for missing bytes.
    timers: Vec<TimerId>,
    unscheduled_bytes: u64,
    scheduled_bytes: u64,
}

impl HomaHosts {
    /// Creates it without hosts.
    #[must_use]
    pub fn new(config: &HomaConfig, levels: Levels, setup: &DrivenSetup) -> Self {
        let shape = Shape { payload: setup.payload, initial_window: config.rtt_bytes.0 };
        let overcommitment = match config.overcommitment {
            0 => usize::from(levels.scheduled),
            messages => usize::from(messages),
        };
        // Without timeouts no packet arrives twice.
        let linger = if setup.timeout > 0 { LINGER } else { 0 };
        Self {
            shape,
            boosted: if config.boost_tail { shape.unasked(u64::MAX) } else { 0 },
            overhead: setup.overhead,
            control_bytes: setup.control_bytes,
            timeout: setup.timeout,
            senders: Vec::new(),
            receivers: Granters::new(shape, levels.clone(), overcommitment, setup.timeout, linger),
            levels,
            timers: Vec::new(),
            unscheduled_bytes: 0,
            scheduled_bytes: 0,
        }
    }

    /// Counters so far.
    #[must_use]
    pub fn stats(&self) -> HomaStats {
        HomaStats {
            granted: self.receivers.stats,
            unscheduled_bytes: self.unscheduled_bytes,
            scheduled_bytes: self.scheduled_bytes,
        }
    }

    /// Handles a data packet: replaces it in place by its message's acknowledgement or a grant, or
    /// removes it.
    fn answer(&mut self, context: &mut TransportContext<'_>, nic: u32, id: u32) {
        let now = context.fabric.now;
        let packet = &context.fabric.packets[id];
        let (flow, size) = (packet.flow, packet.stamp);
        context.nics[nic as usize].received_bytes += u64::from(packet.wire_bytes - self.overhead);
        let answer = self.receivers.on_data(nic, packet, now);
        let grant = answer.grant.map(|grant| packet_of(&grant, self.control_bytes));
        if answer.whole {
            let mut ack = Address::of(packet).packet(Kind::Ack, self.control_bytes);
            ack.seq = size;
            ack.stamp = now;
            context.fabric.packets[id] = ack;
            context.send(nic, id);
            context.arrived(nic, flow);
            if let Some(grant) = grant {
                let id = context.fabric.packets.insert(grant);
                context.send(nic, id);
            }
            return;
        }
        match grant {
            Some(grant) => {
                context.fabric.packets[id] = grant;
                context.send(nic, id);
            }
            None => context.fabric.packets.remove(id),
        }
        if self.timeout > 0 && context.fabric.wheel.armed(self.timers[nic as usize]).is_none() {
            context.fabric.wheel.arm(self.timers[nic as usize], now + self.timeout);
        }
    }

    /// Handles a packet from a receiver at its sender.
    fn on_reply(&mut self, context: &mut TransportContext<'_>, id: u32) {
        let packet = context.fabric.packets[id];
        context.fabric.packets.remove(id);
        let Some(number) = context.sender_of(&packet) else { return };
        let sender = &mut self.senders[number as usize];
        let flow = &mut context.flows[number as usize];
        flow.progress_ps = context.fabric.now;
        let level = packet.stamp as u8;
        match packet.kind {
            Kind::Ack => {
                flow.snd_una = packet.seq;
                context.finish(number, packet.stamp);
                return;
            }
            Kind::Pull => {
                let grant = (packet.remaining, level);
                let news = sender.on_granted(&self.shape, flow, grant, packet.seq);
                context.stats.acknowledged += u64::from(news);
            }
            Kind::Nack => {
                let missing = (packet.seq, u64::from(packet.remaining), level);
                sender.on_missing(&self.shape, flow, missing);
            }
            kind => unreachable!("{kind:?} is not a packet of Homa"),
        }
        context.resume(number);
    }
}

fn packet_of(grant: &Grant, wire_bytes: u16) -> Packet {
    let mut packet = grant.to.packet(Kind::Pull, wire_bytes);
    packet.seq = grant.seq;
    packet.remaining = grant.granted as u32;
    packet.stamp = u64::from(grant.level);
    packet
}

impl Driven for HomaHosts {
    fn add_host(&mut self, host: &DrivenHost) {
        self.receivers.add_host();
        self.timers.push(host.timer);
    }

    fn on_start(&mut self, context: &mut TransportContext<'_>, id: u32) {
        if id as usize >= self.senders.len() {
            self.senders.resize_with(context.flows.len(), HomaSender::default);
        }
        let flow = &mut context.flows[id as usize];
        self.senders[id as usize].start(&self.shape, &self.levels, flow);
    }

    fn on_sent(&mut self, id: u32, flow: &mut Sender, packet: &mut Packet, payload: u64) {
        let (sender, size) = (&self.senders[id as usize], flow.start.bytes);
        packet.stamp = size;
        packet.queue = sender.level(&self.levels, packet.seq, size, self.boosted);
        if sender.is_unscheduled(packet.seq) {
            self.unscheduled_bytes += payload;
        } else {
            self.scheduled_bytes += payload;
        }
        if sender.has_reply() {
            packet.flags |= flag::PROGRESSED;
        }
    }

    fn on_packet(&mut self, context: &mut TransportContext<'_>, nic: u32, packet: u32) {
        match context.fabric.packets[packet].kind {
            Kind::Data => self.answer(context, nic, packet),
            _ => self.on_reply(context, packet),
        }
    }

    /// Host `nic` requests missing bytes and sends overdue grants.
    fn on_timer(&mut self, context: &mut TransportContext<'_>, nic: u32) {
        let now = context.fabric.now;
        while let Some(missing) = self.receivers.next_missing(nic, now) {
            let mut packet = missing.to.packet(Kind::Nack, self.control_bytes);
            packet.seq = missing.seq;
            packet.remaining = u32::try_from(missing.bytes).unwrap_or(u32::MAX);
            packet.stamp = u64::from(missing.level);
            let id = context.fabric.packets.insert(packet);
            context.send(nic, id);
        }
        while let Some(grant) = self.receivers.owed(nic) {
            let id = context.fabric.packets.insert(packet_of(&grant, self.control_bytes));
            context.send(nic, id);
        }
        if let Some(next) = self.receivers.next_check(nic) {
            context.fabric.wheel.arm(self.timers[nic as usize], next);
        }
    }

    /// A message times out only while sent bytes are unacknowledged; otherwise it waits for its
    /// turn.
    fn waits(&self, flow: &Sender) -> bool {
        !flow.may_send() && flow.snd_una < flow.snd_nxt
    }

    fn on_timeout(&mut self, context: &mut TransportContext<'_>, id: u32) {
        self.senders[id as usize].on_timeout(&self.shape, &mut context.flows[id as usize]);
    }

    fn rx_progress(&self, flow: u32) -> Option<RxProgress> {
        self.receivers.rx_progress(flow)
    }
}
