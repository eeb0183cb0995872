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
    pub(super) long: u64,
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

    /// The shortest timeout.
    fn shortest(self) -> u64 {
        self.short.min(self.long)
    }

    /// Time of a flow's timeout (ps).
    fn deadline(self, flow: &Sender) -> u64 {
        let timeout = if flow.in_flight() <= self.few_bytes { self.short } else { self.long };
        flow.progress_ps + timeout
    }
}

impl Hosts {
    /// Makes a flow's NIC look for timeouts. A new flow's deadline is at least the shortest timeout
    /// away, so a NIC that already looks will look in time.
    pub(super) fn watch(&mut self, fabric: &mut Fabric, sender: u32) {
        let nic = self.flows[sender as usize].nic as usize;
        let Some(deadlines) = self.deadlines.get_mut(nic) else { return };
        if deadlines.is_idle() {
            let first = fabric.now + self.rto_policy.shortest();
            deadlines.look_at_all(Some(first));
            fabric.wheel.arm(self.nics[nic].timers.timeout, first);
        }
    }

    /// Looks for timeouts among a NIC's flows.
    pub fn on_timeout(&mut self, fabric: &mut Fabric, nic: u32) {
        let index = nic as usize;
        while let Some((id, sender)) = self.deadlines[index].take(fabric.now) {
            let flow = &self.flows[sender as usize];
            // Its slot may have another flow by now. A look notes that a flow waits for nothing,
            // so a look at that one would depend on the numbers of slots.
            if flow.alive && flow.start.id == id {
                let deadline = self.look_at(fabric, sender);
                self.deadlines[index].add(deadline, id, sender);
            }
        }
        if self.deadlines[index].all_are_due(fabric.now) {
            let flows = self.nics[index].flows.len();
            let next = fabric.now + self.rto_policy.shortest();
            self.deadlines[index].look_at_all((flows > 0).then_some(next));
            for place in 0..flows {
                let sender = self.nics[index].flows[place];
                let deadline = self.look_at(fabric, sender);
                let id = self.flows[sender as usize].start.id;
                self.deadlines[index].add(deadline, id, sender);
            }
        }
        if let Some(next) = self.deadlines[index].next() {
            fabric.wheel.arm(self.nics[index].timers.timeout, next);
        }
    }

    /// Times a flow out if it is due. Returns its deadline.
    #[inline]
    fn look_at(&mut self, fabric: &mut Fabric, sender: u32) -> u64 {
        let flow = &mut self.flows[sender as usize];
        let waits = match &self.receiver_driven {
            Some(transport) => transport.waits(flow),
            None => flow.in_flight() > 0,
        };
        if !waits {
            flow.progress_ps = fabric.now;
        }
        let deadline = self.rto_policy.deadline(flow);
        if deadline > fabric.now {
            return deadline;
        }
        self.time_out(fabric, sender);
        self.rto_policy.deadline(&self.flows[sender as usize])
    }

    fn time_out(&mut self, fabric: &mut Fabric, sender: u32) {
        let flow = &mut self.flows[sender as usize];
        flow.progress_ps = fabric.now;
        fabric.hold(self.nics[flow.nic as usize].port);
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
            let nic = self.link_of_packet(nic, packet);
            let state = &mut self.nics[nic as usize];
            state.acks.push(&mut fabric.packets, id);
            self.stats.repeated_acks += 1;
            fabric.kick(state.port);
            return;
        }
        let Some(sender) = self.sender_of(packet) else { return };
        let payload = u64::from(packet.wire_bytes - self.overhead);
        self.flows[sender as usize].lose(packet.as_data().offset(), payload);
        self.make_ready(fabric, sender);
    }
}
