//! A receiver-driven transport's access to its hosts during a call, and its requested actions.

use xoff_core::TimerId;
use xoff_net::Fabric;
use xoff_net::packet::Packet;
use xoff_net::phase;

use crate::flow::Sender;
use crate::nic::Nic;
use crate::stats::HostStats;

/// An action for the hosts. Actions are executed after the call, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// Send a packet ahead of all data.
    Send {
        /// The sending host.
        nic: u32,
        /// The packet.
        packet: u32,
    },
    /// All bytes of a flow have arrived.
    Arrived {
        /// The receiving host.
        nic: u32,
        /// The flow's number in packets.
        flow: u32,
    },
    /// The flow of the sender with this index may send again.
    Resume(u32),
    /// All bytes of a flow are acknowledged.
    Finish {
        /// Index of the flow's sender.
        sender: u32,
        /// Time of arrival of the last byte (ps).
        received_ps: u64,
    },
}

/// The hosts of a partition, during a call of the transport.
#[derive(Debug)]
pub struct TransportContext<'a> {
    /// Clock, timers and packets.
    pub fabric: &'a mut Fabric,
    /// All NICs.
    pub nics: &'a mut [Nic],
    /// The senders of all flows.
    pub flows: &'a mut [Sender],
    /// Counters of the hosts.
    pub stats: &'a mut HostStats,
    pub(crate) actions: &'a mut Vec<Action>,
    /// Base tag of the transport's timers; their numbers are added to it.
    pub(crate) timer_tag: u32,
}

impl TransportContext<'_> {
    /// The flow that a packet is for, unless the flow has ended and its slot was reused.
    #[must_use]
    pub fn sender_of(&self, packet: &Packet) -> Option<u32> {
        sender_of(self.flows, packet)
    }

    /// Sends a packet from host `nic` ahead of all data, as soon as the port is free.
    pub fn send(&mut self, nic: u32, packet: u32) {
        self.actions.push(Action::Send { nic, packet });
    }

    /// Reports that all bytes of a flow have arrived at host `nic`, perhaps not for the first time.
    pub fn arrived(&mut self, nic: u32, flow: u32) {
        self.actions.push(Action::Arrived { nic, flow });
    }

    /// Reports that the flow of this sender may be able to send again.
    pub fn resume(&mut self, sender: u32) {
        self.actions.push(Action::Resume(sender));
    }

    /// Reports that all bytes of this sender's flow are acknowledged; the last of them arrived at
    /// `received_ps`.
    pub fn finish(&mut self, sender: u32, received_ps: u64) {
        self.stats.acknowledged += 1;
        self.actions.push(Action::Finish { sender, received_ps });
    }

    /// Adds a timer for the receiver's half of the flow with this id in the run. It fires with
    /// `number`, which the transport chooses and which must differ from the numbers of its hosts.
    pub fn add_receiver_timer(&mut self, flow: u64, number: u32) -> TimerId {
        self.fabric.wheel.add_timer(receiver_rank(flow), self.timer_tag + number)
    }

    /// Assigns such a timer to another flow.
    pub fn hand_over_receiver_timer(&mut self, timer: TimerId, flow: u64) {
        self.fabric.wheel.set_rank(timer, receiver_rank(flow));
    }
}

/// Ranks after the timers of the flow's sender, which rank by the same id.
fn receiver_rank(flow: u64) -> u64 {
    phase::TIMER | ((flow << 2 | 3) & phase::NUMBERS)
}

/// The flow that a packet is for, unless the flow has ended and its slot was reused.
#[inline]
pub(crate) fn sender_of(flows: &[Sender], packet: &Packet) -> Option<u32> {
    let flow = flows.get(packet.sender as usize)?;
    (flow.alive && flow.start.id.0 as u32 == packet.flow).then_some(packet.sender)
}
