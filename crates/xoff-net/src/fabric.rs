//! Ports and links: a packet that starts on a port arrives at its peer.
//!
//! A packet in flight is an event: its arrival. A port stores the time until which it is busy. It
//! has a wake-up event only while packets wait for it. All arrivals of an instant come before ports
//! pick their next packets: such ports are collected, and asked when time is about to advance.

mod degraded;
mod far_end;
mod impairment;
mod in_sequence;
mod on_links;
mod passage;
mod receive_errors;
mod recorded;
mod rounding;
mod service;

use xoff_core::{Event, Ps, TimerId, Wheel};

use self::degraded::DegradedPorts;
use self::far_end::{IMPAIRED, IN_SEQUENCE, KEEPS};
use self::impairment::Impairments;
pub use self::impairment::{LossOf, RandomLoss};
pub use self::on_links::{OnLink, PortState};
pub use self::passage::Passage;
use self::receive_errors::ReceiveErrors;
pub use self::recorded::{Captured, Heard};
pub use self::rounding::{Rounding, serialisation};
use self::service::Services;

use crate::packet::{NONE, Packet, Pool};
use crate::phase;
use crate::record::{Record, RecordTable};
use crate::sequence::Sequence;
use crate::telemetry::RATE_UNIT;

/// The order of the events of one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instants {
    /// Arrivals, timers, then ports that pick their next packets, each by number. The order does
    /// not depend on the partitions of the network.
    Phases,
    /// The order in which they were set. An idle port picks the moment it receives a packet, as in
    /// ns-3. Only for a network in one partition.
    AsSet,
}

/// The other end of a link.
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

/// The parameters of a port.
#[derive(Clone, Copy, Debug)]
pub struct PortSpec {
    /// Its number in the whole topology, for the order of events.
    pub id: u32,
    /// The other end's number in the whole topology.
    pub peer_id: u32,
    /// Bits per second.
    pub rate: u64,
    /// Propagation delay.
    pub delay: Ps,
    /// The other end.
    pub peer: Peer,
}

/// The state of a port on the packet path: one cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Port {
    busy_until: u64,
    delay: u64,
    tx_bytes: u64,
    tx_packets: u64,
    /// Rank of the arrivals at the other end.
    arrival_rank: u64,
    /// Tag of the arrivals at the other end; the other end's number if it is in another partition.
    arrival_tag: u32,
    /// The other end's partition, or NONE for this one, or IMPAIRED, KEEPS or IN_SEQUENCE.
    partition: u32,
    /// Picoseconds per byte if that is a whole number and the port is not captured, otherwise 0.
    ps_per_byte: u32,
    /// Its number in the whole topology.
    id: u32,
    /// Megabits per second, for INT.
    rate_mbps: u32,
    /// Whether it is among the ports to ask at this instant.
    picking: bool,
    /// Whether it has a wake-up event at the end of its transmission.
    waking: bool,
    /// Whether the packets that it sends are recorded.
    captured: bool,
}

const _: () = assert!(size_of::<Port>() == 64);

impl Port {
    /// The time of `bytes`: a multiplication if a byte takes whole picoseconds, otherwise `odd`.
    #[inline(always)]
    fn duration(&self, bytes: u64, odd: impl FnOnce() -> u64) -> u64 {
        if self.ps_per_byte != 0 { bytes * u64::from(self.ps_per_byte) } else { odd() }
    }

    /// Sends a packet from `now` on. Returns when its last bit has been sent.
    #[inline(always)]
    fn send(&mut self, now: u64, duration: u64, bytes: u64) -> u64 {
        debug_assert!(self.busy_until <= now, "a port sends one packet at a time");
        self.busy_until = now + duration;
        self.tx_bytes += bytes;
        self.tx_packets += 1;
        self.busy_until
    }
}

/// The tags of a fabric's own events. The item of an event is the packet or the port.
#[derive(Clone, Copy, Debug)]
pub struct FabricTags {
    /// A packet arrives: the tag of port 0. The tags of the other ports follow.
    pub arrival: u32,
    /// A port has finished its transmission.
    pub wake: u32,
    /// The same for a port that keeps its packets, with events in the order of setting.
    pub sent: u32,
    /// The first packet on a link has arrived, with events in the order of setting.
    pub next_arrival: u32,
    /// A packet, whose `next` is the port, arrives where some are lost.
    pub checked: u32,
}

/// Packets on the way to one other partition. Of each packet, `time` is its arrival and `next` its
/// port there.
#[derive(Clone, Debug, Default)]
pub struct Crossings {
    packets: Vec<Packet>,
    /// The side records of packets that have one, in the same order.
    records: Vec<Record>,
}

impl Crossings {
    /// Whether it holds no packets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
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
    /// The packets' side records.
    pub records: RecordTable,
    /// Packets for other partitions, by partition.
    pub outbox: Vec<Crossings>,
    /// Packets that captured ports have sent since the last read.
    pub captured: Vec<Captured>,
    /// Frames that paused or resumed queues since the last read, if they are recorded.
    pub heard: Option<Vec<Heard>>,
    ports: Vec<Port>,
    /// Bits per second of each port at this time.
    rates: Vec<u64>,
    degraded: DegradedPorts,
    /// Ports with links that lose packets, or have lost some.
    impaired: Impairments,
    /// Links that lose packets on arrival, if there are any.
    receive_errors: Option<Box<ReceiveErrors>>,
    /// Ports that keep a packet until it has been sent.
    services: Services,
    picking: Vec<u32>,
    tags: FabricTags,
    rounding: Rounding,
    /// Ranks of events, if the events of one instant happen in the order of setting.
    sequence: Option<Box<Sequence>>,
    /// For tests: no packet passes.
    #[cfg(debug_assertions)]
    nothing_passes: bool,
}

impl Fabric {
    /// An empty fabric, one of `partitions`.
    #[must_use]
    pub fn new(
        rounding: Rounding,
        instants: Instants,
        partitions: usize,
        wheel: Wheel,
        tags: FabricTags,
    ) -> Self {
        Self {
            now: 0,
            wheel,
            packets: Pool::default(),
            records: RecordTable::default(),
            outbox: vec![Crossings::default(); partitions],
            captured: Vec::new(),
            heard: None,
            ports: Vec::new(),
            rates: Vec::new(),
            degraded: DegradedPorts::default(),
            impaired: Impairments::default(),
            receive_errors: None,
            services: Services::default(),
            picking: Vec::new(),
            tags,
            rounding,
            sequence: (instants == Instants::AsSet).then(Box::default),
            #[cfg(debug_assertions)]
            nothing_passes: false,
        }
    }

    /// Makes every packet join its queue from now on, even if it could leave at once. Results must
    /// not change; tests compare them.
    #[cfg(debug_assertions)]
    pub fn let_nothing_pass(&mut self) {
        self.nothing_passes = true;
    }

    /// Whether an idle port picks the moment it receives a packet, instead of at the end of the
    /// instant.
    #[inline]
    #[must_use]
    pub fn picks_at_once(&self) -> bool {
        self.sequence.is_some()
    }

    /// Arms a timer.
    #[inline]
    pub fn arm(&mut self, timer: TimerId, time: u64) {
        match &mut self.sequence {
            None => self.wheel.arm(timer, time),
            Some(sequence) => self.wheel.arm_ranked(timer, time, sequence.next(self.now)),
        }
    }

    /// Arms a timer that counts as set at `set` (ps).
    #[inline]
    pub fn arm_as_set(&mut self, timer: TimerId, time: u64, set: u64) {
        match &self.sequence {
            None => self.wheel.arm(timer, time),
            Some(_) => self.wheel.arm_ranked(timer, time, Sequence::rank_at(set)),
        }
    }

    /// When the arrival that happens now was set (ps). If the order of setting does not matter, the
    /// value is later than any other event of this instant.
    #[inline]
    #[must_use]
    pub fn arrival_set(&self) -> u64 {
        if self.sequence.is_none() { self.now } else { Sequence::set_at(self.wheel.last_rank()) }
    }

    /// Adds a port.
    pub fn add_port(&mut self, spec: &PortSpec) {
        let (partition, arrival_tag) = match spec.peer {
            Peer::Local(port) => {
                let here = if self.sequence.is_none() { NONE } else { IN_SEQUENCE };
                (here, self.tags.arrival + port)
            }
            Peer::Remote { partition, port } => (partition, port),
        };
        self.rates.push(spec.rate);
        self.ports.push(Port {
            busy_until: 0,
            delay: spec.delay.0,
            tx_bytes: 0,
            tx_packets: 0,
            arrival_rank: phase::ARRIVAL | u64::from(spec.peer_id),
            arrival_tag,
            partition,
            ps_per_byte: 0,
            id: spec.id,
            rate_mbps: 0,
            picking: false,
            waking: false,
            captured: false,
        });
        self.set_rate(self.ports.len() as u32 - 1, spec.rate);
    }

    /// Sets the rate of a port's next packets (bit/s).
    fn set_rate(&mut self, port: u32, rate: u64) {
        let whole = u32::try_from(self.whole_ps_per_byte(rate)).unwrap_or(0);
        let state = &mut self.ports[port as usize];
        state.ps_per_byte = if state.captured { 0 } else { whole };
        state.rate_mbps = (rate / RATE_UNIT) as u32;
        self.rates[port as usize] = rate;
    }

    /// The number of ports.
    #[must_use]
    pub fn port_count(&self) -> usize {
        self.ports.len()
    }

    /// The rate of the port's link in bit/s, also while the link works at a lower one.
    #[inline]
    #[must_use]
    pub fn rate(&self, port: u32) -> u64 {
        self.degraded.full_rate(port).unwrap_or(self.rates[port as usize])
    }

    /// The rate in bit/s of the packet that the port starts next.
    #[must_use]
    pub fn current_rate(&self, port: u32) -> u64 {
        self.rates[port as usize]
    }

    /// Bytes the port has sent.
    #[inline]
    #[must_use]
    pub fn tx_bytes(&self, port: u32) -> u64 {
        self.ports[port as usize].tx_bytes
    }

    /// Packets that the port has sent: its packet-hops.
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

    /// The time of `bytes` on a port's link.
    #[inline]
    #[must_use]
    pub fn duration(&self, port: u32, bytes: u64) -> u64 {
        let state = &self.ports[port as usize];
        state.duration(bytes, || odd_duration(self.rounding, &self.rates, port, bytes))
    }

    /// The time of `bytes` at `rate`, with this fabric's rounding.
    #[must_use]
    pub fn time_at(&self, rate: u64, bytes: u64) -> u64 {
        serialisation(self.rounding, rate, bytes)
    }

    /// Picoseconds per byte at `rate` if every number of bytes takes a multiple of it, otherwise 0.
    #[must_use]
    pub fn whole_ps_per_byte(&self, rate: u64) -> u64 {
        let whole = 8_000_000_000_000u64.is_multiple_of(rate);
        if whole && self.rounding == Rounding::PicosecondUp { 8_000_000_000_000 / rate } else { 0 }
    }

    /// Whether the port is idle, and no other event happens at this instant or waits for its end.
    #[inline(always)]
    #[must_use]
    pub fn is_free(&self, port: u32) -> bool {
        self.ports[port as usize].busy_until <= self.now
            && self.is_settled()
            && !self.wheel.may_be_due(self.now)
    }

    /// Whether no port waits for the end of this instant.
    #[inline(always)]
    fn is_settled(&self) -> bool {
        #[cfg(debug_assertions)]
        if self.nothing_passes {
            return false;
        }
        self.picking.is_empty()
    }

    /// The port may have a packet to send. It is asked at the end of this instant, or at the end of
    /// its transmission.
    #[inline(always)]
    pub fn kick(&mut self, port: u32) {
        let state = &mut self.ports[port as usize];
        if state.busy_until <= self.now {
            if !state.picking {
                state.picking = true;
                self.picking.push(port);
            }
        } else if !state.waking {
            // A test here saves a call.
            self.post_wake(port);
        }
    }

    /// The current event may give a port several packets, or wake several flows that would send
    /// there. None of them passes, so that the port picks among all of them when the instant ends.
    /// A packet that passes must be the last action of its event at a port, because a port treats
    /// packets differently once it is busy.
    #[inline]
    pub fn hold(&mut self, port: u32) {
        if self.ports[port as usize].busy_until <= self.now {
            self.kick(port);
        }
    }

    /// Asks a port at the end of its transmission, if that is not yet set.
    #[inline(never)]
    fn post_wake(&mut self, port: u32) {
        let state = &mut self.ports[port as usize];
        if std::mem::replace(&mut state.waking, true) {
            return;
        }
        let (time, rank) = (state.busy_until, phase::ARBITRATION | u64::from(state.id));
        self.wheel.post(Event { time, rank, tag: self.tags.wake, item: port });
    }

    /// A port has finished its transmission. Returns whether it can be asked now; otherwise it
    /// waits for its turn at the end of this instant.
    #[inline]
    pub fn wake(&mut self, port: u32) -> bool {
        let state = &mut self.ports[port as usize];
        state.waking = false;
        state.busy_until = self.now;
        let alone = self.picking.is_empty() && !self.wheel.may_be_due(self.now);
        if !alone {
            self.kick(port);
        }
        alone
    }

    /// Whether a port waits to be asked at this instant.
    #[inline]
    #[must_use]
    pub fn is_picking(&self) -> bool {
        !self.picking.is_empty()
    }

    /// Takes the port to ask now, if there is only one, and begins to ask it.
    #[inline]
    pub fn take_only_picking(&mut self) -> Option<u32> {
        if self.picking.len() != 1 {
            return None;
        }
        let port = self.picking.pop()?;
        self.begin_picking(port);
        Some(port)
    }

    /// Takes the ports to ask now, by number, or in the order of kicks if they pick at once.
    #[inline]
    pub fn take_picking(&mut self, into: &mut Vec<u32>) {
        std::mem::swap(&mut self.picking, into);
        if into.len() > 1 && self.sequence.is_none() {
            into.sort_unstable();
        }
    }

    /// A port is asked now. Until then it counts as waiting, so that a port asked before it cannot
    /// have it asked twice.
    #[inline]
    pub fn begin_picking(&mut self, port: u32) {
        self.ports[port as usize].picking = false;
    }

    /// Starts a packet on an idle port. `more`: the port has another packet to send after it.
    #[inline(always)]
    pub fn transmit(&mut self, port: u32, id: u32, more: bool) {
        let started = self.at(port, id).start(id);
        self.finish(port, id, started, more);
    }

    /// Ends what [`Passage::start`] has begun. `started`: what it returned; `more`: as for
    /// [`transmit`](Self::transmit).
    #[inline(always)]
    pub fn finish(&mut self, port: u32, id: u32, started: bool, more: bool) {
        if !started && self.transmit_aside(port, id) {
            return;
        }
        if more {
            self.post_wake(port);
        }
    }

    /// Starts a packet on a port whose packets do not simply arrive in this partition. Returns true
    /// if the port will be asked at the end of its transmission in any case.
    #[inline(never)]
    fn transmit_aside(&mut self, port: u32, id: u32) -> bool {
        let bytes = u64::from(self.packets[id].wire_bytes);
        let state = &mut self.ports[port as usize];
        let duration = state.duration(bytes, || {
            if state.captured {
                let (time_ps, packet) = (self.now, self.packets[id]);
                self.captured.push(Captured { time_ps, port: state.id, packet });
            }
            odd_duration(self.rounding, &self.rates, port, bytes)
        });
        debug_assert!(duration > 0 || self.sequence.is_some(), "two arrivals at one instant");
        let time = state.send(self.now, duration, bytes) + state.delay;
        match state.partition {
            NONE => {
                let (rank, tag) = (state.arrival_rank, state.arrival_tag);
                self.wheel.post(Event { time, rank, tag, item: id });
            }
            _ if self.sequence.is_some() => {
                self.transmit_in_sequence(port, id);
                return true;
            }
            KEEPS => {
                self.serve(port, id);
                return true;
            }
            IMPAIRED => self.cross_impaired(port, id, time),
            partition => self.hand_over(port, partition, id, time),
        }
        false
    }

    /// Keeps a port busy for `rest` (ps) more. The port has just started a packet and has no
    /// wake-up yet.
    pub fn rest(&mut self, port: u32, rest: u64) {
        let state = &mut self.ports[port as usize];
        debug_assert!(!state.waking, "the port has an earlier wake-up");
        state.busy_until += rest;
    }

    /// Hands a packet over to another partition.
    #[inline]
    fn hand_over(&mut self, port: u32, partition: u32, id: u32, time: u64) {
        let state = &self.ports[port as usize];
        let crossings = &mut self.outbox[partition as usize];
        let packet = &mut self.packets[id];
        packet.time = time;
        packet.next = state.arrival_tag;
        crossings.packets.push(*packet);
        if packet.record != NONE {
            crossings.records.push(self.records[packet.record]);
            self.records.remove(packet.record);
        }
        self.packets.remove(id);
    }

    /// Receives packets from another partition, and empties the lists.
    pub fn receive(&mut self, crossings: &mut Crossings) {
        let mut records = crossings.records.drain(..);
        for mut packet in crossings.packets.drain(..) {
            let (time, port) = (packet.time, packet.next);
            if packet.record != NONE {
                packet.record = records.next().map_or(NONE, |record| self.records.insert(&record));
            }
            let rank = phase::ARRIVAL | u64::from(self.ports[port as usize].id);
            let item = self.packets.insert(packet);
            self.wheel.post(Event { time, rank, tag: self.tags.arrival + port, item });
        }
    }
}

/// The time on a port without whole picoseconds per byte.
#[inline(never)]
fn odd_duration(rounding: Rounding, rates: &[u64], port: u32, bytes: u64) -> u64 {
    serialisation(rounding, rates[port as usize], bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;

    pub(super) fn pair() -> Fabric {
        pair_with(Instants::Phases)
    }

    pub(super) fn pair_with(instants: Instants) -> Fabric {
        let tags = FabricTags { arrival: 0, wake: 10, sent: 98, next_arrival: 99, checked: 97 };
        let mut fabric = Fabric::new(Rounding::PicosecondUp, instants, 1, Wheel::new(), tags);
        for id in 0..2 {
            let spec = PortSpec {
                id,
                peer_id: 1 - id,
                rate: 100_000_000_000,
                delay: Ps::from_us(1),
                peer: Peer::Local(1 - id),
            };
            fabric.add_port(&spec);
        }
        fabric
    }

    #[test]
    fn a_link_delivers_in_order_after_serialisation_and_delay() {
        let mut fabric = pair();
        for bytes in [1048, 60] {
            let id = fabric.packets.insert(Packet::new(Kind::Data, bytes));
            fabric.now = fabric.busy_until(0);
            fabric.transmit(0, id, false);
        }
        for (time, bytes) in [(1_083_840, 1048), (1_088_640, 60)] {
            let event = fabric.wheel.pop_before(u64::MAX).unwrap();
            assert_eq!((event.time, event.tag), (time, 1));
            assert_eq!(fabric.packets[event.item].wire_bytes, bytes);
        }
        assert_eq!(fabric.wheel.pop_before(u64::MAX), None);
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
        fabric.transmit(0, id, false);
        fabric.kick(0);
        fabric.kick(0);
        assert!(!fabric.is_picking());
        let wake = Event { time: 80_000, rank: phase::ARBITRATION, tag: 10, item: 0 };
        assert_eq!(fabric.wheel.pop_before(u64::MAX), Some(wake));
        let arrival = fabric.wheel.pop_before(u64::MAX).unwrap();
        assert_eq!((arrival.time, arrival.tag), (1_080_000, 1));
        assert_eq!(fabric.wheel.pop_before(u64::MAX), None);
    }

    #[test]
    fn as_set_a_port_is_busy_until_its_wake_up_has_happened() {
        let mut fabric = pair_with(Instants::AsSet);
        let id = fabric.packets.insert(Packet::new(Kind::Data, 1000));
        fabric.transmit(0, id, false);
        fabric.now = 80_000;
        fabric.kick(0);
        assert!(!fabric.is_picking());
        let wake = fabric.wheel.pop_before(u64::MAX).unwrap();
        assert_eq!((wake.time, wake.tag, wake.item), (80_000, 10, 0));
        assert!(fabric.wake(0), "nothing else happens: it can be asked at once");
        // A timer set now for the arrival's instant comes after it.
        let timer = fabric.wheel.add_timer(0, 99);
        fabric.arm(timer, 1_080_000);
        let event = fabric.wheel.pop_before(u64::MAX).unwrap();
        assert_eq!(event.tag, 1);
        assert_eq!(fabric.arrival_set(), 0);
    }
}
