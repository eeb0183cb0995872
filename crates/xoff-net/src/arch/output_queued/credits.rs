//! Credits in an output-queued switch: each port shapes the credits it sends, and sends them first.
//!
//! A credit takes its tokens when its transmission starts. Until then it waits in the port's credit
//! queue. Once the bucket has tokens and nothing is ahead of it at the port, it joins the control
//! queue, from which the port picks at the end of this instant.

use super::OutputQueued;
use crate::credit::CreditQueue;
use crate::fabric::Fabric;

impl OutputQueued {
    /// A credit has arrived for port `egress`. Returns it if the queue is full.
    #[inline(never)]
    pub(super) fn on_credit(&mut self, fabric: &mut Fabric, egress: u16, id: u32) -> Option<u32> {
        let own = self.memory.first_port + u32::from(egress);
        let credits = &mut self.credits[egress as usize];
        let idle = fabric.busy_until(own) <= fabric.now
            && self.egress[egress as usize].common.control.is_empty();
        if idle && credits.pass(fabric.now, fabric.packets[id].wire_bytes) {
            return self.enqueue_control(fabric, egress, id);
        }
        if !credits.push(&mut fabric.packets, id) {
            self.memory.lose(fabric, id);
            return Some(id);
        }
        if credits.waiting() == 1 {
            self.release_credits(fabric, egress);
        }
        None
    }

    /// Sends the credits of port `egress` that may leave, and sets the timer for the next one.
    pub(super) fn release_credits(&mut self, fabric: &mut Fabric, egress: u16) {
        let own = self.memory.first_port + u32::from(egress);
        loop {
            let credits = &mut self.credits[egress as usize];
            let Some(ready) = credits.ready_at(&fabric.packets) else { return };
            let before = u64::from(self.egress[egress as usize].common.control.bytes());
            let idle_at = fabric.busy_until(own).max(fabric.now) + fabric.duration(own, before);
            let due = ready.max(idle_at);
            if due > fabric.now {
                fabric.wheel.arm(self.first_timer + u32::from(egress), due);
                return;
            }
            let Some(id) = credits.pop(&fabric.packets, fabric.now) else { return };
            // Only headers can find the control queue full, and schemes with credits do not trim.
            self.enqueue_control(fabric, egress, id);
        }
    }

    /// Lets the credits of port `egress` leave at the rate of their data, which arrives there at
    /// `rate` (bit/s) from now on.
    pub(super) fn pace_credits(&mut self, fabric: &mut Fabric, egress: u16, rate: u64) {
        let Some(credits) = self.credits.get_mut(egress as usize) else { return };
        credits.set_period(fabric.now, fabric.time_at(rate, credits.bytes_per_credit()));
        self.release_credits(fabric, egress);
    }

    /// The credit queue of each port, if there are credits.
    #[must_use]
    pub fn credits(&self) -> &[CreditQueue] {
        &self.credits
    }
}

#[cfg(test)]
mod tests;
