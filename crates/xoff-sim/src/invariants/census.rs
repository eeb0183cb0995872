//! The place of every packet of a partition.

use xoff_core::FlowId;
use xoff_core::invariant::{Checker, Part, Violation, holds};
use xoff_net::fabric::OnLink;
use xoff_net::recount::Checked;
use xoff_net::{Kind, Packet};

use super::State;
use super::pauses::Links;
use crate::partition::{Owner, Partition};
use crate::tag;

/// What is known of a slot of the pool: nothing, that it is free, or that its packet has a place.
const UNKNOWN: u8 = 0;
const FREE: u8 = 1;
const PLACED: u8 = 2;

/// The packets of a partition that have been found so far.
pub(super) struct Census {
    slots: Vec<u8>,
    /// The first packet found in two places.
    twice: Option<u32>,
    /// By switch, the packets on the way between its stages.
    pub(super) staged: Vec<Vec<u32>>,
}

impl Census {
    /// Finds the packets on links, in service, at hosts, and between the stages of switches.
    pub(super) fn of<'a>(
        state: &State<'_>,
        partition: &'a Partition,
        links: &mut Links<'a>,
    ) -> Result<Self, Box<Violation>> {
        let fabric = partition.fabric();
        let pool = &fabric.packets;
        let mut census = Self {
            slots: vec![UNKNOWN; pool.slots()],
            twice: None,
            staged: vec![Vec::new(); partition.switches().len()],
        };
        for &free in pool.free() {
            census.slots[free as usize] = FREE;
        }
        let mut staged = Vec::new();
        fabric.each_on_link(
            |id, place| {
                census.found(id);
                match place {
                    OnLink::Arriving { port, time } => {
                        links.arrives(fabric.port_id(port), time, &pool[id]);
                    }
                    OnLink::Kept => links.kept(&pool[id]),
                }
            },
            |event| {
                if let (tag::STAGE, port) = tag::split(event.tag) {
                    staged.push((port, event.item));
                }
            },
        );
        for (port, id) in staged {
            census.found(id);
            if let Owner::Switch(switch, _) = partition.owner(port) {
                census.staged[switch as usize].push(id);
            }
        }
        partition.hosts().each_packet(fabric, &mut |id| census.found(id));
        census.check_twice(state, partition)?;
        Ok(census)
    }

    /// A packet has a place.
    pub(super) fn found(&mut self, id: u32) {
        let before = std::mem::replace(&mut self.slots[id as usize], PLACED);
        if before != UNKNOWN {
            self.twice = self.twice.or(Some(id));
        }
    }

    fn check_twice(&self, state: &State<'_>, partition: &Partition) -> Checked {
        let Some(id) = self.twice else { return Ok(()) };
        let packet = &partition.fabric().packets[id];
        let place = state.packet_label(packet);
        let violation = Violation::new(Checker::Packets, place, "one place", "two places");
        Err(Box::new(violation.of(packet_part(packet))))
    }

    /// All places have been searched. Returns the payload on the way.
    pub(super) fn finish(
        &self,
        state: &State<'_>,
        partition: &Partition,
    ) -> Result<u64, Box<Violation>> {
        self.check_twice(state, partition)?;
        let pool = &partition.fabric().packets;
        let overhead = u64::from(state.setup.hosts.overhead());
        let mut payload = 0;
        for (id, &slot) in (0..).zip(&self.slots) {
            holds(slot != UNKNOWN, || {
                let place = state.packet_label(&pool[id]);
                let found = "a packet that was leaked";
                let violation = Violation::new(Checker::Packets, place, "one place", found);
                violation.of(packet_part(&pool[id]))
            })?;
            if slot == PLACED && pool[id].kind == Kind::Data {
                payload += u64::from(pool[id].wire_bytes) - overhead;
            }
        }
        Ok(payload)
    }
}

/// The flow of a packet, if it has one.
fn packet_part(packet: &Packet) -> Part {
    match packet.kind {
        Kind::LinkControl => Part::default(),
        _ => Part::flow(FlowId(packet.flow.into())),
    }
}
