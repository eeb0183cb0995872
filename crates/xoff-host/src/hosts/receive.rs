//! Packets that arrive at a host: data is acknowledged, pauses are obeyed.

use xoff_net::packet::{CONTROL_QUEUE, NONE, flag};
use xoff_net::{Fabric, Kind};

use super::Hosts;
use crate::receiver::Received;
use crate::recovery::Reply;
use crate::tcp::SackBytes;

impl Hosts {
    /// Handles a packet that arrives at a host.
    #[inline]
    pub fn on_packet(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        if self.apart {
            self.on_apart(fabric, nic, id);
            return;
        }
        self.on_own_packet(fabric, nic, id);
    }

    /// The same for a transport whose senders decide.
    #[inline(always)]
    pub(super) fn on_own_packet(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        match fabric.packets[id].kind {
            Kind::Data if self.answers_plainly => self.on_data::<true>(fabric, nic, id),
            Kind::Data => self.on_data::<false>(fabric, nic, id),
            Kind::Segment => self.on_segment(fabric, nic, id),
            Kind::LinkControl => self.on_link_control(fabric, nic, id),
            Kind::Ack | Kind::Nack => self.on_ack(fabric, id),
            Kind::Notification => self.on_notification(fabric, id),
            Kind::BackToSender => self.on_back_to_sender(fabric, id),
            Kind::Request => self.on_opening(fabric, nic, id),
            kind @ (Kind::Trimmed | Kind::Returned | Kind::Pull | Kind::Credit) => {
                unreachable!("{kind:?} without a receiver-driven transport")
            }
        }
    }

    /// Handles a data packet: turns it into its acknowledgement, in place. `PLAIN` as
    /// [`answers_plainly`](Self::answers_plainly).
    #[inline(never)]
    fn on_data<const PLAIN: bool>(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        if !PLAIN && !self.intakes.is_empty() {
            self.take_in(fabric, nic, id);
        }
        let now = fabric.now;
        let packet = &mut fabric.packets[id];
        let payload = u64::from(packet.wire_bytes - self.overhead);
        self.nics[nic as usize].received_bytes += payload;
        let Received { reply, notify, end } = self.receivers.on_data(now, packet, payload);
        let (kind, seq, kept) = match reply {
            Reply::Ack(seq) => (Kind::Ack, seq, 0),
            Reply::Nack { expected, kept } => (Kind::Nack, expected, kept),
            Reply::Sack { expected, block } => (Kind::Nack, expected, block.to_bits()),
            Reply::Nothing => {
                if packet.record != NONE {
                    fabric.records.remove(packet.record);
                }
                fabric.packets.remove(id);
                return;
            }
        };
        std::mem::swap(&mut packet.src, &mut packet.dst);
        packet.label = packet.label.rotate_left(16);
        let sent = packet.as_data().sent_ps();
        let whole = seq == end;
        let flow = packet.flow;
        packet.kind = kind;
        let mut answer = packet.as_answer_mut();
        if whole {
            // The acknowledgement of all bytes carries the arrival time of the last one.
            answer.set_arrived(now);
        }
        answer.set(seq, kept);
        if !PLAIN && self.setup.onramp.is_some() && kind == Kind::Ack {
            answer.set_delay(now - sent);
        }
        packet.wire_bytes = self.ack_bytes;
        if !PLAIN && self.sack_bytes != SackBytes::None {
            packet.wire_bytes += self.sack_bytes.bytes(self.receivers.blocks(packet.flow));
        }
        packet.queue = CONTROL_QUEUE;
        packet.flags &= flag::MARKED | 7 << flag::CLASS_SHIFT;
        let class = packet.class();
        let from = if PLAIN { nic } else { self.link_of_packet(nic, &fabric.packets[id]) };
        let awaited = whole && self.await_arrivals();
        if awaited {
            // A flow that waits for this one may begin here.
            fabric.hold(self.nics[from as usize].port);
        }
        let state = &mut self.nics[from as usize];
        let stopped = self.setup.acks_obey_pauses && state.is_paused(class);
        let passage = fabric.at(state.port, id);
        if !PLAIN && !self.posted.is_empty() {
            self.post_ack(fabric, from, id);
            if notify {
                self.notify(fabric, from, id);
            }
        } else if !notify && !state.has_control() && !stopped && passage.is_free() {
            let (started, more) = state.depart(passage, id);
            fabric.finish(state.port, id, started, more);
        } else {
            state.acks.push(&mut fabric.packets, id);
            fabric.kick(state.port);
            if notify {
                self.notify(fabric, from, id);
            }
        }
        if awaited {
            self.on_arrived(fabric, from, flow);
        }
    }

    /// Sends a congestion notification after the acknowledgement. Few packets require one.
    #[cold]
    fn notify(&mut self, fabric: &mut Fabric, nic: u32, acknowledgement: u32) {
        let mut notification = fabric.packets[acknowledgement];
        notification.kind = Kind::Notification;
        notification.record = NONE;
        let id = fabric.packets.insert(notification);
        self.nics[nic as usize].acks.push(&mut fabric.packets, id);
    }

    /// Sends a packet through the control queue, which is never paused, as soon as the port is
    /// free.
    pub(super) fn send_control(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        fabric.packets[id].queue = CONTROL_QUEUE;
        let state = &mut self.nics[nic as usize];
        if state.acks.is_empty() && fabric.is_free(state.port) {
            self.depart(fabric, nic, id);
            return;
        }
        state.acks.push(&mut fabric.packets, id);
        fabric.kick(state.port);
    }
}
