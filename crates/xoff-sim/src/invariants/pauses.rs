//! Both ends of each link: the pauses that one asks for and the other obeys, and the packets
//! between them.

use rustc_hash::FxHashMap;
use xoff_core::PortId;
use xoff_core::invariant::{Checker, Part, Violation, equal, holds};
use xoff_net::arch::{AnySwitch, Switch};
use xoff_net::fabric::Heard;
use xoff_net::header::Ask;
use xoff_net::packet::{CONTROL_QUEUE, QueueMask};
use xoff_net::recount::Checked;
use xoff_net::{Kind, Packet};

use super::State;
use crate::partition::Owner;

/// Since when each queue of a port is paused (ps), by the frames that have arrived there.
#[derive(Debug, Default)]
pub(super) struct PausedSince(FxHashMap<u32, Option<Vec<(u8, u64)>>>);

impl PausedSince {
    /// A frame has arrived at a port.
    pub(super) fn hear(&mut self, frame: &Heard) {
        let paused = self.0.entry(frame.port).or_insert_with(|| Some(Vec::new()));
        let Some(queues) = paused else { return };
        let names = |queue: u8| frame.queues >> queue & 1 == 1;
        match frame.ask {
            Ask::Pause => {}
            Ask::Resume => queues.retain(|&(queue, _)| !names(queue)),
            Ask::Exactly => queues.retain(|&(queue, _)| names(queue)),
            // These pauses end without a frame, or concern flows.
            Ask::PauseFor | Ask::PauseFlow | Ask::ResumeFlow => *paused = None,
        }
        if let (Some(queues), Ask::Pause | Ask::Exactly) = (paused, frame.ask) {
            let mut left = frame.queues;
            queues.iter().for_each(|&(queue, _)| left &= !(1 << queue));
            while left != 0 {
                queues.push((left.trailing_zeros() as u8, frame.time_ps));
                left &= left - 1;
            }
        }
    }

    /// Whether a frame has arrived at a port.
    fn has(&self, port: PortId) -> bool {
        self.0.contains_key(&port.0)
    }

    fn of(&self, port: PortId, queue: u8) -> Option<u64> {
        let queues = self.0.get(&port.0)?.as_ref()?;
        queues.iter().find(|&&(paused, _)| paused == queue).map(|&(_, since)| since)
    }
}

/// What is on the links of a network.
pub(super) struct Links<'a> {
    /// The packets, with the port and time (ps) of their arrival.
    arriving: Vec<(PortId, u64, &'a Packet)>,
    /// Whether a frame of a port has not arrived at its neighbour.
    asks: Vec<bool>,
    /// Whether a frame is on its way, but its port is not known.
    asks_somewhere: bool,
}

impl<'a> Links<'a> {
    pub(super) fn new(ports: usize) -> Self {
        Self { arriving: Vec::new(), asks: vec![false; ports], asks_somewhere: false }
    }

    /// A packet arrives at a port at a time (ps).
    pub(super) fn arrives(&mut self, port: PortId, time: u64, packet: &'a Packet) {
        self.arriving.push((port, time, packet));
    }

    /// A packet is kept by a port.
    pub(super) fn kept(&mut self, packet: &Packet) {
        self.asks_somewhere |= packet.kind == Kind::LinkControl;
    }

    /// A frame waits at a port.
    pub(super) fn asks(&mut self, port: PortId) {
        self.asks[port.index()] = true;
    }

    /// Checks all links.
    pub(super) fn audit(mut self, state: &State<'_>, paused: Option<&PausedSince>) -> Checked {
        let mut arriving = std::mem::take(&mut self.arriving);
        arriving.sort_unstable_by_key(|&(port, time, _)| (port, time));
        let paused = paused.filter(|_| state.has_sound_links());
        for packets in arriving.chunk_by(|one, next| one.0 == next.0) {
            self.audit_link(state, paused, packets)?;
        }
        if state.has_sound_links() && !self.asks_somewhere {
            self.audit_agreement(state)?;
        }
        Ok(())
    }

    /// Checks the packets that arrive at a port, in the order of time.
    fn audit_link(
        &mut self,
        state: &State<'_>,
        paused: Option<&PausedSince>,
        packets: &[(PortId, u64, &Packet)],
    ) -> Checked {
        let from = state.setup.topology.port(packets[0].0).peer;
        let delay = state.setup.topology.port(from).delay.0;
        let paused = paused.filter(|paused| paused.has(from) && asked_to_pause(state, from));
        let (sender, number) = state.partition_of(from);
        // At the full rate: it may have left before the link fell back to a lower one.
        let fabric = sender.fabric();
        let rate = fabric.rate(number);
        let per_byte = fabric.whole_ps_per_byte(rate);
        let mut before = 0;
        for &(_, time, packet) in packets {
            let takes = match u64::from(packet.wire_bytes) {
                bytes if per_byte == 0 => fabric.time_at(rate, bytes),
                bytes => bytes * per_byte,
            };
            holds(time - before >= takes, || {
                let expected = format!("{takes} ps after the packet before it, or later");
                let place = format!("{}, {}", state.port_label(from), state.packet_label(packet));
                let found = format!("{} ps after it", time - before);
                let violation = Violation::new(Checker::Order, place, expected, found);
                violation.of(state.port_part(from))
            })?;
            before = time;
            self.asks[from.index()] |= packet.kind == Kind::LinkControl;
            if let Some(paused) = paused {
                check_paused(state, paused, from, time.saturating_sub(delay + takes), packet)?;
            }
        }
        Ok(())
    }

    /// Checks that both ends of each link agree on the pauses, if no frame is on its way.
    fn audit_agreement(&self, state: &State<'_>) -> Checked {
        for (node, switch) in state.partitions.iter().flat_map(|part| part.switches()) {
            let lost = switch.stats().control_lost > 0;
            if lost || !switch.hop().is_some_and(xoff_net::hop::AnyHop::names_pauses) {
                continue;
            }
            for (id, number) in state.setup.topology.port_ids_of(*node).zip(0..) {
                if self.asks[id.index()] {
                    continue;
                }
                let neighbour = state.setup.topology.port(id).peer;
                let Some(known) = paused_queues(state, neighbour) else { continue };
                let place = || format!("queues of {} paused", state.port_label(neighbour));
                equal(Checker::Pauses, switch.holds_paused(number), known, place)
                    .map_err(|violation| Box::new(violation.of(state.port_part(neighbour))))?;
            }
        }
        Ok(())
    }
}

/// The queues of a port that its neighbour has paused, if frames take effect at once.
fn paused_queues(state: &State<'_>, port: PortId) -> Option<QueueMask> {
    let (partition, number) = state.partition_of(port);
    match partition.owner(number) {
        Owner::Host(nic) => {
            let nic = &partition.hosts().nics()[nic as usize];
            let obeys = state.setup.hosts.obey_pauses && state.setup.hosts.pause_response == 0;
            (obeys && !nic.awaits_pauses()).then(|| nic.paused())
        }
        Owner::Switch(switch, number) => match &partition.switches()[switch as usize].1 {
            AnySwitch::OutputQueued(switch) => {
                let obeyed = switch.egress()[number as usize].paused();
                Some(switch.hop().asked(number).unwrap_or(obeyed))
            }
            AnySwitch::Crossbar(_) | AnySwitch::Pipelined(_) => None,
        },
    }
}

/// Checks that a packet which a port began to send at `start` (ps) did not leave a paused queue.
fn check_paused(
    state: &State<'_>,
    paused: &PausedSince,
    from: PortId,
    start: u64,
    packet: &Packet,
) -> Checked {
    // The frames of a NIC with a receive rate pass its queues by.
    if packet.upstream == CONTROL_QUEUE || packet.kind == Kind::LinkControl {
        return Ok(());
    }
    let Some(since) = paused.of(from, packet.upstream) else { return Ok(()) };
    holds(start <= since || paused_queues(state, from).is_none(), || {
        let place = format!("{}, queue {}", state.port_label(from), packet.upstream);
        let expected = format!("nothing leaves it: it is paused since {}", xoff_core::Ps(since));
        let found = state.packet_label(packet);
        let violation = Violation::new(Checker::Paused, place, expected, found).at(start);
        violation.of(Part::queue(packet.upstream).of(state.port_part(from)))
    })
}

/// Whether the neighbour of a port pauses queues by their numbers, and the port obeys.
fn asked_to_pause(state: &State<'_>, port: PortId) -> bool {
    let (own, number) = state.partition_of(port);
    if let Owner::Switch(switch, number) = own.owner(number) {
        let hop = own.switches()[switch as usize].1.hop();
        if hop.is_some_and(|hop| hop.asked(number).is_some()) {
            return false;
        }
    }
    let (partition, number) = state.partition_of(state.setup.topology.port(port).peer);
    let Owner::Switch(switch, _) = partition.owner(number) else { return false };
    let hop = partition.switches()[switch as usize].1.hop();
    hop.is_some_and(xoff_net::hop::AnyHop::names_pauses)
}
