//! The packets that arrived last at each port, recorded while invariants are checked: a violation
//! reports them.
//!
//! Recorded arrivals have a tag of their own ([`tag::RECORDED`](crate::tag::RECORDED)), so that
//! others need no check. What a port sent last is what arrived last at the other end of its link,
//! and what is still on its way there.

use xoff_core::NodeId;
use xoff_net::{Kind, Packet};

use super::Partition;

/// Packets kept at a port: enough for a report, and some more, because a report may concern one
/// queue or flow.
const KEPT: usize = 32;
/// Ports of a network, at most: with more, nothing is kept. These take 66 MiB.
pub(crate) const PORTS_MAX: usize = 1 << 15;

/// In `Packet::next` of a recorded packet: it arrived, or its switch dropped it.
const ARRIVED: u32 = 0;
const DROPPED: u32 = 1;

/// The packets recorded last at a port.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    /// All that were recorded. Each takes the place of the one `KEPT` before it.
    count: u64,
    /// `Packet::time` is when it was recorded.
    packets: [Packet; KEPT],
}

impl Ring {
    #[inline]
    fn add(&mut self, now: u64, packet: &Packet, fate: u32) {
        let place = &mut self.packets[self.count as usize % KEPT];
        *place = *packet;
        place.time = now;
        place.next = fate;
        self.count += 1;
    }

    /// The packets that are kept, in the order of their recording.
    fn packets(&self) -> impl Iterator<Item = &Packet> {
        let kept = self.count.min(KEPT as u64);
        (self.count - kept..self.count).map(|number| &self.packets[number as usize % KEPT])
    }
}

impl Partition {
    /// Records arrivals from now on, if the network has few enough ports. The tags of the fabric's
    /// events must ask for it.
    pub(crate) fn record_arrivals(&mut self) {
        if self.topology.ports().len() <= PORTS_MAX {
            let ring = Ring { count: 0, packets: [Packet::new(Kind::Data, 0); KEPT] };
            self.recent = vec![ring; self.fabric.port_count()];
        }
    }

    /// Records a packet that arrives at a port now. Returns the port.
    #[cold]
    #[inline(never)]
    pub(super) fn record_arrival(&mut self, port: u32, id: u32) -> u32 {
        if let Some(ring) = self.recent.get_mut(port as usize) {
            ring.add(self.fabric.now, &self.fabric.packets[id], ARRIVED);
        }
        port
    }

    /// Records that a switch drops a packet now, if arrivals are recorded.
    pub(super) fn record_drop(&mut self, node: NodeId, id: u32) {
        let packet = &self.fabric.packets[id];
        let mut ports = self.topology.port_ids_of(node);
        let Some(ingress) = ports.nth(usize::from(packet.ingress)) else { return };
        // Ports have the order of the topology.
        let (mut from, mut to) = (0, self.recent.len() as u32);
        while from < to {
            let middle = from.midpoint(to);
            let is_before = self.fabric.port_id(middle) < ingress;
            (from, to) = if is_before { (middle + 1, to) } else { (from, middle) };
        }
        if let Some(ring) = self.recent.get_mut(from as usize) {
            ring.add(self.fabric.now, packet, DROPPED);
        }
    }

    /// The packets recorded last at a port, in the order of their recording, and whether they were
    /// dropped by its switch. `Packet::time` is when they arrived or were dropped.
    pub(crate) fn recent(&self, port: u32) -> impl Iterator<Item = (&Packet, bool)> {
        let ring = self.recent.get(port as usize);
        ring.into_iter().flat_map(Ring::packets).map(|packet| (packet, packet.next == DROPPED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_keeps_the_last_packets_in_order() {
        let mut ring = Ring { count: 0, packets: [Packet::new(Kind::Data, 0); KEPT] };
        assert_eq!(ring.packets().count(), 0);
        for time in 1..=40 {
            let fate = if time % 2 == 0 { DROPPED } else { ARRIVED };
            ring.add(time, &Packet::new(Kind::Data, 1000 + time as u16), fate);
            assert_eq!(ring.packets().count(), (time as usize).min(KEPT));
        }
        let kept: Vec<_> = ring.packets().map(|packet| (packet.time, packet.wire_bytes)).collect();
        assert_eq!(kept, (9..=40).map(|time| (time, 1000 + time as u16)).collect::<Vec<_>>());
        assert!(ring.packets().all(|packet| (packet.next == DROPPED) == (packet.time % 2 == 0)));
    }
}
