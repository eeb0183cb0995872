//! Scheduling of flows at a NIC, and the packets they send.

use xoff_net::packet::flag;
use xoff_net::{Fabric, Kind, Packet};

use super::Hosts;
use crate::cc::{Carries, CongestionControl};
use crate::nic::RoundRobin;

impl Hosts {
    /// Lets a flow wait for its turn, now or when pacing allows, if it may send.
    pub(super) fn make_ready(&mut self, fabric: &mut Fabric, sender: u32) {
        if let Some(queue) = self.queue_if_ready(fabric, sender) {
            let port = self.nics[self.flows[sender as usize].nic as usize].port;
            self.wait_for_turn(fabric, sender, queue, port);
        }
    }

    /// The same for the only flow affected by this event: it skips the wait if it would be served
    /// at the end of this instant.
    #[inline(always)]
    pub(super) fn resume(&mut self, fabric: &mut Fabric, sender: u32) {
        if let Some(queue) = self.queue_if_ready(fabric, sender) {
            self.send_or_wait(fabric, sender, queue);
        }
    }

    /// Sends a packet of a ready flow at once, or lets it wait. Most acknowledgements do not reach
    /// this function, because their flow already waits or has sent all its data.
    #[inline(never)]
    fn send_or_wait(&mut self, fabric: &mut Fabric, sender: u32, queue: u8) {
        let flow = &self.flows[sender as usize];
        let nic = flow.nic;
        let state = &mut self.nics[nic as usize];
        let port = state.port;
        if flow.ready_at() <= fabric.now && fabric.is_free(port) && state.pass(queue) {
            let packet = self.send_data(fabric, sender);
            self.after_sending(fabric, sender);
            self.depart(fabric, nic, packet);
        } else {
            self.wait_for_turn(fabric, sender, queue, port);
        }
    }

    /// The queue of a flow that becomes ready now: one that may send and is not waiting for its
    /// turn.
    #[inline(always)]
    fn queue_if_ready(&mut self, fabric: &mut Fabric, sender: u32) -> Option<u8> {
        if self.setup.transport.round_robin != RoundRobin::Ready {
            self.look_again(fabric, sender);
            return None;
        }
        let flow = &mut self.flows[sender as usize];
        let nic = &mut self.nics[flow.nic as usize];
        if flow.ringing || !flow.may_send() {
            return None;
        }
        Some(nic.queue_of(flow))
    }

    /// The same for other kinds of round robin: such a NIC chooses among all its flows at the end
    /// of the instant.
    #[inline(never)]
    fn look_again(&mut self, fabric: &mut Fabric, sender: u32) {
        match self.setup.transport.round_robin {
            RoundRobin::Shortest => self.wait_by_size(fabric, sender),
            RoundRobin::Fifo => self.hand_over(fabric, sender),
            RoundRobin::Ready | RoundRobin::Index | RoundRobin::Posted => {
                if !self.posted.is_empty() {
                    self.post(fabric, sender);
                }
                let nic = self.flows[sender as usize].nic;
                fabric.kick(self.nics[nic as usize].port);
            }
        }
    }

    /// A flow hands over all packets that it may send. They wait in one queue with the
    /// acknowledgements.
    fn hand_over(&mut self, fabric: &mut Fabric, sender: u32) {
        while self.flows[sender as usize].may_send() {
            let flow = &self.flows[sender as usize];
            if flow.ready_at() > fabric.now {
                fabric.wheel.arm(flow.pace_timer, flow.ready_at());
                return;
            }
            let nic = flow.nic as usize;
            let packet = self.send_data(fabric, sender);
            let state = &mut self.nics[nic];
            state.acks.push(&mut fabric.packets, packet);
            fabric.kick(state.port);
        }
        self.leave_queue(fabric, sender);
    }

    fn wait_for_turn(&mut self, fabric: &mut Fabric, sender: u32, queue: u8, port: u32) {
        let flow = &self.flows[sender as usize];
        // A busy port checks its rings only when it is idle again.
        if flow.ready_at() <= fabric.now.max(fabric.busy_until(port)) {
            self.nics[flow.nic as usize].ring(&mut self.flows, sender, queue);
            fabric.kick(port);
        } else {
            fabric.wheel.arm(flow.pace_timer, flow.ready_at());
        }
    }

    /// The port of a NIC may send: selects its next packet.
    #[inline(never)]
    pub fn pick(&mut self, fabric: &mut Fabric, nic: u32) {
        let behind_pause = self.setup.acks_obey_pauses;
        let state = &mut self.nics[nic as usize];
        // The test saves most calls.
        let control = match state.has_control() {
            true => state.pop_control(&mut fabric.packets, behind_pause),
            false => None,
        };
        if let Some(id) = control.or_else(|| self.pick_data(fabric, nic)) {
            self.depart(fabric, nic, id);
        }
    }

    /// Starts a packet's transmission.
    #[inline(always)]
    pub(super) fn depart(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let state = &mut self.nics[nic as usize];
        let (started, more) = state.depart(fabric.at(state.port, id), id);
        fabric.finish(state.port, id, started, more);
    }

    fn pick_data(&mut self, fabric: &mut Fabric, nic: u32) -> Option<u32> {
        match self.setup.transport.round_robin {
            RoundRobin::Ready => loop {
                let sender = self.nics[nic as usize].next_turn(&mut self.flows)?;
                if let Some(packet) = self.take_turn(fabric, sender) {
                    return Some(packet);
                }
            },
            RoundRobin::Index => {
                let sender = self.nics[nic as usize].turn_by_index(fabric, &self.flows)?;
                let packet = self.send_data(fabric, sender);
                self.note_if_left(fabric, sender);
                let flow = &self.flows[sender as usize];
                if !flow.alive && !flow.haunts() {
                    self.free.push(sender);
                }
                Some(packet)
            }
            RoundRobin::Shortest => self.pick_shortest(fabric, nic),
            // Packets wait where acknowledgements do.
            RoundRobin::Fifo => None,
            RoundRobin::Posted => self.pick_posted(fabric, nic),
        }
    }

    /// Sends a packet of a flow that left its ring, if it still may send.
    #[inline(always)]
    fn take_turn(&mut self, fabric: &mut Fabric, sender: u32) -> Option<u32> {
        if !self.keeps_turn(fabric, sender) {
            return None;
        }
        let packet = self.send_data(fabric, sender);
        self.after_sending(fabric, sender);
        Some(packet)
    }

    /// True if a flow whose turn it is may still send.
    #[inline(always)]
    pub(super) fn keeps_turn(&mut self, fabric: &mut Fabric, sender: u32) -> bool {
        let flow = &self.flows[sender as usize];
        if !flow.alive {
            // The flow ended while it waited for a retransmission.
            self.free.push(sender);
            return false;
        }
        if !flow.may_send() {
            self.leave_queue(fabric, sender);
            return false;
        }
        if flow.ready_at() > fabric.now {
            // Its rate fell, or it was paused, while it waited.
            fabric.wheel.arm(flow.pace_timer, flow.ready_at());
            return false;
        }
        true
    }

    /// Creates a flow's next packet and updates its pacing time.
    #[inline(always)]
    pub(super) fn send_data(&mut self, fabric: &mut Fabric, sender: u32) -> u32 {
        let flow = &mut self.flows[sender as usize];
        debug_assert!(
            !self.nics[flow.nic as usize].is_paused(flow.queue.unwrap_or(flow.start.class)),
            "the queue is paused"
        );
        debug_assert!(flow.paused_until <= fabric.now, "the flow is paused");
        if flow.in_flight() == 0 {
            flow.progress_ps = fabric.now;
        }
        let (seq, payload, again) = flow.take_packet(self.setup.frame.payload.0);
        self.stats.retransmitted += u64::from(again);
        // Written where it stays: a copy would read wide words just after narrow ones are written.
        let id = fabric.packets.take_place();
        let packet = &mut fabric.packets[id];
        *packet = Packet::new(Kind::Data, payload as u16 + self.overhead);
        let left = flow.start.bytes - seq - payload;
        packet.as_data_mut().set(seq, fabric.now, left);
        packet.flow = flow.start.id.0 as u32;
        packet.src = flow.start.src.0;
        packet.dst = flow.start.dst.0;
        packet.label = flow.start.label;
        packet.sender = sender;
        packet.queue = flow.queue.unwrap_or(flow.start.class);
        packet.flags = flow.flags;
        if flow.has_progressed() {
            packet.flags |= flag::PROGRESSED;
        }
        match self.carries {
            Carries::Nothing => {}
            Carries::Int => packet.record = fabric.records.add_stack(),
            Carries::Pint => packet.record = fabric.records.add_code(),
            Carries::Xcp => {
                let (path, control) = (&self.paths[flow.path], &self.controls[sender as usize]);
                let header = control.xcp_header(path, packet.wire_bytes);
                packet.record = fabric.records.add_header(header);
            }
        }
        flow.last_wire_bytes = u64::from(packet.wire_bytes);
        if self.setup.transport.pacing {
            let bound = self.setup.transport.rate_bound;
            let rate = if bound { flow.pace.rate } else { self.paths[flow.path].line_rate };
            flow.next_avail = fabric.now + fabric.time_at(rate, flow.last_wire_bytes);
        }
        let path = &self.paths[flow.path];
        self.controls[sender as usize].on_sent(path, flow.last_wire_bytes, &mut flow.pace);
        if !self.sends_plainly {
            if self.checks.is_some() {
                self.check_sent(fabric, sender, id, (seq, payload, again));
            } else {
                self.prepare(fabric, sender, id, (seq, payload, again));
            }
        }
        id
    }

    /// What flow controls, TCP and receiver-driven transports do with a packet that leaves: its
    /// first byte, its payload, and whether it is a retransmission.
    #[inline(never)]
    pub(super) fn prepare(
        &mut self,
        fabric: &mut Fabric,
        sender: u32,
        id: u32,
        (seq, payload, again): (u64, u64, bool),
    ) {
        let mut copy = fabric.packets[id];
        let packet = &mut copy;
        let flow = &mut self.flows[sender as usize];
        let path = &self.paths[flow.path];
        if let Some(config) = &self.setup.onramp {
            let state = &mut self.onramps[sender as usize];
            flow.paused_until = state.on_sent(config, path, fabric.now, flow.last_wire_bytes);
        }
        if let Some(tcp) = &self.tcp {
            tcp.on_sent(fabric, sender, flow, (seq + payload, payload, again));
            // Streams always use TCP, so only TCP flows need this check.
            if flow.is_opening() {
                // A flow takes its SYN from what it has lost. Timeouts count those sent again.
                self.stats.retransmitted -= 1;
                Self::make_opening(packet);
            } else if flow.open {
                self.send_segment(fabric, sender, packet);
            }
        }
        if self.receiver_driven.is_some() {
            self.send_driven(sender, packet, payload);
        }
        fabric.packets[id] = copy;
    }

    /// After sending, a flow waits for its next turn, for pacing, or for an acknowledgement.
    #[inline(always)]
    fn after_sending(&mut self, fabric: &mut Fabric, sender: u32) {
        if let Some(queue) = self.queue_after_sending(fabric, sender) {
            let nic = self.flows[sender as usize].nic;
            self.nics[nic as usize].ring(&mut self.flows, sender, queue);
        }
    }

    /// The queue in which a flow waits for its next turn after sending. `None` if it waits for
    /// pacing or for an acknowledgement.
    #[inline(always)]
    pub(super) fn queue_after_sending(&mut self, fabric: &mut Fabric, sender: u32) -> Option<u8> {
        let flow = &self.flows[sender as usize];
        if !flow.may_send() {
            self.leave_queue(fabric, sender);
            return None;
        }
        let nic = &self.nics[flow.nic as usize];
        let idle_at = fabric.now + fabric.duration(nic.port, flow.last_wire_bytes);
        if flow.ready_at() <= idle_at {
            return Some(flow.queue.unwrap_or(flow.start.class));
        }
        fabric.wheel.arm(flow.pace_timer, flow.ready_at());
        None
    }

    /// Releases the NIC queue of a flow without data to send. If it has to retransmit later, it
    /// gets another queue.
    pub(super) fn leave_queue(&mut self, fabric: &mut Fabric, sender: u32) {
        let flow = &mut self.flows[sender as usize];
        if !flow.has_data() {
            if let Some(queue) = flow.queue.take() {
                self.nics[flow.nic as usize].release_queue(queue);
            }
            self.rest_flowtune(fabric, sender);
        }
        self.note_if_left(fabric, sender);
    }

    /// If a flow has no data to send any more, the program of its host hears of it.
    #[inline]
    pub(super) fn note_if_left(&mut self, fabric: &mut Fabric, sender: u32) {
        if self.programs.are_here() && !self.flows[sender as usize].has_data() {
            self.note_left(fabric, sender);
        }
    }

    /// Pacing allows a flow's next packet.
    pub fn on_pace(&mut self, fabric: &mut Fabric, sender: u32) {
        self.resume(fabric, sender);
    }

    /// A NIC with round robin by index searches again.
    pub fn on_index_timer(&mut self, fabric: &mut Fabric, nic: u32) {
        fabric.kick(self.nics[nic as usize].port);
    }
}
