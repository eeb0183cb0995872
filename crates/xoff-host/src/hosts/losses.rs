//! Loss detection without acknowledgements: timeouts, and drop notifications from switches.

use xoff_net::packet::{CONTROL_QUEUE, NONE};
use xoff_net::record::Record;
use xoff_net::{Fabric, Kind, Packet};

use super::Hosts;
use crate::flow::Sender;
use crate::receiver_driven::Driven;
use crate::recovery::Timeouts;
use crate::transport::TransportConfig;

/// The timeouts of flows without progress (ps).
#[derive(Clone, Copy, Debug)]
pub(super) struct RtoPolicy {
    /// Timeout with more than `few_bytes` in flight; 0: none.
    long: u64,
    /// Timeout with at most `few_bytes` in flight.
    short: u64,
    few_bytes: u64,
}

impl RtoPolicy {
    pub(super) fn new(transport: &TransportConfig, timeouts: Timeouts, payload: u64) -> Self {
        let long = transport.timeout.0;
        let low = transport.timeout_low.0;
        let two = timeouts == Timeouts::Two && low > 0;
        Self {
            long,
            short: if two { low } else { long },
            few_bytes: u64::from(transport.timeout_low_packets) * payload,
        }
    }

    /// Time of a flow's timeout (ps).
    fn deadline(self, flow: &Sender) -> u64 {
        let timeout = if flow.in_flight() <= self.few_bytes { self.short } else { self.long };
        flow.progress_ps + timeout
    }

    /// True if progress can shorten a flow's deadline: with few packets in flight the timeout is
    /// shorter.
    pub(super) fn varies(self) -> bool {
        self.short < self.long
    }
}

impl Hosts {
    /// Makes a flow's NIC check for timeouts no later than this flow's deadline.
    pub(super) fn watch(&mut self, fabric: &mut Fabric, sender: u32) {
        if self.rto_policy.long == 0 {
            return;
        }
        let flow = &self.flows[sender as usize];
        let timer = self.nics[flow.nic as usize].timers.timeout;
        let deadline = self.rto_policy.deadline(flow);
        if fabric.wheel.armed(timer).is_none_or(|armed| deadline < armed) {
            fabric.wheel.arm(timer, deadline);
        }
    }

    /// Checks a NIC's flows for timeouts. Deadlines mostly move back, and `watch` handles those
    /// that move forward. One event per NIC, at the earliest deadline, is therefore enough for any
    /// number of flows.
    pub fn on_timeout(&mut self, fabric: &mut Fabric, nic: u32) {
        let mut earliest = u64::MAX;
        for place in 0..self.nics[nic as usize].flows.len() {
            let sender = self.nics[nic as usize].flows[place];
            let flow = &mut self.flows[sender as usize];
            let waits = match &self.receiver_driven {
                Some(transport) => transport.waits(flow),
                None => flow.in_flight() > 0,
            };
            if !waits {
                flow.progress_ps = fabric.now;
            } else if self.rto_policy.deadline(flow) <= fabric.now {
                flow.progress_ps = fabric.now;
                fabric.hold(self.nics[nic as usize].port);
                match self.receiver_driven {
                    Some(_) => self.on_driven_timeout(fabric, sender),
                    None => flow.on_timeout(self.setup.frame.payload.0),
                }
                self.stats.timeouts += 1;
                if let Some(state) = self.onramps.get_mut(sender as usize) {
                    state.on_timeout();
                }
                self.make_ready(fabric, sender);
            }
            earliest = earliest.min(self.rto_policy.deadline(&self.flows[sender as usize]));
        }
        if earliest != u64::MAX {
            fabric.wheel.arm(self.nics[nic as usize].timers.timeout, earliest);
        }
    }

    /// A switch dropped a packet and notified its sender (perfect recovery). A dropped
    /// acknowledgement is sent again unchanged: if acknowledgements can be lost, nothing else would
    /// replace a flow's last.
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
