//! How senders learn of losses otherwise than by an acknowledgement: timeouts, and switches that say
//! what they dropped.

use xoff_net::packet::{CONTROL_QUEUE, NONE};
use xoff_net::record::Record;
use xoff_net::{Fabric, Kind, Packet};

use super::Hosts;
use crate::driven::Driven;
use crate::flow::Sender;
use crate::transport::{Recovery, TransportConfig};

/// How long a flow may be without progress (ps).
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Of a flow with more than `few_bytes` in flight; 0: for ever.
    long: u64,
    /// Of one with no more.
    short: u64,
    few_bytes: u64,
}

impl Patience {
    pub(super) fn new(transport: &TransportConfig, payload: u64) -> Self {
        let long = transport.timeout.0;
        let low = transport.timeout_low.0;
        let two = transport.recovery == Recovery::SelectiveRepeat && low > 0;
        Self {
            long,
            short: if two { low } else { long },
            few_bytes: u64::from(transport.timeout_low_packets) * payload,
        }
    }

    /// When a flow's timeout comes (ps).
    fn deadline(self, flow: &Sender) -> u64 {
        let patience = if flow.in_flight() <= self.few_bytes { self.short } else { self.long };
        flow.progress_ps + patience
    }

    /// Whether progress can bring a flow's deadline forward: with few packets in flight it has less
    /// time than with many.
    pub(super) fn varies(self) -> bool {
        self.short < self.long
    }
}

impl Hosts {
    /// Lets a flow's NIC look at its timeouts no later than at this flow's.
    pub(super) fn watch(&mut self, fabric: &mut Fabric, id: u32) {
        if self.patience.long == 0 {
            return;
        }
        let flow = &self.flows[id as usize];
        let timer = self.nics[flow.nic as usize].timers.timeout;
        let deadline = self.patience.deadline(flow);
        if fabric.wheel.armed(timer).is_none_or(|armed| deadline < armed) {
            fabric.wheel.arm(timer, deadline);
        }
    }

    /// A NIC checks which of its flows made no progress for too long. A deadline mostly moves back,
    /// and `watch` sees to it when one comes forward, so one event a NIC that looks again at the
    /// earliest is enough for any number of flows.
    pub fn on_timeout(&mut self, fabric: &mut Fabric, nic: u32) {
        let mut earliest = u64::MAX;
        for place in 0..self.nics[nic as usize].flows.len() {
            let id = self.nics[nic as usize].flows[place];
            let flow = &mut self.flows[id as usize];
            let waits = match &self.driven {
                Some(driven) => driven.waits(flow),
                None => flow.in_flight() > 0,
            };
            if !waits {
                flow.progress_ps = fabric.now;
            } else if self.patience.deadline(flow) <= fabric.now {
                flow.progress_ps = fabric.now;
                fabric.hold(self.nics[nic as usize].port);
                match self.driven {
                    Some(_) => self.on_driven_timeout(fabric, id),
                    None => flow.on_timeout(self.setup.frame.payload.0),
                }
                self.stats.timeouts += 1;
                if let Some(state) = self.onramps.get_mut(id as usize) {
                    state.on_timeout();
                }
                self.make_ready(fabric, id);
            }
            earliest = earliest.min(self.patience.deadline(&self.flows[id as usize]));
        }
        if earliest != u64::MAX {
            fabric.wheel.arm(self.nics[nic as usize].timers.timeout, earliest);
        }
    }

    /// A switch dropped a packet and has told its sender (perfect recovery). An acknowledgement is
    /// sent again as it was: where it can be lost, nothing else would replace a flow's last.
    pub fn on_loss(
        &mut self,
        fabric: &mut Fabric,
        nic: u32,
        packet: &Packet,
        record: Option<&Record>,
    ) {
        if packet.kind != Kind::Data {
            let mut again = *packet;
            again.record = record.map_or(NONE, |record| fabric.records.insert(record));
            again.queue = CONTROL_QUEUE;
            let id = fabric.packets.insert(again);
            let state = &mut self.nics[nic as usize];
            state.acks.push(&mut fabric.packets, id);
            self.stats.retransmitted += 1;
            fabric.kick(state.port);
            return;
        }
        let Some(sender) = self.sender_of(packet) else { return };
        let payload = u64::from(packet.wire_bytes - self.overhead);
        self.flows[sender as usize].lose(packet.as_data().offset(), payload);
        self.make_ready(fabric, sender);
    }
}
