//! How senders learn of losses otherwise than by an acknowledgement: timeouts, and switches that say
//! what they dropped.

use xoff_net::packet::{CONTROL_QUEUE, NONE};
use xoff_net::telemetry::IntStack;
use xoff_net::{Fabric, Kind, Packet};

use super::Hosts;

impl Hosts {
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
}
