//! Links that lose packets: links that are down, and links with random loss.
//!
//! A port with an impaired link uses the path of packets for another partition, which checks here.
//! Other ports need no check.

use xoff_core::{Event, Rng, math};

use super::Fabric;
use super::far_end::{IMPAIRED, IN_SEQUENCE};
use crate::drops::Drops;
use crate::packet::{Kind, NONE};

/// What random loss does to packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossOf {
    /// It takes this share of them.
    Packets(f64),
    /// It takes those with a wrong bit: this share of all bits is wrong.
    Bits(f64),
}

impl LossOf {
    /// The probability that a packet of this length is lost: 1 - (1 - p)^bits for bits.
    fn chance(self, wire_bytes: u16) -> f64 {
        match self {
            LossOf::Packets(share) => share,
            LossOf::Bits(share) => {
                1.0 - math::exp(8.0 * f64::from(wire_bytes) * math::ln_1p(-share))
            }
        }
    }
}

/// Random loss on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomLoss {
    /// Which packets it takes.
    pub of: LossOf,
    /// Whether frames that pause and resume queues or senders always arrive.
    pub keeps_pauses: bool,
}

/// Kinds of packets that pause and resume.
const PAUSES: u16 = Kind::LinkControl.bit() | Kind::BackToSender.bit();

/// A port's random loss.
#[derive(Debug)]
struct Loss {
    /// The owner's number of this loss.
    number: u32,
    loss: RandomLoss,
    rng: Rng,
}

/// One direction of a link, named by its sending port.
#[derive(Debug)]
struct Impairment {
    /// The other end's partition, or NONE for this one.
    partition: u32,
    /// The number of reasons for it to be down.
    down: u32,
    losses: Vec<Loss>,
    lost: Drops,
}

impl Impairment {
    fn holds(&self) -> bool {
        self.down > 0 || !self.losses.is_empty()
    }

    /// Whether the next packet is lost.
    fn loses(&mut self, kind: Kind, wire_bytes: u16) -> bool {
        // Every loss draws for every packet, so that none shifts the draws of the others.
        let mut lost = self.down > 0;
        for Loss { loss, rng, .. } in &mut self.losses {
            let is_kept = loss.keeps_pauses && PAUSES & kind.bit() != 0;
            lost |= rng.unit() < loss.of.chance(wire_bytes) && !is_kept;
        }
        lost
    }
}

/// The records of all ports that were ever impaired.
#[derive(Debug, Default)]
pub(super) struct Impairments {
    records: Vec<Impairment>,
    /// The index of each port's record, or NONE; empty while no port has one.
    places: Vec<u32>,
}

impl Impairments {
    /// Whether a port's link is down.
    pub(super) fn is_down(&self, port: u32) -> bool {
        self.place(port).is_some_and(|place| self.records[place].down > 0)
    }

    fn place(&self, port: u32) -> Option<usize> {
        self.places.get(port as usize).filter(|&&place| place != NONE).map(|&place| place as usize)
    }
}

impl Fabric {
    /// Drops every packet of a port from now on, until `repair` has been called as often as this.
    pub fn take_down(&mut self, port: u32) {
        self.impairment(port).down += 1;
        self.note_impairment(port);
    }

    /// Removes one reason for the port's link to be down.
    pub fn repair(&mut self, port: u32) {
        self.impairment(port).down -= 1;
        self.note_impairment(port);
    }

    /// A port loses packets at random. `number` identifies the loss for `end_loss`.
    pub fn begin_loss(&mut self, port: u32, number: u32, loss: RandomLoss, rng: Rng) {
        self.impairment(port).losses.push(Loss { number, loss, rng });
        self.note_impairment(port);
    }

    /// Ends that loss.
    pub fn end_loss(&mut self, port: u32, number: u32) {
        self.impairment(port).losses.retain(|loss| loss.number != number);
        self.note_impairment(port);
    }

    /// Drops the packets on the way to a port. They count at the port that sent them, which may be
    /// in another fabric: `count_lost`.
    pub fn lose_in_flight(&mut self, port: u32) -> Drops {
        let mut lost = Drops::default();
        for event in self.wheel.take_all(self.tags.arrival + port) {
            lost.add(self.packets[event.item].wire_bytes);
            self.discard(event.item);
        }
        lost
    }

    /// Drops a packet that waited for a port's link.
    pub fn lose(&mut self, port: u32, id: u32) {
        let wire_bytes = self.packets[id].wire_bytes;
        self.impairment(port).lost.add(wire_bytes);
        self.discard(id);
    }

    /// Counts lost packets at the port that sent them.
    pub fn count_lost(&mut self, port: u32, drops: Drops) {
        let lost = &mut self.impairment(port).lost;
        lost.packets += drops.packets;
        lost.bytes += drops.bytes;
    }

    /// Packets lost on a port's link.
    #[must_use]
    pub fn lost(&self, port: u32) -> Drops {
        let place = self.impaired.place(port);
        place.map_or(Drops::default(), |place| self.impaired.records[place].lost)
    }

    /// The record of a port that was ever impaired, or is about to be.
    fn impairment(&mut self, port: u32) -> &mut Impairment {
        let Impairments { records, places } = &mut self.impaired;
        places.resize(self.ports.len(), NONE);
        let place = &mut places[port as usize];
        if *place == NONE {
            *place = records.len() as u32;
            let partition = self.ports[port as usize].partition;
            let (down, losses, lost) = (0, Vec::new(), Drops::default());
            records.push(Impairment { partition, down, losses, lost });
        }
        &mut records[*place as usize]
    }

    /// Makes the port check here if its link is impaired.
    fn note_impairment(&mut self, port: u32) {
        let impairment = self.impairment(port);
        let partition = if impairment.holds() { IMPAIRED } else { impairment.partition };
        self.ports[port as usize].partition = partition;
    }

    /// Sends a packet on an impaired link.
    #[cold]
    #[inline(never)]
    pub(super) fn cross_impaired(&mut self, port: u32, id: u32, time: u64) {
        let (kind, wire_bytes) = (self.packets[id].kind, self.packets[id].wire_bytes);
        let impairment = self.impairment(port);
        let (down, partition) = (impairment.down > 0, impairment.partition);
        if impairment.loses(kind, wire_bytes) {
            impairment.lost.add(wire_bytes);
            if down {
                // A port without a link sends nothing.
                let state = &mut self.ports[port as usize];
                state.tx_bytes -= u64::from(wire_bytes);
                state.tx_packets -= 1;
            }
            self.discard(id);
        } else if partition >= IN_SEQUENCE {
            let state = &self.ports[port as usize];
            let (rank, tag) = (state.arrival_rank, state.arrival_tag);
            self.wheel.post(Event { time, rank, tag, item: id });
        } else {
            self.hand_over(port, partition, id, time);
        }
    }

    /// Removes a packet.
    fn discard(&mut self, id: u32) {
        let record = self.packets[id].record;
        if record != NONE {
            self.records.remove(record);
        }
        self.packets.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::rng::Purpose;

    use super::super::tests::pair;
    use super::*;
    use crate::packet::{Kind, Packet};

    /// Sends `count` packets of 1000 bytes on port 0 and returns how many arrive.
    fn send(fabric: &mut Fabric, count: u64) -> u64 {
        for _ in 0..count {
            let id = fabric.packets.insert(Packet::new(Kind::Data, 1000));
            fabric.now = fabric.now.max(fabric.busy_until(0));
            fabric.transmit(0, id, false);
        }
        let mut arrived = 0;
        while let Some(event) = fabric.wheel.pop_before(u64::MAX) {
            fabric.now = fabric.now.max(event.time);
            fabric.packets.remove(event.item);
            arrived += 1;
        }
        arrived
    }

    #[test]
    fn a_link_that_is_down_loses_all_until_every_reason_is_gone() {
        let mut fabric = pair();
        fabric.take_down(0);
        fabric.take_down(0);
        assert_eq!(send(&mut fabric, 3), 0);
        fabric.repair(0);
        assert_eq!(send(&mut fabric, 1), 0);
        assert_eq!(fabric.lost(0), Drops { packets: 4, bytes: 4000 });
        assert_eq!((fabric.tx_packets(0), fabric.tx_bytes(0)), (0, 0));
        fabric.repair(0);
        assert_eq!(send(&mut fabric, 2), 2);
        assert_eq!((fabric.tx_packets(0), fabric.lost(0).packets), (2, 4));
        assert!(fabric.packets.is_empty());
        assert_eq!(fabric.lost(1), Drops::default());
    }

    #[test]
    fn what_is_in_flight_is_lost() {
        let mut fabric = pair();
        for port in [0, 0, 1] {
            let id = fabric.packets.insert(Packet::new(Kind::Data, 1000));
            fabric.now = fabric.busy_until(port);
            fabric.transmit(port, id, false);
        }
        let lost = fabric.lose_in_flight(1);
        assert_eq!(lost, Drops { packets: 2, bytes: 2000 });
        fabric.count_lost(0, lost);
        assert_eq!((fabric.lost(0), fabric.packets.len()), (lost, 1));
        // Packets in the other direction arrive.
        assert_eq!(fabric.wheel.pop_before(u64::MAX).map(|event| event.tag), Some(0));
        assert_eq!(fabric.wheel.pop_before(u64::MAX), None);
    }

    #[test]
    fn a_share_is_lost_at_random_while_it_lasts() {
        let mut fabric = pair();
        let loss = |share| RandomLoss { of: LossOf::Packets(share), keeps_pauses: false };
        fabric.begin_loss(0, 5, loss(0.25), Rng::stream(1, Purpose::LinkLoss, 0));
        let arrived = send(&mut fabric, 4000);
        assert!((2900..3100).contains(&arrived), "{arrived}");
        assert_eq!(fabric.lost(0).packets, 4000 - arrived);
        assert_eq!(fabric.tx_packets(0), 4000, "they were sent");
        fabric.begin_loss(0, 6, loss(1.0), Rng::stream(1, Purpose::LinkLoss, 1));
        assert_eq!(send(&mut fabric, 10), 0);
        fabric.end_loss(0, 6);
        fabric.end_loss(0, 5);
        assert_eq!(send(&mut fabric, 100), 100);
    }

    /// A packet of 1000 bytes has 8000 bits: with one wrong in 8000 on average, 1/e of the packets
    /// have none.
    #[test]
    fn wrong_bits_take_longer_packets_more_often() {
        let loss = LossOf::Bits(1.0 / 8000.0);
        assert!((loss.chance(1000) - (1.0 - (-1.0f64).exp())).abs() < 1e-4);
        assert!((loss.chance(1) - 8.0 / 8000.0).abs() < 1e-6);
        assert!((LossOf::Bits(1e-12).chance(1500) - 1.2e-8).abs() < 1e-13);
        assert_eq!((LossOf::Bits(0.0).chance(9000), LossOf::Bits(1.0).chance(1)), (0.0, 1.0));
        let mut fabric = pair();
        let loss = RandomLoss { of: loss, keeps_pauses: false };
        fabric.begin_loss(0, 1, loss, Rng::stream(1, Purpose::LinkLoss, 0));
        let arrived = send(&mut fabric, 4000);
        assert!((1380..1560).contains(&arrived), "{arrived}");
    }

    #[test]
    fn pauses_arrive_if_they_are_kept() {
        for keeps_pauses in [false, true] {
            let loss = RandomLoss { of: LossOf::Packets(1.0), keeps_pauses };
            let mut port = Impairment {
                partition: NONE,
                down: 0,
                losses: vec![Loss { number: 1, loss, rng: Rng::stream(1, Purpose::LinkLoss, 0) }],
                lost: Drops::default(),
            };
            assert_eq!(port.loses(Kind::LinkControl, 64), !keeps_pauses);
            assert_eq!(port.loses(Kind::BackToSender, 64), !keeps_pauses);
            assert!(port.loses(Kind::Ack, 64));
        }
    }
}
