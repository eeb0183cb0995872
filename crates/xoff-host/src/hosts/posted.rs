//! Flows that post packets to their NIC ([`Posted`](crate::nic::Posted)).

use xoff_net::Fabric;

use super::Hosts;
use crate::nic::Next;

impl Hosts {
    /// A flow posts as many packets as its window allows, up to the limit. The caller asks the
    /// port.
    pub(super) fn post(&mut self, fabric: &mut Fabric, sender: u32) {
        let flow = &self.flows[sender as usize];
        if !flow.alive {
            return;
        }
        // The NIC itself keeps packets at the rate of its link apart.
        let paced = flow.pace.rate < self.paths[flow.path].line_rate;
        let ready_at = if paced { flow.ready_at() } else { flow.paused_until };
        if ready_at > fabric.now {
            if flow.may_send() {
                fabric.wheel.arm(flow.pace_timer, ready_at);
            }
            return;
        }
        let posted = &mut self.posted[flow.nic as usize];
        let id = flow.start.id.0 as u32;
        let serving = u8::from(posted.serving == Some(sender));
        let limit = self.setup.transport.posted_packets;
        let payload = self.setup.frame.payload.0;
        loop {
            let packets = posted.packets_of(id);
            if packets + serving >= limit || !flow.may_send_after(u64::from(packets) * payload) {
                break;
            }
            posted.post_data(id, sender);
        }
    }

    /// Posts an acknowledgement.
    #[cold]
    pub(super) fn post_ack(&mut self, fabric: &mut Fabric, nic: u32, id: u32) {
        let turns = self.posted_acks.get_mut(nic as usize);
        let posted = turns.unwrap_or(&mut self.posted[nic as usize]);
        posted.post_ack(&mut fabric.packets, id);
        fabric.kick(self.nics[nic as usize].port);
    }

    /// Selects the next packet of a NIC. The flow of the packet that has left posts another one
    /// after that.
    #[inline(never)]
    pub(super) fn pick_posted(&mut self, fabric: &mut Fabric, nic: u32) -> Option<u32> {
        loop {
            let posted = &mut self.posted[nic as usize];
            let left = posted.serving.take();
            let first = self.posted_acks.get_mut(nic as usize);
            let first = first.and_then(|acks| acks.take(&fabric.packets));
            let packet = match first.or_else(|| posted.take(&fabric.packets)) {
                Some(Next::Ack(id)) => Some(id),
                Some(Next::Data(sender)) if !self.flows[sender as usize].has_data() => None,
                Some(Next::Data(sender)) => {
                    posted.serving = Some(sender);
                    let packet = self.send_data(fabric, sender);
                    self.note_if_left(fabric, sender);
                    Some(packet)
                }
                None if left.is_none() => return None,
                None => None,
            };
            if let Some(sender) = left {
                self.post(fabric, sender);
            }
            if packet.is_some() {
                return packet;
            }
        }
    }
}
