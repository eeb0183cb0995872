//! Ports and links: what starts on a port arrives at its peer.
//!
//! Packets on a link arrive in the order they left, so a link is a list of packets in flight and
//! only its head is an event. A port remembers until when it is busy; a wake-up event exists only
//! while something waits for it. All arrivals of an instant come before any port picks its next
//! packet: ports that could pick are collected and asked when time is about to move on.

use xoff_core::{Ps, SlotId, Wheel};

use crate::packet::{NONE, Packet, Pool, Queue};
use crate::sequence::Sequence;
use crate::telemetry::{IntStack, IntTable};

/// The phases of one instant, in their order; part of every event's rank.
pub mod phase {
    /// Arrivals and messages.
    pub const ARRIVAL: u64 = 1 << 60;
    /// Timers.
    pub const TIMER: u64 = 2 << 60;
    /// Ports that pick their next packet.
    pub const ARBITRATION: u64 = 3 << 60;
}

/// How the time to serialise a packet is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Up to a whole picosecond.
    PicosecondUp,
    /// Down to a whole nanosecond, as simulators with a nanosecond clock do.
    NanosecondDown,
    /// As ns-3 does: a binary number of seconds, its fraction cut to 2^-64, then cut to a whole
    /// nanosecond. What takes a whole number of nanoseconds often comes out one short.
    BinarySeconds,
}

/// In which order the events of one instant happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instants {
    /// Arrivals, timers, then ports that pick their next packets, each by their numbers: the same
    /// however the network is cut up.
    Phases,
    /// In the order in which they were set, and an idle port picks the moment it is given something:
    /// what ns-3 does. For an uncut network only.
    AsSet,
}

/// Where the other end of a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A port of the same partition.
    Local(u32),
    /// A port of another partition.
    Remote {
        /// That partition.
        partition: u32,
        /// The port's number there.
        port: u32,
    },
}

/// What a port is made from.
#[derive(Clone, Copy, Debug)]
pub struct PortSpec {
    /// Its number in the whole topology, for the order of events.
    pub id: u32,
    /// Bits per second.
    pub rate: u64,
    /// Propagation delay.
    pub delay: Ps,
    /// The other end.
    pub peer: Peer,
}

#[derive(Debug)]
struct Port {
    busy_until: u64,
    delay: u64,
    /// Picoseconds a byte takes where that is a whole number, otherwise 0.
    ps_per_byte: u64,
    rate: u64,
    peer: Peer,
    /// Packets in flight towards this port.
    inbound: Queue,
    arrival_slot: SlotId,
    wake_slot: SlotId,
    picking: bool,
    tx_bytes: u64,
    tx_packets: u64,
}

impl Port {
    /// The time `bytes` take on its link: a multiplication where a byte takes whole picoseconds.
    #[inline]
    fn duration(&self, rounding: Rounding, bytes: u64) -> u64 {
        if self.ps_per_byte != 0 {
            bytes * self.ps_per_byte
        } else {
            serialisation(rounding, self.rate, bytes)
        }
    }
}

/// A packet on its way to another partition.
#[derive(Clone, Debug)]
pub struct Crossing {
    /// The receiving port's number there.
    pub port: u32,
    /// The packet; `time` is its arrival.
    pub packet: Packet,
    /// Its INT record.
    pub int: Option<IntStack>,
}

/// The ports and links of one partition, with the clock, the event wheel and the packets.
#[derive(Debug)]
pub struct Fabric {
    /// The current time in picoseconds.
    pub now: u64,
    /// The events.
    pub wheel: Wheel,
    /// The packets.
    pub packets: Pool,
    /// The INT records.
    pub ints: IntTable,
    /// Packets for other partitions, by partition.
    pub outbox: Vec<Vec<Crossing>>,
    ports: Vec<Port>,
    picking: Vec<u32>,
    rounding: Rounding,
    /// Ranks of events, where those of one instant happen as they were set.
    sequence: Option<Box<Sequence>>,
}

impl Fabric {
    /// An empty fabric beside `partitions` others (itself included).
    #[must_use]
    pub fn new(rounding: Rounding, instants: Instants, partitions: usize, wheel: Wheel) -> Self {
        Self {
            now: 0,
            wheel,
            packets: Pool::default(),
            ints: IntTable::default(),
            outbox: vec![Vec::new(); partitions],
            ports: Vec::new(),
            picking: Vec::new(),
            rounding,
            sequence: (instants == Instants::AsSet).then(Box::default),
        }
    }

    /// Whether an idle port picks the moment it is given something, not when the instant ends.
    #[inline]
    #[must_use]
    pub fn picks_at_once(&self) -> bool {
        self.sequence.is_some()
    }

    /// Arms a timer.
    #[inline]
    pub fn arm(&mut self, slot: SlotId, time: u64) {
        match &mut self.sequence {
            None => self.wheel.arm(slot, time),
            Some(sequence) => self.wheel.arm_ranked(slot, time, sequence.next(self.now)),
        }
    }

    /// Arms a timer that counts as set at `set` (ps).
    #[inline]
    pub fn arm_as_set(&mut self, slot: SlotId, time: u64, set: u64) {
        match &self.sequence {
            None => self.wheel.arm(slot, time),
            Some(_) => self.wheel.arm_ranked(slot, time, Sequence::rank_at(set)),
        }
    }

    /// When the arrival that happens now was set (ps): later than any other event of this instant,
    /// unless the order of setting matters.
    #[inline]
    #[must_use]
    pub fn arrival_set(&self) -> u64 {
        self.sequence.as_ref().map_or(self.now, |sequence| sequence.arrival_set())
    }

    /// Adds a port; `arrival_tag` and `wake_tag` name its two events.
    pub fn add_port(&mut self, spec: &PortSpec, arrival_tag: u32, wake_tag: u32) {
        let exact = 8_000_000_000_000u64.is_multiple_of(spec.rate);
        let id = u64::from(spec.id);
        let arrival_slot = self.wheel.add_slot(phase::ARRIVAL | id, arrival_tag);
        let wake_slot = self.wheel.add_slot(phase::ARBITRATION | id, wake_tag);
        self.ports.push(Port {
            busy_until: 0,
            delay: spec.delay.0,
            ps_per_byte: if exact && self.rounding == Rounding::PicosecondUp {
                8_000_000_000_000 / spec.rate
            } else {
                0
            },
            rate: spec.rate,
            peer: spec.peer,
            inbound: Queue::default(),
            arrival_slot,
            wake_slot,
            picking: false,
            tx_bytes: 0,
            tx_packets: 0,
        });
    }

    /// How many ports there are.
    #[must_use]
    pub fn port_count(&self) -> usize {
        self.ports.len()
    }

    /// The port's rate in bit/s.
    #[inline]
    #[must_use]
    pub fn rate(&self, port: u32) -> u64 {
        self.ports[port as usize].rate
    }

    /// Bytes the port has sent.
    #[inline]
    #[must_use]
    pub fn tx_bytes(&self, port: u32) -> u64 {
        self.ports[port as usize].tx_bytes
    }

    /// Packets the port has put on its link: its packet-hops.
    #[must_use]
    pub fn tx_packets(&self, port: u32) -> u64 {
        self.ports[port as usize].tx_packets
    }

    /// When the port can start its next packet.
    #[inline]
    #[must_use]
    pub fn busy_until(&self, port: u32) -> u64 {
        self.ports[port as usize].busy_until
    }

    /// The time `bytes` take on a port's link.
    #[inline]
    #[must_use]
    pub fn duration(&self, port: u32, bytes: u64) -> u64 {
        self.ports[port as usize].duration(self.rounding, bytes)
    }

    /// The time `bytes` take at `rate`, with this fabric's rounding.
    #[must_use]
    pub fn time_at(&self, rate: u64, bytes: u64) -> u64 {
        serialisation(self.rounding, rate, bytes)
    }

    /// The port may have something to send: it is asked at the end of this instant, or when it has
    /// sent what it is sending.
    #[inline]
    pub fn kick(&mut self, port: u32) {
        let state = &mut self.ports[port as usize];
        if state.busy_until <= self.now {
            if !state.picking {
                state.picking = true;
                self.picking.push(port);
            }
        } else if self.wheel.armed(state.wake_slot).is_none() {
            self.wheel.arm(state.wake_slot, state.busy_until);
        }
    }

    /// A port has sent what it was sending.
    #[inline]
    pub fn wake(&mut self, port: u32) {
        self.ports[port as usize].busy_until = self.now;
        self.kick(port);
    }

    /// Whether any port waits to be asked at this instant.
    #[inline]
    #[must_use]
    pub fn is_picking(&self) -> bool {
        !self.picking.is_empty()
    }

    /// Takes the ports to be asked now, in their order, or as they were kicked if they pick at once.
    #[inline]
    pub fn take_picking(&mut self, into: &mut Vec<u32>) {
        std::mem::swap(&mut self.picking, into);
        if into.len() > 1 && self.sequence.is_none() {
            into.sort_unstable();
        }
    }

    /// A port is being asked. Until then it counts as waiting to be asked, so that a port asked
    /// before it cannot have it asked twice.
    #[inline]
    pub fn begin_picking(&mut self, port: u32) {
        self.ports[port as usize].picking = false;
    }

    /// Starts a packet on an idle port.
    #[inline]
    pub fn transmit(&mut self, port: u32, id: u32) {
        let state = &mut self.ports[port as usize];
        debug_assert!(state.busy_until <= self.now, "a port sends one packet at a time");
        let packet = &mut self.packets[id];
        let bytes = u64::from(packet.wire_bytes);
        let duration = state.duration(self.rounding, bytes);
        state.busy_until = self.now + duration;
        state.tx_bytes += bytes;
        state.tx_packets += 1;
        packet.time = state.busy_until + state.delay;
        let peer = state.peer;
        if self.sequence.is_some() {
            self.set_in_sequence(port);
        }
        match peer {
            Peer::Local(peer) => self.put_in_flight(peer, id),
            Peer::Remote { partition, port } => {
                let packet = self.packets[id];
                let int = (packet.int != NONE).then(|| self.ints.remove(packet.int));
                self.packets.remove(id);
                self.outbox[partition as usize].push(Crossing { port, packet, int });
            }
        }
    }

    /// Sets the end of a transmission and then the arrival. The port stays busy until its wake-up has
    /// happened: what comes in the same instant but before finds it busy.
    #[cold]
    fn set_in_sequence(&mut self, port: u32) {
        let Some(sequence) = &mut self.sequence else { return };
        let state = &mut self.ports[port as usize];
        self.wheel.arm_ranked(state.wake_slot, state.busy_until, sequence.next(self.now));
        state.busy_until += 1;
        if let Peer::Local(peer) = state.peer {
            let rank = sequence.next(self.now);
            sequence.depart(peer, rank);
        }
    }

    /// Takes in a packet from another partition.
    pub fn receive(&mut self, crossing: Crossing) {
        let mut packet = crossing.packet;
        packet.int = crossing.int.map_or(NONE, |stack| self.ints.insert(stack));
        let id = self.packets.insert(packet);
        self.put_in_flight(crossing.port, id);
    }

    #[inline]
    fn put_in_flight(&mut self, to: u32, id: u32) {
        let peer = &mut self.ports[to as usize];
        let first = peer.inbound.is_empty();
        peer.inbound.push(&mut self.packets, id);
        if first {
            self.arm_arrival(to, id);
        }
    }

    #[inline]
    fn arm_arrival(&mut self, port: u32, id: u32) {
        let (slot, time) = (self.ports[port as usize].arrival_slot, self.packets[id].time);
        match &self.sequence {
            None => self.wheel.arm(slot, time),
            Some(sequence) => self.wheel.arm_ranked(slot, time, sequence.next_arrival(port)),
        }
    }

    /// The packet that arrives at this port now.
    ///
    /// # Panics
    /// If nothing is in flight towards it: an arrival event without a packet is a bug.
    #[inline]
    pub fn arrive(&mut self, port: u32) -> u32 {
        let state = &mut self.ports[port as usize];
        let id = state.inbound.pop(&self.packets).expect("an arrival without a packet");
        let next = state.inbound.head();
        if let Some(sequence) = &mut self.sequence {
            sequence.arrive(port);
        }
        if let Some(next) = next {
            self.arm_arrival(port, next);
        }
        id
    }
}

/// The time `bytes` take on a link of `rate` bit/s, in ps.
#[must_use]
pub fn serialisation(rounding: Rounding, rate: u64, bytes: u64) -> u64 {
    match rounding {
        Rounding::PicosecondUp => (bytes * 8_000_000_000_000).div_ceil(rate),
        Rounding::NanosecondDown => bytes * 8_000_000_000 / rate * 1_000,
        Rounding::BinarySeconds => binary_seconds(bytes as f64 * 8.0 / rate as f64) * 1_000,
    }
}

/// Whole nanoseconds of a number of seconds in ns-3's fixed point of 64 fractional bits.
fn binary_seconds(seconds: f64) -> u64 {
    const NS_PER_S: u64 = 1_000_000_000;
    let whole = seconds.floor();
    let fraction = ((seconds - whole) * 2f64.powi(64)) as u64;
    whole as u64 * NS_PER_S + ((u128::from(fraction) * u128::from(NS_PER_S)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    fn pair() -> Fabric {
        let mut fabric = Fabric::new(Rounding::PicosecondUp, Instants::Phases, 1, Wheel::new(9));
        for id in 0..2 {
            let spec = PortSpec {
                id,
                rate: 100_000_000_000,
                delay: Ps::from_us(1),
                peer: Peer::Local(1 - id),
            };
            fabric.add_port(&spec, id, id + 10);
        }
        fabric
    }

    #[test]
    fn a_link_delivers_in_order_after_serialisation_and_delay() {
        let mut fabric = pair();
        for bytes in [1048, 60] {
            let id = fabric.packets.insert(Packet::new(Kind::Data, bytes));
            fabric.now = fabric.busy_until(0);
            fabric.transmit(0, id);
        }
        for (time, bytes) in [(1_083_840, 1048), (1_088_640, 60)] {
            let (at, slot) = fabric.wheel.pop_before(u64::MAX).unwrap();
            assert_eq!((at, fabric.wheel.tag(slot)), (time, 1));
            let id = fabric.arrive(1);
            assert_eq!(fabric.packets[id].wire_bytes, bytes);
        }
        assert!(fabric.wheel.is_empty());
        assert_eq!((fabric.tx_bytes(0), fabric.tx_packets(0)), (1108, 2));
    }

    #[test]
    fn a_busy_port_is_asked_when_it_has_sent() {
        let mut fabric = pair();
        fabric.kick(0);
        assert!(fabric.is_picking());
        let mut ports = Vec::new();
        fabric.take_picking(&mut ports);
        assert_eq!(ports, [0]);
        fabric.begin_picking(0);
        let id = fabric.packets.insert(Packet::new(Kind::Data, 1000));
        fabric.transmit(0, id);
        fabric.kick(0);
        fabric.kick(0);
        assert!(!fabric.is_picking());
        assert_eq!(fabric.wheel.pop_before(u64::MAX), Some((80_000, 1)));
    }

    #[test]
    fn as_set_a_port_is_busy_until_its_wake_up_has_happened() {
        let mut fabric = pair();
        fabric.sequence = Some(Box::default());
        let id = fabric.packets.insert(Packet::new(Kind::Data, 1000));
        fabric.transmit(0, id);
        fabric.now = 80_000;
        fabric.kick(0);
        assert!(!fabric.is_picking());
        assert_eq!(fabric.wheel.pop_before(u64::MAX), Some((80_000, 1)));
        fabric.wake(0);
        assert!(fabric.is_picking());
        // A timer set now for the arrival's instant comes after it.
        let timer = fabric.wheel.add_slot(0, 99);
        fabric.arm(timer, 1_080_000);
        let (_, slot) = fabric.wheel.pop_before(u64::MAX).unwrap();
        assert_eq!(fabric.wheel.tag(slot), 1);
        fabric.arrive(1);
        assert_eq!(fabric.arrival_set(), 0);
    }

    #[test]
    fn nanosecond_truncation_is_a_setting() {
        assert_eq!(serialisation(Rounding::NanosecondDown, 100_000_000_000, 1048), 83_000);
        assert_eq!(serialisation(Rounding::BinarySeconds, 100_000_000_000, 1048), 83_000);
        // 80 ns are a little less in binary.
        assert_eq!(serialisation(Rounding::NanosecondDown, 100_000_000_000, 1000), 80_000);
        assert_eq!(serialisation(Rounding::BinarySeconds, 100_000_000_000, 1000), 79_000);
        assert_eq!(serialisation(Rounding::BinarySeconds, 4, 3), 6_000_000_000_000);
        assert_eq!(serialisation(Rounding::PicosecondUp, 100_000_000_000, 1048), 83_840);
        assert_eq!(serialisation(Rounding::PicosecondUp, 3_000_000_000, 1), 2_667);
    }
}
