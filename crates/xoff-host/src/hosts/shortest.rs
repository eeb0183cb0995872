//! Shortest-first scheduling at a NIC.

use xoff_net::Fabric;

use super::Hosts;

impl Hosts {
    /// Lets a flow wait for its turn, now or when pacing allows, if it may send. Updates the key of
    /// a flow that already waits.
    pub(super) fn wait_by_size(&mut self, fabric: &mut Fabric, sender: u32) {
        let flow = &mut self.flows[sender as usize];
        let nic = &mut self.nics[flow.nic as usize];
        let shortest = &mut self.shortest[flow.nic as usize];
        if flow.ringing {
            let queue = flow.queue.unwrap_or(flow.start.class);
            shortest.reorder(&mut self.flows, sender, queue);
            return;
        }
        if !flow.may_send() {
            return;
        }
        let queue = nic.queue_of(flow);
        // A busy port checks its flows only when it is idle again.
        if flow.ready_at() <= fabric.now.max(fabric.busy_until(nic.port)) {
            shortest.wait(nic, &mut self.flows, sender, queue);
            fabric.kick(nic.port);
        } else {
            fabric.wheel.arm(flow.pace_timer, flow.ready_at());
        }
    }

    /// Selects the next packet of a NIC.
    #[inline(never)]
    pub(super) fn pick_shortest(&mut self, fabric: &mut Fabric, nic: u32) -> Option<u32> {
        loop {
            let turn = &mut self.shortest[nic as usize];
            let sender = turn.take(&mut self.nics[nic as usize], &mut self.flows)?;
            if !self.keeps_turn(fabric, sender) {
                continue;
            }
            let packet = self.send_data(fabric, sender);
            if let Some(queue) = self.queue_after_sending(fabric, sender) {
                let own = &mut self.nics[nic as usize];
                self.shortest[nic as usize].wait(own, &mut self.flows, sender, queue);
            }
            return Some(packet);
        }
    }
}
