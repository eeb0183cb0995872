//! Hosts under an allocator of rates: what agents decide is done to flows, what they say is written to
//! streams, and what streams bring is read.

use xoff_core::rng::Purpose;
use xoff_core::{Rng, TimerId};
use xoff_net::{Fabric, Kind, Packet};

use super::Hosts;
use crate::cc::{AnyControl, Capped, ControlConfig};
use crate::flow::{FlowStart, Sender};
use crate::flowtune::agent::{Action, Agent, AgentStats};
use crate::flowtune::stream::{Direction, Letter, StreamId, StreamStats, Streams};
use crate::flowtune::{AgentConfig, Message};
use crate::recovery::{Reply, SenderHalf, sack};
use crate::transport::{Recovery, TcpConfig};

/// What hosts of a network run by an allocator share.
#[derive(Clone, Debug)]
pub struct FlowtuneHostSetup {
    /// Agents.
    pub agent: AgentConfig,
    /// TCP of the streams.
    pub stream: TcpConfig,
}

/// A stream that is written at a host of this partition.
#[derive(Clone, Copy, Debug)]
pub struct StreamSpec {
    /// Which one.
    pub stream: StreamId,
    /// Its writer.
    pub src: u32,
    /// Its reader.
    pub dst: u32,
    /// Source and destination port.
    pub label: u32,
    /// The partition of its reader, unless it is this one.
    pub partition: Option<u32>,
}

/// What hosts under an allocator have beside what all have.
#[derive(Debug)]
pub(super) struct FlowtuneHosts {
    setup: FlowtuneHostSetup,
    streams: Streams,
    /// By NIC; an allocator's NICs have agents with nothing to do.
    agents: Vec<Agent>,
    timers: Vec<TimerId>,
    /// Flows that have sent all they had, by NIC, until their agent is told.
    sent_all: Vec<Vec<u32>>,
    losses: Vec<Rng>,
    /// What allocators of this partition have been told.
    inbox: Vec<(StreamId, Message)>,
    stats: AgentStats,
    actions: Vec<Action>,
}

impl FlowtuneHosts {
    pub(super) fn new(setup: FlowtuneHostSetup) -> Self {
        Self {
            setup,
            streams: Streams::default(),
            agents: Vec::new(),
            timers: Vec::new(),
            sent_all: Vec::new(),
            losses: Vec::new(),
            inbox: Vec::new(),
            stats: AgentStats::default(),
            actions: Vec::new(),
        }
    }

    pub(super) fn add_host(&mut self, timer: TimerId, seed: u64, host: u32) {
        self.agents.push(Agent::default());
        self.timers.push(timer);
        self.sent_all.push(Vec::new());
        self.losses.push(Rng::stream(seed, Purpose::Faults, u64::from(host)));
    }

    /// Whether a packet of a stream is lost on purpose.
    fn loses(&mut self, nic: u32, stream: StreamId) -> bool {
        let share = self.setup.agent.message_loss;
        let lost = share > 0.0 && self.losses[nic as usize].unit() < share;
        self.streams.count(stream).lost += u64::from(lost);
        lost
    }
}

/// Bytes on their way at a rate (bit/s) with a round-trip time (ps).
fn in_flight(rate: u64, rtt: u64) -> u64 {
    (u128::from(rate) * u128::from(rtt) / 8_000_000_000_000) as u64
}

impl Hosts {
    /// Opens a stream that a host of this partition writes.
    pub fn open_stream(&mut self, fabric: &mut Fabric, nic: u32, spec: StreamSpec) {
        let StreamSpec { stream, src, dst, label, partition } = spec;
        let Some(flowtune) = &self.flowtune else { return };
        let tcp = flowtune.setup.stream.clone();
        let path = &self.paths[nic as usize];
        let half = SenderHalf::new(Recovery::Sack, &tcp);
        let (control, pace) = ControlConfig::NewReno(tcp).start(path);
        let reach = sack::REACH_PACKETS * path.payload;
        let start = FlowStart {
            id: u64::from(stream.flow()),
            start_ps: 0,
            src,
            dst,
            bytes: 0,
            label,
            source: u16::MAX,
            class: 0,
        };
        let (id, timers) = self.new_number(fabric, start.id);
        let mut flow = Sender::new(start, pace, half, nic, timers);
        flow.open = true;
        flow.reach = reach;
        self.add_flow(id, flow, control);
        if let Some(flowtune) = &mut self.flowtune {
            flowtune.streams.write_here(stream, id, partition);
        }
    }

    /// Lets a host of this partition read a stream.
    pub fn read_stream(&mut self, stream: StreamId) {
        if let Some(flowtune) = &mut self.flowtune {
            flowtune.streams.read_here(stream);
        }
    }

    /// Writes a message to a stream of this partition.
    pub fn tell(&mut self, fabric: &mut Fabric, stream: StreamId, message: Message) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let id = flowtune.streams.sender(stream);
        let payload = self.setup.frame.payload.0;
        let packets = flowtune.streams.write(stream, message, payload);
        self.flows[id as usize].start.bytes = packets * payload;
        self.make_ready(fabric, id);
    }

    /// A packet of a stream leaves. "Ethernet has 64-byte minimum frames and preamble and interframe
    /// gaps, which cost 84-bytes, even if only eight byte rate updates are sent" (§6).
    #[cold]
    pub(super) fn send_segment(&mut self, fabric: &Fabric, id: u32, packet: &mut Packet) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let (full, flow) = (self.setup.frame.payload.0, &mut self.flows[id as usize]);
        let stream = StreamId::of_flow(packet.flow);
        let bytes = flowtune.streams.send(stream, packet.seq / full, flow.snd_una / full, full);
        packet.kind = Kind::Segment;
        packet.remaining = u32::MAX;
        packet.wire_bytes = (self.overhead + bytes).max(self.ack_bytes);
        flow.last_wire_bytes = u64::from(packet.wire_bytes);
        flow.next_avail = fabric.now + fabric.time_at(flow.pace.rate, flow.last_wire_bytes);
        let stats = flowtune.streams.count(stream);
        stats.packets += 1;
        stats.wire_bytes += flow.last_wire_bytes;
    }

    /// A retransmission timeout has come, perhaps a stream's.
    pub(super) fn count_stream_timeout(&mut self, id: u32) {
        let flow = &self.flows[id as usize];
        if let Some(flowtune) = &mut self.flowtune
            && flow.open
        {
            flowtune.streams.count(StreamId::of_flow(flow.start.id as u32)).timeouts += 1;
        }
    }

    /// A packet of a stream has arrived: it is acknowledged as data is, and messages that are complete
    /// now are read.
    #[cold]
    pub(super) fn on_segment(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let packet = &mut fabric.packets[id];
        let stream = StreamId::of_flow(packet.flow);
        if flowtune.loses(nic, stream) {
            fabric.packets.remove(id);
            return;
        }
        let payload = self.setup.frame.payload.0;
        let (reply, _) = self.receivers.on_data(fabric.now, packet, payload);
        let arrived = match reply {
            Reply::Ack(seq) => seq,
            Reply::Sack { expected, .. } | Reply::Nack { expected, .. } => expected,
            Reply::Nothing => 0,
        };
        if flowtune.loses(nic, stream) {
            fabric.packets.remove(id);
        } else {
            flowtune.streams.count(stream).ack_wire_bytes += u64::from(self.ack_bytes);
            self.answer_data(fabric, nic, id, (payload, reply, false));
        }
        self.read(fabric, nic, stream, arrived / payload);
    }

    fn read(&mut self, fabric: &mut Fabric, nic: u32, stream: StreamId, packets: u64) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let to_server = matches!(stream.direction(), Direction::FromAllocator(_));
        while let Some(message) = flowtune.streams.read(stream, packets) {
            if to_server {
                let agent = &mut flowtune.agents[nic as usize];
                agent.on_message(fabric.now, message, &mut flowtune.stats, &mut flowtune.actions);
            } else {
                flowtune.inbox.push((stream, message));
            }
        }
        if to_server {
            self.act(fabric, nic);
        }
    }

    /// A flow begins.
    #[inline]
    pub(super) fn start_flowtune(&mut self, fabric: &mut Fabric, id: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let FlowStart { dst, label, .. } = self.flows[id as usize].start;
        let nic = self.flows[id as usize].nic;
        let FlowtuneHosts { setup, agents, stats, actions, .. } = &mut **flowtune;
        let agent = &mut agents[nic as usize];
        agent.on_start(&setup.agent, fabric.now, (id, dst, label), stats, actions);
        self.act(fabric, nic);
    }

    /// A flow has nothing left to send. Its agent is told a moment later, at this same instant: the
    /// port is just being asked for its next packet.
    #[inline]
    pub(super) fn rest_flowtune(&mut self, fabric: &mut Fabric, id: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let flow = &self.flows[id as usize];
        if !flow.open {
            flowtune.sent_all[flow.nic as usize].push(id);
            fabric.wheel.arm(flowtune.timers[flow.nic as usize], fabric.now);
        }
    }

    /// A flow ends before it has sent what it was to send.
    pub(super) fn stop_flowtune(&mut self, fabric: &mut Fabric, id: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let nic = self.flows[id as usize].nic;
        let FlowtuneHosts { setup, agents, actions, .. } = &mut **flowtune;
        agents[nic as usize].on_sent_all(&setup.agent, fabric.now, id, actions);
        self.act(fabric, nic);
    }

    /// The time an agent asked for has come.
    pub fn on_agent_timer(&mut self, fabric: &mut Fabric, nic: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let FlowtuneHosts { setup, agents, sent_all, stats, actions, .. } = &mut **flowtune;
        for flow in sent_all[nic as usize].drain(..) {
            agents[nic as usize].on_sent_all(&setup.agent, fabric.now, flow, actions);
        }
        agents[nic as usize].on_timer(&setup.agent, fabric.now, stats, actions);
        self.act(fabric, nic);
    }

    /// Does what an agent wants, and arms its timer.
    fn act(&mut self, fabric: &mut Fabric, nic: u32) {
        let Some(flowtune) = &mut self.flowtune else { return };
        let mut actions = std::mem::take(&mut flowtune.actions);
        let stream = StreamId::to_allocator(self.nics[nic as usize].host);
        for action in actions.drain(..) {
            match action {
                Action::Tell(message) => self.tell(fabric, stream, message),
                Action::Go { flow, rate } => self.go(fabric, flow, rate),
                Action::FallBack { flow, rate } => self.fall_back(fabric, flow, rate),
                Action::Hold { flow } => self.hold(flow),
            }
        }
        let Some(flowtune) = &mut self.flowtune else { return };
        flowtune.actions = actions;
        let timer = flowtune.timers[nic as usize];
        if let Some(next) = flowtune.agents[nic as usize].next_timer(&flowtune.setup.agent)
            && fabric.wheel.armed(timer).is_none_or(|armed| next < armed)
        {
            fabric.wheel.arm(timer, next.max(fabric.now));
        }
    }

    /// "Whenever a server receives a rate update for a flow from the allocator, it opens the flow's TCP
    /// window and paces packets on that flow according to the allocated rate" (§5.3).
    fn go(&mut self, fabric: &mut Fabric, id: u32, rate: u64) {
        let Some(flowtune) = &self.flowtune else { return };
        let (flow, control) = (&mut self.flows[id as usize], &mut self.controls[id as usize]);
        let before = flow.pace.rate;
        let path = &self.paths[flow.nic as usize];
        let config = &flowtune.setup.agent;
        if config.opens_window(&flow.start) {
            let bytes = config.window_rtts * in_flight(rate, path.base_rtt) as f64;
            (*control, flow.pace) = self.setup.control.resume(path, bytes as u64);
        } else if matches!(control, AnyControl::None) {
            // It was held.
            (*control, flow.pace) = self.setup.control.start(path);
        }
        Capped::limit(control, rate, &mut flow.pace);
        let left = flow.start.bytes - flow.snd_nxt;
        self.rebase(fabric, id, before);
        self.make_ready(fabric, id);
        let Some(flowtune) = &mut self.flowtune else { return };
        let config = &flowtune.setup.agent;
        if config.advance_notice > 0 && self.flows[id as usize].start.bytes < u64::MAX {
            let full = self.setup.frame.payload.0;
            let wire_bytes = left + left.div_ceil(full) * u64::from(self.overhead);
            let end = fabric.now + fabric.time_at(rate, wire_bytes);
            let agent = &mut flowtune.agents[self.flows[id as usize].nic as usize];
            agent.expect_end(config, id, end);
        }
    }

    /// A flow goes on under its own congestion control, from a rate where it had one.
    fn fall_back(&mut self, fabric: &mut Fabric, id: u32, rate: u64) {
        let (flow, control) = (&mut self.flows[id as usize], &mut self.controls[id as usize]);
        let path = &self.paths[flow.nic as usize];
        let before = flow.pace.rate;
        let Some(flowtune) = &self.flowtune else { return };
        let opened = flowtune.setup.agent.opens_window(&flow.start);
        if matches!(control, AnyControl::Capped(_)) && !opened {
            Capped::release(control, path.line_rate, &mut flow.pace);
        } else if rate == 0 {
            (*control, flow.pace) = self.setup.control.start(path);
        } else {
            let rtt = flow.sack().and_then(|half| half.rto.smoothed_rtt());
            let bytes = in_flight(rate, rtt.unwrap_or(path.base_rtt));
            (*control, flow.pace) = self.setup.control.resume(path, bytes);
        }
        self.rebase(fabric, id, before);
        self.make_ready(fabric, id);
    }

    /// A flow sends nothing until it is told something else.
    fn hold(&mut self, id: u32) {
        self.controls[id as usize] = AnyControl::None;
        self.flows[id as usize].pace.window = 0;
    }

    /// What allocators of this partition have been told since somebody took it.
    pub fn take_inbox(&mut self) -> Vec<(StreamId, Message)> {
        self.flowtune.as_mut().map_or_else(Vec::new, |flowtune| std::mem::take(&mut flowtune.inbox))
    }

    /// Exchanges the messages for readers of another partition for an empty list.
    pub fn swap_letters(&mut self, partition: usize, letters: &mut Vec<Letter>) {
        if let Some(flowtune) = &mut self.flowtune {
            flowtune.streams.swap_mail(partition, letters);
        }
    }

    /// Whether there are any.
    #[must_use]
    pub fn has_letters(&self, partition: usize) -> bool {
        self.flowtune.as_ref().is_some_and(|flowtune| flowtune.streams.has_mail(partition))
    }

    /// Takes in messages for readers of this partition.
    pub fn receive_letters(&mut self, letters: impl Iterator<Item = Letter>) {
        if let Some(flowtune) = &mut self.flowtune {
            letters.for_each(|letter| flowtune.streams.receive(letter));
        }
    }

    /// What agents did here, and what was sent over streams.
    #[must_use]
    pub fn flowtune_stats(&self) -> Option<(&AgentStats, &[StreamStats; 3])> {
        let flowtune = self.flowtune.as_ref()?;
        Some((&flowtune.stats, flowtune.streams.stats()))
    }
}
