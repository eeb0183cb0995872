//! The path from the forwarding engine through the crossbar to an egress queue.

use xoff_core::Event;

use super::islip::Match;
use super::{Crossbar, Destination, EgressOverflow};
use crate::arch::cioq::IngressQueued;
use crate::fabric::Fabric;
use crate::hop::IngressControl;
use crate::phase;

/// Part of the rank of packets that have passed the forwarding engine: they come after packets that
/// have crossed.
pub(super) const FORWARDED: u64 = 1 << 40;

const _: () = assert!(FORWARDED < phase::ARRIVAL, "packets inside a switch come before arrivals");

impl Crossbar {
    /// Posts the event that a packet has passed a stage at an input.
    #[inline]
    pub(super) fn post_stage(
        &self,
        fabric: &mut Fabric,
        time: u64,
        stage: u64,
        input: u16,
        id: u32,
    ) {
        let rank = stage | u64::from(self.first_id + u32::from(input));
        let tag = self.stage_tag + u32::from(input);
        fabric.wheel.post(Event { time, rank, tag, item: id });
    }

    /// The forwarding engine has found a packet's egress port. The packet waits for the crossbar.
    #[inline]
    pub(super) fn forward(
        &mut self,
        fabric: &mut Fabric,
        destinations: &[Destination],
        input: u16,
        id: u32,
    ) {
        let now = fabric.now;
        let packet = &mut fabric.packets[id];
        let class = packet.class().min(self.last_class);
        let output = self.io.route(packet, class, destinations);
        packet.queue = class;
        packet.time = now;
        self.queues.push(&mut fabric.packets, id, input, output, class);
        let idle = (self.free_inputs >> input) & (self.free_outputs >> output) & 1 == 1;
        if idle && self.open[output as usize] >> class & 1 == 1 {
            self.call_arbiter(fabric);
        }
    }

    /// Requests a matching. It is made when this instant ends, or now if nothing else happens.
    #[inline]
    pub(super) fn call_arbiter(&mut self, fabric: &mut Fabric) {
        if fabric.is_free(self.arbiter) {
            self.arbitrate(fabric);
        } else {
            fabric.kick(self.arbiter);
        }
    }

    /// Matches free inputs and outputs, and lets their packets cross.
    #[inline(never)]
    pub(super) fn arbitrate(&mut self, fabric: &mut Fabric) {
        let Self { islip, queues, open, matched, .. } = self;
        let outputs = self.free_outputs & queues.outputs();
        islip.arbitrate(self.free_inputs, outputs, queues.wanted(), open, |pair| {
            matched.push(pair);
        });
        while let Some(pair) = self.matched.pop() {
            self.cross(fabric, pair);
        }
    }

    /// A packet starts to cross. Its egress counts it from now on.
    #[inline]
    fn cross(&mut self, fabric: &mut Fabric, Match { input, output, class }: Match) {
        let (input, output) = (u16::from(input), u16::from(output));
        let id = self.queues.pop(&fabric.packets, input, output, class);
        let id = id.expect("iSlip matches inputs with packets");
        let bytes = fabric.packets[id].wire_bytes;
        self.free_inputs &= !(1 << input);
        self.free_outputs &= !(1 << output);
        self.crossing_to[input as usize] = output;
        self.held[output as usize] += u32::from(bytes);
        self.set_open(output);
        if let Some(adaptive) = &mut self.io.adaptive {
            adaptive.join(output, class, bytes);
        }
        let time = match self.line_ps_per_byte {
            0 => fabric.time_at(self.line_rate, u64::from(bytes)).max(1),
            whole => whole * u64::from(bytes),
        };
        self.post_stage(fabric, fabric.now + time, 0, input, id);
    }

    /// A packet has crossed: it joins its egress queue. Returns the packets that are dropped.
    #[inline]
    pub(super) fn on_crossed(&mut self, fabric: &mut Fabric, input: u16, id: u32) -> Option<u32> {
        let output = self.crossing_to[input as usize];
        self.free_inputs |= 1 << input;
        self.free_outputs |= 1 << output;
        let packet = &fabric.packets[id];
        if let Some(signal) = self.pfc.on_departure(input, packet.queue, packet.wire_bytes) {
            self.signal(fabric, signal);
        }
        let dropped = self.join_egress(fabric, output, id);
        if self.free_outputs & self.queues.outputs() != 0 {
            self.call_arbiter(fabric);
        }
        dropped
    }

    /// Finds the classes for which an egress has room: each leaves a full packet's room to every
    /// more important class. Returns whether there are more of them than before. An egress that
    /// drops packets is open to all classes.
    #[inline]
    pub(super) fn set_open(&mut self, output: u16) -> bool {
        if self.overflow != EgressOverflow::Hold {
            return false;
        }
        let room = self.egress_size - self.held[output as usize];
        let all = u8::MAX >> (7 - self.last_class);
        let open = if room >= (u32::from(self.last_class) + 1) * self.mtu {
            all
        } else {
            all & !(u8::MAX << (room / self.mtu))
        };
        let before = std::mem::replace(&mut self.open[output as usize], open);
        open & !before != 0
    }
}
