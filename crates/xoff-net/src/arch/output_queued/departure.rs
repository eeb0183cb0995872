//! A packet's transmission starts: what is noted of it, and what it gets.

use super::{InBand, Memory};
use crate::balance::{Balancer, each_balancer};
use crate::fabric::{Fabric, Passage};
use crate::sched::Common;

impl Memory {
    /// A packet's transmission starts on the port with fabric number `own`.
    #[inline(always)]
    pub(super) fn depart(
        &mut self,
        fabric: &mut Fabric,
        own: u32,
        id: u32,
        common: &Common,
        more: bool,
    ) {
        if self.begin(fabric.at(own, id), id, common) {
            fabric.finish(own, id, true, more);
        } else {
            self.depart_aside(fabric, own, id, common, more);
        }
    }

    /// A packet's transmission begins. Returns false if the rest is left to
    /// [`depart_aside`](Self::depart_aside).
    #[inline(always)]
    pub(super) fn begin(&mut self, mut passage: Passage<'_>, id: u32, common: &Common) -> bool {
        passage.packet.depart(passage.now, &mut self.digest);
        if self.writes {
            if !matches!(self.in_band, InBand::Int) {
                return false;
            }
            passage.push_hop(common.total_bytes());
        }
        passage.start(id)
    }

    /// A packet's transmission starts that takes more than posting its arrival.
    #[inline(never)]
    pub(super) fn depart_aside(
        &mut self,
        fabric: &mut Fabric,
        own: u32,
        id: u32,
        common: &Common,
        more: bool,
    ) {
        let egress = (own - self.first_port) as u16;
        self.in_band.measure(fabric, egress, id, common.total_bytes());
        if let Some(balancer) = &mut self.balancer {
            let (now, packet) = (fabric.now, &mut fabric.packets[id]);
            each_balancer!(&mut **balancer, balancer =>
                balancer.on_departure(now, egress, id, packet));
        }
        fabric.finish(own, id, false, more);
    }
}
