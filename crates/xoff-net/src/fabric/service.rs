//! Ports that keep a packet until its last bit has been sent, as simulators with an event at the
//! end of each service do. Whatever is decided about the packet then sees the queue that it leaves.
//!
//! With events in the order of setting, a link then also has one event at a time, for its first
//! packet: the next one is set when that has arrived. This is the order of htsim's events.
//!
//! Such a port uses the path of packets for another partition, which checks here. Other ports need
//! no check.

use std::collections::VecDeque;

use xoff_core::Event;

use super::Fabric;
use super::far_end::{IN_SEQUENCE, KEEPS};
use crate::packet::NONE;

/// A port that keeps its packet.
#[derive(Clone, Debug)]
pub(super) struct Service {
    /// The other end's partition, or NONE or IN_SEQUENCE for this one.
    partition: u32,
    /// The packet in service, or NONE.
    pub(super) packet: u32,
    /// A host's port, at which nothing is decided about a packet that has been sent.
    of_host: bool,
    /// With events in the order of setting: the packets on the link, with their arrivals (ps).
    pub(super) link: VecDeque<(u64, u32)>,
}

/// The ports that keep their packets, by number; empty if there are none.
#[derive(Debug, Default)]
pub(super) struct Services(pub(super) Vec<Option<Service>>);

impl Services {
    fn of(&mut self, port: u32) -> Option<&mut Service> {
        self.0.get_mut(port as usize)?.as_mut()
    }
}

impl Fabric {
    /// A port keeps each packet until `release` from now on. A host's port releases it by itself.
    pub fn keep_in_service(&mut self, port: u32, of_host: bool) {
        let partition = std::mem::replace(&mut self.ports[port as usize].partition, KEEPS);
        let services = &mut self.services.0;
        services.resize(services.len().max(port as usize + 1), None);
        let link = VecDeque::new();
        services[port as usize] = Some(Service { partition, packet: NONE, of_host, link });
    }

    /// A packet begins its service. The port is asked at its end.
    #[cold]
    pub(super) fn serve(&mut self, port: u32, id: u32) {
        if let Some(service) = self.services.of(port) {
            debug_assert!(service.packet == NONE, "the last packet was released");
            service.packet = id;
        }
        let state = &self.ports[port as usize];
        if !state.waking && self.sequence.is_none() {
            self.post_wake(port);
        }
    }

    /// The packet in service on a port, if it keeps its packets and has one.
    #[must_use]
    pub fn in_service(&self, port: u32) -> Option<u32> {
        let service = self.services.0.get(port as usize)?.as_ref()?;
        (service.packet != NONE).then_some(service.packet)
    }

    /// The packet in service has been sent: it is on its way.
    pub fn release(&mut self, port: u32) {
        let Some(service) = self.services.of(port) else { return };
        let (partition, id) = (service.partition, std::mem::replace(&mut service.packet, NONE));
        let state = &self.ports[port as usize];
        let (time, tag) = (self.now + state.delay, state.arrival_tag);
        if partition < IN_SEQUENCE {
            self.hand_over(port, partition, id, time);
            return;
        }
        if self.sequence.is_none() {
            let rank = state.arrival_rank;
            self.wheel.post(Event { time, rank, tag, item: id });
            return;
        }
        service.link.push_back((time, id));
        if service.link.len() == 1 {
            self.post_first_arrival(port);
        }
    }

    /// Sets the arrival of the first packet on a link, and the event after it.
    fn post_first_arrival(&mut self, port: u32) {
        let (Some(service), Some(sequence)) = (self.services.of(port), &mut self.sequence) else {
            return;
        };
        let Some(&(time, item)) = service.link.front() else { return };
        let (rank, tag) = (sequence.next(self.now), self.ports[port as usize].arrival_tag);
        self.wheel.post(Event { time, rank, tag, item });
        let (rank, tag) = (sequence.next(self.now), self.tags.next_arrival);
        self.wheel.post(Event { time, rank, tag, item: port });
    }

    /// The first packet on a port's link has arrived.
    #[cold]
    pub fn on_first_arrived(&mut self, port: u32) {
        if let Some(service) = self.services.of(port) {
            service.link.pop_front();
        }
        self.post_first_arrival(port);
    }

    /// The last bit of a packet has been sent. Returns whether the port can be asked now.
    #[cold]
    pub fn on_sent(&mut self, port: u32) -> bool {
        if self.services.of(port).is_some_and(|service| service.of_host) {
            self.release(port);
        }
        self.wake(port)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Instants;
    use super::super::tests::{pair, pair_with};
    use crate::packet::{Kind, Packet};

    #[test]
    fn a_kept_packet_is_on_its_way_once_it_is_released() {
        let mut fabric = pair();
        fabric.keep_in_service(0, false);
        let id = fabric.packets.insert(Packet::new(Kind::Data, 1000));
        fabric.transmit(0, id, false);
        assert_eq!(fabric.in_service(0), Some(id));
        let wake = fabric.wheel.pop_before(u64::MAX).unwrap();
        assert_eq!((wake.time, wake.tag), (80_000, 10));
        fabric.now = wake.time;
        assert!(fabric.wake(0));
        fabric.release(0);
        assert_eq!(fabric.in_service(0), None);
        let arrival = fabric.wheel.pop_before(u64::MAX).unwrap();
        assert_eq!((arrival.time, arrival.tag, arrival.item), (1_080_000, 1, id));
    }

    /// The second packet's arrival is set when the first one has arrived.
    #[test]
    fn in_the_order_of_setting_a_link_has_one_event_at_a_time() {
        let mut fabric = pair_with(Instants::AsSet);
        fabric.keep_in_service(0, true);
        for end in [80_000, 160_000] {
            let id = fabric.packets.insert(Packet::new(Kind::Data, 1000));
            fabric.transmit(0, id, false);
            let sent = fabric.wheel.pop_before(u64::MAX).unwrap();
            assert_eq!((sent.time, sent.tag), (end, 98));
            fabric.now = end;
            assert!(fabric.on_sent(0));
        }
        for time in [1_080_000, 1_160_000] {
            for tag in [1, 99] {
                let event = fabric.wheel.pop_before(u64::MAX).unwrap();
                assert_eq!((event.time, event.tag), (time, tag));
            }
            fabric.now = time;
            fabric.on_first_arrived(0);
        }
        assert_eq!(fabric.wheel.pop_before(u64::MAX), None);
    }
}
