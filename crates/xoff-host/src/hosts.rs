//! All hosts of a partition: what makes flows begin, send, hear and end.

use xoff_core::prefetch::prefetch;
use xoff_core::{Rng, TimerId, rng::Purpose};
use xoff_net::packet::{CONTROL_QUEUE, NONE, flag};
use xoff_net::telemetry::IntStack;
use xoff_net::hop::{obey, timed_pause};
use xoff_net::{Fabric, Kind, Packet, fabric::phase};

use crate::cc::{Ack, AnyControl, CongestionControl, ControlConfig, Path};
use crate::flow::{Finished, FlowStart, Sender};
use crate::nic::{Nic, NicQueues, NicTimers};
use crate::receiver::{Receivers, Reply};
use crate::transport::{FrameConfig, RoundRobin, TransportConfig};

/// What all hosts have in common.
#[derive(Clone, Debug)]
pub struct HostSetup {
    /// Frame sizes.
    pub frame: FrameConfig,
    /// Transport of every flow.
    pub transport: TransportConfig,
    /// Congestion control of every flow.
    pub control: ControlConfig,
    /// How flows get a NIC's queues.
    pub queues: NicQueues,
    /// Whether NICs obey pauses.
    pub obey_pauses: bool,
    /// Whether acknowledgements wait behind a pause of their class.
    pub acks_obey_pauses: bool,
    /// Base RTT (ps).
    pub base_rtt: u64,
    /// Seed of the run.
    pub seed: u64,
}

impl HostSetup {
    /// Bytes of a data packet beside its payload.
    #[must_use]
    pub fn overhead(&self) -> u16 {
        (self.frame.header.0 + self.control.int_bytes().unwrap_or(0)) as u16
    }

    /// Bytes of an acknowledgement.
    #[must_use]
    pub fn ack_bytes(&self) -> u16 {
        let (ack, header) = (self.frame.ack.0, self.frame.ack_header.0);
        self.control.int_bytes().map_or(ack, |int| ack.max(header + int)) as u16
    }
}

/// Names of the hosts' events: the tag of an event is its base plus the number of the flow or NIC.
#[derive(Clone, Copy, Debug)]
pub struct HostTags {
    /// Pacing allows a flow's next packet.
    pub pace: u32,
    /// A flow's congestion control asked for this time.
    pub control: u32,
    /// A NIC checks its flows for timeouts.
    pub timeout: u32,
    /// A NIC with round robin by index looks for a packet.
    pub index: u32,
    /// A pause of a NIC's queues may have ended.
    pub pause: u32,
}

/// Counts over all hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostStats {
    /// Flows begun.
    pub started: u64,
    /// Flows ended.
    pub finished: u64,
    /// Packets sent again: data, and acknowledgements that a switch reported lost.
    pub retransmitted: u64,
    /// Payload bytes that arrived at hosts, those that arrived twice included.
    pub received_bytes: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Acknowledgements of something new.
    pub acknowledged: u64,
    /// Signals of switches to senders.
    pub signals: SignalStats,
}

/// How long signals of switches took: from the start of the packet that called for one to the
/// signal's arrival at its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalStats {
    /// How many there were.
    pub count: u64,
    /// How long all took together (ps).
    pub sum_ps: u64,
    /// How long the slowest took (ps).
    pub max_ps: u64,
}

impl SignalStats {
    fn add(&mut self, delay_ps: u64) {
        self.count += 1;
        self.sum_ps += delay_ps;
        self.max_ps = self.max_ps.max(delay_ps);
    }

    /// Takes in another host's signals.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_ps += other.sum_ps;
        self.max_ps = self.max_ps.max(other.max_ps);
    }
}

/// The hosts of one partition.
#[derive(Debug)]
pub struct Hosts {
    setup: HostSetup,
    tags: HostTags,
    nics: Vec<Nic>,
    flows: Vec<Sender>,
    controls: Vec<AnyControl>,
    free: Vec<u32>,
    receivers: Receivers,
    /// Bytes of a data packet beside its payload, and of an acknowledgement.
    overhead: u16,
    ack_bytes: u16,
    telemetry: bool,
    /// Whether the congestion control has timers.
    timed: bool,
    /// What the flows of each NIC know of their paths.
    paths: Vec<Path>,
    /// Flows that ended since the last look.
    pub finished: Vec<Finished>,
    /// Counts so far.
    pub stats: HostStats,
}

impl Hosts {
    /// No hosts yet.
    #[must_use]
    pub fn new(setup: HostSetup, tags: HostTags) -> Self {
        let transport = &setup.transport;
        Self {
            receivers: Receivers::new(
                transport.recovery,
                transport.nack_interval.0,
                setup.control.notification_interval(),
            ),
            overhead: setup.overhead(),
            ack_bytes: setup.ack_bytes(),
            telemetry: setup.control.int_bytes().is_some(),
            timed: setup.control.has_timers(),
            setup,
            tags,
            nics: Vec::new(),
            flows: Vec::new(),
            controls: Vec::new(),
            free: Vec::new(),
            paths: Vec::new(),
            finished: Vec::new(),
            stats: HostStats::default(),
        }
    }

    /// Adds a host on a port of the fabric; returns its number in this partition.
    pub fn add_host(&mut self, fabric: &mut Fabric, host: u32, port: u32) -> u32 {
        let nic = self.nics.len() as u32;
        let rank = phase::TIMER | (1 << 59) | u64::from(host) << 2;
        let wheel = &mut fabric.wheel;
        let timers = NicTimers {
            timeout: wheel.add_timer(rank, self.tags.timeout + nic),
            index: wheel.add_timer(rank | 1, self.tags.index + nic),
            pause: wheel.add_timer(rank | 2, self.tags.pause + nic),
        };
        let rng = Rng::stream(self.setup.seed, Purpose::Transport, u64::from(host));
        self.nics.push(Nic::new(host, port, self.setup.queues, rng, timers));
        let line_rate = fabric.rate(port);
        let base_rtt = self.setup.base_rtt;
        let bdp = (u128::from(line_rate) * u128::from(base_rtt) / 8_000_000_000_000) as u64;
        let unlimited = self.setup.transport.window == crate::transport::Window::Unlimited;
        self.paths.push(Path {
            line_rate,
            base_rtt,
            bdp,
            window: if unlimited { u64::MAX } else { bdp },
            window_follows_rate: self.setup.transport.window_follows_rate,
            payload: self.setup.frame.payload.0,
        });
        nic
    }

    /// A flow begins at a host of this partition.
    pub fn start_flow(&mut self, fabric: &mut Fabric, nic: u32, start: FlowStart) {
        let (control, pace) = self.setup.control.start(&self.paths[nic as usize]);
        let (id, timers) = self.new_number(fabric, start.id);
        let state = &mut self.nics[nic as usize];
        let mut flow = Sender::new(start, pace, nic, timers);
        flow.place = state.flows.len() as u32;
        state.flows.push(id);
        if self.setup.transport.round_robin == RoundRobin::Index {
            state.order.push((id, start.id));
        }
        let timeout = self.setup.transport.timeout.0;
        if timeout > 0 && fabric.wheel.armed(state.timers.timeout).is_none() {
            fabric.wheel.arm(state.timers.timeout, fabric.now + timeout);
        }
        if let Some(place) = self.flows.get_mut(id as usize) {
            *place = flow;
            self.controls[id as usize] = control;
        } else {
            self.flows.push(flow);
            self.controls.push(control);
        }
        self.stats.started += 1;
        self.make_ready(fabric, id);
    }

    /// A number for a new flow, and its two timers. They rank by the flow's number in the run, which
    /// does not depend on how the network is cut up.
    fn new_number(&mut self, fabric: &mut Fabric, flow: u64) -> (u32, (TimerId, TimerId)) {
        let rank = |timer: u64| phase::TIMER | ((flow << 1 | timer) & ((1 << 59) - 1));
        if let Some(id) = self.free.pop() {
            let old = &self.flows[id as usize];
            let timers = (old.pace_timer, old.control_timer);
            fabric.wheel.set_rank(timers.0, rank(0));
            fabric.wheel.set_rank(timers.1, rank(1));
            return (id, timers);
        }
        let id = self.flows.len() as u32;
        let pace = fabric.wheel.add_timer(rank(0), self.tags.pace + id);
        let control = fabric.wheel.add_timer(rank(1), self.tags.control + id);
        (id, (pace, control))
    }

    /// Lets a flow wait for its turn, now or when pacing allows, if it may send at all.
    fn make_ready(&mut self, fabric: &mut Fabric, id: u32) {
        if let Some(queue) = self.queue_if_ready(fabric, id) {
            let port = self.nics[self.flows[id as usize].nic as usize].port;
            self.wait_for_turn(fabric, id, queue, port);
        }
    }

    /// The same for the only flow to which something happens now: it does not wait for a turn that it
    /// would have at the end of this very instant.
    #[inline]
    fn resume(&mut self, fabric: &mut Fabric, id: u32) {
        let Some(queue) = self.queue_if_ready(fabric, id) else { return };
        let flow = &self.flows[id as usize];
        let nic = flow.nic;
        let state = &mut self.nics[nic as usize];
        let port = state.port;
        if flow.ready_at() <= fabric.now && fabric.is_free(port) && state.pass(queue) {
            let packet = self.send_data(fabric, id);
            self.after_sending(fabric, id);
            self.depart(fabric, nic, packet);
        } else {
            self.wait_for_turn(fabric, id, queue, port);
        }
    }

    /// The queue of a flow that waits neither for its turn nor for an acknowledgement.
    #[inline(always)]
    fn queue_if_ready(&mut self, fabric: &mut Fabric, id: u32) -> Option<u8> {
        let flow = &mut self.flows[id as usize];
        let nic = &mut self.nics[flow.nic as usize];
        if self.setup.transport.round_robin == RoundRobin::Index {
            fabric.kick(nic.port);
            return None;
        }
        if flow.ringing || !flow.may_send() {
            return None;
        }
        let start = &flow.start;
        Some(*flow.queue.get_or_insert_with(|| nic.assign_queue(start.class, start.label)))
    }

    fn wait_for_turn(&mut self, fabric: &mut Fabric, id: u32, queue: u8, port: u32) {
        let flow = &self.flows[id as usize];
        // A port that is busy looks at its rings only when it is idle again.
        if flow.ready_at() <= fabric.now.max(fabric.busy_until(port)) {
            self.nics[flow.nic as usize].ring(&mut self.flows, id, queue);
            fabric.kick(port);
        } else {
            fabric.wheel.arm(flow.pace_timer, flow.ready_at());
        }
    }

    /// The port of a NIC may send: it picks its next packet.
    #[inline(never)]
    pub fn pick(&mut self, fabric: &mut Fabric, nic: u32) {
        let behind_pause = self.setup.acks_obey_pauses;
        let state = &mut self.nics[nic as usize];
        let id = match state.pop_ack(&fabric.packets, behind_pause) {
            Some(id) => Some(id),
            None => self.pick_data(fabric, nic),
        };
        if let Some(id) = id {
            self.depart(fabric, nic, id);
        }
    }

    /// A packet's transmission starts.
    #[inline(always)]
    fn depart(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let state = &mut self.nics[nic as usize];
        let packet = &mut fabric.packets[id];
        packet.upstream = packet.queue;
        state.digest.add(fabric.now ^ packet.seq.rotate_left(20) ^ u64::from(packet.flow) << 32);
        let indexed = self.setup.transport.round_robin == RoundRobin::Index;
        let more = state.is_ready() || !state.acks.is_empty() || indexed && !state.order.is_empty();
        fabric.transmit(state.port, id, more);
    }

    fn pick_data(&mut self, fabric: &mut Fabric, nic: u32) -> Option<u32> {
        if self.setup.transport.round_robin == RoundRobin::Index {
            let id = self.nics[nic as usize].turn_by_index(fabric, &self.flows)?;
            return Some(self.send_data(fabric, id));
        }
        loop {
            let id = self.nics[nic as usize].next_turn(&mut self.flows)?;
            let flow = &self.flows[id as usize];
            if !flow.alive {
                // It ended while it waited to send something again.
                self.free.push(id);
                continue;
            }
            if !flow.may_send() {
                self.leave_queue(id);
                continue;
            }
            if flow.ready_at() > fabric.now {
                // Its rate fell, or it was paused, while it waited.
                fabric.wheel.arm(flow.pace_timer, flow.ready_at());
                continue;
            }
            let packet = self.send_data(fabric, id);
            self.after_sending(fabric, id);
            return Some(packet);
        }
    }

    /// Makes the next packet of a flow and moves the time of the one after.
    #[inline(always)]
    fn send_data(&mut self, fabric: &mut Fabric, id: u32) -> u32 {
        let flow = &mut self.flows[id as usize];
        debug_assert!(
            !self.nics[flow.nic as usize].is_paused(flow.queue.unwrap_or(flow.start.class)),
            "a paused queue sends nothing"
        );
        debug_assert!(flow.paused_until <= fabric.now, "a paused flow sends nothing");
        let (seq, payload, again) = flow.take_packet(self.setup.frame.payload.0);
        self.stats.retransmitted += u64::from(again);
        let mut packet = Packet::new(Kind::Data, payload as u16 + self.overhead);
        let left = flow.start.bytes - seq - payload;
        packet.seq = seq;
        packet.stamp = fabric.now;
        packet.flow = flow.start.id as u32;
        packet.src = flow.start.src;
        packet.dst = flow.start.dst;
        packet.label = flow.start.label;
        packet.sender = id;
        packet.remaining = u32::try_from(left).unwrap_or(u32::MAX);
        packet.queue = flow.queue.unwrap_or(flow.start.class);
        packet.flags = flow.start.class << flag::CLASS_SHIFT;
        if flow.snd_una > 0 {
            packet.flags |= flag::PROGRESSED;
        }
        if self.telemetry {
            packet.int = fabric.ints.add();
        }
        flow.last_wire_bytes = u64::from(packet.wire_bytes);
        flow.next_avail = fabric.now + fabric.time_at(flow.pace.rate, flow.last_wire_bytes);
        let path = &self.paths[flow.nic as usize];
        self.controls[id as usize].on_sent(path, flow.last_wire_bytes, &mut flow.pace);
        fabric.packets.insert(packet)
    }

    /// A flow that has just sent waits for its next turn, for pacing, or for an acknowledgement.
    #[inline(always)]
    fn after_sending(&mut self, fabric: &mut Fabric, id: u32) {
        let flow = &self.flows[id as usize];
        if !flow.may_send() {
            self.leave_queue(id);
            return;
        }
        let nic = &mut self.nics[flow.nic as usize];
        let idle_at = fabric.now + fabric.duration(nic.port, flow.last_wire_bytes);
        if flow.next_avail <= idle_at {
            let queue = flow.queue.unwrap_or(flow.start.class);
            nic.ring(&mut self.flows, id, queue);
        } else {
            fabric.wheel.arm(flow.pace_timer, flow.next_avail);
        }
    }

    /// A flow with nothing left to send frees its queue at the NIC; should it have to send something
    /// again, it gets another one.
    fn leave_queue(&mut self, id: u32) {
        let flow = &mut self.flows[id as usize];
        if !flow.has_data()
            && let Some(queue) = flow.queue.take()
        {
            self.nics[flow.nic as usize].release_queue(queue);
        }
    }

    /// A packet will arrive soon at a host.
    #[inline(always)]
    pub fn prefetch(&self, nic: u32) {
        prefetch(&self.nics, nic as usize);
    }

    /// A packet has arrived at a host.
    #[inline]
    pub fn on_packet(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        match fabric.packets[id].kind {
            Kind::Data => self.on_data(fabric, nic, id),
            Kind::LinkControl => self.on_link_control(fabric, nic, id),
            Kind::Ack | Kind::Nack => self.on_ack(fabric, id),
            Kind::Notification => self.on_notification(fabric, id),
            Kind::BackToSender => self.on_back_to_sender(fabric, id),
        }
    }

    /// Data becomes its own acknowledgement, in place.
    #[inline(never)]
    fn on_data(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let now = fabric.now;
        let packet = &mut fabric.packets[id];
        let payload = u64::from(packet.wire_bytes - self.overhead);
        self.stats.received_bytes += payload;
        let (reply, notify) = self.receivers.on_data(now, packet, payload);
        let (kind, seq) = match reply {
            Reply::Ack(seq) => (Kind::Ack, seq),
            Reply::Nack(seq) => (Kind::Nack, seq),
            Reply::Nothing => {
                if packet.int != NONE {
                    fabric.ints.remove(packet.int);
                }
                fabric.packets.remove(id);
                return;
            }
        };
        std::mem::swap(&mut packet.src, &mut packet.dst);
        packet.label = packet.label.rotate_left(16);
        if seq == packet.seq + payload + u64::from(packet.remaining) {
            // The acknowledgement of all bytes says when the last of them came.
            packet.stamp = now;
        }
        packet.seq = seq;
        packet.kind = kind;
        packet.wire_bytes = self.ack_bytes;
        packet.queue = CONTROL_QUEUE;
        packet.flags &= flag::MARKED | 7 << flag::CLASS_SHIFT;
        let notification = notify.then(|| {
            let mut notification = *packet;
            notification.kind = Kind::Notification;
            notification.int = NONE;
            notification
        });
        let class = packet.class();
        let state = &mut self.nics[nic as usize];
        let stopped = self.setup.acks_obey_pauses && state.is_paused(class);
        if notification.is_none() && state.acks.is_empty() && !stopped && fabric.is_free(state.port)
        {
            self.depart(fabric, nic, id);
            return;
        }
        state.acks.push(&mut fabric.packets, id);
        if let Some(notification) = notification {
            let id = fabric.packets.insert(notification);
            state.acks.push(&mut fabric.packets, id);
        }
        fabric.kick(state.port);
    }

    fn on_ack(&mut self, fabric: &mut Fabric, id: u32) {
        let packet = fabric.packets[id];
        fabric.packets.remove(id);
        if let Some(sender) = self.sender_of(&packet) {
            self.acknowledge(fabric, sender, &packet);
        }
        if packet.int != NONE {
            fabric.ints.remove(packet.int);
        }
    }

    #[inline]
    fn acknowledge(&mut self, fabric: &mut Fabric, sender: u32, packet: &Packet) {
        let flow = &mut self.flows[sender as usize];
        let acked = packet.seq.saturating_sub(flow.snd_una);
        if acked > 0 {
            flow.snd_una = packet.seq;
            flow.snd_nxt = flow.snd_nxt.max(flow.snd_una);
            flow.progress_ps = fabric.now;
            self.stats.acknowledged += 1;
        }
        if packet.kind == Kind::Nack {
            flow.go_back();
        }
        let ack = Ack {
            now: fabric.now,
            set: fabric.arrival_set(),
            seq: packet.seq,
            acked,
            snd_nxt: flow.snd_nxt,
            marked: packet.has(flag::MARKED),
            int: (packet.int != NONE).then(|| &fabric.ints[packet.int]),
        };
        let before = flow.pace.rate;
        let path = &self.paths[flow.nic as usize];
        let control = &mut self.controls[sender as usize];
        control.on_ack(path, &ack, &mut flow.pace);
        let ended = flow.snd_una >= flow.start.bytes;
        if control.rebases_pacing() {
            self.rebase(fabric, sender, before);
        }
        if ended {
            self.finish(fabric, sender, packet.stamp);
        } else {
            self.after_control(fabric, sender);
        }
    }

    /// A rate that took the place of `before` moves the packet being paced, and with it the search
    /// of a NIC with round robin by index: also where the rate is the same as before, and where the
    /// flow has nothing left to send.
    fn rebase(&mut self, fabric: &mut Fabric, id: u32, before: u64) {
        let flow = &mut self.flows[id as usize];
        if flow.pace.rate != before && flow.last_wire_bytes > 0 {
            let old = fabric.time_at(before, flow.last_wire_bytes);
            let new = fabric.time_at(flow.pace.rate, flow.last_wire_bytes);
            flow.next_avail = (flow.next_avail + new).saturating_sub(old);
        }
        let index_timer = self.nics[flow.nic as usize].timers.index;
        if fabric.wheel.armed(index_timer).is_some_and(|armed| flow.next_avail < armed) {
            fabric.arm(index_timer, flow.next_avail.max(fabric.now));
        }
    }

    fn on_notification(&mut self, fabric: &mut Fabric, id: u32) {
        let packet = fabric.packets[id];
        fabric.packets.remove(id);
        let Some(sender) = self.sender_of(&packet) else { return };
        let flow = &mut self.flows[sender as usize];
        let path = &self.paths[flow.nic as usize];
        self.controls[sender as usize].on_notification(path, fabric.now, &mut flow.pace);
        self.after_control(fabric, sender);
    }

    /// A switch asks for a pause of one flow: "its pause-end time is updated with the new one" (SFC
    /// §3.3), also where that is sooner.
    fn on_back_to_sender(&mut self, fabric: &mut Fabric, id: u32) {
        let packet = fabric.packets[id];
        fabric.packets.remove(id);
        self.stats.signals.add(fabric.now - packet.stamp);
        if let Some(sender) = self.sender_of(&packet) {
            self.pause_until(fabric, sender, fabric.now + packet.seq);
        }
    }

    /// A flow sends nothing before `end` (ps), and from then on what else allows.
    fn pause_until(&mut self, fabric: &mut Fabric, id: u32, end: u64) {
        self.flows[id as usize].paused_until = end;
        self.make_ready(fabric, id);
    }

    /// The flow a packet answers, unless it has ended and another one has its number.
    #[inline]
    fn sender_of(&self, packet: &Packet) -> Option<u32> {
        let flow = self.flows.get(packet.sender as usize)?;
        (flow.alive && flow.start.id as u32 == packet.flow).then_some(packet.sender)
    }

    /// A congestion control may have changed its mind: arms its timer and lets the flow send.
    #[inline]
    fn after_control(&mut self, fabric: &mut Fabric, id: u32) {
        if self.timed {
            self.arm_control(fabric, id);
        } else {
            debug_assert!(self.controls[id as usize].next_timer().is_none(), "see has_timers");
        }
        self.resume(fabric, id);
    }

    #[inline]
    fn arm_control(&mut self, fabric: &mut Fabric, id: u32) {
        let timer = self.flows[id as usize].control_timer;
        let control = &self.controls[id as usize];
        let next = control.next_timer();
        if next != fabric.wheel.armed(timer) {
            match next {
                Some(time) => fabric.arm_as_set(timer, time, control.timer_set()),
                None => fabric.wheel.cancel(timer),
            }
        }
    }

    /// Pacing allows a flow's next packet.
    pub fn on_pace(&mut self, fabric: &mut Fabric, id: u32) {
        self.resume(fabric, id);
    }

    /// The time a congestion control asked for has come.
    pub fn on_control_timer(&mut self, fabric: &mut Fabric, id: u32) {
        let flow = &mut self.flows[id as usize];
        let path = &self.paths[flow.nic as usize];
        self.controls[id as usize].on_timer(path, fabric.now, &mut flow.pace);
        if self.setup.transport.round_robin == RoundRobin::Index {
            // Such a NIC hears of the new rate when it sends the flow's next packet.
            self.arm_control(fabric, id);
        } else {
            self.after_control(fabric, id);
        }
    }

    /// A NIC with round robin by index looks again.
    pub fn on_index_timer(&mut self, fabric: &mut Fabric, nic: u32) {
        fabric.kick(self.nics[nic as usize].port);
    }

    /// A NIC checks which of its flows made no progress for a timeout. Deadlines only ever move
    /// back, so one event a NIC that looks again at the earliest is enough for any number of flows.
    pub fn on_timeout(&mut self, fabric: &mut Fabric, nic: u32) {
        let timeout = self.setup.transport.timeout.0;
        let mut earliest = u64::MAX;
        for place in 0..self.nics[nic as usize].flows.len() {
            let id = self.nics[nic as usize].flows[place];
            let flow = &mut self.flows[id as usize];
            if flow.in_flight() > 0 && flow.progress_ps + timeout <= fabric.now {
                flow.progress_ps = fabric.now;
                flow.go_back();
                self.stats.timeouts += 1;
                self.make_ready(fabric, id);
            } else if flow.in_flight() == 0 {
                flow.progress_ps = fabric.now;
            }
            earliest = earliest.min(self.flows[id as usize].progress_ps + timeout);
        }
        if earliest != u64::MAX {
            fabric.wheel.arm(self.nics[nic as usize].timers.timeout, earliest);
        }
    }

    fn on_link_control(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let frame = fabric.packets[id];
        fabric.packets.remove(id);
        if !self.setup.obey_pauses {
            return;
        }
        let state = &mut self.nics[nic as usize];
        if let Some((queues, pause)) = timed_pause(&frame, fabric.rate(state.port)) {
            state.pause_for(fabric, queues, pause);
        } else {
            let paused = obey(&frame, state.paused());
            self.set_paused(fabric, nic, paused);
        }
    }

    /// Pauses of a NIC's queues may have ended.
    pub fn on_pause_timer(&mut self, fabric: &mut Fabric, nic: u32) {
        let paused = self.nics[nic as usize].end_pauses(fabric);
        self.set_paused(fabric, nic, paused);
    }

    fn set_paused(&mut self, fabric: &mut Fabric, nic: u32, paused: u128) {
        let state = &mut self.nics[nic as usize];
        let before = state.paused();
        state.set_paused(fabric.now, paused);
        if before & !paused != 0 {
            fabric.kick(state.port);
        }
    }

    /// A switch dropped a packet and has told its sender (perfect recovery). An acknowledgement is
    /// sent again as it was: where it can be lost, nothing else would replace a flow's last.
    pub fn on_loss(
        &mut self,
        fabric: &mut Fabric,
        nic: u32,
        packet: &Packet,
        int: Option<&IntStack>,
    ) {
        if packet.kind != Kind::Data {
            let mut again = *packet;
            again.int = int.map_or(NONE, |stack| fabric.ints.insert(stack));
            again.queue = CONTROL_QUEUE;
            let id = fabric.packets.insert(again);
            let state = &mut self.nics[nic as usize];
            state.acks.push(&mut fabric.packets, id);
            self.stats.retransmitted += 1;
            fabric.kick(state.port);
            return;
        }
        let Some(sender) = self.sender_of(packet) else { return };
        let payload = u32::from(packet.wire_bytes - self.overhead);
        self.flows[sender as usize].lose(packet.seq, payload);
        self.make_ready(fabric, sender);
    }

    fn finish(&mut self, fabric: &mut Fabric, id: u32, received_ps: u64) {
        let flow = &mut self.flows[id as usize];
        flow.alive = false;
        let (nic, place, queue) = (flow.nic as usize, flow.place as usize, flow.queue.take());
        let end_ps = fabric.now;
        self.finished.push(Finished { flow: flow.start, end_ps, received_ps });
        self.stats.finished += 1;
        self.nics[nic].digest.add(flow.start.id ^ end_ps.rotate_left(32));
        fabric.wheel.cancel(flow.pace_timer);
        fabric.wheel.cancel(flow.control_timer);
        let ringing = flow.ringing;
        let state = &mut self.nics[nic];
        state.flows.swap_remove(place);
        if let Some(&moved) = state.flows.get(place) {
            self.flows[moved as usize].place = place as u32;
        }
        if let Some(queue) = queue {
            state.release_queue(queue);
        }
        if !ringing {
            self.free.push(id);
        }
        if self.setup.transport.round_robin == RoundRobin::Index {
            // The acknowledgement makes the NIC look at its other flows too.
            fabric.kick(self.nics[nic].port);
        }
    }

    /// All NICs, in the order they were added.
    #[must_use]
    pub fn nics(&self) -> &[Nic] {
        &self.nics
    }

    /// The senders of all flows that have not ended.
    pub fn alive(&self) -> impl Iterator<Item = &Sender> {
        self.flows.iter().filter(|flow| flow.alive)
    }

    /// The hash of all a host has sent and finished.
    #[must_use]
    pub fn digest(&self, nic: u32) -> u64 {
        self.nics[nic as usize].digest.value()
    }

    /// Flows that can be in progress without more memory: the high-water mark.
    #[must_use]
    pub fn flow_slots(&self) -> usize {
        self.flows.len()
    }
}
