//! What a receiver-driven transport sees of its hosts while it acts, and what it asks of them.

use xoff_core::TimerId;
use xoff_net::Fabric;
use xoff_net::fabric::phase;
use xoff_net::packet::Packet;

use crate::flow::Sender;
use crate::hosts::HostStats;
use crate::nic::Nic;

/// What hosts are asked for. It is done when the transport has spoken, in the order it asked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wish {
    /// Send a packet ahead of all data.
    Send {
        /// From this host.
        nic: u32,
        /// This packet.
        packet: u32,
    },
    /// All bytes of a flow have come.
    Arrived {
        /// To this host.
        nic: u32,
        /// The flow's number, as packets have it.
        flow: u32,
    },
    /// A flow may send again.
    Resume(u32),
    /// All bytes of a flow are acknowledged.
    Finish {
        /// This one.
        id: u32,
        /// When the last of them came (ps).
        received_ps: u64,
    },
}

/// The hosts of a partition, to a transport that acts.
#[derive(Debug)]
pub struct Desk<'a> {
    /// Clock, timers and packets.
    pub fabric: &'a mut Fabric,
    /// All hosts.
    pub nics: &'a mut [Nic],
    /// The senders of all flows.
    pub flows: &'a mut [Sender],
    /// What hosts count.
    pub stats: &'a mut HostStats,
    pub(crate) wishes: &'a mut Vec<Wish>,
    /// The tag of the transport's timers, without their numbers.
    pub(crate) timer_tag: u32,
}

impl Desk<'_> {
    /// The flow a packet is for, unless it has ended and another one has its number.
    #[must_use]
    pub fn sender_of(&self, packet: &Packet) -> Option<u32> {
        sender_of(self.flows, packet)
    }

    /// Sends a packet from host `nic` ahead of all data, as soon as the port can.
    pub fn send(&mut self, nic: u32, packet: u32) {
        self.wishes.push(Wish::Send { nic, packet });
    }

    /// All bytes of a flow have come to host `nic`, perhaps not for the first time.
    pub fn arrived(&mut self, nic: u32, flow: u32) {
        self.wishes.push(Wish::Arrived { nic, flow });
    }

    /// Flow `id` may be able to send again.
    pub fn resume(&mut self, id: u32) {
        self.wishes.push(Wish::Resume(id));
    }

    /// All bytes of flow `id` are acknowledged; the last of them came at `received_ps`.
    pub fn finish(&mut self, id: u32, received_ps: u64) {
        self.stats.acknowledged += 1;
        self.wishes.push(Wish::Finish { id, received_ps });
    }

    /// A timer for the receiver's half of the flow of this number, as the run counts. It is due with a
    /// number of the transport's own choice, which must not be that of a host whose timer it uses.
    pub fn add_receiver_timer(&mut self, flow: u64, number: u32) -> TimerId {
        self.fabric.wheel.add_timer(receiver_rank(flow), self.timer_tag + number)
    }

    /// Such a timer is from now on that of another flow.
    pub fn hand_over_receiver_timer(&mut self, timer: TimerId, flow: u64) {
        self.fabric.wheel.set_rank(timer, receiver_rank(flow));
    }
}

/// Behind the timers of the flow's sender, which rank by the same number.
fn receiver_rank(flow: u64) -> u64 {
    phase::TIMER | ((flow << 2 | 3) & ((1 << 59) - 1))
}

/// The flow a packet is for, unless it has ended and another one has its number.
#[inline]
pub(crate) fn sender_of(flows: &[Sender], packet: &Packet) -> Option<u32> {
    let flow = flows.get(packet.sender as usize)?;
    (flow.alive && flow.start.id as u32 == packet.flow).then_some(packet.sender)
}
